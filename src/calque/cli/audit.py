"""``calque audit``: what is suspicious in ground truth, and how far two annotators agree."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits
from calque.cli.options import PATH, box_options, box_reading, jobs_option, output_option, task_options
from calque.detection.audit_rules import AuditRules

if TYPE_CHECKING:
    from calque.core.box_reading import BoxReading
    from calque.core.corpus import BoxCorpus
    from calque.core.presentation.sections import Section

EXTENSIONS = {".txt": "table", ".json": "json"}
SHOWN = 10
"""How many findings of a kind the table lists."""


@click.command("audit")
@click.argument("truth", type=PATH)
@click.argument("predictions", type=PATH, required=False)
@click.option("--agreement", is_flag=True, help="The second file is another annotator: how far do the two agree?")
@task_options(AuditRules)
@box_options
@jobs_option
@click.option("--format", type=click.Choice(("table", "json")), help="table by default.")
@output_option
def command(
    truth: str, predictions: str | None, agreement: bool, format: str | None, output: tuple[str, ...], jobs: int, **values: Any
) -> int:
    """Look for mistakes in TRUTH: duplicates, nested and tiny boxes.

    With PREDICTIONS also for labels that a sure model finds missing or wrong. With --agreement both files are annotations,
    and neither is the truth; options for predictions are about the second file.

    \b
    calque audit truth.json
    calque audit truth.json predictions.json --score 0.95
    calque audit anna.json ben.json --agreement
    """
    from calque.cli import outputs
    from calque.cli.inputs import from_stdin
    from calque.cli.render import write_each
    from calque.core.errors import ConfigError
    from calque.core.presentation.sections import printable_json, to_text
    from calque.core.result import strict_json

    kinds = outputs.formats(format, output, EXTENSIONS)
    if agreement and predictions is None:
        raise ConfigError("--agreement needs two files: calque audit anna.json ben.json --agreement")
    outputs.settle()
    reading = box_reading(values)
    if predictions is None and (reading.from_pred or reading.class_map_pred):
        raise ConfigError("--from-pred and --class-map-pred are about PREDICTIONS, and none are given")
    truth, *second = from_stdin(truth, *([predictions] if predictions is not None else []))
    predictions = second[0] if second else None
    if agreement:
        numbers, sections, corpora = _agreement(truth, str(predictions), values["iou"], reading, jobs)
    else:
        numbers, sections, corpora = _audit(truth, predictions, values, reading, jobs)
    sections += _noticed(corpora)
    text = {"json": lambda: printable_json(strict_json(numbers)), "table": lambda: to_text(sections)}
    write_each(kinds, lambda: sections, lambda kind: iter([text[kind]() + "\n"]), quiet=True)
    return exits.INCOMPLETE if _incomplete(corpora) else exits.FINE


Report = tuple[dict[str, Any], "list[Section]", "tuple[BoxCorpus, ...]"]


def _audit(truth: str, predictions: str | None, given: dict[str, float], reading: BoxReading, jobs: int) -> Report:
    from calque.core.presentation.sections import Section
    from calque.detection.audit import KINDS, audit, listed, summary

    rules = AuditRules(**given)
    corpora = _boxes(truth, predictions, reading)
    findings = audit(corpora[0], corpora[1] if predictions is not None else None, rules, on=reading.on, jobs=jobs)
    counts = summary(findings, with_predictions=predictions is not None)
    head = {"audit": truth, "predictions": predictions, "rules": dataclasses.asdict(rules), "objects": len(corpora[0])}
    numbers = {**_head(reading), **head, "counts": counts, "findings": list(findings.rows()), "issues": _issues(corpora)}
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


def _agreement(first: str, second: str, iou: float, reading: BoxReading, jobs: int) -> Report:
    from calque.core.measures import settle
    from calque.core.presentation.sections import Section
    from calque.detection import agreement as annotators

    one, two = corpora = _of_boxes(*reading.read_annotations(first, second))
    tree, undefined = settle(annotators.agreement(one, two, iou=sorted({iou, max(iou, 0.75)}), on=reading.on, jobs=jobs))
    numbers = {**_head(reading), "first": first, "second": second, **tree, "undefined": undefined, "issues": _issues(corpora)}
    notes = [f"– {path}: {reason}" for path, reason in undefined.items()]
    sections = [
        Section(title=f"{first} and {second}"),
        *annotators.sections(tree),
        *([Section(title="", notes=notes)] if notes else []),
    ]
    return numbers, sections, corpora


def _head(reading: BoxReading) -> dict[str, Any]:
    """What every audit's JSON begins with; of how files were read, what is not the default."""
    from calque import __version__
    from calque.core.box_reading import BoxReading
    from calque.core.task import settings, spell

    usual = BoxReading()
    notes = settings(BoxReading)
    told = {notes[name].key: spell(getattr(reading, name)) for name in notes if getattr(reading, name) != getattr(usual, name)}
    return {"task": "audit", "version": __version__, "reading": told}


def _boxes(truth: str, predictions: str | None, reading: BoxReading) -> tuple[BoxCorpus, ...]:
    if predictions is None:
        return _of_boxes(reading.read_truth(truth))
    return _of_boxes(*reading.read_boxes(truth, predictions, allow_missing_scores=False))


def _of_boxes(*corpora: Any) -> tuple[BoxCorpus, ...]:
    from calque.core.corpus import BoxCorpus
    from calque.core.errors import ConfigError

    if not all(isinstance(corpus, BoxCorpus) for corpus in corpora):
        raise ConfigError("an audit needs files with boxes on pages")
    return corpora


def _issues(corpora: tuple[BoxCorpus, ...]) -> list[dict[str, object]]:
    from calque.core.errors import summarize

    return [issue.to_dict() for issue in summarize(issue for corpus in corpora for issue in corpus.issues)]


def _noticed(corpora: tuple[BoxCorpus, ...]) -> list[Section]:
    from calque.core.errors import summarize
    from calque.core.presentation.sections import Section

    notes = [str(issue) for issue in summarize(issue for corpus in corpora for issue in corpus.issues)]
    return [Section(title="noticed in the data", notes=notes)] if notes else []


def _incomplete(corpora: tuple[BoxCorpus, ...]) -> bool:
    from calque.core.errors import Severity

    return any(issue.severity is Severity.LOSS for corpus in corpora for issue in corpus.issues)
