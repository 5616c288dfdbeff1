"""JSON Schema assertions on odd numbers, encoded references and schemas that would take exponential time."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from calque import ConfigError
from calque.checks import evaluator
from calque.checks.evaluators.outcome import Outcome
from tests.conftest import Run

ODD = [math.inf, -math.inf, math.nan, 10**400, -(10**400), 0.5, -1, 1e300, True, "1", None, [], sys.float_info.min]
NUMERIC = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
COUNTS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"]
VALUES = [10**400, -(10**400), math.inf, math.nan, 1e308, 5e-324, 0, True, "text", [1, 2], {"a": 1}, None]


def judged(schema: Any, value: Any, **settings: Any) -> Outcome:
    return evaluator({"type": "json_schema", "schema": schema, **settings}).evaluate(value, None)


@pytest.mark.parametrize("keyword", [*NUMERIC, *COUNTS])
def test_json_schema_with_an_odd_number_is_refused_at_load_or_judges(keyword: str) -> None:
    for number in ODD:
        schema = {keyword: number, **({"contains": True} if keyword.endswith("Contains") else {})}
        try:
            check = evaluator({"type": "json_schema", "schema": schema})
        except ConfigError:
            whole = not isinstance(number, bool) and isinstance(number, int | float) and number >= 0 and number % 1 == 0
            assert keyword in NUMERIC or not whole, (keyword, number)
            continue
        assert math.isfinite(number) if isinstance(number, float) else isinstance(number, int)
        for value in VALUES:
            assert check.evaluate(value, None).status == "ok"


@pytest.mark.parametrize(
    ("step", "value", "passes"),
    [(7, 7 * 10**400, True), (7, 7 * 10**400 + 1, False), (0.1, 10**400, True), (10**400, 10**401, True), (3, 1e308, False)],
    ids=["multiple", "no multiple", "fraction", "huge step", "huge float"],
)
def test_multiple_of_numbers_of_hundreds_of_digits_is_exact(step: float, value: float, passes: bool) -> None:
    assert (judged({"multipleOf": step}, value).verdict == "pass") == passes


def test_check_with_a_number_of_400_digits_keeps_all_verdicts(calque: Run, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(
        "data: cases.jsonl\nevaluators: [{type: json_schema, schema: {multipleOf: 7}}]\n", encoding="utf-8"
    )
    lines = [f'{{"id": "{name}", "output": {output}}}' for name, output in (("huge", "7" * 400), ("fine", 14), ("wrong", 15))]
    (tmp_path / "cases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = calque("check", str(tmp_path / "suite.yaml"), "--format", "jsonl")
    assert done.code == 1
    assert [json.loads(line)["verdict"] for line in done.out.splitlines()] == ["pass", "pass", "fail"]


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("line item", "#/$defs/line%20item"),
        ("a/b", "#/%24defs/a~1b"),
        ("a/b", "#/$defs/a%7E1b"),
        ("50%", "#/$defs/50%25"),
        ("größe", "#/$defs/gr%C3%B6%C3%9Fe"),
        ("größe", "#/$defs/größe"),
    ],
)
def test_json_schema_reference_with_percent_encoding_is_resolved(name: str, reference: str) -> None:
    schema = {"items": {"$ref": reference}, "$defs": {name: {"type": "integer"}}}
    assert judged(schema, [1]).verdict == "pass"
    assert judged(schema, ["x"]).verdict == "fail"


def test_unique_items_of_forty_thousand_items_ends() -> None:
    items: list[Any] = [[number, {"a": str(number)}] for number in range(40_000)]
    assert judged({"uniqueItems": True}, items).verdict == "pass"
    assert judged({"uniqueItems": True}, [*items, [5.0, {"a": "5"}]]).verdict == "fail"


def test_unique_items_compares_as_json_does() -> None:
    for equal in ([1, 1.0], [[1], [1.0]], [{"a": 1, "b": 2}, {"b": 2, "a": 1}], [None, None], [10**400, 10**400]):
        assert judged({"uniqueItems": True}, equal).verdict == "fail"
    for different in ([1, True], [0, False], ["1", 1], [[], {}], [None, False], [[1], 1], [{"a": 1}, {"a": True}]):
        assert judged({"uniqueItems": True}, different).verdict == "pass"


def doubling(keyword: str, levels: int) -> dict[str, Any]:
    """Every definition applies the next one twice: 2 ** levels applications."""
    twice: dict[str, Any] = {
        f"d{level}": {keyword: [{"$ref": f"#/$defs/d{level + 1}"}, {"$ref": f"#/$defs/d{level + 1}"}]}
        for level in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**twice, f"d{levels}": {"type": "string"}}}


def endless(keyword: str) -> Any:
    """A schema of one keyword that takes exponential or very long time on some value."""
    if keyword in ("anyOf", "allOf"):
        return doubling(keyword, 40), 1
    if keyword == "enum":
        return {"allOf": [{"enum": [0]}] * 400}, list(range(10_000))
    if keyword == "required":
        return {"items": {"required": [str(number) for number in range(5_000)]}}, [{}] * 5_000
    if keyword == "properties":
        return {"items": {"properties": {str(number): True for number in range(5_000)}}}, [{}] * 5_000
    raise AssertionError(keyword)


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "enum", "required", "properties"])
def test_json_schema_that_takes_exponential_time_is_an_error_of_its_case(keyword: str) -> None:
    schema, value = endless(keyword)
    outcome = judged(schema, value)
    assert (outcome.status, outcome.score) == ("error", 0.0)


def test_json_schema_that_needs_too_many_steps_is_an_error_with_negate() -> None:
    assert judged(*endless("required"), negate=True).status == "error"


def test_json_schema_bound_counts_all_items_of_a_case() -> None:
    """Each item alone is within the bound; ten thousand of them are not."""
    check = evaluator({"type": "json_schema", "schema": doubling("allOf", 12), "path": "items[*]"})
    assert check.evaluate({"items": ["x"]}, None).verdict == "pass"
    assert check.evaluate({"items": ["x"] * 10_000}, None).status == "error"
    assert check.evaluate({"items": ["x"]}, None).verdict == "pass"  # every case has a bound of its own


def test_json_schema_of_a_large_output_is_judged() -> None:
    """Twenty thousand records of ten keys are a large output, and within the bound."""
    keys = [f"key{number}" for number in range(10)]
    record = {"type": "object", "properties": {key: {"type": "integer"} for key in keys}, "required": keys}
    value = [dict.fromkeys(keys, 1)] * 20_000
    assert judged({"items": {**record, "additionalProperties": False}}, value).verdict == "pass"


def test_pattern_that_backtracks_stops_after_its_time_for_all_texts_of_a_case() -> None:
    slow = {f"{'a' * 28}{number}": 1 for number in range(10_000)}
    for schema in ({"patternProperties": {"^(a+)+$": True}}, {"propertyNames": {"pattern": "^(a+)+$"}}):
        assert judged(schema, slow).status == "error"
    check = evaluator({"type": "regex", "pattern": "(a+)+$", "path": "[*]", "timeout": 0.05, "full": True})
    assert check.evaluate([f"{'a' * 28}!"] * 10_000, None).status == "error"


def test_value_nested_too_deeply_is_never_a_pass() -> None:
    value: Any = 1
    for _ in range(300):
        value = [value]
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"type": "integer"}, {"items": {"$ref": "#/$defs/a"}}]}}}
    assert judged(schema, value).verdict == "fail"
    assert judged(schema, value, negate=True).status == "error"
