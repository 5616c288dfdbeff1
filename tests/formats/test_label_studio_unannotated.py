"""Label Studio exports in which some tasks have no annotation: their pages are left out, counted and shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

VALUE = {"x": 10, "y": 10, "width": 20, "height": 20, "rotation": 0, "rectanglelabels": ["Table"]}
REGION = {"id": "r", "type": "rectanglelabels", "original_width": 100, "original_height": 100, "value": VALUE}


def task(number: int, **keys: Any) -> dict[str, Any]:
    return {"id": number, "data": {"image": f"doc-{number}.png"}, "predictions": [], **keys}


def predicted(count: int) -> list[dict[str, Any]]:
    """Return one prediction on each of some tasks."""
    return [task(number, predictions=[{"result": [{**REGION, "score": 0.9}]}]) for number in range(1, count + 1)]


ANNOTATED = task(1, annotations=[{"result": [REGION], "was_cancelled": False}])
UNANNOTATED = [
    pytest.param(task(2, annotations=[]), id="no annotation"),
    pytest.param(task(2, annotations=[], total_annotations=0, drafts=[{"result": [REGION]}]), id="a draft"),
    pytest.param(task(2, annotations=[{"result": [], "was_cancelled": True}]), id="skipped"),
    pytest.param(task(2, annotations=[], predictions=[{"result": [REGION]}]), id="a prediction of a model"),
    pytest.param(task(2), id="no key"),
]


def evaluate(calque: Callable[..., Run], folder: Path, truth: list[Any], found: list[Any], *options: str) -> Run:
    (folder / "truth.json").write_text(json.dumps(truth))
    (folder / "found.json").write_text(json.dumps(found))
    return calque(options[0] if options else "detect", "truth.json", "found.json", "--format", "json", *options[1:])


@pytest.mark.parametrize("other", UNANNOTATED)
def test_detect_leaves_out_tasks_without_annotation(calque: Callable[..., Run], tmp_path: Path, other: Any) -> None:
    run = evaluate(calque, tmp_path, [ANNOTATED, other], predicted(2))
    assert run.code == 0, run.err
    micro = run.json["metrics"]["0.5"]["micro"]
    assert (micro["tp"], micro["fp"], micro["fn"]) == (1, 0, 0)
    assert run.json["coco"]["AP"] == pytest.approx(1.0)
    assert run.json["counts"]["predictions_not_counted"] == {"not_annotated": 1}
    assert run.json["metrics"]["0.5"]["empty_pages"]["pages"] == 0
    assert [issue["code"] for issue in run.json["issues"]] == ["not-annotated"]
    assert run.json["documents"] == {"only_truth": [], "only_predictions": []}
    assert evaluate(calque, tmp_path, [ANNOTATED, other], predicted(2), "layout").json["counts"]["dropped"] == 1


def test_detect_lists_predictions_on_unannotated_pages_as_excluded(calque: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text(json.dumps([ANNOTATED, task(2, annotations=[])]))
    (tmp_path / "found.json").write_text(json.dumps(predicted(2)))
    run = calque("detect", "truth.json", "found.json", "--format", "jsonl")
    rows = [json.loads(line) for line in run.out.splitlines()]
    assert [(row["outcome"], row["reason"]) for row in rows if row["reason"]] == [("excluded", "not_annotated")]


def test_detect_counts_a_submitted_annotation_without_regions_as_an_empty_page(
    calque: Callable[..., Run], tmp_path: Path
) -> None:
    empty = task(2, annotations=[{"result": [], "was_cancelled": False}])
    run = evaluate(calque, tmp_path, [ANNOTATED, empty], predicted(2))
    micro = run.json["metrics"]["0.5"]["micro"]
    assert (micro["tp"], micro["fp"], micro["fn"]) == (1, 1, 0)
    assert run.json["metrics"]["0.5"]["empty_pages"]["pages_with_fp"] == 1
    assert run.json["issues"] == []


def test_detect_never_takes_annotations_of_the_same_file_for_predictions(calque: Callable[..., Run], tmp_path: Path) -> None:
    both = [{**row, "annotations": [{"result": [REGION]}]} for row in (*predicted(1), task(2))]
    run = evaluate(calque, tmp_path, both, both)
    micro = run.json["metrics"]["0.5"]["micro"]
    assert (micro["tp"], micro["fp"], micro["fn"]) == (1, 0, 1)


def test_page_annotated_in_one_of_two_tasks_is_annotated(calque: Callable[..., Run], tmp_path: Path) -> None:
    run = evaluate(calque, tmp_path, [ANNOTATED, {**task(1, annotations=[]), "id": 7}], predicted(1))
    assert run.json["metrics"]["0.5"]["micro"]["tp"] == 1
    assert run.json["counts"]["predictions_not_counted"] == {}


def test_states_with_and_without_unannotated_pages_merge(calque: Callable[..., Run], tmp_path: Path) -> None:
    for place, truth in enumerate(([ANNOTATED], [task(2, annotations=[])])):
        (tmp_path / "truth.json").write_text(json.dumps(truth))
        (tmp_path / "found.json").write_text(json.dumps(predicted(2)[place : place + 1]))
        assert calque("detect", "truth.json", "found.json", "--save", f"{place}.state").code in (0, 3)
    run = calque("merge", "0.state", "1.state", "--format", "json")
    assert run.json["metrics"]["0.5"]["micro"]["fp"] == 0
    assert run.json["metrics"]["0.5"]["micro"]["tp"] == 1
