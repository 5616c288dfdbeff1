"""The JSON Schema of suite files, so that editors can complete and check them while they are written."""

from __future__ import annotations

from typing import Any

from calque.checks.evaluators import assertions, boxes, commands, points, tasks
from calque.checks.evaluators.settings import Keys
from calque.checks.suites import gate
from calque.checks.suites.suite import PARTIAL

_TAGS = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


_FILES = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
_ID = {
    "oneOf": [
        {"type": "string"},
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {"expected": {"type": "string"}, "actual": {"type": "string"}},
        },
    ]
}
ALL_KEYS: tuple[Keys, ...] = (
    boxes.KEYS,
    points.KEYS,
    *(kind.keys for kind in assertions.KINDS),
    *map(tasks.keys, tasks.TYPES),
    commands.KEYS,
)
"""The settings of every evaluator that comes with calque."""


def suite_schema() -> dict[str, Any]:
    """The schema of a suite."""
    evaluators = {"type": "array", "items": {"$ref": "#/$defs/evaluator"}}
    case = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "id": {"type": ["string", "integer"], "description": "its name in results"},
            "input": {"description": "what the system under test is given"},
            "output": {"description": "what the model gave"},
            "expected": {"description": "what is true"},
            "evaluators": {**evaluators, "description": "evaluators that only this case has"},
            "tags": {**_TAGS, "description": "words to choose cases by"},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "calque suite",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "description": "what the suite is called in results"},
            "evaluators": {**evaluators, "description": "evaluators that are applied to every case"},
            "cases": {"type": "array", "minItems": 1, "items": case, "description": "the cases themselves"},
            "data": {**_FILES, "description": "files with cases (JSONL, JSON or CSV), found from the suite's folder"},
            "expected": {**_FILES, "description": "files with what is expected, joined with actual by id"},
            "actual": {**_FILES, "description": "files with what the model gave"},
            "id": {**_ID, "description": "where expected and actual have the id; id by default"},
            "system": {
                **commands.SYSTEM_KEYS.schema(),
                "description": "the program that gives the outputs; needs --allow-commands",
            },
            "gate": {**gate.KEYS.schema(), "minProperties": 1, "description": "what must hold; without it no case may fail"},
            "partial": {
                "enum": list(PARTIAL),
                "description": "what a partial result is where a threshold was given; a failure without this",
            },
        },
        "oneOf": [
            {"required": ["cases"]},
            {"required": ["data"]},
            {"anyOf": [{"required": ["expected"]}, {"required": ["actual"]}]},
        ],
        "$defs": {
            "evaluator": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"type": "string"}},
                "allOf": [_when(keys) for keys in ALL_KEYS],
            }
        },
    }


def _when(keys: Keys) -> dict[str, Any]:
    schema = keys.schema()
    schema["properties"]["type"] = {"const": keys.owner}
    return {"if": {"properties": {"type": {"const": keys.owner}}}, "then": schema}
