"""The data of a detection report: confusion and score sweep use the evaluated geometry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator
from tests.conftest import Run
from tests.report_data import read_report

Calque = Callable[..., Run]
UPPER, LOWER = [0, 0, 10, 0, 0, 10], [10, 0, 10, 10, 0, 10]
"""Two triangles that fill one square and share only an edge."""


def coco_files(folder: Path, predictions: list[dict[str, Any]]) -> list[str]:
    """Write a ground truth with one triangle, and predictions for its image."""
    truth = {
        "images": [{"id": 1, "file_name": "a.png", "width": 20, "height": 20}],
        "categories": [{"id": 1, "name": "Table"}, {"id": 2, "name": "Figure"}],
        "annotations": [
            {
                "id": 1,
                "image_id": 1,
                "category_id": 1,
                "bbox": [0, 0, 10, 10],
                "area": 50,
                "iscrowd": 0,
                "segmentation": [UPPER],
            }
        ],
    }
    names = [folder / "truth.json", folder / "predictions.json"]
    for path, content in zip(names, (truth, predictions), strict=True):
        path.write_text(json.dumps(content))
    return [str(path) for path in names]


def prediction(ring: list[int], category: int, score: float) -> dict[str, Any]:
    return {"image_id": 1, "category_id": category, "bbox": [0, 0, 10, 10], "score": score, "segmentation": [ring]}


def report_head(calque: Calque, folder: Path, *arguments: str) -> dict[str, Any]:
    path = folder / "report.html"
    outcome = calque("detect", *arguments, "--report", str(path))
    assert outcome.code == 0, outcome.err
    head, _ = read_report(path.read_bytes())
    run: dict[str, Any] = head["runs"][0]
    return run


@pytest.mark.parametrize("on", ["boxes", "shapes", "masks"])
def test_report_without_view_options_has_the_numbers_of_the_views(calque: Calque, on: str, tmp_path: Path) -> None:
    files = coco_files(tmp_path, [prediction(LOWER, 1, 0.9), prediction(UPPER, 2, 0.6)])
    plain = report_head(calque, tmp_path, *files, "--on", on)
    asked = report_head(calque, tmp_path, *files, "--on", on, "--confusion", "--sweep")
    for key in ("confusion", "sweep"):
        assert plain["numbers"][key] == asked["numbers"][key]


@pytest.mark.parametrize("on", ["shapes", "masks"])
def test_report_of_complementary_triangles_has_no_pair(calque: Calque, on: str, tmp_path: Path) -> None:
    run = report_head(calque, tmp_path, *coco_files(tmp_path, [prediction(LOWER, 1, 0.9)]), "--on", on)
    assert run["numbers"]["confusion"]["matrix"] == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert run["numbers"]["sweep"]["best_f1"]["f1"] == 0.0
    assert not any("lift" in finding["text"] for finding in run["findings"])


def test_plot_of_result_without_outcomes_draws_what_it_has() -> None:
    pytest.importorskip("matplotlib")
    boxes = [[0, 0, 10, 10]]
    found = Corpus.from_arrays(boxes, ["T"], scores=[0.5])
    result = Evaluator(Detection(), keep="numbers").update(Corpus.from_arrays(boxes, ["T"]), found).compute()
    assert result.plot() is not None
