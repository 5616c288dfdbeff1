"""The JSON Schema of a checks result."""

from __future__ import annotations

from calque.checks.numbers import COUNTED
from calque.checks.task import STATUSES, VERDICTS
from calque.core.result_schema import (
    COUNT,
    FLAG,
    NUMBER,
    SHARE,
    TEXT,
    UNIT_ID,
    Schema,
    list_of,
    map_of,
    object_of,
    result_of,
)


def result_schema() -> Schema:
    """The schema of what ``calque check --format json`` prints; `calque merge` knows of no gate."""
    tally = {"cases": COUNT, **dict.fromkeys(COUNTED, COUNT), "score": SHARE, "pass_rate": SHARE}
    judged = {
        "id": UNIT_ID,
        "evaluator": TEXT,
        "score": NUMBER,
        "verdict": {"enum": list(VERDICTS)},
        "status": {"enum": list(STATUSES)},
    }
    told = {"hits": list_of(TEXT), "misses": list_of(TEXT), "reasoning": TEXT, "metadata": {"type": "object"}}
    numbers = {
        "summary": object_of(tally),
        "evaluators": map_of(object_of(tally)),
        "results": list_of(object_of(judged, told)),
    }
    return result_of("checks", numbers, {"gate": object_of({"passed": FLAG, "failures": list_of(TEXT)})})
