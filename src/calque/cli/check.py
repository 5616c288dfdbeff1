"""``calque check``: a suite of geometric checks, as a gate."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calque.checks.task import Checks
from calque.cli import exits, outputs
from calque.cli.evaluate import gates_for
from calque.cli.gates import gate_options
from calque.cli.inputs import names_of_files
from calque.cli.options import (
    FILE,
    PATH,
    brief_option,
    interval_options,
    intervals_from,
    jobs_option,
    output_option,
    report_option,
    save_option,
)
from calque.cli.reports import image_options, wanted, write
from calque.core.errors import ConfigError
from calque.core.presentation.sections import printable, printable_json

if TYPE_CHECKING:
    from calque.checks.suites.cases import Selection
    from calque.checks.suites.runner import Row
    from calque.checks.suites.suite import Suite
    from calque.core.gates.judging import Gates
    from calque.core.presentation.sections import Section
    from calque.core.result import Result

STREAMED = ("jsonl", "github")
"""What is printed while cases are judged."""
FORMATS = ("table", "json", "jsonl", "junit", "csv", "markdown", "latex", "github")
EXTENSIONS = {
    ".txt": "table", ".json": "json", ".jsonl": "jsonl", ".xml": "junit", ".csv": "csv", ".md": "markdown", ".tex": "latex",
}  # fmt: skip


@click.command("check")
@click.argument("suite", type=PATH, required=False)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of suite files, for editors.")
@click.option("--data", type=FILE, metavar="FILE", help="Take the cases from this JSONL file instead.")
@click.option("--filter", "ids", multiple=True, metavar="ID", help="Only cases with this id; * and ? stand for anything.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only cases with this tag (repeat for any of several).")
@click.option("--rerun-failed", type=PATH, metavar="RESULT.jsonl", help="Only cases that failed in an earlier result.")
@click.option("--only-failed", is_flag=True, help="List only results that failed; the summary still counts all.")
@click.option(
    "--evaluator", "own", multiple=True, metavar="NAME=FILE.py:FUNCTION", help="An evaluator of your own, for type: NAME."
)
@click.option(
    "--format", "shape", type=click.Choice(FORMATS), help="table by default; jsonl and github come as cases are judged."
)
@output_option
@brief_option
@gate_options
@save_option
@report_option
@image_options
@click.option("--quiet", is_flag=True, help="No progress and no remarks on stderr.")
@interval_options
@jobs_option
def command(suite: str | None, schema: bool, output: tuple[str, ...], jobs: int, quiet: bool, **values: Any) -> int:
    """Judge every case of SUITE, a YAML file, with the evaluators that it names.

    Without a gate in the suite any failing case ends with code 1; a case that could not be judged ends with 3.

    \b
    calque check suite.yaml
    calque check suite.yaml -o junit.xml -o summary.md --annotations
    calque check suite.yaml --rerun-failed last.jsonl --format jsonl
    """
    if schema:
        from calque.checks.suites.editor_schema import suite_schema

        click.echo(json.dumps(suite_schema(), indent=2))
        return exits.FINE
    if suite is None:
        raise click.UsageError("Missing argument 'SUITE'.")
    from calque.cli.progress import working
    from calque.cli.sheets import FOR_PEOPLE, check_wanted

    gates = gates_for(Checks, values)
    resampling = intervals_from(values)
    files = {name: _format_of(name, values["shape"]) for name in output if name != outputs.STDOUT}
    printed = _printed(values["shape"], output, files)
    kinds = [kind for kind in (*files.values(), printed) if kind is not None]
    if values["brief"] and not set(FOR_PEOPLE) & set(kinds):
        check_wanted(kinds, brief=True)
    values["report"] = wanted(values, values["report"], jobs)
    outputs.settle(*(use.partition("=")[2].rpartition(":")[0] for use in values["own"]))
    suite, values["data"] = _inputs(suite, values["data"])
    _log_to_stderr(quiet=quiet)
    with working(f"reading {suite}", quiet=quiet):
        loaded = _load(suite, values["own"], values["data"])
    outputs.settle(loaded.data or suite)
    selection = _selection(values["ids"], values["tags"], values["rerun_failed"])
    rows: list[Row] = []
    total = cache(lambda: 0 if selection else loaded.results_to_come())  # asked only when it is shown
    with working(f"checking {loaded.data or suite}", quiet=quiet, done=lambda: len(rows), total=total, noun="result"):
        rows.extend(_judged(loaded, selection, jobs, streams=printed))
    return _deliver(loaded, rows, files, selection, printed, gates=gates, quiet=quiet, resampling=resampling, **values)


def _inputs(suite: str, data: str | None) -> tuple[str, str | None]:
    """The suite, and the cases that replace its own; those may come from standard input or a pipe."""
    from calque.cli.inputs import STDIN, taken_in

    if suite == STDIN:
        raise ConfigError("-: a suite names files beside it, so it has to be one itself; cases can be read so: --data -")
    return suite, data if data is None else taken_in(data)[0]


class _Remarks(logging.Handler):
    """Shows warnings about the suite; what is wrong with single cases is in their results, and not told twice."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno == logging.WARNING:
            click.echo(click.style("warning:", fg="yellow") + f" {printable(record.getMessage())}", err=True)


def _log_to_stderr(*, quiet: bool) -> None:
    logger = logging.getLogger("calque")
    logger.handlers = [logging.NullHandler() if quiet else _Remarks()]
    logger.propagate = False


def _format_of(name: str, shape: str | None) -> str:
    """The format of a file: by its extension; ``--format`` is for what is printed, and for names that tell none."""
    return outputs.by_name(name, EXTENSIONS) or shape or outputs.silent(name, EXTENSIONS)


def _load(suite: str, own: tuple[str, ...], data: str | None) -> Suite:
    from calque.checks.suites.project import named_evaluators
    from calque.checks.suites.suite import Suite

    registry: dict[str, Any] = dict(named_evaluators(Path()))
    for use in own:
        name, equals, reference = use.partition("=")
        if not equals or not name or not reference:
            raise click.BadParameter(f"{use!r} is not NAME=FILE.py:FUNCTION", param_hint="--evaluator")
        registry[name] = reference
    return Suite.load(suite, evaluators=registry, data=data)


def _selection(ids: tuple[str, ...], tags: tuple[str, ...], rerun: str | None) -> Selection | None:
    from calque.checks.suites.cases import Selection, failed_ids

    if not ids and not tags and rerun is None:
        return None
    only = None if rerun is None else failed_ids(rerun)
    if only is not None and not only:
        raise ConfigError(f"{rerun}: nothing failed there, so there is nothing to repeat")
    return Selection(ids, tags, only)


def _printed(shape: str | None, output: tuple[str, ...], files: Mapping[str, str]) -> str | None:
    """The format of standard output, if anything is printed: when it is asked for, or when nothing is written."""
    if not files or outputs.STDOUT in output:
        return shape or "table"
    return None if shape in files.values() else shape


def _judged(suite: Suite, selection: Selection | None, jobs: int, *, streams: str | None) -> Iterator[Row]:
    from calque.checks.exports import annotated

    only_failed = bool(click.get_current_context().params["only_failed"])
    for chunk in suite.stream(selection=selection, jobs=jobs):
        if streams == "jsonl":
            lines = (_json_line(row) + "\n" for row in chunk if row.failed or not only_failed)
            click.echo("".join(lines), nl=False)
        elif streams == "github":
            for line in annotated(chunk, suite.data or suite.file):
                click.echo(printable(line))
        yield from chunk


def _json_line(row: Row) -> str:
    return printable_json(json.dumps(row.to_dict(), ensure_ascii=False, allow_nan=False))


def _deliver(
    suite: Suite,
    rows: list[Row],
    files: Mapping[str, str],
    selection: Selection | None,
    printed: str | None,
    *,
    gates: Gates | None,
    quiet: bool,
    **values: Any,
) -> int:
    from calque.cli.render import coloured, with_intervals

    evaluator = suite.evaluator(rows, selection)
    evaluator.rename(names_of_files())
    result = with_intervals(evaluator.compute(), values["resampling"], jobs=1, quiet=quiet)
    if gates is not None:
        result = gates.judged(result)
    exits.say_first(result, quiet=quiet)
    outputs.save(evaluator, values["save"])
    write(result, values["report"], quiet=quiet)
    kept = [row for row in rows if row.failed] if values["only_failed"] else rows
    for name, kind in files.items():
        outputs.put(name, [_rendered(kind, suite, result, kept, brief=values["brief"])], quiet=quiet)
    if printed == "table" and sys.stdout.isatty():
        click.echo(coloured(_shown(result, brief=values["brief"])))
    elif printed is not None and printed not in STREAMED:
        click.echo(_rendered(printed, suite, result, kept, brief=values["brief"]), nl=False)
    if printed == "github":
        click.echo("".join(_gate_annotations(result)), nl=False)
    if values["annotations"]:
        click.echo(_rendered("github", suite, result, rows, brief=False), nl=False)
    return exits.code_of(result, quiet=quiet)


def _shown(result: Result, *, brief: bool) -> list[Section]:
    """What people read of a result: the gate's verdict stands before the signature."""
    from calque.core.presentation.sections import Section

    *parts, signature = result.brief() if brief else result.sections()
    failures = result.failures
    if result.verdict.failures or (result.verdict and not failures):
        return [*parts, signature]  # it is said already: first when it does not hold
    return [*parts, Section(title="Gate: failed" if failures else "Gate: passed", notes=failures), signature]


def _rendered(kind: str, suite: Suite, result: Result, rows: list[Row], *, brief: bool) -> str:
    from calque.checks.exports import annotated, tests
    from calque.cli.render import as_csv
    from calque.cli.sheets import laid_out

    if kind == "json":
        tree = result.to_dict() | {"results": [row.to_dict() for row in rows]}
        return printable_json(json.dumps(tree, indent=2, ensure_ascii=False)) + "\n"
    if kind == "jsonl":
        return "".join(_json_line(row) + "\n" for row in rows)
    if kind == "junit":
        from calque.core.presentation.junit import to_junit

        return to_junit([*result.gate_tests(), *tests([row.to_dict() for row in rows], suite.name)], suite.name)
    if kind == "github":
        return "".join([*_gate_annotations(result), *(f"{line}\n" for line in annotated(rows, suite.data or suite.file))])
    if kind == "csv":
        verdict = "failed" if result.failures else "passed"
        return as_csv([{**row, **({"gate": verdict} if row.get("evaluator") == "all" else {})} for row in result.spreadsheet()])
    return laid_out(_shown(result, brief=brief), kind)


def _gate_annotations(result: Result) -> list[str]:
    from calque.cli.gates import workflow_commands

    return [f"{line}\n" for line in workflow_commands(result.gate_tests())]
