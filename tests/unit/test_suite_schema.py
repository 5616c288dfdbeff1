"""The published schema of suites allows what the reader allows, at the ends of each range."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from calque.checks.evaluators import custom
from calque.checks.evaluators.points import TYPE
from calque.checks.evaluators.settings import Key
from calque.checks.suites import gate
from calque.checks.suites.editor_schema import ALL_KEYS, suite_schema


def suite(**keys: Any) -> dict[str, Any]:
    evaluator = {"type": TYPE, "point_path": "a", "expected_point_path": "a", **keys}
    return {"cases": [{"output": {}, "expected": {}, "evaluators": [evaluator]}]}


@pytest.mark.parametrize(("threshold", "allowed"), [(0, True), (0.5, True), (12, True), (-0.5, False)])
def test_the_threshold_of_points_begins_at_zero(threshold: float, allowed: bool) -> None:
    assert Draft202012Validator(suite_schema()).is_valid(suite(threshold=threshold)) is allowed


NUMBERS = [-1.0, -0.5, 0, 0.001, 0.5, 1, 1.001, 1.5, 2, 3, 100]
BOUNDS = {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}
KEYS = [
    pytest.param(key, id=f"{keys.owner}.{key.name}")
    for keys in (*ALL_KEYS, gate.KEYS, custom._keys("own"))
    for key in keys.keys
    if BOUNDS & key.schema.keys()
]


@pytest.mark.parametrize("key", KEYS)
def test_editors_allow_the_numbers_that_are_read(key: Key) -> None:
    """Where the reader has an upper end that editors are not told, they may allow more; below both agree."""
    for number in NUMBERS:
        try:
            key.check(number)
        except ValueError:
            read = False
        else:
            read = True
        allowed = Draft202012Validator(dict(key.schema)).is_valid(number)
        assert allowed == read or (allowed and number > 1 and not BOUNDS & {"maximum", "exclusiveMaximum"} & key.schema.keys())


def test_editors_are_told_what_keys_stand_at() -> None:
    told = [
        (f"{keys.owner}.{key.name}", key.schema["default"], key.default)
        for keys in (*ALL_KEYS, gate.KEYS, custom._keys("own"))
        for key in keys.keys
        if "default" in key.schema
    ]
    assert len(told) > 40
    assert [name for name, shown, real in told if (type(shown) is bool, shown) != (type(real) is bool, real)] == []
