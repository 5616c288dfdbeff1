"""The JSON Schema of results: what every result begins and ends with, and the parts that tasks describe their numbers with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
SHARE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
"""A number from 0 to 1; null where it is undefined."""
MEASURE: Schema = {"type": ["number", "null"]}
"""Any number; null where it is undefined."""
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
UNIT_ID: Schema = {"type": ["string", "integer"]}


def object_of(properties: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object with these keys, and perhaps the optional ones.

    >>> object_of({"tp": COUNT})["required"]
    ['tp']
    """
    return {"type": "object", "properties": {**properties, **(optional or {})}, "required": list(properties)}


def map_of(schema: Schema) -> Schema:
    """An object with any keys and values of one kind."""
    return {"type": "object", "additionalProperties": schema}


def list_of(schema: Schema) -> Schema:
    """A list of things of one kind."""
    return {"type": "array", "items": schema}


def perhaps(schema: Schema) -> Schema:
    """A thing, or null where it is undefined."""
    return {"anyOf": [schema, {"type": "null"}]}


_FILES = list_of(object_of({"file": TEXT, "model": TEXT}))
_ISSUE = object_of({
    "code": TEXT,
    "severity": {"enum": ["error", "loss", "note"]},
    "file": TEXT,
    "pointer": TEXT,
    "message": TEXT,
    "help": TEXT,
    "count": {"type": "integer", "minimum": 1},
})  # fmt: skip


GATE: Schema = object_of({"passed": FLAG, "failures": list_of(TEXT)})
"""What gates say; there where there are some."""


_DELTA = object_of(
    {**dict.fromkeys(("value", "low", "high", "se", "p"), MEASURE), "documents": COUNT},
    {
        **dict.fromkeys(("effect", "detectable", "documents_needed", "monte_carlo", "p_adjusted"), MEASURE),
        "note": TEXT,
        "verdict": {"enum": ["better", "worse", "equal", "undecided"]},
    },
)
_INTERVAL = {**dict.fromkeys(("value", "low", "high", "se"), MEASURE), "documents": COUNT, "note": TEXT}
INTERVALS = object_of({"measures": map_of(object_of(_INTERVAL))})
"""How sure each number is; there when intervals were asked for."""
BASELINE = map_of(_DELTA)
"""The differences to a baseline, by measure; there where there is one."""


def result_of(task: str, numbers: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """The schema of a task's result: its numbers between what all results have."""
    schema = object_of(
        {
            "task": {"const": task},
            "version": TEXT,
            "signature": TEXT,
            "settings": map_of(TEXT),
            "sources": object_of({"truth": _FILES, "predictions": _FILES}),
            **numbers,
            "undefined": map_of(TEXT),
            "issues": list_of(_ISSUE),
        },
        {"gate": GATE, "intervals": INTERVALS, "baseline": BASELINE, **(optional or {})},
    )
    return {"$schema": DIALECT, "title": f"calque {task} result", **schema}


def comparison_of(tasks: Iterable[str]) -> Schema:
    """The schema of comparisons, which are alike for all tasks."""
    changed = {
        "run": TEXT, "document": UNIT_ID, "page": {"type": ["integer", "null"]}, "id": {"type": ["string", "integer", "null"]},
        "label": TEXT, "change": {"enum": ["fixed", "broken", "changed"]}, "from": TEXT, "to": TEXT,
    }  # fmt: skip
    moved = {"document": UNIT_ID, "change": {"enum": ["better", "worse"]}, "from": MEASURE, "to": MEASURE}
    by_document = {"better": COUNT, "equal": COUNT, "worse": COUNT, "listed": list_of(object_of(moved))}
    resampling = {"replicates": COUNT, "seed": COUNT, "confidence": SHARE, "documents": COUNT}
    schema = object_of(
        {
            "task": {"enum": list(tasks)},
            "version": TEXT,
            "signature": TEXT,
            "settings": map_of(TEXT),
            "runs": list_of(object_of({"name": TEXT, "sources": object_of({"truth": _FILES, "predictions": _FILES})})),
            "resampling": object_of(resampling),
            # By run; the difference of two runs stands beside them, too.
            "measures": map_of(map_of({"anyOf": [object_of(_INTERVAL, {"delta": _DELTA}), _DELTA]})),
            "documents": object_of({"runs": map_of(object_of(by_document))}),
            "changed": list_of(object_of(changed)),
            "false_alarms": map_of(object_of({"new": COUNT, "gone": COUNT})),
            "undefined": map_of(TEXT),
            "issues": list_of(_ISSUE),
        },
        {"gate": GATE},
    )
    return {"$schema": DIALECT, "title": "calque comparison", **schema}


def any_of_tasks(schemas: Mapping[str, Schema]) -> Schema:
    """The schema of any result: its task says which of these describes it."""
    bodies = {name: {key: value for key, value in schema.items() if key != "$schema"} for name, schema in schemas.items()}
    return {
        "$schema": DIALECT,
        "title": "calque result",
        **object_of({"task": {"enum": list(schemas)}}),
        "allOf": [{"if": {"properties": {"task": {"const": name}}}, "then": {"$ref": f"#/$defs/{name}"}} for name in schemas],
        "$defs": bodies,
    }
