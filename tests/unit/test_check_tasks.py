"""The other tasks as evaluators: the numbers of the task itself, with a threshold on any measure."""

from __future__ import annotations

from typing import Any

import pytest

from calque import ConfigError, Detection, Evaluator, Words
from calque.checks import evaluator
from calque.checks.evaluators.tasks import TYPES

TRUTH = [{"bbox": [0, 0, 10, 10], "label": "Table"}, {"bbox": [20, 20, 30, 30], "label": "Figure"}]
FOUND = [{"bbox": [0, 0, 10, 9], "label": "Table", "score": 0.9}, {"bbox": [50, 50, 60, 60], "label": "Figure", "score": 0.4}]
SAMPLES: dict[str, tuple[str, Any, Any]] = {
    "detect": ("recall@0.5", TRUTH, FOUND),
    "layout": ("layout_accuracy_over_total", TRUTH, FOUND),
    "fields": ("cm_f1", {"id": "x", "total": "1", "date": "2024"}, {"total": "1", "date": "2023"}),
    "words": ("recall", "the quick fox", "the slow fox"),
    "order": ("pairs", ["a", "b", "c"], ["a", "c", "b"]),
    "tables": ("teds", "<table><tr><td>a</td><td>b</td></tr></table>", "<table><tr><td>a</td><td>c</td></tr></table>"),
}


def test_every_task_has_a_sample() -> None:
    assert set(TYPES) <= set(SAMPLES)


@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if kind in TYPES])
def test_a_perfect_output_passes_and_another_does_not(kind: str) -> None:
    measure, truth, found = SAMPLES[kind]
    check = evaluator({"type": kind, "measure": measure, "threshold": 1.0})
    perfect = [{**one, "score": 1.0} for one in truth] if kind == "detect" else truth
    right, wrong = check.evaluate(perfect, truth), check.evaluate(found, truth)
    assert (right.score, str(right.verdict), str(right.status)) == (1.0, "pass", "ok")
    assert (str(wrong.verdict), str(wrong.status)) == ("fail", "ok")
    assert 0.0 < wrong.score < 1.0
    assert wrong.metadata["value"] == wrong.score


def test_the_value_is_that_of_the_task() -> None:
    outcome = evaluator({"type": "detect", "measure": "f1@0.75/Table", "options": {"iou": [0.75]}}).evaluate(FOUND, TRUTH)
    assert outcome.metadata["value"] == Evaluator(Detection(iou=(0.75,))).update(TRUTH, FOUND).compute()["f1@0.75/Table"] == 1.0


@pytest.mark.parametrize(("threshold", "verdict"), [(0.4, "pass"), (1 / 3, "pass"), (0.3, "fail")])
def test_where_less_is_better_the_threshold_is_a_ceiling(threshold: float, verdict: str) -> None:
    outcome = evaluator({"type": "words", "measure": "wer", "threshold": threshold}).evaluate("the slow fox", "the quick fox")
    right = Evaluator(Words()).update({"d": "the quick fox"}, {"d": "the slow fox"}).compute()["wer"]
    assert outcome.metadata["value"] == right == pytest.approx(1 / 3)
    assert (str(outcome.verdict), outcome.score) == (verdict, pytest.approx(2 / 3))


def test_counts_are_judged_but_no_scores() -> None:
    check = {"type": "detect", "measure": "tp@0.5"}
    assert evaluator({**check, "threshold": 1}).evaluate(FOUND, TRUTH).score == 1.0
    assert str(evaluator({**check, "threshold": 2}).evaluate(FOUND, TRUTH).verdict) == "fail"


@pytest.mark.parametrize(
    ("choice", "outcome"), [("error", ("fail", "error")), ("fail", ("fail", "ok")), ("pass", ("pass", "ok"))]
)
def test_a_measure_without_value(choice: str, outcome: tuple[str, str]) -> None:
    check = evaluator({"type": "words", "measure": "recall", "threshold": 0.5, "undefined": choice})
    told = check.evaluate("", "")
    assert (str(told.verdict), str(told.status)) == outcome
    assert "recall has no value" in told.reasoning


def test_bad_data_is_the_fault_of_its_side() -> None:
    check = evaluator({"type": "detect", "measure": "recall@0.5", "threshold": 0.5})
    bad = [{"bbox": [0, 0, "x", 1], "label": "Table", "score": 0.5}]
    assert str(check.evaluate(bad, TRUTH).status) == "ok"
    assert str(check.evaluate(FOUND, [{"bbox": [0], "label": 5}]).status) == "error"
    assert "expected: a is missing" in evaluator(
        {"type": "words", "path": "a", "measure": "recall"}
    ).evaluate({"a": "x"}, {}).reasoning  # fmt: skip


def test_a_text_is_never_the_name_of_a_file() -> None:
    outcome = evaluator({"type": "fields", "measure": "cm_f1", "threshold": 0.5}).evaluate("pyproject.toml", {"a": 1})
    assert "is not data that fields can evaluate" in outcome.reasoning


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"type": "words"}, "words needs 'measure'"),
        ({"type": "words", "measure": "recal"}, "words has no measure 'recal'; did you mean 'recall'?"),
        ({"type": "words", "measure": 5}, "measure must be a name such as recall@0.5, not 5"),
        ({"type": "words", "measure": "recall", "options": {"tokeniser": 1}}, "did you mean 'tokenizer'?"),
        ({"type": "detect", "measure": "recall@0.5", "options": {"iou": "x"}}, "iou must be a number or several"),
        ({"type": "fields", "measure": "cm_f1", "options": {"schema": "s.json"}}, "give its content here"),
        ({"type": "words", "measure": "recall", "threshold": "x"}, "threshold must be a finite number"),
    ],
)
def test_settings_are_checked_at_load(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        evaluator(config)
    assert message in str(raised.value)
