"""What is said of checks: the sentence, the tables, the headline and the findings, at the limits of their words."""

from __future__ import annotations

from typing import Any

import pytest

from calque.checks.presentation import LISTED, brief, findings, flat, headline, sections, sentence
from calque.checks.report_data import _overview
from calque.evaluation.presentation.report_data import Phrase

NONE: dict[str, Any] = {"cases": 0, "pass": 0, "partial": 0, "fail": 0, "error": 0, "partial_failed": 0}


def numbers(*results: dict[str, Any], evaluators: dict[str, Any] | None = None, **summary: Any) -> dict[str, Any]:
    told = {**NONE, "score": 0.5, "pass_rate": 0.5, **summary}
    return {"summary": told, "evaluators": evaluators or {}, "results": list(results)}


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ({}, "No case was judged."),
        ({"cases": 1, "pass": 1}, "The only case passes."),
        ({"cases": 1200, "pass": 1200}, "All 1,200 cases pass."),
        ({"cases": 1, "fail": 1}, "Of 1 case 1 fail."),
        ({"cases": 6, "pass": 1, "partial": 2, "fail": 2, "error": 1},
         "Of 6 cases 1 pass, 2 pass in part, 2 fail and 1 could not be judged."),
    ],
)  # fmt: skip
def test_the_sentence(summary: dict[str, int], said: str) -> None:
    assert sentence(numbers(**summary)) == said


@pytest.mark.parametrize(("rate", "tone"), [(0.9, "good"), (0.89, ""), (0.8, ""), (0.79, "bad")])
def test_the_headline_has_a_tone(rate: float, tone: str) -> None:
    cases = Phrase("cases", "10 cases")
    passed = Phrase("pass_rate", f"{rate:.0%}".replace("%", " %"), tone)
    told = headline(numbers(cases=10, fail=1, error=2, pass_rate=rate, **{"pass": 7}))
    rest = [Phrase("fail", "1", "bad"), " fails", ", ", Phrase("error", "2"), " could not be judged", "."]
    assert [part for part in told if part != ""] == [passed, " of ", cases, " pass; ", *rest]
    whole = headline(numbers(cases=10, pass_rate=rate, **{"pass": 10}))
    assert list(whole) == ["All ", cases, " pass: ", passed, "."]
    single = headline(numbers(cases=1, pass_rate=rate, **{"pass": 1}))
    assert list(single) == ["The ", Phrase("cases", "1 case"), " passes: ", passed, "."]


def test_nothing_judged_has_no_rate() -> None:
    assert list(headline(numbers(pass_rate=None))) == ["Nothing was judged: ", Phrase("cases", "0 cases"), "."]
    assert next(iter(headline(numbers(cases=2, pass_rate=None)))) == "Nothing was judged: "


def test_findings() -> None:
    scored = {"a": {"score": 0.75}, "b": {"score": 0.5}, "c": {"score": None}}
    made = findings(numbers(cases=9, fail=1, partial=2, error=1, evaluators=scored))
    assert [(each.mark, each.text, dict(each.address)) for each in made] == [
        ("fail", "1 case fails", {"outcome": "fail"}),
        ("partial", "2 cases pass in part", {"outcome": "partial"}),
        ("error", "1 case could not be judged", {"outcome": "error"}),
        ("class", "Hardest evaluator: b, score 0.500", {"class": "b"}),
    ]
    assert findings(numbers(cases=9, evaluators={"a": {"score": 0.5}, "c": {"score": None}})) == []


def failure(case: str, evaluator: str = "e", **more: Any) -> dict[str, Any]:
    return {"id": case, "evaluator": evaluator, "score": 0.0, "verdict": "fail", "status": "ok", "reasoning": "why", **more}


def test_failures_that_are_alike_are_one_row() -> None:
    made = sections(
        numbers(failure("a"), failure("a", "f"), failure("b"), failure("c", status="error"), failure("d", verdict="pass"))
    )[-1]
    assert made.rows == [
        ("a", "e and 1 more", "fail", 0.0, "why"),
        ("b", "e", "fail", 0.0, "why"),
        ("c", "e", "error", 0.0, "why"),
    ]
    together = sections(numbers(failure("a"), failure("b"), failure("c")))[-1]
    assert together.rows == [("a and 2 more", "e", "fail", 0.0, "why")]
    assert len(sections(numbers(failure("d", verdict="pass")))) == 2


def test_many_failures_are_counted() -> None:
    many = [failure(str(number), reasoning=str(number)) for number in range(LISTED + 2)]
    made = sections(numbers(*many))[-1]
    assert (len(made.rows), list(made.notes)) == (LISTED, ["… and 2 more"])
    assert list(sections(numbers(*many[:LISTED]))[-1].notes) == []


def test_the_overview_and_the_rows() -> None:
    told = numbers(cases=3, fail=1, partial_failed=2, evaluators={"e": {**NONE, "cases": 3, "score": 0.5}}, **{"pass": 2})
    head, table = sections(told)
    assert list(head.notes) == [
        "3 cases: 2 pass, 0 partial, 1 fail, 0 error",
        "2 of the partial failed: a threshold was given (partial: pass in the suite allows that)",
    ]
    assert table.rows == [("e", 3, 0, 0, 0, 0, 0.5)]
    assert len(sections(numbers(cases=3))[0].notes) == 1
    assert brief(told)[0].rows == [("all", 3, 2, 0, 1, 0, 0.5)]
    assert [row["evaluator"] for row in flat(told)] == ["all", "e"]


def test_the_first_view_of_a_report() -> None:
    entry = {**NONE, "cases": 3, "pass": 2, "score": 0.5, "pass_rate": 0.25}
    told = {**numbers(cases=3, evaluators={"e": entry}), "gate": {"passed": False}}
    made = _overview(told, 1)
    assert list(made.line) == ["Checks", "3 cases", "1 evaluator", "the gate does not hold"]
    assert list(_overview({**told, "gate": {"passed": True}}, 1).line)[-1] == "the gate holds"
    assert list(_overview(numbers(cases=0), 2).line) == ["Checks", "0 cases", "2 evaluators"]
    assert made.breakdown is not None
    assert list(made.breakdown.rows) == [("e", [3, 2, 0, 0, 0, 0.25, 0.5])]
    assert list(made.breakdown.marks) == [(1, "tp"), (2, "wrong"), (3, "fn"), (4, "ignored")]
    assert [column[2] for column in made.breakdown.columns] == [
        "pass,partial,fail,error",
        "pass",
        "partial",
        "fail",
        "error",
        "",
        "",
    ]
