"""What `showAnns` draws is what pycocotools draws, but for colours, which are drawn by lot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pycocotools.coco import COCO as PEER

from calque.coco import COCO

pyplot = pytest.importorskip("matplotlib.pyplot")

RINGS = [[1.0, 1.0, 6.0, 1.0, 6.0, 5.0], [7.0, 7.0, 9.0, 7.0, 9.0, 9.0, 7.0, 9.0]]
ROWS: list[dict[str, Any]] = [
    {"segmentation": RINGS, "iscrowd": 0, "keypoints": [1, 1, 2, 6, 1, 1, 6, 5, 0]},
    {"segmentation": {"size": [10, 12], "counts": [5, 20, 95]}, "iscrowd": 1},
    {"segmentation": {"size": [10, 12], "counts": "n0n0l1"}, "iscrowd": 0},
    {"segmentation": [], "iscrowd": 0, "keypoints": [3, 3, 2, 4, 4, 2, 5, 5, 1]},
]


def drawn(kind: Any, path: Path, rows: list[dict[str, Any]], *, boxes: bool) -> dict[str, Any]:
    """Everything that is on the axes afterwards, without colours."""
    pyplot.switch_backend("agg")
    figure = pyplot.figure()
    axes = pyplot.gca()
    assert kind(str(path)).showAnns(rows, draw_bbox=boxes) is None
    masks = [np.asarray(image.get_array()) for image in axes.images]
    found = {
        "outlines": [[outline.vertices.tolist() for outline in patches.get_paths()] for patches in axes.collections],
        "masks": [mask[..., 3].tolist() for mask in masks],
        "crowds": [mask[0, 0, :3].round(6).tolist() for mask, row in zip(masks, rows[1:], strict=False) if row["iscrowd"]],
        "lines": [(line.get_xydata().tolist(), line.get_marker()) for line in axes.lines],
        "scaled": axes.get_autoscale_on(),
    }
    pyplot.close(figure)
    return found


@pytest.mark.parametrize("boxes", [False, True])
def test_the_same_is_drawn(tmp_path: Path, boxes: bool) -> None:
    rows = [{"id": 1 + at, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], **row} for at, row in enumerate(ROWS)]
    category = {"id": 1, "name": "a", "skeleton": [[1, 2], [2, 3]]}
    path = tmp_path / "set.json"
    path.write_text(
        json.dumps({"images": [{"id": 1, "height": 10, "width": 12}], "categories": [category], "annotations": rows})
    )
    expected = drawn(PEER, path, rows, boxes=boxes)
    assert (len(expected["masks"]), len(expected["lines"]), len(expected["crowds"])) == (2, 7, 1)
    assert drawn(COCO, path, rows, boxes=boxes) == expected


def test_captions_are_printed_and_nothing_is_said_of_no_annotations(capsys: pytest.CaptureFixture[str]) -> None:
    for kind in (COCO, PEER):
        api = kind()
        assert api.showAnns([]) == 0
        api.showAnns([{"caption": "one"}, {"caption": "two"}])
        assert capsys.readouterr().out == "one\ntwo\n"
    with pytest.raises(ValueError, match="have a segmentation, keypoints or a caption to be shown"):
        COCO().showAnns([{"bbox": [0, 0, 1, 1]}])
