"""Whose fault a case is: bad expected data is an error (exit 3), a bad output is a failure of the model (exit 1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calque.checks import evaluator
from tests.conftest import Run

IOU = {
    "type": "iou_score", "bbox_path": "b", "expected_bbox_path": "b", "format": "xyxy1000", "expected_format": "xyxy",
    "page_size_path": "size",
}  # fmt: skip
DISTANCE = {
    "type": "coordinate_distance", "point_path": "b", "expected_point_path": "b", "normalize": "diagonal",
    "page_size_path": "size", "threshold": 1,
}  # fmt: skip
OKS = {"type": "coordinate_distance", "point_path": "b", "expected_point_path": "b", "metric": "oks", "area_path": "size"}
BOX = {"b": [0, 0, 10, 10]}
BAD = [{}, {"size": None}, {"size": [100]}, {"size": ["a", "b"]}, {"size": [0, 1]}, {"size": {"w": 1}}]


@pytest.mark.parametrize("size", BAD)
@pytest.mark.parametrize("config", [IOU, DISTANCE], ids=["iou_score", "coordinate_distance"])
def test_page_size_that_the_expected_data_lacks_is_an_error_of_the_case(config: dict[str, Any], size: dict[str, Any]) -> None:
    for output in (BOX, {}, {"b": "x"}, {"b": [1, 2]}):
        outcome = evaluator(config).evaluate(output, {**BOX, **size})
        assert (outcome.status, outcome.verdict) == ("error", "fail")


def test_page_size_in_the_output_alone_is_not_enough() -> None:
    assert evaluator(IOU).evaluate({**BOX, "size": [100, 100]}, BOX).status == "error"
    assert evaluator(IOU).evaluate(BOX, {**BOX, "size": [100, 100]}).status == "ok"


def test_page_size_that_is_not_needed_may_be_missing() -> None:
    assert evaluator({**IOU, "format": "xyxy"}).evaluate(BOX, BOX).verdict == "pass"


@pytest.mark.parametrize("area", [{}, {"size": "x"}, {"size": [1, 2, 3]}])
def test_area_that_the_expected_data_lacks_is_an_error_of_the_case(area: dict[str, Any]) -> None:
    points = {"b": [[1, 2], [3, 4]]}
    assert evaluator(OKS).evaluate(points, {**points, **area}).status == "error"


MEASURES = {"detect": "recall@0.5", "fields": "cm_f1", "words": "recall", "order": "pairs", "tables": "teds"}
SOUND: dict[str, Any] = {
    "detect": [{"bbox": [0, 0, 9, 9], "label": "Table"}],
    "fields": {"score": 1},
    "words": "the score",
    "order": ["score", "a"],
    "tables": "<table><tr><td>score</td></tr></table>",
}
BROKEN: dict[str, list[Any]] = {
    "detect": [["score"], [{"bbox": ["score"], "label": "a"}], {"score": 1}, "score", None, 5, [{"score": 0.5}]],
    "fields": [["score"], "score", None, 5],
    "words": [{"score": {"score": 1}}, 5],
    "order": ["score", 5, {"score": 1}],
    "tables": [{"score": 1}, 5],
}
CASES = [(kind, value) for kind, values in BROKEN.items() for value in values]


@pytest.mark.parametrize(("kind", "broken"), CASES, ids=lambda value: json.dumps(value)[:40])
def test_broken_data_of_a_task_is_blamed_on_its_side_whatever_the_error_says(kind: str, broken: Any) -> None:
    check = evaluator({"type": kind, "measure": MEASURES[kind], "threshold": 0.5})
    sound = SOUND[kind]
    output = [{**box, "score": 0.9} for box in sound] if kind == "detect" else sound
    assert check.evaluate(output, sound).verdict == "pass"
    assert check.evaluate(output, broken).status == "error"
    assert check.evaluate(broken, sound).status == "ok"
    assert check.evaluate(broken, sound).verdict == "fail"


def test_output_without_scores_is_a_failure_of_the_model() -> None:
    check = evaluator({"type": "detect", "measure": "recall@0.5"})
    assert check.evaluate(SOUND["detect"], SOUND["detect"]).status == "ok"


def test_check_exits_with_3_where_the_expected_data_is_to_blame(calque: Run, tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        f"evaluators: [{json.dumps(IOU)}]\ncases: [{{id: 1, output: {json.dumps(BOX)}, expected: {json.dumps(BOX)}}}]"
    )
    assert calque("check", str(suite)).code == 3
