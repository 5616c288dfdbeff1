"""An object that the class map drops and that is broken besides: which of the two is told, and that it counts nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator, Layout, Result, Task
from calque.evaluation.presentation.report_data import EXCLUDED, INVALID, TP
from calque.readers import read_pair
from calque.readers.sides.class_maps import mapped
from tests.report_data import read_report

TREE: dict[str, Any] = {
    "images": [{"id": 1}],
    "categories": [{"id": 1, "name": "Table"}, {"id": 2, "name": "Header"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}],
}
HIT = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "score": 0.5}
DROP = {"Header": None}

BROKEN = [
    pytest.param({}, "other_label", None, id="nothing else"),
    pytest.param({"score": None}, "other_label", "score-missing", id="without a score"),
    pytest.param({"image_id": 99}, "other_label", "unknown-image", id="on an unknown image"),
    pytest.param({"bbox": [0, 0, -1, 9]}, "bad_box", "box-invalid", id="a broken box"),
    pytest.param({"bbox": [0, 0, float("inf"), 9]}, "bad_box", "box-invalid", id="an endless box"),
    pytest.param({"image_id": 99, "bbox": [0, 0, -1, 9]}, "bad_box", "box-invalid", id="broken on an unknown image"),
    pytest.param({"category_id": 99}, "unknown_label", "unknown-category", id="no label to drop"),
]


def evaluate(task: Task, found: list[dict[str, Any]]) -> Result:
    return Evaluator(task).update(TREE, found).compute()


@pytest.mark.parametrize(("odd", "status", "code"), BROKEN)
def test_a_broken_box_is_told_before_a_dropped_label_and_that_before_all_else(
    odd: dict[str, Any], status: str, code: str | None
) -> None:
    result = evaluate(Detection(class_map=DROP), [HIT, {**HIT, "category_id": 2, **odd}])
    assert result.numbers["counts"]["predictions_not_counted"] == {status: 1}
    micro = result.numbers["metrics"]["0.5"]["micro"]
    assert (micro["tp"], micro["fp"], micro["fn"]) == (1, 0, 0)
    assert result["AP"] == pytest.approx(1.0)
    assert len(list(result.outcomes().rows())) == 3
    codes = [issue.code for issue in result.issues]
    assert code is None or code in codes
    assert "label-dropped" in codes


@pytest.mark.parametrize(("odd", "status", "code"), BROKEN)
def test_for_layout_it_is_no_prediction(odd: dict[str, Any], status: str, code: str | None) -> None:
    result = evaluate(Layout(class_map=DROP), [{**HIT, "category_id": 2, **odd}, {**HIT, "bbox": [0, 0, 9, 6]}])
    assert result["layout_accuracy_over_total"] == 1.0
    counts = result.numbers["counts"]
    assert (counts["dropped"], counts["invalid"]) == ((0, 1) if status in ("bad_box", "unknown_label") else (1, 0))


def test_a_dropped_truth_on_an_unknown_image_is_no_truth() -> None:
    stray = {"id": 2, "image_id": 99, "category_id": 2, "bbox": [0, 0, 9, 9]}
    tree = {**TREE, "annotations": [*TREE["annotations"], stray]}
    for task, measure in ((Detection(class_map=DROP), "recall@0.5"), (Layout(class_map=DROP), "layout_accuracy_over_total")):
        assert Evaluator(task).update(tree, [HIT]).compute()[measure] == 1.0


def test_the_corpus_that_is_mapped_stays_as_it_was() -> None:
    _, found = read_pair(TREE, [HIT, {**HIT, "category_id": 2}, {**HIT, "bbox": [0, 0, -1, 9]}])
    assert found.flaws is not None
    before = found.flaws.copy()
    assert mapped(found, (("Header", ""),)).flaws is not None
    assert found.flaws.tolist() == before.tolist()


def test_layout_report_shows_dropped_blocks_as_excluded_and_broken_blocks_as_invalid(tmp_path: Path) -> None:
    truth = {**TREE, "annotations": [*TREE["annotations"], {**TREE["annotations"][0], "id": 2, "category_id": 2}]}
    found = [HIT, {**HIT, "category_id": 2}, {**HIT, "bbox": [0, 0, -1, 9]}]
    result = Evaluator(Layout(class_map=DROP)).update(truth, found).compute()
    result.report(tmp_path / "report.html")
    _, columns = read_report((tmp_path / "report.html").read_bytes())
    assert columns["t.outcome.0"].tolist() == [TP, EXCLUDED]
    assert columns["p.outcome.0"].tolist() == [TP, EXCLUDED, INVALID]
