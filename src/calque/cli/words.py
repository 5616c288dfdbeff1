"""``calque words``: what OCR read, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits
from calque.cli.evaluate import evaluate, what_to_keep
from calque.cli.options import PATH, jobs_option, output_options, task_from, task_options
from calque.words.task import Words

if TYPE_CHECKING:
    from calque.core.result import Result


@click.command("words")
@click.argument("truth", type=PATH)
@click.argument("predictions", nargs=-1, required=True, metavar="PRED...", type=PATH)
@task_options(Words)
@click.option("--show", metavar="DOC", help="Print truth and prediction of one document side by side.")
@click.option("--removed", is_flag=True, help="List what clean-up took out of the truth.")
@jobs_option
@output_options
def command(truth: str, predictions: tuple[str, ...], show: str | None, removed: bool, **values: Any) -> int:
    """Evaluate the words of each PRED against TRUTH: how many are there, in the same order.

    TRUTH and PRED are folders (documents pair by file stem) or files: plain text, hOCR, ALTO, PAGE XML, HTML, Tesseract
    TSV, or tables docid, wordid, word (TSV, CSV, Parquet).

    \b
    calque words truth/ tesseract/
    calque words truth/ tesseract/ gocr/ ocrad/ --build-lattice
    calque words truth.html page.hocr --drop figure,table,references --show truth
    """
    if len(predictions) == 1 and show is None and not removed:
        return evaluate(Words, truth, predictions[0], values)
    from calque.core.errors import ConfigError

    task = task_from(Words, values)
    keep = what_to_keep(values)
    if len(predictions) > 1 and values["save"] is not None:
        raise ConfigError("--save keeps the state of one PRED; evaluate several one by one")
    from calque.cli.progress import working
    from calque.words import views

    looked_at = show is not None or removed
    with working(f"evaluating {', '.join(predictions)}", quiet=values["quiet"]):
        evaluators = views.evaluated(task, truth, predictions, keep="outcomes" if looked_at else keep, jobs=values.pop("jobs"))
    if show is not None:
        for name, evaluator in evaluators.items():
            _print_document(views.shown(evaluator.ledger(), show, name))
    elif removed:
        _print_lines(views.removed(evaluators[predictions[0]].ledger()))
        evaluators = {predictions[0]: evaluators[predictions[0]]}
    results = {name: evaluator.compute() for name, evaluator in evaluators.items()}
    for result in results.values():
        exits.say_first(result)
    if not looked_at:
        _deliver(results, values)
    return max(exits.code_of(result, quiet=values["quiet"]) for result in results.values())


def _print_document(lines: Iterator[str]) -> None:
    click.echo(click.style(next(lines), bold=True))
    for line in lines:
        click.echo(line)


def _print_lines(entries: Iterator[Mapping[str, Any]]) -> None:
    import json

    for entry in entries:
        click.echo(json.dumps(entry, ensure_ascii=False))


def _deliver(results: Mapping[str, Result], values: dict[str, Any]) -> None:
    """Several predictions of one truth: each one's block under ``runs``, the oracle beside them."""
    from calque.cli.render import format_of
    from calque.core.storage.files import write_whole

    text = "".join(_lines(results, format_of(values["format"], values["output"])))
    if values["output"] is None:
        click.echo(text, nl=False)
        return
    write_whole(values["output"], text.encode("utf-8", "backslashreplace"))
    if not values["quiet"]:
        click.echo(f"wrote {values['output']}", err=True)


def _lines(results: Mapping[str, Result], kind: str) -> Iterator[str]:
    import json

    from calque.cli.render import as_csv
    from calque.core.presentation.sections import to_markdown, to_text
    from calque.core.result import strict_json
    from calque.words import views

    if kind == "json":
        yield strict_json(views.tree(results)) + "\n"
    elif kind == "jsonl":
        for row in views.listed(results):
            yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
    elif kind == "csv":
        yield as_csv(views.rows(results))
    else:
        sections = views.sections(results)
        yield to_markdown(sections) if kind == "markdown" else to_text(sections) + "\n"
