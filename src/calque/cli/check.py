"""``calque check``: a suite of geometric checks, as a gate."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits
from calque.cli.options import FILE, PATH, jobs_option
from calque.core.errors import ConfigError
from calque.core.presentation.sections import printable

if TYPE_CHECKING:
    from calque.checks.suites.cases import Selection
    from calque.checks.suites.runner import Row
    from calque.checks.suites.suite import Suite

FORMATS = ("table", "json", "jsonl", "junit", "markdown", "github")
EXTENSIONS = {".txt": "table", ".json": "json", ".jsonl": "jsonl", ".xml": "junit", ".md": "markdown"}


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
@click.option(
    "-o", "--output", "outputs", multiple=True, type=FILE, metavar="FILE",
    help="Write to a file; its extension chooses the format (repeat for several).",
)  # fmt: skip
@click.option("--annotations", "annotate", is_flag=True, help="Also print GitHub annotations for what failed.")
@click.option("--save", type=FILE, metavar="STATE", help="Keep the state for calque merge.")
@click.option("--quiet", is_flag=True, help="No progress and no remarks on stderr.")
@jobs_option
def command(suite: str | None, schema: bool, outputs: tuple[str, ...], jobs: int, quiet: bool, **values: Any) -> int:
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
    from calque.cli.render import check_writable

    files = {name: _format_of(name, values["shape"]) for name in outputs}
    check_writable(*outputs, values["save"])
    _log_to_stderr(quiet=quiet)
    with working(f"reading {suite}", quiet=quiet):
        loaded = _load(suite, values["own"], values["data"])
    selection = _selection(values["ids"], values["tags"], values["rerun_failed"])
    with working(f"checking {loaded.data or suite}", quiet=quiet):
        rows = list(_judged(loaded, selection, jobs, streams=_streams(values, files)))
    return _deliver(loaded, rows, files, selection, quiet=quiet, **values)


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
    extension = Path(name).suffix.lower()
    if extension in EXTENSIONS:
        return EXTENSIONS[extension]
    if shape is None:
        raise ConfigError(f"{name}: the extension {extension!r} names no format; use {', '.join(EXTENSIONS)} or --format")
    return shape


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


def _streams(values: Mapping[str, Any], files: Mapping[str, str]) -> str | None:
    """The format that is printed while cases are judged, if it is one that can be."""
    wanted = values["shape"] if not files or set(files.values()) != {values["shape"]} else None
    return wanted if wanted in {"jsonl", "github"} else None


def _judged(suite: Suite, selection: Selection | None, jobs: int, *, streams: str | None) -> Iterator[Row]:
    from calque.checks.exports import annotated

    only_failed = bool(click.get_current_context().params["only_failed"])
    for chunk in suite.stream(selection=selection, jobs=jobs):
        if streams == "jsonl":
            lines = (_json_line(row) + "\n" for row in chunk if row.failed or not only_failed)
            click.echo("".join(lines), nl=False)
        elif streams == "github":
            for line in annotated(chunk, suite.data or suite.file):
                click.echo(line)
        yield from chunk


def _json_line(row: Row) -> str:
    return json.dumps(row.to_dict(), ensure_ascii=False, allow_nan=False)


def _deliver(
    suite: Suite, rows: list[Row], files: Mapping[str, str], selection: Selection | None, *, quiet: bool, **values: Any
) -> int:
    from calque.checks.exports import annotated
    from calque.cli.render import coloured
    from calque.core.presentation.sections import to_text
    from calque.core.storage.files import write_whole

    evaluator = suite.evaluator(rows, selection)
    result = evaluator.compute()
    if values["save"] is not None:
        evaluator.save(values["save"])
    kept = [row for row in rows if row.failed] if values["only_failed"] else rows
    for name, kind in files.items():
        write_whole(name, _rendered(kind, suite, result, kept).encode("utf-8", "surrogatepass"))
        if not quiet:
            click.echo(f"wrote {name}", err=True)
    shape = values["shape"] or ("table" if not files else None)
    if shape == "table" and sys.stdout.isatty():
        click.echo(coloured(result.sections()))
    elif shape == "table":
        click.echo(to_text(result.sections()))
    elif shape in {"json", "junit", "markdown"} and shape not in files.values():
        click.echo(_rendered(shape, suite, result, kept), nl=False)
    if values["annotate"]:
        for line in annotated(rows, suite.data or suite.file):
            click.echo(line)
    return exits.code_of(result, quiet=quiet)


def _rendered(kind: str, suite: Suite, result: Any, rows: list[Row]) -> str:
    from calque.checks.exports import annotated, to_junit
    from calque.core.presentation.sections import to_markdown, to_text

    if kind == "json":
        tree = result.to_dict() | {"results": [row.to_dict() for row in rows]}
        return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"
    if kind == "jsonl":
        return "".join(_json_line(row) + "\n" for row in rows)
    if kind == "junit":
        return to_junit([row.to_dict() for row in rows], suite.name)
    if kind == "github":
        return "".join(line + "\n" for line in annotated(rows, suite.data or suite.file))
    return to_markdown(result.sections()) if kind == "markdown" else to_text(result.sections()) + "\n"
