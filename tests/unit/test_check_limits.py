"""Checks at their limits: settings that are just allowed, numbers as models write them, distances by hand, gates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from calque.checks.evaluators import settings
from calque.checks.evaluators.outcome import Ranges
from calque.checks.evaluators.two_sides import pair_up
from calque.checks.shapes import distances
from calque.checks.shapes.coordinates import BadValue, is_list, number, numbers, plain, shown
from calque.checks.suites.gate import Gate


def test_a_sum_beyond_all_numbers_is_infinite() -> None:
    assert distances.manhattan((1e308,) * 3, (0.0,) * 3) == math.inf
    assert distances.manhattan((1e308, 0.0, 3.0), (0.0, 0.0, 3.0)) == 1e308


@pytest.mark.parametrize("value", [0.0, 0.5, 1, 1.0])
def test_a_share_includes_both_ends(value: float) -> None:
    assert settings.between("x", 0.0, 1.0)(value) == value


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (settings.between("x", 0.0, 1.0), 1.01, "x must be in [0, 1], not 1.01"),
        (settings.between("x", 0.0, 1.0), -0.01, "x must be in [0, 1], not -0.01"),
        (settings.between("x", 0.0, 1.0, open_low=True), 0, "x must be in (0, 1], not 0"),
        (settings.between("x", 1.0, math.inf), 0.5, "x must be at least 1, not 0.5"),
        (settings.between("x", 0.0, math.inf), math.inf, "x must be a finite number, not Infinity"),
        (settings.between("x", 0.0, 1.0), True, "x must be a finite number, not true"),
        (settings.between("x", 0.0, 1.0), "1", 'x must be a finite number, not "1"'),
        (settings.flag("x", "").check, 1, "x must be true or false, not 1"),
        (settings.path, 3, "a path must be text, not 3"),
        (settings.text, "", 'a name must be text, not ""'),
        (settings.text, 3, "a name must be text, not 3"),
        (settings.page_size, [1], "page_size must be [width, height], not [1]"),
        (settings.page_size, [1, 0], "page_size must be positive, not [1, 0]"),
        (settings.page_size, [0, 1], "page_size must be positive, not [0, 1]"),
        (settings.ranges, {"pass": 0.4, "partial": 0.5}, "verdict_ranges: partial (0.5) must not lie above pass (0.4)"),
        (settings.ranges, {"fail": 0.4}, 'verdict_ranges must be {pass: 0.8, partial: 0.5}, not {"fail": 0.4}'),
        (settings.one_of(["red", "blue"], "Bad", "try"), "bleu", "Bad: bleu; try red, blue; did you mean 'blue'?"),
        (settings.one_of(["red", "blue"], "Bad", "try"), 7, "Bad: 7; try red, blue"),
    ],
)
def test_what_a_setting_refuses(check: Any, value: Any, message: str) -> None:
    with pytest.raises(ValueError) as raised:  # the whole message is compared
        check(value)
    assert str(raised.value) == message


def test_what_a_setting_takes() -> None:
    assert settings.between("x", 0.0, 1.0, open_low=True)(1e-9) == 1e-9
    assert settings.between("x", 0.0, math.inf)(1e308) == 1e308
    assert settings.page_size((1, 2.5)) == (1.0, 2.5)
    assert settings.ranges({}) == Ranges()
    assert settings.ranges({"pass": 0.5, "partial": 0.5}) == Ranges(0.5, 0.5)
    assert settings.ranges({"partial": 0.0}) == Ranges(Ranges().pass_from, 0.0)
    assert settings.one_of(["red"], "Bad", "try")("red") == "red"
    assert settings.flag("x", "").check(True) is True


@pytest.mark.parametrize(("value", "read"), [(3, 3.0), (" +1.5e1 ", 15.0), (".5", 0.5), ("5.", 5.0), (np.float64(2.5), 2.5)])
def test_numbers_as_models_write_them(value: Any, read: float) -> None:
    assert number(value) == read
    assert numbers([value, value]) == [read, read]


@pytest.mark.parametrize("value", [True, None, "1px", "", "1 2", "٣", [1], math.nan, math.inf, "1e999", 10**400])
def test_what_is_no_number(value: Any) -> None:
    with pytest.raises(BadValue, match=r"is not a (finite )?number"):
        number(value)


def test_values_in_messages_are_cut() -> None:
    assert shown("x" * 38) == f'"{"x" * 38}"'
    assert shown("x" * 39) == f'"{"x" * 38}…'
    assert shown(object()) == "a object"
    assert (plain(np.array([1, 2])), plain((1,)), plain(np.int64(3))) == ([1, 2], (1,), 3)
    assert [is_list(value) for value in ([], (), "ab", {})] == [True, True, False, False]


def test_distances_by_hand() -> None:
    a, b = [1.0, 2.0], [4.0, -2.0]
    assert (distances.euclidean(a, b), distances.manhattan(a, b), distances.chebyshev(a, b)) == (5.0, 7.0, 4.0)
    assert distances.manhattan([1e308, 1e308], [-1e308, -1e308]) == math.inf
    assert distances.cosine([1, 0], [-2, 0]) == 2.0
    assert distances.cosine([1, 0], [1, 1]) == pytest.approx(1 - math.sqrt(0.5))
    assert distances.cosine([1, 0], [0, 0]) is None
    assert distances.hausdorff([[0, 0]], [[0, 0], [3, 4]]) == distances.hausdorff([[0, 0], [3, 4]], [[0, 0]]) == 5.0
    assert [distances.METRICS[name].limit for name in ("cosine", "oks", "euclidean")] == [2.0, 1.0, math.inf]
    assert [name for name, metric in distances.METRICS.items() if metric.of_sets] == ["hausdorff", "oks"]


def test_keypoints_as_in_coco() -> None:
    found, truth = [[3.0, 4.0], [0.0, 0.0], [9.0, 9.0]], [[0.0, 0.0, 2], [0.0, 0.0, 1], [0.0, 0.0, 0]]
    expected = 1 - (math.exp(-25 / (2 * 50 * (2 * 0.5) ** 2)) + 1) / 2
    assert distances.oks(found, truth, area=50.0, sigmas=[0.5] * 3) == pytest.approx(expected)
    assert distances.oks(found[:1], [[0.0, 0.0]], area=50.0, sigmas=[0.5]) == pytest.approx(1 - math.exp(-25 / 100))
    assert distances.oks(found, truth, area=0.0, sigmas=[0.5] * 3) is None
    assert distances.oks(found[2:], truth[2:], area=50.0, sigmas=[0.5]) is None


def test_most_matches_come_before_the_best_total() -> None:
    scores = np.array([[0.9, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert pair_up(scores, "hungarian", 0.5)[:2] == [(0, 1), (1, 0)]
    greedy = np.array([[1.0, 0.5], [0.4, 0.0]])
    assert pair_up(greedy, "hungarian", 0.4) == [(0, 0), (1, 1)]
    assert pair_up(greedy, "max_matches", 0.4) == [(0, 1), (1, 0)]
    assert pair_up(greedy, "max_matches", 0.41) == [(0, 0), (1, 1)]


FINE = {"score": 1.0, "pass_rate": 1.0, "fail": 0}


@pytest.mark.parametrize(
    ("gate", "summary", "failures"),
    [
        (Gate(), {"fail": 0}, []),
        (Gate(), {"fail": 1}, ["1 case failed"]),
        (Gate(), {"fail": 1200, "partial_failed": 1}, ["1,201 cases failed"]),
        (Gate(pass_rate=0.5, given=True), {"score": 0.0, "pass_rate": 0.5, "fail": 3}, []),
        (Gate(pass_rate=0.5, given=True), {"score": 1.0, "pass_rate": 0.49, "fail": 3}, ["pass rate 0.4900 is below 0.5"]),
        (Gate(mean_score=0.5, given=True), {"score": None, "pass_rate": 1.0, "fail": 0}, ["mean score has no value"]),
        (Gate(mean_score=0.0, given=True), {"score": 0.0, "pass_rate": 0.0, "fail": 9}, []),
        (Gate(evaluators={"e": 0.7}, given=True), FINE, ["the score of e 0.6000 is below 0.7"]),
        (Gate(evaluators={"e": 0.6}, given=True), FINE, []),
        (Gate(evaluators={"z": 0.7}, given=True), FINE, ["the score of z has no value"]),
    ],
)
def test_gates_of_suites(gate: Gate, summary: dict[str, Any], failures: list[str]) -> None:
    assert gate.failures({"summary": summary, "evaluators": {"e": {"score": 0.6}}}) == failures
    again = Gate.from_text(gate.to_text())
    assert again.failures({"summary": summary, "evaluators": {"e": {"score": 0.6}}}) == failures
    assert again.given is gate.given
