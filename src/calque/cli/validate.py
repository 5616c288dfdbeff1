"""``calque validate``: files against their contract."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits
from calque.cli.inputs import from_stdin, told
from calque.cli.options import PATH, reading_options, reading_rules
from calque.core.presentation.sections import printable, printable_json, printable_lines

if TYPE_CHECKING:
    from calque.core.corpus import Corpus
    from calque.core.errors import ContractError


@click.command("validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PATH)
@click.option("--from", "formats", multiple=True, metavar="FORMAT", help="The format of the files; twice for one each.")
@reading_options
@click.option("--class-map", multiple=True, type=PATH, metavar="FILE", help="A class map; twice for one each.")
@click.option("--allow-missing-scores", is_flag=True, help="Accept predictions without scores.")
@click.option("--format", type=click.Choice(("table", "json")), default="table", help="How to print what was found.")
def command(
    files: tuple[str, ...],
    formats: tuple[str, ...],
    class_map: tuple[str, ...],
    allow_missing_scores: bool,
    format: str,
    **values: Any,
) -> int:
    """Check each FILE (or folder) by itself, and, when there are two, the two against each other.

    All formats are recognised. Says everything that is wrong at once: what, where and what to do.
    Exit code 0 when all is well, else 2.
    """
    from calque.core.errors import ContractError
    from calque.readers import check_pair, read

    reports: list[dict[str, Any]] = []
    corpora: list[Corpus] = []
    rules = reading_rules(values)
    files = from_stdin(*files)
    for name, known in zip(files, _each(formats, files, "--from"), strict=True):
        try:
            corpus = read(name, format=known or None, strict=True, allow_missing_scores=allow_missing_scores, **rules)
        except ContractError as error:
            reports.append(_refused(name, error))
            continue
        corpora.append(corpus)
        notes = [issue.to_dict() for issue in corpus.issues]
        reports.append({"file": name, "valid": True, "total": 0, "message": corpus.contents(), "issues": notes})
    if len(corpora) == len(files) == 2:
        pair = f"{files[0]} and {files[1]}"
        maps = _each(class_map, files, "--class-map")
        try:
            noticed = check_pair(*corpora, class_maps=maps, page_size=rules["page_size"])
        except ContractError as error:
            reports.append(_refused(pair, error))
        else:
            listed = [issue.to_dict() for issue in noticed]
            reports += (
                [{"file": pair, "valid": True, "total": 0, "message": "they go together", "issues": listed}] if noticed else []
            )
    _print(reports, format)
    return exits.FINE if all(report["valid"] for report in reports) else exits.REFUSED


def _each(given: tuple[str, ...], files: tuple[str, ...], flag: str) -> tuple[str, ...]:
    """One value for each file: none, the same for all, or as many as there are files."""
    if len(given) not in (0, 1, len(files)):
        raise click.BadParameter(f"is given {len(given)} times for {len(files)} files", param_hint=flag)
    return given if len(given) == len(files) else (given or ("",)) * len(files)


def _refused(name: str, error: ContractError) -> dict[str, Any]:
    issues = [issue.to_dict() for issue in error.issues]
    return {"file": name, "valid": False, "total": error.total, "message": str(error), "issues": issues}


def _print(reports: list[dict[str, Any]], format: str) -> None:
    if format == "json":
        click.echo(told(printable_json(json.dumps({"files": reports}, indent=2, ensure_ascii=False))))
        return
    for report in reports:
        name, message = told(printable(report["file"])), told(printable_lines(report["message"]))
        if report["valid"]:
            click.echo(f"{name}: " + click.style("valid", fg="green") + f", {message}")
            for issue in report["issues"]:
                line = ": ".join(part for part in (issue["severity"], issue["pointer"], issue["message"]) if part)
                click.echo(printable(f"  {line}" + (f"; {issue['help']}" if issue["help"] else "")))
        else:
            count = f"{report['total']:,} issue{'s' if report['total'] != 1 else ''}"
            click.echo(f"{name}: " + click.style("not valid", fg="red") + f", {count}")
            click.echo("  " + message.replace("\n", "\n  "))
