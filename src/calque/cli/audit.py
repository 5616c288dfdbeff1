"""``calque audit``: what is suspicious in ground truth, and how far two annotators agree."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits

if TYPE_CHECKING:
    from calque.core.corpus import BoxCorpus
    from calque.core.presentation import Section

SHOWN = 10
"""How many findings of a kind the table lists."""


@click.command("audit")
@click.argument("truth", type=click.Path())
@click.argument("predictions", type=click.Path(), required=False)
@click.option("--agreement", is_flag=True, help="The second file is another annotator: how far do the two agree?")
@click.option("--near", type=float, default=0.9, show_default=True, help="IoU from which two boxes nearly coincide.")
@click.option("--nested", type=float, default=0.95, show_default=True, help="Share of a box inside another of its class.")
@click.option(
    "--tiny", type=float, default=0.01, show_default=True, help="Area below this share of its class's median is tiny."
)
@click.option("--score", type=float, default=0.9, show_default=True, help="Score from which a prediction is sure.")
@click.option("--iou", type=float, default=0.5, show_default=True, help="IoU from which a prediction finds a box.")
@click.option("--format", type=click.Choice(("table", "json")), help="table by default.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write to a file (.txt or .json).")
def command(
    truth: str, predictions: str | None, agreement: bool, format: str | None, output: str | None, **rules: float
) -> int:
    """Look for mistakes in TRUTH: duplicates, nested and tiny boxes.

    With PREDICTIONS also for labels that a sure model finds missing or wrong. With --agreement both files are annotations,
    and neither is the truth.

    \b
    calque audit truth.json
    calque audit truth.json predictions.json --score 0.95
    calque audit anna.json ben.json --agreement
    """
    from calque.cli.render import check_writable, coloured, format_of
    from calque.core.errors import ConfigError
    from calque.core.presentation import to_text
    from calque.core.result import strict_json

    kind = format_of(format, output)
    if kind not in ("table", "json"):
        raise ConfigError(f"{output}: an audit is written as .txt or .json")
    if agreement and predictions is None:
        raise ConfigError("--agreement needs two files: calque audit anna.json ben.json --agreement")
    check_writable(output)
    if agreement:
        numbers, sections, corpora = _agreement(truth, str(predictions), rules["iou"])
    else:
        numbers, sections, corpora = _audit(truth, predictions, rules)
    if kind == "json":
        _deliver(strict_json(numbers), output)
    else:
        import sys

        _deliver(coloured(sections) if output is None and sys.stdout.isatty() else to_text(sections), output)
    return exits.INCOMPLETE if _incomplete(corpora) else exits.FINE


Report = tuple[dict[str, Any], "list[Section]", "tuple[BoxCorpus, ...]"]


def _audit(truth: str, predictions: str | None, given: dict[str, float]) -> Report:
    from calque.core.presentation import Section
    from calque.detection.audit import KINDS, AuditRules, audit, listed, summary

    rules = AuditRules(**given)
    corpora = _boxes(truth, predictions)
    findings = audit(corpora[0], corpora[1] if predictions is not None else None, rules)
    counts = summary(findings, with_predictions=predictions is not None)
    head = {"audit": truth, "predictions": predictions, "rules": dataclasses.asdict(rules), "objects": len(corpora[0])}
    numbers = {**_head(), **head, "counts": counts, "findings": list(findings.rows()), "issues": _issues(corpora)}
    overview = [(f"{kind.replace('_', ' ')}: {KINDS[kind]}", count) for kind, count in counts.items()]
    sections = [
        Section(title=f"Audit of {truth}", notes=[corpora[0].contents()]),
        Section(title="Findings", head=("finding", "count"), rows=overview),
    ]
    columns = ("document", "page", "label", "id", "other_label", "other_id", "value")
    for kind in [kind for kind, count in counts.items() if count]:
        rows = [tuple(finding[name] for name in columns) for finding in listed(findings, kind, SHOWN)]
        more = counts[kind] - len(rows)
        notes = [f"… and {more:,} more; --format json lists them all"] if more else []
        head_row = ("document", "page", "class", "id", "other class", "other id", "value")
        sections.append(Section(title=kind.replace("_", " "), head=head_row, rows=rows, notes=notes))
    return numbers, sections, corpora


def _agreement(first: str, second: str, iou: float) -> Report:
    from calque.core.measures import settle
    from calque.core.presentation import Section
    from calque.detection import agreement as annotators

    corpora = _annotations(first, second)
    tree, undefined = settle(annotators.agreement(*corpora, iou=sorted({iou, max(iou, 0.75)})))
    numbers = {**_head(), "first": first, "second": second, **tree, "undefined": undefined, "issues": _issues(corpora)}
    notes = [f"– {path}: {reason}" for path, reason in undefined.items()]
    sections = [
        Section(title=f"{first} and {second}"),
        *annotators.sections(tree),
        *([Section(title="", notes=notes)] if notes else []),
    ]
    return numbers, sections, corpora


def _head() -> dict[str, Any]:
    from calque.core.version import __version__

    return {"task": "audit", "version": __version__}


def _boxes(truth: str, predictions: str | None) -> tuple[BoxCorpus, ...]:
    from calque.readers import read, read_pair

    if predictions is None:
        return _of_boxes(read(truth, side="ground_truth"))
    return _of_boxes(*read_pair(truth, predictions))


def _annotations(first: str, second: str) -> tuple[BoxCorpus, BoxCorpus]:
    """Two annotation files; COCO results, which have no classes of their own, take those of the first."""
    from calque.core.corpus import Side
    from calque.readers import check_pair, read, read_pair

    one, two = _of_boxes(read(first, side="ground_truth"), read(second, allow_missing_scores=True))
    if two.side is Side.FOUND:
        one, two = _of_boxes(*read_pair(first, second, allow_missing_scores=True))
    check_pair(one, two)
    return one, two


def _of_boxes(*corpora: Any) -> tuple[BoxCorpus, ...]:
    from calque.core.corpus import BoxCorpus
    from calque.core.errors import ConfigError

    if not all(isinstance(corpus, BoxCorpus) for corpus in corpora):
        raise ConfigError("an audit needs files with boxes on pages")
    return corpora


def _issues(corpora: tuple[BoxCorpus, ...]) -> list[dict[str, object]]:
    from calque.core.errors import summarize

    return [issue.to_dict() for issue in summarize(issue for corpus in corpora for issue in corpus.issues)]


def _incomplete(corpora: tuple[BoxCorpus, ...]) -> bool:
    from calque.core.errors import Severity

    return any(issue.severity is Severity.LOSS for corpus in corpora for issue in corpus.issues)


def _deliver(text: str, output: str | None) -> None:
    from calque.core.files import write_whole

    if output is None:
        click.echo(text)
    else:
        write_whole(output, (text + "\n").encode("utf-8", "backslashreplace"))
