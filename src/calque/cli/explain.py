"""``calque explain``: what a measure means."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from calque.base.errors import ConfigError, closest, did_you_mean
from calque.cli import exits
from calque.cli.help import GroupedCommand
from calque.evaluation.boxes.reading import BoxReading
from calque.evaluation.task import BUILT_IN, task_class

if TYPE_CHECKING:
    from calque.evaluation.measures import Measure, MeasureName
    from calque.evaluation.metrics import MetricTable


VERB_TASKS = {"detect": "detection", "check": "checks"}
"""Verbs that are not called as their task is."""


@click.command("explain", cls=GroupedCommand)
@click.argument("measure", required=False, shell_complete=lambda _context, _parameter, typed: _beginning(typed))
@click.option(
    "--json-schema",
    is_flag=True,
    help="Print the JSON Schema of the results of a command, or of all.",
)
def command(measure: str | None, json_schema: bool) -> int:
    """Explain a metric or a column of a table; without a name, list them all.

    A metric is written [SCOPE.]NAME[@THRESHOLD][/CLASS].

    \b
    calque explain recall@0.5
    calque explain macro_documents.recall@0.5/Table
    """
    if json_schema:
        click.echo(json.dumps(_json_schema(measure), indent=2))
    elif measure is None:
        _list_all()
    else:
        _explain(measure)
    return exits.FINE


def _json_schema(verb: str | None) -> dict[str, Any]:
    """The schema of a verb's results, of comparisons, or of all results: their task says which part holds."""
    from calque.evaluation.presentation.result_schema import any_of_tasks, comparison_of

    schemas = {name: task().view().schema() for name in BUILT_IN if (task := task_class(name)) is not None}
    if verb is None:
        return any_of_tasks(schemas)
    if verb == "compare":
        return comparison_of(schemas)
    name = VERB_TASKS.get(verb, verb)
    if name not in schemas:
        verbs = [*VERB_TASKS, *(task for task in schemas if task not in VERB_TASKS.values()), "compare"]
        raise ConfigError(
            f"no results of {verb!r} have a schema; {did_you_mean(verb, verbs) or 'there are ' + ', '.join(verbs)}"
        )
    return schemas[name]


def _beginning(typed: str) -> list[str]:
    """The measures and columns that begin as what is typed, for shells."""
    spelt = {_spelt(name, entries[0][1]) for name, entries in _known().items()}
    return sorted(name for name in spelt if name.startswith(typed) and " " not in name)


def _list_all() -> None:
    for task, measures in _measures().items():
        click.echo(f"{task}:")
        for measure in measures:
            click.echo(f"  {measure.name:<14} {measure.definition}")


def _measures() -> dict[str, tuple[Measure, ...]]:
    return {name: task.measures() for name in BUILT_IN if (task := task_class(name)) is not None}


COMPARED = {
    "low": "The lower end of the interval in which a number lies.",
    "high": "The upper end of the interval in which a number lies.",
    "se": "The standard error of a number or a difference: the standard deviation over resampled documents.",
    "standard error": "How far a number would vary on other documents of the same kind.",
    "difference": "The number of a run less that of the first run, with its interval.",
    "p": "How often chance alone would make such a difference: two-sided, from paired resamples of documents.",
    "p (Holm)": "The p-value of a tested difference, corrected for all tests of the comparison.",
    "p_adjusted": "The p-value of a tested difference, corrected for all tests of the comparison (Holm).",
    "verdict": "What a test says: better, worse, equal where nothing differs at all, else undecided.",
    "effect": "A difference in standard deviations of one document: value / (se·√n).",
    "detectable": "The difference that four of five such corpora would show.",
    "documents_needed": "About how many documents would show a difference of 0.01, or of --difference.",
    "monte_carlo": "How far an end of an interval may move with other replicates.",
}
"""What stands in comparisons and intervals."""

LEVELS = {
    "route by class": "One system for each class, chosen for the highest F1.",
    "route by document, perfect": "The best system for each document, chosen with knowledge of the ground truth.",
    "votes: any": "Objects that any system finds.",
    "recombine edges": "For each ground-truth object, the best box with edges of several systems.",
    "average edges": "For each ground-truth object, the best weighted mean of the systems' boxes.",
    "select, at most": "Upper bound of AP for the best selection of all systems' boxes.",
}
"""The rows of a ceiling that do not name systems."""
ROWS = {
    "all": "All classes, fields, blocks, evaluators or documents together.",
    "all (micro)": "Counts are added over all documents and classes, then divided (scope micro).",
    "all words (micro)": "Counts are added over all documents, then divided (scope micro).",
    "all together (micro)": "Counts are added over all tables, then divided (scope micro).",
    "all pages together (micro)": "Counts are added over all pages, then divided.",
    "mean of classes": "The mean of the classes that have a value (scope macro_classes).",
    "mean of documents": "The mean of the documents that have a value (scope macro_documents).",
    "mean of tables": "The mean over ground-truth tables; a table that is not found counts as 0.",
    "mean of pages": "The mean of the pages that have a value.",
    "with spurious tables": "The mean over ground-truth tables and predicted tables without a match, which count as 0.",
    "simple tables": "The mean over tables without merged cells (scope simple).",
    "complex tables": "The mean over tables with merged cells (scope complex).",
    "(background)": "No object of the other side: a false positive in its row, a false negative in its column.",
    "(unmatched)": "Ground-truth blocks that no prediction overlaps enough.",
    "on shapes": "The metrics on shapes as the format draws them.",
    "on boxes": "The metrics on the boxes around shapes.",
    "on masks": "The metrics on pixel masks.",
    "cells": "Cells with the same place, span and text on both sides (cells_precision, cells_recall, cells_f1).",
    "adjacency": "Relations between neighboring cells (adjacency_precision, adjacency_recall, adjacency_f1).",
    "header": "Header cells on both sides (header_precision, header_recall, header_f1).",
    "repaired by": "Ground-truth objects that the system of the row misses and this system finds.",
    "run": "The name of a run.",
    "system": "The name of a system.",
    "measure": "A metric, as --fail-under and calque explain take it.",
}
"""Labels of rows and columns that several tables share."""

Entry = tuple[str, "Measure"]
"""A task, and what it means by a name."""


def _known() -> dict[str, list[Entry]]:
    """Everything that can be asked for: measures by their names and by their headers, then the other columns of tables."""
    from calque.detection.auditing import agreement
    from calque.evaluation.measures import Measure

    known: dict[str, list[Entry]] = {}
    for task, measures in _measures().items():
        for measure in measures:
            for name in dict.fromkeys((measure.name.casefold(), measure.title.casefold())):
                known.setdefault(name, []).append((task, measure))
        by_name = {measure.name: measure for measure in measures}
        for alias, name in _aliases(task).items():
            if name in by_name:
                known.setdefault(alias.casefold(), []).insert(0, (task, by_name[name]))
    columns = {name: kind().view().columns for name in BUILT_IN if (kind := task_class(name)) is not None}
    columns["audit"] = agreement.COLUMNS
    columns["compare"] = COMPARED
    columns["ceiling"] = {**columns["ceiling"], **LEVELS}
    columns["table"] = ROWS
    for task, meanings in columns.items():
        for header, meaning in meanings.items():
            entries = known.setdefault(header.casefold(), [])
            if not any(task == other for other, _ in entries):
                entries.append((task, Measure(header, header, meaning, "", "", "")))
    return known


def _aliases(task: str) -> Mapping[str, str]:
    """Return the metrics of a task that have another name, by that name."""
    table = _table(task)
    if table is None:
        return getattr(task_class(task), "aliases", {})
    return {alias: metric.name for metric in table.metrics for alias in metric.aliases}


def _table(task: str) -> MetricTable | None:
    kind = task_class(task)
    return None if kind is None else kind.metric_table()


def _explain(text: str) -> None:
    """Every task that has a measure or a column of that name says what it means there."""
    from calque.evaluation.measures import MeasureName

    known = _known()
    if text.casefold().startswith("repaired by "):
        text = "repaired by"
    if text.casefold() in known:  # headers may hold what no name of a measure does
        for position, (task, measure) in enumerate(_spelled(known[text.casefold()], text)):
            _print(text, task, measure, None, first=not position)
        return
    try:
        name = MeasureName.parse(text)
    except ValueError as error:
        raise ConfigError(f"{error}; {_nearest(text, known)}") from None
    name = _with_detection_names(name, known)
    if name.name.casefold() not in known:
        raise ConfigError(f"no measure or column is named {name.name!r}; {_nearest(name.name, known)}")
    # With a threshold only tasks with boxes answer, with a class or a field fields as well.
    narrow = name.threshold is not None or name.label is not None
    entries = _spelled(known[name.name.casefold()], name.name)
    by_field = name.threshold is None
    found = [
        entry for entry in entries if not narrow or _has_thresholds(*entry, name.scope) or (by_field and entry[0] == "fields")
    ]
    if not by_field:  # AP and AR average over thresholds
        found = [entry for entry in found if not entry[1].name.startswith(("AP", "AR"))]
    if not found and name.threshold is not None:
        plain = {spelling: names for spelling, names in known.items() if names[0][1].source}
        raise ConfigError(f"{name.name} has no thresholds; {_nearest(str(name), plain)}")
    found = found or entries
    scoped = [entry for entry in found if not name.scope or name.scope in _scopes(*entry)]
    if not scoped:
        scopes = dict.fromkeys(scope for entry in found for scope in _scopes(*entry))
        told = did_you_mean(name.scope, scopes) or (f"it is one of {', '.join(scopes)}" if scopes else "it has none")
        raise ConfigError(f"{name.name} has no scope that is named {name.scope!r}; {told}")
    for position, (task, measure) in enumerate(scoped):
        _print(str(name), task, measure, name, first=not position)


def _with_detection_names(name: MeasureName, known: dict[str, list[Entry]]) -> MeasureName:
    """Return AP50 for AP@0.5, and add average recalls such as AR7: ``detect --max-detections`` sets their number."""
    from calque.detection.average_precision import average_recall
    from calque.detection.task import Detection

    full = Detection.full_name(name)
    count = re.fullmatch("AR([1-9][0-9]*)", full.name, re.IGNORECASE)
    if count:
        known.setdefault(full.name.casefold(), [("detection", average_recall(int(count[1])))])
    return full if count or full.threshold != name.threshold else name


def _spelled(entries: list[Entry], text: str) -> list[Entry]:
    """Drop the entries of a task that differ in case, if the task has an entry spelled exactly as the text."""
    exact = {id(entry) for entry in entries if text in (entry[1].name, entry[1].title)}
    tasks = {entry[0] for entry in entries if id(entry) in exact}
    return [entry for entry in entries if id(entry) in exact or entry[0] not in tasks]


def _nearest(word: str, known: Mapping[str, list[Entry]]) -> str:
    """Return a clause with the three names that are closest to a mistyped one."""
    spellings = {name: repr(_spelt(name, entries[0][1])) for name, entries in known.items()}
    close = closest(word, spellings, 3, cutoff=0.0, key=str.casefold)
    return "the nearest are " + ", ".join(dict.fromkeys(spellings[name] for name in close))


def _spelt(name: str, measure: Measure) -> str:
    return measure.name if measure.name.casefold() == name else measure.title


def _scopes(task: str, measure: Measure) -> dict[str, str]:
    """Over what a task tells a measure, the usual first; empty for what is no measure."""
    from calque.detection.numbers import COUNTS, SCOPES
    from calque.evaluation.measures import Ratio

    if not measure.source:
        return {}
    table = _table(task)
    if task == "detection" and isinstance(measure, Ratio):
        return SCOPES
    if task == "detection" and measure in COUNTS:
        return {"micro": "added up over all documents and classes; also for each class"}
    if task == "detection" and measure.name.startswith(("AP", "AR")):
        return {"macro_classes": "the mean of the classes that have truths"}
    return _of_rungs(task, measure.name) if table is None else table.scopes(measure.name)


def _of_rungs(task: str, name: str) -> dict[str, str]:
    """The scopes of tasks that have their own: tables and ceilings; else the one that there is."""
    from calque.ceiling.measures import ON_RUNGS, RUNGS
    from calque.tables.measures import scopes_of

    if task == "ceiling" and name in ON_RUNGS:
        return RUNGS
    return scopes_of(name) if task == "tables" else {"all": OTHER_SCOPES[task]}


OTHER_SCOPES = {
    "detection": "over all documents and classes",
    "fields": "over all documents; also for each field",
    "checks": "over all cases; also for each evaluator",
    "ceiling": "over all documents, at each level",
}
"""What is said of the numbers that come in one scope only."""


def _has_thresholds(task: str, measure: Measure, scope: str) -> bool:
    """Whether a task has a measure at thresholds; a ceiling answers for its rungs."""
    known = task_class(task)
    own = task != "ceiling" or (scope and scope in _scopes(task, measure))
    return known is not None and issubclass(known, BoxReading) and bool(own)


def _print(title: str, task: str, measure: Measure, name: MeasureName | None, *, first: bool) -> None:
    scopes = _scopes(task, measure)
    scope = (name.scope if name is not None else "") or next(iter(scopes), "")
    narrow = name is not None and name.label is not None
    rows = {
        "task": task,
        "definition": measure.definition,
        "formula": measure.formula,
        "threshold": ""
        if name is None or name.threshold is None
        else f"a pair counts when its IoU is at least {name.threshold!r}",
        "scope": f"only the {'field' if task == 'fields' else 'class'} {name.label!r}"
        if name is not None and narrow
        else f"{scope}: {scopes[scope]}"
        if scopes
        else "",
        "undefined": measure.undefined,
        "source": measure.source,
    }
    if not first:
        click.echo()
    click.echo(click.style(title, bold=True))
    for label, value in rows.items():
        if value:
            click.echo(f"  {label:<11} {value}")
