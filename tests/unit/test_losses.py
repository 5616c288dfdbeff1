"""What a run may lose against its baseline, at the limits of the words: lost, tolerated, significant, without a value."""

from __future__ import annotations

import math
from typing import Any

import pytest

from calque import ConfigError, Detection, Words
from calque.evaluation.presentation.ci_servers import CaseResult
from calque.evaluation.verdict import Condition, Verdict
from calque.statistics.changes import Changed
from calque.statistics.gates.baselines import Loss, Places, Tolerance, item_line
from calque.statistics.gates.limits import OVER, Limit, close_to
from calque.statistics.intervals import Delta


def loss(before: float | None, now: float | None, better: int = 1, why: str = "", **delta: Any) -> Loss:
    value = None if before is None or now is None else now - before
    told = Delta(**{"value": value, "low": None, "high": None, "se": 0.1, "p": 0.5, "documents": 9, **delta})
    return Loss("AP", "base", before, now, told, better, why)


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
    judged = loss(before, now, better).within(most)
    assert judged.name == f"AP at most {most!r} worse than in base"
    assert (not judged.failures) is passes
    assert bool(judged.told) is passes


def test_what_was_lost_is_told_with_the_digits_that_matter() -> None:
    assert loss(0.5, 0.4).within(0.1).told == "AP 0.4000 against 0.5000 in base: -0.1; up to 0.1 worse is tolerated"
    lost = loss(0.5, 0.25, low=-0.3, high=0.125).within(0.1).failures
    assert lost == (
        "AP 0.2500 against 0.5000 in base: -0.25 [-0.3000, +0.1250]; 0.2500 is more than the 0.1 that is tolerated",
    )
    assert loss(0.5, 0.25, low=-0.3).within(1).told.startswith("AP 0.2500 against 0.5000 in base: -0.25;")
    assert loss(0.5, 0.5).within(0.0).told == "AP 0.5000 as in base; up to 0.0 worse is tolerated"
    assert loss(None, 0.5).within(0.0).told == "AP was undefined in base and is 0.5000; up to 0.0 worse is tolerated"
    assert loss(3, None, why="no truths").within(0).failures == ("AP has no value (no truths); in base it was 3",)
    assert loss(0.5, None).within(0).failures == ("AP has no value; in base it was 0.5000",)


@pytest.mark.parametrize(
    ("made", "p", "told", "fails"),
    [
        (loss(0.5, 0.4), 0.05, ", p 0.05: not significantly worse", False),
        (loss(0.5, 0.4), 0.0499, ", p 0.0499: significantly worse", True),
        (loss(0.5, 0.4, se=0.0), 1.0, ", the same in every resample: significantly worse", True),
        (loss(0.5, 0.6), 0.001, ": not worse", False),
        (loss(0.5, 0.6, better=-1), 0.001, ", p 0.001: significantly worse", True),
        (loss(0.5, 0.5), 0.001, "AP 0.5000 as in base: not worse", False),
        (loss(0.5, 0.5 - 1e-13), 0.001, ": not worse", False),
        (loss(0.5, 0.4), None, "; whether that is chance cannot be told (nothing to test)", False),
        (loss(0.5, 0.4, note="4 documents: too few"), None, "cannot be told (4 documents: too few)", False),
        (loss(0.5, 0.6), None, ": not worse", False),
    ],
)
def test_what_may_be_chance_is_tolerated(made: Loss, p: float | None, told: str, fails: bool) -> None:
    judged = made.insignificant(p, 0.05, "p", missing=False)
    assert judged.name == "AP not significantly worse than in base"
    assert (judged.failures[0] if fails else judged.told).endswith(told)
    assert bool(judged.failures) is fails
    assert made.insignificant(p, 0.05, "p", missing=True).failures == ("AP has no value; in base it was 0.5000",)


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


def test_places_are_classes_fields_and_documents() -> None:
    places = Places({"items[].price", "items[].tax.rate", "total"}, {"a.pdf"})
    assert places.above == {"items", "items.price", "items.tax", "items.tax.rate"}
    assert [places.holds(name, item("items[].tax.rate")) for name in ("items.tax", "items.price", "total", "b.pdf")] == [
        True, False, False, False,
    ]  # fmt: skip
    for name in ("", "a.pdf", "total", "items.tax"):
        places.check(name)
    with pytest.raises(ConfigError, match="--no-broken tota: is no class, field or document here; the nearest are total"):
        places.check("tota")


def test_broken_items_in_words() -> None:
    assert item_line(item("Table", page=0, id=7)) == "broken: a.pdf, page 0, Table, 7: tp → fn"
    assert item_line(item("total", id="total")) == "broken: a.pdf, total: tp → fn"


def test_verdicts() -> None:
    kept, lost = Condition("one", "holds"), Condition("two", failures=("first", "second"))
    assert not Verdict()
    assert Verdict().to_dict([]) == {}
    assert Verdict((kept,)).to_dict([]) == {"gate": {"passed": True, "failures": []}}
    assert Verdict((kept, lost)).failures == ["first", "second"]
    assert Verdict((kept, lost)).sections() == []
    (alarm,) = Verdict((kept, lost)).alarm(["first", "second"])
    assert (alarm.title, list(alarm.notes)) == ("Gate failed: first", ["second"])
    (passed,) = Verdict((kept, Condition("quiet"))).sections()
    assert (passed.title, list(passed.notes)) == ("Gate: passed", ["holds"])
    assert Verdict((kept,)).alarm(["of the task"]) == []
    assert kept.of_run("b") == Condition("b: one", "b: holds")
    assert lost.of_run("b") == Condition("b: two", "", ("b: first", "b: second"))
    assert Verdict((kept, lost)).tests("g") == [CaseResult("g", "one"), CaseResult("g", "two", "failure", "first", ("second",))]
