"""``calque explain``: what a measure means."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from calque.cli import exits
from calque.core.errors import ConfigError, did_you_mean
from calque.core.task import BUILT_IN, settings, task_class

if TYPE_CHECKING:
    from calque.core.measures import Measure, MeasureName


VERB_TASKS = {"detect": "detection", "check": "checks"}
"""Verbs that are not called as their task is."""


@click.command("explain")
@click.argument("measure", required=False)
@click.option(
    "--json-schema",
    is_flag=True,
    help="Print the JSON Schema of results: of one verb (calque explain --json-schema fields), or of all.",
)
def command(measure: str | None, json_schema: bool) -> int:
    """Say what MEASURE means: definition, formula, source. Without MEASURE, list them all.

    A measure is written [SCOPE.]NAME[@THRESHOLD][/CLASS], as in recall@0.5, recall@0.5/Table, macro_documents.recall@0.5.
    """
    if json_schema:
        click.echo(json.dumps(_json_schema(measure), indent=2))
    elif measure is None:
        _list_all()
    else:
        _explain(measure)
    return exits.FINE


def _json_schema(verb: str | None) -> dict[str, Any]:
    """The schema of a verb's results, or of all results: their task says which part holds."""
    from calque.core.presentation.result_schema import any_of_tasks

    schemas = {name: task.result_schema() for name in BUILT_IN if (task := task_class(name)) is not None}
    if verb is None:
        return any_of_tasks(schemas)
    name = VERB_TASKS.get(verb, verb)
    if name not in schemas:
        verbs = [*VERB_TASKS, *(task for task in schemas if task not in VERB_TASKS.values())]
        raise ConfigError(
            f"no results of {verb!r} have a schema; {did_you_mean(verb, verbs) or 'there are ' + ', '.join(verbs)}"
        )
    return schemas[name]


def _list_all() -> None:
    for task, measures in _measures().items():
        click.echo(f"{task}:")
        for measure in measures:
            click.echo(f"  {measure.name:<14} {measure.definition}")


def _measures() -> dict[str, tuple[Measure, ...]]:
    return {name: task.measures() for name in BUILT_IN if (task := task_class(name)) is not None}


def _explain(text: str) -> None:
    """Every task that has a measure of that name says what it means there."""
    from calque.core.measures import MeasureName
    from calque.detection.numbers import SCOPES

    try:
        name = MeasureName.parse(text)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    known: dict[str, list[tuple[str, Measure]]] = {}
    for task, measures in _measures().items():
        for measure in measures:
            known.setdefault(measure.name, []).append((task, measure))
    if name.name not in known:
        raise ConfigError(
            f"no measure is named {name.name!r}; {did_you_mean(name.name, known) or 'it is one of ' + ', '.join(known)}"
        )
    scope = name.scope or "micro"
    if scope not in SCOPES:
        raise ConfigError(f"no scope is named {scope!r}; {did_you_mean(scope, SCOPES) or 'it is one of ' + ', '.join(SCOPES)}")
    # A threshold or a class of boxes is asked for: only tasks with boxes answer.
    narrow = name.threshold is not None or name.label is not None
    found = [entry for entry in known[name.name] if not narrow or _has_thresholds(entry[0])] or known[name.name]
    for position, (task, measure) in enumerate(found):
        if position:
            click.echo()
        _print(name, task, measure, SCOPES[scope])


def _has_thresholds(task: str) -> bool:
    known = task_class(task)
    return known is not None and "iou" in settings(known)


def _print(name: MeasureName, task: str, measure: Measure, scope: str) -> None:
    rows = {
        "task": task,
        "definition": measure.definition,
        "formula": measure.formula,
        "threshold": "" if name.threshold is None else f"a pair counts when its IoU is at least {name.threshold!r}",
        "scope": f"only the class {name.label!r}" if name.label is not None else f"{name.scope or 'micro'}: {scope}",
        "undefined": measure.undefined,
        "source": measure.source,
    }
    click.echo(click.style(str(name), bold=True))
    for title, value in rows.items():
        if value:
            click.echo(f"  {title:<11} {value}")
