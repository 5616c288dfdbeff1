"""Masks without a pixel: every view, audit and layout take them, with either set of kernels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run

NO_PIXEL, SOME = {"size": [20, 20], "counts": [400]}, {"size": [20, 20], "counts": [0, 40, 360]}
VIEWS = ("--page-view", "--crops", "--confusion", "--sweep", "--beside", "boxes")


@pytest.mark.parametrize("errors", ["kinds", "tide"])
@pytest.mark.parametrize("sides", [(NO_PIXEL, NO_PIXEL), (NO_PIXEL, SOME), (SOME, NO_PIXEL)])
def test_detect_with_masks_without_pixels_matches_nothing(
    calque: Callable[..., Run], kernels: str, tmp_path: Path, sides: tuple[object, object], errors: str
) -> None:
    row = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]}
    truth = {
        "images": [{"id": 1, "width": 20, "height": 20}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [{**row, "id": 1, "segmentation": sides[0]}],
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "found.json").write_text(json.dumps([{**row, "score": 0.5, "segmentation": sides[1]}]))
    files = ("truth.json", "found.json", "--on", "masks", "--format", "json")
    run = calque("detect", *files, *VIEWS, "--errors", errors)
    assert run.code == 0, run.err
    micro = run.json["metrics"]["0.5"]["micro"]
    assert (micro["tp"], micro["fp"], micro["fn"]) == (0, 1, 1)
    areas = run.json["page_view"]["overall"]
    assert (areas["truth_area"], areas["found_area"]) == tuple(40.0 if side is SOME else 0.0 for side in sides)
    assert calque("layout", *files).code == 0
    assert calque("audit", "truth.json", "--on", "masks").code in (0, 1)
