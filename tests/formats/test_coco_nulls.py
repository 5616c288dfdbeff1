"""COCO files: a null optional key counts as absent, and many duplicate names take linear time."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator
from calque.coco import COCO, COCOeval
from tests.conftest import Run

ROW = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]}
OPTIONAL = [
    ("images", "width"), ("images", "height"), ("images", "file_name"), ("images", "doc_id"), ("images", "page_index"),
    ("categories", "name"), ("categories", "supercategory"), ("annotations", "id"), ("annotations", "area"),
    ("annotations", "iscrowd"), ("annotations", "ignore"), ("annotations", "score"), ("annotations", "segmentation"),
    ("annotations", "attributes"), ("annotations", "obb"),
]  # fmt: skip


def tree() -> dict[str, Any]:
    return {
        "images": [{"id": 1, "width": 20, "height": 20, "file_name": "a.png"}],
        "categories": [{"id": 1, "name": "Table", "supercategory": "thing"}],
        "annotations": [{**ROW, "id": 1, "area": 100, "iscrowd": 0}, {**ROW, "id": 2, "bbox": [0, 10, 10, 10], "iscrowd": 1}],
    }


def changed(table: str, key: str, *, null: bool) -> dict[str, Any]:
    """Return the file with a key that is null, or absent, in every entry."""
    made = tree()
    for entry in made[table]:
        entry.pop(key, None)
        if null:
            entry[key] = None
    return made


@pytest.mark.parametrize(("table", "key"), OPTIONAL)
def test_coco_null_optional_key_counts_as_absent(kernels: str, tmp_path: Path, table: str, key: str) -> None:
    numbers = []
    for null in (False, True):
        path = tmp_path / f"{null}.json"
        path.write_text(json.dumps(changed(table, key, null=null)))
        result = Evaluator(Detection()).update(path, [{**ROW, "score": 0.5}]).compute()
        assert result["recall@0.5"] == (0.5 if key == "iscrowd" else 1.0)
        numbers.append((result.numbers, [issue.code for issue in result.issues]))
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("key", ["iscrowd", "area"])
@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_drop_in_null_optional_key_counts_as_absent(key: str, iou_type: str) -> None:
    numbers = []
    for null in (False, True):
        with contextlib.redirect_stdout(io.StringIO()):
            truth = COCO(changed("annotations", key, null=null))
            one = COCOeval(truth, truth.loadRes([{**ROW, "score": 0.5}]), iou_type)
            one.evaluate()
            one.accumulate()
            one.summarize()
        numbers.append(one.stats.tolist())
    assert numbers[0] == numbers[1]
    assert numbers[0][0] > 0


MANY = 120_000
"""Enough entries for a scan that compares each with every other to take minutes."""


def test_coco_many_file_names_with_a_late_duplicate_are_refused_at_once(calque: Callable[..., Run], tmp_path: Path) -> None:
    images = [{"id": place, "width": 9, "height": 9, "file_name": f"{place}.png"} for place in range(MANY)]
    images[-1]["file_name"] = f"{MANY - 2}.jpg"
    (tmp_path / "truth.json").write_text(json.dumps({**tree(), "images": images}))
    (tmp_path / "found.json").write_text(json.dumps([{**ROW, "score": 0.5}]))
    run = calque("detect", "truth.json", "found.json", "--document-key", "stem")
    assert run.code == 2
    assert f"'{MANY - 2}'" in run.err


def test_validate_of_many_duplicate_category_names_notes_them(calque: Callable[..., Run], tmp_path: Path) -> None:
    categories = [{"id": place, "name": f"class {place // 2}"} for place in range(MANY)]
    (tmp_path / "truth.json").write_text(json.dumps({**tree(), "categories": categories}))
    run = calque("validate", "truth.json", "--format", "json")
    assert run.code == 0
    assert "duplicate-category-name" in run.out
