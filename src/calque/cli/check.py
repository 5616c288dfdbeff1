"""``calque check``: suites of checks, as a gate."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calque.base.errors import ConfigError
from calque.checks.task import Checks
from calque.cli import exits, outputs
from calque.cli.evaluate import gates_for
from calque.cli.gates import gate_options
from calque.cli.help import GroupedCommand
from calque.cli.inputs import names_of_files, told
from calque.cli.options import (
    FILE,
    PATH,
    brief_option,
    checkpoint_option,
    interval_options,
    intervals_from,
    jobs_option,
    output_option,
    report_option,
    save_option,
    slice_options,
    slices_from,
)
from calque.cli.reports import image_options, wanted, write
from calque.cli.sharded import kept_in
from calque.evaluation.presentation.sections import printable

if TYPE_CHECKING:
    from calque.checks.suites.cases import Selection
    from calque.checks.suites.runner import Row
    from calque.checks.suites.suite import NoCases, Suite
    from calque.cli.checked import CheckedSuite
    from calque.evaluation.shards.checkpoint import Checkpoint
    from calque.statistics.gates import Gates

FORMATS = ("table", "json", "jsonl", "junit", "csv", "markdown", "latex", "github")


@click.command("check", cls=GroupedCommand)
@click.argument("suites", nargs=-1, type=PATH, metavar="SUITE...")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of suite files, for editors.")
@click.option("--data", type=FILE, metavar="FILE", help="Cases, in place of the suite's (JSONL, JSON, CSV).")
@click.option("--expected", type=FILE, metavar="FILE", help="Expected values, in place of the suite's.")
@click.option("--actual", type=FILE, metavar="FILE", help="Outputs of another run, in place of the suite's.")
@click.option("--filter", "ids", multiple=True, metavar="ID", help="Run only cases with this id (wildcards * and ?).")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Run only cases with this tag. Repeatable.")
@click.option("--rerun-failed", type=PATH, metavar="RESULT.jsonl", help="Run only cases that failed in an earlier result.")
@click.option("--only-failed", is_flag=True, help="List only failures; the summary counts all cases.")
@click.option(
    "--evaluator", "own", multiple=True, metavar="NAME=FILE.py:FUNCTION", help="Custom evaluator for type: NAME. Repeatable."
)
@click.option("--allow-commands", is_flag=True, help="Run the programs that the suite names (read the suite first).")
@click.option("--cache", "kept", type=PATH, metavar="FOLDER", help="Folder for answers of programs; only new cases run again.")
@click.option("--format", "shape", type=click.Choice(FORMATS), help="Output format; default: table.")
@output_option
@brief_option
@slice_options
@gate_options
@save_option
@report_option
@image_options
@click.option("--quiet", is_flag=True, help="No progress and no notes on stderr.")
@interval_options
@jobs_option
@checkpoint_option
def command(suites: tuple[str, ...], schema: bool, output: tuple[str, ...], quiet: bool, **values: Any) -> int:
    """Run suites of checks on the outputs of a model, as a gate for CI.

    SUITE is a YAML file, or a quoted pattern of several. Its cases are in the suite, in a file (data:), or in two files joined
    by id (expected:, actual:, id:). Without a gate in the suite, a failing case exits with 1; a case that cannot be judged
    exits with 3.

    \b
    calque check suite.yaml
    calque check suite.yaml --actual tonight.jsonl
    calque check 'suites/**/*.check.yaml' -o junit.xml -o summary.md
    """
    if schema:
        from calque.checks.suites.editor_schema import suite_schema

        click.echo(json.dumps(suite_schema(), indent=2))
        return exits.FINE
    if not suites:
        raise click.UsageError("Missing argument 'SUITE...'.")
    from calque.cli.progress import working
    from calque.cli.render import FOR_PEOPLE, check_wanted

    gates = gates_for(Checks, values)
    values["resampling"] = intervals_from(values)
    slices = slices_from(values)
    files = {name: _format_of(name, values["shape"]) for name in output if name != outputs.STDOUT}
    printed = _printed(values["shape"], output, files)
    kinds = [kind for kind in (*files.values(), printed) if kind is not None]
    if values["brief"] and not set(FOR_PEOPLE) & set(kinds):
        check_wanted(kinds, brief=True)
    values["report"] = wanted(values, values["report"], values["jobs"])
    outputs.settle(*(use.partition("=")[2].rpartition(":")[0] for use in values["own"]))
    named = _inputs(suites, values)
    _log_to_stderr(quiet=quiet)
    with working(f"reading {', '.join(named)}", quiet=quiet):
        loaded = _load(named, values)
    outputs.settle(*(file for suite in loaded for file in suite.inputs.files or (suite.file,)))
    if values["report"] is None and values["save"] is None and (gates is None or gates.baseline is None):
        loaded = [suite.for_numbers() for suite in loaded]
    with kept_in(values.pop("checkpoint"), quiet=quiet) as kept:
        judged, empty = _judged(loaded, values, printed, kept, quiet=quiet)
    for one in judged:
        one.slices = slices
    for error in empty:
        click.echo(printable(f"error: nothing was evaluated: {told(str(error))}"), err=True)
    if not judged:
        return exits.INCOMPLETE
    code = _deliver(judged, files, printed, gates=gates, quiet=quiet, **values)
    return max(code, exits.INCOMPLETE) if empty else code


def _inputs(suites: tuple[str, ...], values: dict[str, Any]) -> list[str]:
    """The suites; and the files that replace theirs, which may come from standard input or a pipe."""
    from calque.checks.suites.named_files import found_files
    from calque.cli.inputs import STDIN, taken_in

    if STDIN in suites:
        raise ConfigError("-: a suite names files beside it, so it has to be one itself; cases can be read so: --data -")
    sides = ("expected", "actual")
    if values["data"] is not None and any(values[side] is not None for side in sides):
        raise click.UsageError("--data has both sides of every case; leave it out, or --expected and --actual.")
    for key in ("data", *sides):
        if values[key] is not None:
            values[key] = taken_in(values[key])[0]
    named = list(dict.fromkeys(file for suite in suites for file in found_files(suite)))
    if len(named) > 1 and (values["save"] is not None or values["report"] is not None):
        flag = "--save" if values["save"] is not None else "--report"
        raise ConfigError(f"{flag} is for one SUITE; judge several one by one")
    return named


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
    from calque.cli.render import EXTENSIONS

    return outputs.by_name(name, EXTENSIONS) or shape or outputs.silent(name, EXTENSIONS)


def _load(files: Sequence[str], values: Mapping[str, Any]) -> list[Suite]:
    """The suites; everything that is wrong with any of them, and with evaluators that none of them uses, at once."""
    from calque.checks.evaluators.custom import named_evaluators
    from calque.checks.suites.suite import Suite

    registry: dict[str, Any] = dict(named_evaluators(Path()))
    wrong: list[str] = []
    for use in values["own"]:
        name, equals, reference = use.partition("=")
        if not equals or not name or not reference:
            raise click.BadParameter(f"{use!r} is not NAME=FILE.py:FUNCTION", param_hint="--evaluator")
        registry[name] = reference if _works(reference, wrong) else _nothing
    given = {key: values[key] for key in ("data", "expected", "actual", "allow_commands")}
    suites = []
    for file in files:
        try:
            suites.append(Suite.load(file, evaluators=registry, cache=values["kept"], **given))
        except ConfigError as error:
            wrong.append(str(error))
    if wrong:
        raise ConfigError("\n".join(wrong))
    return suites


def _works(reference: str, wrong: list[str]) -> bool:
    """Whether there is such a function; if not, that is written down."""
    from calque.checks.evaluators.custom import load

    try:
        load(reference)
    except ConfigError as error:
        wrong.append(str(error))
        return False
    return True


def _nothing(output: Any, expected: Any) -> float:  # noqa: ARG001  # nobody calls it
    """Stands for a function that there is not, while the rest is looked at."""
    return 0.0


def _selection(values: Mapping[str, Any], suite: str) -> Selection | None:
    from calque.checks.suites.cases import Selection, failed_ids

    if not values["ids"] and not values["tags"] and values["rerun_failed"] is None:
        return None
    only = None if values["rerun_failed"] is None else failed_ids(values["rerun_failed"], suite)
    return Selection(values["ids"], values["tags"], only)


def _printed(shape: str | None, output: tuple[str, ...], files: Mapping[str, str]) -> str | None:
    """The format of standard output, if anything is printed: when it is asked for, or when nothing is written."""
    if not files or outputs.STDOUT in output:
        return shape or "table"
    return None if shape in files.values() else shape


def _judged(
    suites: Sequence[Suite], values: Mapping[str, Any], printed: str | None, kept: Checkpoint | None, *, quiet: bool
) -> tuple[list[CheckedSuite], list[NoCases]]:
    """Return what became of each suite, and the suites of which nothing was evaluated.

    Where cases are selected, it is enough that one of several suites has some of them.
    """
    from calque.checks.suites.suite import NoCases
    from calque.cli.checked import CheckedSuite

    judged: list[CheckedSuite] = []
    without: list[NoCases | None] = []
    for suite in suites:
        selection = _selection(values, suite.name)
        if selection is not None and selection.only is not None and not selection.only:
            without.append(None)
            continue
        try:
            rows = _rows(suite, selection, values, printed, kept, several=len(suites) > 1, quiet=quiet)
        except NoCases as error:
            without.append(error)
            continue
        judged.append(CheckedSuite(suite, rows, selection))
    errors = [error for error in without if error is not None]
    if judged and _selection(values, "") is not None:
        errors = []
    if not judged and not errors:
        if not quiet:
            click.echo(f"{values['rerun_failed']}: nothing failed there, so there is nothing to repeat", err=True)
        judged = [CheckedSuite(suite, [], _selection(values, suite.name)).without_gate() for suite in suites]
    return judged, errors


def _rows(
    suite: Suite,
    selection: Selection | None,
    values: Mapping[str, Any],
    printed: str | None,
    kept: Checkpoint | None,
    *,
    several: bool,
    quiet: bool,
) -> list[Row]:
    """Every result of a suite; some formats are printed while they come."""
    from calque.checks.presentation import annotated
    from calque.cli.checked import outcome_line, with_names
    from calque.cli.progress import working

    rows: list[Row] = []
    names = names_of_files()

    def come() -> Iterator[Row]:
        for judged in suite.stream(selection=selection, jobs=values["jobs"], checkpoint=kept):
            chunk = with_names(judged, names) if names else judged
            if printed == "jsonl":
                shown = (row for row in chunk if row.failed or not values["only_failed"])
                click.echo("".join(outcome_line(row, suite.name if several else "") for row in shown), nl=False)
            elif printed == "github":
                for line in annotated(chunk, suite.data or suite.file):
                    click.echo(printable(line))
            yield from chunk

    total = cache(lambda: 0 if selection else suite.results_to_come())  # asked only when it is shown
    told = f"checking {suite.data or suite.file}"
    with working(told, quiet=quiet, steps=total, noun="result") as checking:
        for row in come():
            rows.append(row)
            checking.advance()
    return rows


def _deliver(
    judged: list[CheckedSuite],
    files: Mapping[str, str],
    printed: str | None,
    *,
    gates: Gates | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Write and print what was asked for; the exit code."""
    from calque.cli.checked import STREAMED, rendered, shown
    from calque.cli.render import FOR_PEOPLE, coloured, with_intervals

    nothing = not any(one.rows for one in judged)
    for one in judged:
        one.evaluator.rename(names_of_files())
        result = with_intervals(one.evaluator.compute(), None if nothing else values["resampling"], jobs=1, quiet=quiet)
        one.result = gates.judge(result) if gates is not None and not nothing else result
        exits.say_first(one.result, quiet=quiet, name=one.suite.name if len(judged) > 1 else "")
    outputs.save(judged[0].evaluator, values["save"])
    write(judged[0].result, values["report"], quiet=quiet)
    listed = [one.only_failed() for one in judged] if values["only_failed"] else judged
    for name, kind in files.items():
        outputs.put(name, [rendered(kind, listed, brief=values["brief"])], quiet=quiet)
    if printed == "table" and sys.stdout.isatty():
        click.echo(coloured(shown(listed, brief=values["brief"])))
    elif printed is not None and printed not in STREAMED:
        click.echo(rendered(printed, listed, brief=values["brief"]), nl=False)
    if printed == "github":
        click.echo(rendered("github", [one.with_rows([]) for one in judged], brief=False), nl=False)
    if values["annotations"]:
        click.echo(rendered("github", judged, brief=False), nl=False)
    if not quiet and (values["brief"] or printed not in FOR_PEOPLE):
        exits.say_losses(one.result for one in judged)
    return exits.FINE if nothing else max(exits.code_of(one.result, quiet=quiet) for one in judged)
