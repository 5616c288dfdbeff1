"""Gates against a baseline: tolerated losses, significance, metrics without a value, broken items."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from calque import ConfigError, Detection, Words
from calque.evaluation.presentation.ci_servers import CiTestCase
from calque.evaluation.verdict import Condition, Verdict
from calque.statistics.changes import Changed
from calque.statistics.gates import OVER, Limit, MetricChange, NoBroken, Tolerance, broken_line, close_to
from calque.statistics.intervals import Delta


def change(before: float | None, now: float | None, better: int = 1, why: str = "", **delta: Any) -> MetricChange:
    value = None if before is None or now is None else now - before
    made = Delta(**{"value": value, "low": None, "high": None, "se": 0.1, "p": 0.5, "documents": 9, **delta})
    return MetricChange("AP", "base", before, now, made, better, why)


def within(made: MetricChange, most: float) -> Condition:
    return Tolerance("AP", most).judge_change(made, 0.05)


@pytest.mark.parametrize(
    ("before", "now", "better", "most", "passes"),
    [
        (0.5, 0.4, 1, 0.1, True),
        (0.5, 0.39, 1, 0.1, False),
        (0.5, 0.6, -1, 0.1, True),
        (0.5, 0.61, -1, 0.1, False),
        (0.5, 0.9, 1, 0.0, True),
        (0.5, 0.1, -1, 0.0, True),
        (None, 0.1, 1, 0.0, True),
        (0.5, None, 1, 1.0, False),
    ],
)
def test_no_more_is_lost_than_is_tolerated(
    before: float | None, now: float | None, better: int, most: float, passes: bool
) -> None:
    judged = within(change(before, now, better), most)
    assert judged.name == f"AP at most {most!r} worse than in base"
    assert (not judged.failures) is passes
    assert bool(judged.note) is passes


def test_what_was_lost_is_told_with_the_digits_that_matter() -> None:
    assert within(change(0.5, 0.4), 0.1).note == "AP 0.4000 against 0.5000 in base: -0.1; up to 0.1 worse is tolerated"
    lost = within(change(0.5, 0.25, low=-0.3, high=0.125), 0.1).failures
    assert lost == (
        "AP 0.2500 against 0.5000 in base: -0.25 [-0.3000, +0.1250]; 0.2500 is more than the 0.1 that is tolerated",
    )
    assert within(change(0.5, 0.25, low=-0.3), 1).note.startswith("AP 0.2500 against 0.5000 in base: -0.25;")
    assert within(change(0.5, 0.5), 0.0).note == "AP 0.5000 as in base; up to 0.0 worse is tolerated"
    assert within(change(None, 0.5), 0.0).note == "AP was undefined in base and is 0.5000; up to 0.0 worse is tolerated"
    assert within(change(3, None, why="no truths"), 0).failures == ("AP has no value (no truths); in base it was 3",)
    assert within(change(0.5, None), 0).failures == ("AP has no value; in base it was 0.5000",)


@pytest.mark.parametrize(
    ("made", "p", "told", "fails"),
    [
        (change(0.5, 0.4), 0.05, ", p 0.05: not significantly worse", False),
        (change(0.5, 0.4), 0.0499, ", p 0.0499: significantly worse", True),
        (change(0.5, 0.4, se=0.0), 1.0, ", the same in every resample: significantly worse", True),
        (change(0.5, 0.6), 0.001, ": not worse", False),
        (change(0.5, 0.6, better=-1), 0.001, ", p 0.001: significantly worse", True),
        (change(0.5, 0.5), 0.001, "AP 0.5000 as in base: not worse", False),
        (change(0.5, 0.5 - 1e-13), 0.001, ": not worse", False),
        (change(0.5, 0.4), None, "; whether that is chance cannot be told (nothing to test)", False),
        (change(0.5, 0.4, note="4 documents: too few"), None, "cannot be told (4 documents: too few)", False),
        (change(0.5, 0.6), None, ": not worse", False),
    ],
)
def test_what_may_be_chance_is_tolerated(made: MetricChange, p: float | None, told: str, fails: bool) -> None:
    judged = Tolerance("AP").judge_change(replace(made, delta=replace(made.delta, p=p)), 0.05)
    assert judged.name == "AP not significantly worse than in base"
    assert (judged.failures[0] if fails else judged.note).endswith(told)
    assert bool(judged.failures) is fails
    adjusted = replace(made, delta=replace(made.delta, p=0.9, p_adjusted=p))
    primary = Tolerance("AP", is_primary=True).judge_change(adjusted, 0.05)
    assert bool(primary.failures) is fails
    assert (primary.failures[0] if fails else primary.note).endswith(told.replace(", p ", ", p (Holm) "))


def test_a_metric_that_lost_its_value_fails_unless_no_baseline_value_existed() -> None:
    lost, absent = change(0.5, None), change(None, None)
    for tolerance in (Tolerance("AP"), Tolerance("AP", is_primary=True)):
        assert tolerance.judge_change(lost, 0.05).failures == ("AP has no value; in base it was 0.5000",)
    assert Tolerance("AP").judge_change(absent, 0.05).failures
    assert not Tolerance("AP", is_primary=True).judge_change(absent, 0.05).failures


@pytest.mark.parametrize("most", [-0.01, math.inf, math.nan, True, "much"])
def test_a_tolerance_is_a_number_from_0(most: Any) -> None:
    with pytest.raises(ConfigError, match="--tolerance AP: must be a number from 0 or 'significant', not"):
        Tolerance.of("AP", most)
    assert Tolerance.of("AP", 0) == Tolerance("AP", 0.0)
    assert Tolerance.of("AP", "significant").most is None


@pytest.mark.parametrize("text", ["AP", "AP=", "=1", "AP=much"])
def test_a_tolerance_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ConfigError, match="--tolerance"):
        Tolerance.parse(text)


@pytest.mark.parametrize("value", [math.inf, math.nan, True, "0.5"])
def test_a_limit_is_a_finite_number(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"--fail-under AP: .* is not a finite number"):
        Limit.of("AP", value)


def test_limits_are_turned_the_right_way() -> None:
    Limit("recall@0.5", 0.5).check(Detection())
    Limit("wer", 0.5, OVER).check(Words())
    Limit("unheard_of", 0.5, OVER).check(Detection())  # only a result can tell
    with pytest.raises(ConfigError, match=r"--fail-over recall@0.5: higher is better there; use --fail-under recall@0.5=0.5"):
        Limit("recall@0.5", 0.5, OVER).check(Detection())
    with pytest.raises(ConfigError, match=r"--fail-under wer: lower is better there; use --fail-over wer=0.5"):
        Limit("wer", 0.5).check(Words())


def test_digits_that_tell_a_value_from_its_limit() -> None:
    assert close_to(0.30000000000000004, 0.3) == "0.30000000000000004"
    assert close_to(0.5, 0.25) == "0.5000"
    assert close_to(0.95001, 0.95) == "0.95001"
    assert close_to(2, 1.0) == "2"
    assert close_to(1e-20, 0.0) == f"{1e-20:.17f}"


def item(label: str, *, page: int | None = None, id: Any = "x") -> Changed:
    return Changed("run", "a.pdf", page, id, label, "broken", "tp", "fn")


def test_places_of_broken_items_are_classes_fields_and_documents() -> None:
    enclosing = {"items", "items.price", "items.tax", "items.tax.rate"}
    inside = [NoBroken(place).contains(item("items[].tax.rate"), enclosing) for place in ("", "a.pdf", "items", "items.tax")]
    outside = [NoBroken(place).contains(item("items[].tax.rate"), enclosing) for place in ("items.price", "total", "b.pdf")]
    assert inside == [True] * 4
    assert outside == [False] * 3


def test_broken_items_in_words() -> None:
    assert broken_line(item("Table", page=0, id=7)) == "broken: a.pdf, page 0, Table, 7: tp → fn"
    assert broken_line(item("total", id="total")) == "broken: a.pdf, total: tp → fn"


def test_verdicts() -> None:
    kept, lost = Condition("one", "holds"), Condition("two", failures=("first", "second"))
    assert not Verdict()
    assert Verdict().to_dict([]) == {}
    assert Verdict((kept,)).to_dict([]) == {"gate": {"passed": True, "failures": []}}
    assert Verdict((kept, lost)).failures == ["first", "second"]
    assert Verdict((kept, lost)).sections() == []
    (failed,) = Verdict((kept, lost)).failure_sections(["first", "second"])
    assert (failed.title, list(failed.notes)) == ("Gate failed: first", ["second"])
    (passed,) = Verdict((kept, Condition("quiet"))).sections()
    assert (passed.title, list(passed.notes)) == ("Gate: passed", ["holds"])
    assert Verdict((kept,)).failure_sections(["of the task"]) == []
    assert kept.of_run("b") == Condition("b: one", "b: holds")
    assert lost.of_run("b") == Condition("b: two", "", ("b: first", "b: second"))
    assert Verdict((kept, lost)).tests("g") == [CiTestCase("g", "one"), CiTestCase("g", "two", "failure", "first", ("second",))]
