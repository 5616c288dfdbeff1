"""The published schema of suites allows what the reader allows, at the ends of each range."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from calque.checks.evaluators.points import TYPE
from calque.checks.suites.editor_schema import suite_schema


def suite(**keys: Any) -> dict[str, Any]:
    evaluator = {"type": TYPE, "point_path": "a", "expected_point_path": "a", **keys}
    return {"cases": [{"output": {}, "expected": {}, "evaluators": [evaluator]}]}


@pytest.mark.parametrize(("threshold", "allowed"), [(0, True), (0.5, True), (12, True), (-0.5, False)])
def test_the_threshold_of_points_begins_at_zero(threshold: float, allowed: bool) -> None:
    assert Draft202012Validator(suite_schema()).is_valid(suite(threshold=threshold)) is allowed
