"""Everyday assertions: what holds, what does not, and what is the author's error."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError
from calque.checks import evaluator
from calque.checks.evaluators.paths import same

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, width=16) | st.text("ab1", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)


def judged(config: dict[str, Any], output: Any, expected: Any = None) -> tuple[float, str, str]:
    outcome = evaluator(config).evaluate(output, expected)
    return outcome.score, str(outcome.verdict), str(outcome.status)


PASS, FAIL, ERROR = (1.0, "pass", "ok"), (0.0, "fail", "ok"), (0.0, "fail", "error")


@pytest.mark.parametrize(
    ("config", "output", "expected", "outcome"),
    [
        ({"type": "equals"}, 1, 1.0, PASS),
        ({"type": "equals"}, 1, True, FAIL),
        ({"type": "equals"}, "1", 1, FAIL),
        ({"type": "equals", "value": None}, None, "anything", PASS),
        ({"type": "equals", "path": "a", "expected_path": "b.c"}, {"a": [1]}, {"b": {"c": [1]}}, PASS),
        ({"type": "equals", "path": "a"}, {}, {"a": 1}, FAIL),
        ({"type": "equals", "path": "a"}, {"a": 1}, {}, ERROR),
        ({"type": "equals", "value": "A  b", "ignore_case": True, "ignore_whitespace": True}, " a B ", None, PASS),
        ({"type": "equals", "value": "x", "negate": True}, "y", None, PASS),
        ({"type": "equals", "value": "x", "negate": True}, "x", None, FAIL),
        ({"type": "contains", "value": "fox"}, "the fox", None, PASS),
        ({"type": "contains", "value": 3}, [1, 3.0], None, PASS),
        ({"type": "contains", "value": "k"}, {"k": 0}, None, PASS),
        ({"type": "contains", "value": "fox"}, 5, None, FAIL),
        ({"type": "contains"}, "the fox", 5, ERROR),
        ({"type": "one_of", "values": ["a", "b"]}, "b", None, PASS),
        ({"type": "one_of", "values": ["a", "b"]}, "c", None, FAIL),
        ({"type": "one_of", "path": "k", "expected_path": "allowed"}, {"k": 2}, {"allowed": [1, 2]}, PASS),
        ({"type": "one_of", "path": "k", "expected_path": "allowed"}, {"k": 2}, {"allowed": 2}, ERROR),
        ({"type": "regex", "pattern": "[0-9]{4}"}, "in 2024", None, PASS),
        ({"type": "regex", "pattern": "[0-9]{4}", "full": True}, "in 2024", None, FAIL),
        ({"type": "regex", "pattern": "INV", "ignore_case": True}, "inv-1", None, PASS),
        ({"type": "regex", "pattern": "x"}, 5, None, FAIL),
        ({"type": "regex", "path": "t", "expected_path": "p"}, {"t": "ab"}, {"p": "^a"}, PASS),
        ({"type": "regex", "path": "t", "expected_path": "p"}, {"t": "ab"}, {"p": "("}, ERROR),
        ({"type": "numeric_tolerance", "value": 10, "absolute": 0.5}, "10.5", None, PASS),
        ({"type": "numeric_tolerance", "value": 10, "absolute": 0.5}, 10.51, None, FAIL),
        ({"type": "numeric_tolerance", "relative": 0.1}, 90, 100, PASS),
        ({"type": "numeric_tolerance", "relative": 0.1}, 89, 100, FAIL),
        ({"type": "numeric_tolerance"}, 0.1 + 0.2, 0.3, PASS),
        ({"type": "numeric_tolerance"}, True, 1, FAIL),
        ({"type": "numeric_tolerance"}, "10px", 10, FAIL),
        ({"type": "numeric_tolerance"}, 10, "10px", ERROR),
        ({"type": "json_schema", "schema": {"type": "object", "required": ["a"]}}, {"a": 1}, None, PASS),
        ({"type": "json_schema", "schema": {"type": "object", "required": ["a"]}}, {}, None, FAIL),
    ],
    ids=str,
)
def test_one_value(config: dict[str, Any], output: Any, expected: Any, outcome: tuple[float, str, str]) -> None:
    assert judged(config, output, expected) == outcome


def test_every_item_of_a_list() -> None:
    lines = {"lines": [{"amount": 1}, {"amount": 2}, {}, {"amount": "x"}]}
    config = {"type": "numeric_tolerance", "path": "lines[*].amount", "value": 1, "absolute": 1}
    outcome = evaluator(config).evaluate(lines, None)
    assert (outcome.score, str(outcome.verdict)) == (0.5, "fail")
    assert outcome.metadata == {"items": 4, "passes": 2, "fails": 2}
    assert outcome.misses == ["output[2]: lines[*].amount is missing (no amount)", 'output[3]: "x" is not a number']
    assert judged({**config, "threshold": 0.5}, lines)[1] == "pass"


@pytest.mark.parametrize(
    ("found", "truth", "score"),
    [([1, 2], [1, 2], 1.0), ([1], [1, 2], 0.5), ([1, 2, 3], [1], 1 / 3), ([], [], 1.0), ([], [1], 0.0)],
)
def test_items_are_paired_with_expected_items(found: list[int], truth: list[int], score: float) -> None:
    outcome = evaluator({"type": "equals", "path": "[*]"}).evaluate(found, truth)
    assert outcome.score == pytest.approx(score)


def test_nothing_at_all_is_no_silent_pass() -> None:
    assert judged({"type": "equals", "path": "[*]", "value": 1}, [])[:2] == (0.0, "fail")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"type": "regex", "pattern": "("}, "is not a regular expression"),
        ({"type": "regex", "pattern": 5}, "a pattern must be text, not 5"),
        ({"type": "regex", "pattern": "a" * 3000}, "a pattern may have 2,000 characters"),
        ({"type": "one_of", "values": []}, "values must be a list of values"),
        ({"type": "numeric_tolerance", "absolute": -1}, "absolute must be at least 0"),
        ({"type": "numeric_tolerance", "value": "x"}, "value must be a finite number"),
        ({"type": "equals", "ignore_case": 1}, "ignore_case must be true or false, not 1"),
        ({"type": "equals", "value": 1, "expected_path": "a"}, "held to the suite or to the expected data, not to both"),
        ({"type": "equals", "threshold": 0}, "threshold must be in (0, 1]"),
        ({"type": "json_schema"}, "json_schema needs 'schema'"),
        ({"type": "json_schema", "schema": {"typ": 1}}, "unknown keyword 'typ'; did you mean 'type'?"),
        ({"type": "eqals"}, "did you mean 'equals'?"),
    ],
    ids=str,
)
def test_settings_are_checked_at_load(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        evaluator(config)


RUNAWAY = {"type": "regex", "pattern": "(a+)+$", "timeout": 0.1}


def test_a_pattern_that_runs_away_is_stopped_and_no_verdict() -> None:
    outcome = evaluator(RUNAWAY).evaluate("a" * 60 + "b", None)
    assert (str(outcome.verdict), str(outcome.status)) == ("fail", "error")
    assert "takes longer than 0.1 s" in outcome.reasoning


def test_patterns_in_threads_are_searched_elsewhere() -> None:
    seen = []
    thread = threading.Thread(target=lambda: seen.append(judged({**RUNAWAY, "timeout": 60}, "aaa")))
    thread.start()
    thread.join(120)
    assert seen == [PASS]


@given(VALUES)
def test_a_value_equals_itself_and_a_schema_of_it(value: Any) -> None:
    assert judged({"type": "equals"}, value, value) == PASS
    assert judged({"type": "json_schema", "schema": {"const": value}}, value) == PASS
    assert judged({"type": "one_of", "values": [value]}, value) == PASS


@given(VALUES, VALUES)
def test_equality_is_symmetric_and_finer_than_that_of_python(first: Any, second: Any) -> None:
    assert same(first, second) == same(second, first)
    if same(first, second):
        assert first == second


@pytest.mark.parametrize(("wrong", "more"), [(5, ""), (6, " … and 1 more"), (9, " … and 4 more")])
def test_a_schema_tells_the_first_five_things_and_counts_the_others(wrong: int, more: str) -> None:
    judge = evaluator({"type": "json_schema", "schema": {"items": {"type": "string"}}})
    told = "; ".join(f"/{place}: {place} is not of type string" for place in range(5))
    assert told + more in judge.evaluate(list(range(wrong)), None).reasoning
