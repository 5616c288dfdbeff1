"""The JSON Schema of suite files, so that editors can complete and check them while they are written."""

from __future__ import annotations

from typing import Any

from calque.checks.evaluators import boxes, points
from calque.checks.evaluators.settings import Keys
from calque.checks.suites import gate
from calque.checks.suites.suite import PARTIAL

_TAGS = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


def suite_schema() -> dict[str, Any]:
    """The schema of a suite."""
    evaluators = {"type": "array", "items": {"$ref": "#/$defs/evaluator"}}
    case = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "id": {"type": ["string", "integer"], "description": "its name in results"},
            "output": {"description": "what the model gave"},
            "expected": {"description": "what is true"},
            "evaluators": {**evaluators, "description": "evaluators that only this case has"},
            "tags": {**_TAGS, "description": "words to choose cases by"},
        },
        "required": ["output", "expected"],
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
            "data": {"type": "string", "description": "a JSONL file with one case a line, found from the suite's folder"},
            "gate": {**gate.KEYS.schema(), "minProperties": 1, "description": "what must hold; without it no case may fail"},
            "partial": {
                "enum": list(PARTIAL),
                "description": "what a partial result is where a threshold was given; a failure without this",
            },
        },
        "oneOf": [{"required": ["cases"]}, {"required": ["data"]}],
        "$defs": {
            "evaluator": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"type": "string"}},
                "allOf": [_when(keys) for keys in (boxes.KEYS, points.KEYS)],
            }
        },
    }


def _when(keys: Keys) -> dict[str, Any]:
    schema = keys.schema()
    schema["properties"]["type"] = {"const": keys.owner}
    return {"if": {"properties": {"type": {"const": keys.owner}}}, "then": schema}
