"""``calque audit``: what is suspicious in ground truth, and how far two annotators agree."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits
from calque.cli.help import GroupedCommand
from calque.cli.options import PATH, box_options, box_reading, brief_option, jobs_option, output_option, task_options
from calque.detection.auditing import AuditRules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from calque.corpus.boxes import BoxCorpus
    from calque.detection.auditing.report import Agreement, Findings
    from calque.evaluation.boxes.reading import BoxReading
    from calque.evaluation.presentation.sections import Section

FORMATS = ("table", "json", "jsonl", "csv", "markdown", "latex")
EXTENSIONS = {
    ".txt": "table", ".json": "json", ".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".markdown": "markdown",
    ".tex": "latex",
}  # fmt: skip


@click.command("audit", cls=GroupedCommand)
@click.argument("truth", type=PATH)
@click.argument("predictions", type=PATH, required=False)
@click.option("--agreement", is_flag=True, help="Measure the agreement of two annotators; both files are annotations.")
@task_options(AuditRules)
@box_options
@jobs_option
@click.option("--format", type=click.Choice(FORMATS), help="Output format; default: table.")
@brief_option
@output_option
@click.option("--quiet", is_flag=True, help="No progress and no notes on stderr.")
def command(truth: str, predictions: str | None, agreement: bool, jobs: int, quiet: bool, brief: bool, **values: Any) -> int:
    """Find mistakes in ground truth, and measure how far annotators agree.

    Finds duplicate, nested and tiny boxes. With PREDICTIONS, also labels that a confident model finds missing or wrong. With
    --agreement, both files are annotations; the options for predictions apply to the second.

    \b
    calque audit truth.json
    calque audit truth.json predictions.json --score 0.95
    calque audit anna.json ben.json --agreement
    """
    from calque.base.errors import ConfigError
    from calque.cli import outputs
    from calque.cli.inputs import taken_in
    from calque.cli.progress import working
    from calque.cli.render import check_wanted, write_each

    kinds = outputs.formats(values.pop("format"), values.pop("output"), EXTENSIONS)
    check_wanted(kinds.values(), brief=brief)
    if agreement and predictions is None:
        raise ConfigError("--agreement needs two files: calque audit anna.json ben.json --agreement")
    outputs.settle()
    reading = box_reading(values)
    if predictions is None and (reading.from_pred or reading.class_map_pred):
        raise ConfigError("--from-pred and --class-map-pred are about PREDICTIONS, and none are given")
    truth, *second = taken_in(truth, *([predictions] if predictions is not None else []))
    predictions = second[0] if second else None
    with working(f"auditing {truth}", quiet=quiet, steps=2) as auditing:
        corpora = _boxes(truth, predictions, reading, agreement=agreement)
        auditing.advance()
        if agreement:
            numbers, report = _agreement(truth, str(predictions), corpora, values["iou"], reading, jobs)
        else:
            numbers, report = _audit(truth, predictions, corpora, values, reading, jobs)
        auditing.advance()
    write_each(
        kinds,
        lambda: _sections(report, numbers, corpora, brief=brief),
        lambda kind: _lines(report, numbers, corpora, kind, brief=brief),
        quiet=quiet,
    )
    return exits.INCOMPLETE if _incomplete(corpora) else exits.FINE


Report = tuple[dict[str, Any], "Findings | Agreement"]


def _audit(
    truth: str,
    predictions: str | None,
    corpora: tuple[BoxCorpus, ...],
    given: dict[str, float],
    reading: BoxReading,
    jobs: int,
) -> Report:
    from calque.detection.auditing.audit import audit, summary
    from calque.detection.auditing.report import Findings

    rules = AuditRules(**given)
    findings = audit(corpora[0], corpora[1] if predictions is not None else None, rules, on=reading.on, jobs=jobs)
    counts = summary(findings, with_predictions=predictions is not None)
    about = {"audit": truth, "predictions": predictions, "rules": dataclasses.asdict(rules), "objects": len(corpora[0])}
    head = _head(reading, rules)
    numbers = {**head, **about, "counts": counts, "findings": list(findings.rows()), "issues": _issues(corpora)}
    return numbers, Findings(numbers, findings, corpora[0].contents())


def _agreement(first: str, second: str, corpora: tuple[BoxCorpus, ...], iou: float, reading: BoxReading, jobs: int) -> Report:
    from calque.detection.auditing import agreement as annotators
    from calque.detection.auditing.report import Agreement
    from calque.evaluation.measures import settle

    one, two = corpora
    tree, undefined = settle(annotators.agreement(one, two, iou=sorted({iou, max(iou, 0.75)}), on=reading.on, jobs=jobs))
    head = _head(reading, None, list(tree["agreement"]))
    numbers = {**head, "first": first, "second": second, **tree, "undefined": undefined, "issues": _issues(corpora)}
    return numbers, Agreement(numbers)


def _sections(
    report: Findings | Agreement, numbers: dict[str, Any], corpora: tuple[BoxCorpus, ...], *, brief: bool
) -> list[Section]:
    """What people read: the sentence, the tables, what was noticed, and the line with all settings."""
    from calque.evaluation.presentation.sections import Section, noticed

    issues = [issue for corpus in corpora for issue in corpus.issues]
    told = [*report.headline()] if brief else [*report.sections(), *noticed(issues)]
    return [Section(title="", notes=[report.sentence()]), *told, Section(title="", notes=[numbers["signature"]])]


def _lines(
    report: Findings | Agreement, numbers: dict[str, Any], corpora: tuple[BoxCorpus, ...], kind: str, *, brief: bool
) -> Iterator[str]:
    """The audit as text, in pieces that end with a line."""
    from calque.cli.render import in_format

    return in_format(
        kind,
        lambda: numbers,
        report.listed,
        lambda: [{**row, "signature": numbers["signature"]} for row in report.flat()],
        lambda: _sections(report, numbers, corpora, brief=brief),
    )


def _head(reading: BoxReading, rules: AuditRules | None, iou: Sequence[str] = ()) -> dict[str, Any]:
    """What every audit's JSON begins with; of how files were read, what is not the default."""
    from calque import __version__
    from calque.detection.auditing.report import signature
    from calque.evaluation.boxes.reading import BoxReading
    from calque.evaluation.task import settings, spell

    usual = BoxReading()
    notes = settings(BoxReading)
    told = {notes[name].key: spell(getattr(reading, name)) for name in notes if getattr(reading, name) != getattr(usual, name)}
    return {"task": "audit", "version": __version__, "signature": signature(__version__, rules, iou, told), "reading": told}


def _boxes(truth: str, predictions: str | None, reading: BoxReading, *, agreement: bool) -> tuple[BoxCorpus, ...]:
    if predictions is None:
        return _of_boxes(reading.read_truth(truth))
    if agreement:
        return _of_boxes(*reading.read_annotations(truth, predictions))
    return _of_boxes(*reading.read_boxes(truth, predictions, allow_missing_scores=False))


def _of_boxes(*corpora: Any) -> tuple[BoxCorpus, ...]:
    from calque.base.errors import ConfigError
    from calque.corpus.boxes import BoxCorpus

    if not all(isinstance(corpus, BoxCorpus) for corpus in corpora):
        raise ConfigError("an audit needs files with boxes on pages")
    return corpora


def _issues(corpora: tuple[BoxCorpus, ...]) -> list[dict[str, object]]:
    from calque.base.errors import summarize

    return [issue.to_dict() for issue in summarize(issue for corpus in corpora for issue in corpus.issues)]


def _incomplete(corpora: tuple[BoxCorpus, ...]) -> bool:
    from calque.base.errors import Severity

    return any(issue.severity is Severity.LOSS for corpus in corpora for issue in corpus.issues)
