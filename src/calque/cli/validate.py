"""``calque validate``: files against their contract."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits
from calque.core.presentation import printable, printable_lines

if TYPE_CHECKING:
    from calque.core.corpus import Corpus
    from calque.core.errors import ContractError


@click.command("validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option("--lenient", is_flag=True, help="Unknown keys, duplicate pages and unknown labels are counted, not refused.")
@click.option("--allow-missing-scores", is_flag=True, help="Accept predictions without scores.")
@click.option("--format", type=click.Choice(("table", "json")), default="table", help="How to print what was found.")
def command(files: tuple[str, ...], lenient: bool, allow_missing_scores: bool, format: str) -> int:
    """Check each FILE by itself, and, when there are two, the two against each other.

    Says everything that is wrong at once: what, where and what to do. Exit code 0 when all is well, else 2.
    """
    from calque.core.errors import ContractError
    from calque.readers import check_pair, read

    reports: list[dict[str, Any]] = []
    corpora: list[Corpus] = []
    for name in files:
        try:
            corpus = read(name, lenient=lenient, allow_missing_scores=allow_missing_scores)
        except ContractError as error:
            reports.append(_refused(name, error))
            continue
        corpora.append(corpus)
        notes = [issue.to_dict() for issue in corpus.issues]
        reports.append({"file": name, "valid": True, "total": 0, "message": corpus.contents(), "issues": notes})
    if len(corpora) == len(files) == 2:
        try:
            check_pair(corpora[0], corpora[1])
        except ContractError as error:
            reports.append(_refused(f"{files[0]} and {files[1]}", error))
    _print(reports, format)
    return exits.FINE if all(report["valid"] for report in reports) else exits.REFUSED


def _refused(name: str, error: ContractError) -> dict[str, Any]:
    issues = [issue.to_dict() for issue in error.issues]
    return {"file": name, "valid": False, "total": error.total, "message": str(error), "issues": issues}


def _print(reports: list[dict[str, Any]], format: str) -> None:
    if format == "json":
        click.echo(json.dumps({"files": reports}, indent=2, ensure_ascii=False))
        return
    for report in reports:
        name, message = printable(report["file"]), printable_lines(report["message"])
        if report["valid"]:
            click.echo(f"{name}: " + click.style("valid", fg="green") + f", {message}")
            for issue in report["issues"]:
                click.echo(printable(f"  note: {issue['pointer']}: {issue['message']}"))
        else:
            count = f"{report['total']:,} issue{'s' if report['total'] != 1 else ''}"
            click.echo(f"{name}: " + click.style("not valid", fg="red") + f", {count}")
            click.echo("  " + message.replace("\n", "\n  "))
