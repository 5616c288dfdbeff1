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


Object = tuple[list[int], str]


def write_files(folder: Path, on: str, truth: list[Object], predictions: list[Object]) -> list[str]:
    """Write both sides, as plain lists of polygons or as COCO files with masks, and return the arguments of `detect`."""
    if on == "masks":
        sides = (
            _coco(truth),
            [{**row, "score": 0.9 - place / 10} for place, row in enumerate(_coco(predictions)["annotations"])],
        )
    else:
        sides = _plain(truth), [{**row, "score": 0.9 - place / 10} for place, row in enumerate(_plain(predictions))]
    names = [folder / "truth.json", folder / "predictions.json"]
    for path, content in zip(names, sides, strict=True):
        path.write_text(json.dumps(content))
    return [*map(str, names), "--on", on, *(() if on == "masks" else ("--boxes", "polygon"))]


def _plain(objects: list[Object]) -> list[dict[str, Any]]:
    return [{"bbox": ring, "category": label} for ring, label in objects]


def _coco(objects: list[Object]) -> dict[str, Any]:
    shared = {"image_id": 1, "bbox": [0, 0, 10, 10], "area": 50}
    return {
        "images": [{"id": 1, "file_name": "a.png", "width": 20, "height": 20}],
        "categories": [{"id": 1, "name": "Figure"}, {"id": 2, "name": "Table"}],
        "annotations": [
            {**shared, "id": place + 1, "category_id": 1 + (label == "Table"), "segmentation": [ring]}
            for place, (ring, label) in enumerate(objects)
        ],
    }


def report_head(calque: Calque, folder: Path, *arguments: str) -> dict[str, Any]:
    path = folder / "report.html"
    outcome = calque("detect", *arguments, "--report", str(path))
    assert outcome.code == 0, outcome.err
    head, _ = read_report(path.read_bytes())
    run: dict[str, Any] = head["runs"][0]
    return run


@pytest.mark.parametrize("on", ["boxes", "shapes", "masks"])
def test_report_without_view_options_has_the_numbers_of_the_views(calque: Calque, on: str, tmp_path: Path) -> None:
    files = write_files(tmp_path, on, [(UPPER, "Table")], [(LOWER, "Table"), (UPPER, "Figure")])
    plain = report_head(calque, tmp_path, *files)
    asked = report_head(calque, tmp_path, *files, "--confusion", "--sweep")
    for key in ("confusion", "sweep"):
        assert plain["numbers"][key] == asked["numbers"][key]


@pytest.mark.parametrize("on", ["shapes", "masks"])
def test_report_of_complementary_triangles_has_no_pair(calque: Calque, on: str, tmp_path: Path) -> None:
    run = report_head(calque, tmp_path, *write_files(tmp_path, on, [(UPPER, "Table")], [(LOWER, "Table")]))
    confusion = run["numbers"]["confusion"]
    cells = {
        (true, found): count
        for true, row in zip(confusion["labels"], confusion["matrix"], strict=True)
        for found, count in zip(confusion["labels"], row, strict=True)
        if count
    }
    assert cells == {("Table", "(background)"): 1, ("(background)", "Table"): 1}
    assert run["numbers"]["sweep"]["best_f1"]["f1"] == 0.0
    assert not any("lift" in finding["text"] for finding in run["findings"])


def test_plot_of_result_without_outcomes_draws_what_it_has() -> None:
    pytest.importorskip("matplotlib")
    boxes = [[0, 0, 10, 10]]
    found = Corpus.from_arrays(boxes, ["T"], scores=[0.5])
    result = Evaluator(Detection(), keep="numbers").update(Corpus.from_arrays(boxes, ["T"]), found).compute()
    assert result.plot() is not None
