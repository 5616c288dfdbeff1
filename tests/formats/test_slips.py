"""Slips that the numbers of a file give away: "all scores zero" is never the only message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from calque import Detection, Evaluator, read
from calque.readers import read_pair

Box = list[float]
LAYOUT: list[Box] = [[60.0 + 40 * k, 90.0 + 210 * k, 330.0 + 110 * k, 260.0 + 210 * k] for k in range(6)]
"""Corners on pages of 1000 by 1400 pixels."""
SIZE = {"width": 1000, "height": 1400}


def items(boxes: list[Box], **more: Any) -> list[dict[str, Any]]:
    return [{"doc": "d", "page": page, "category": "Table", "bbox": box, **more} for page, box in enumerate(boxes)]


SLIPS: dict[str, tuple[Callable[[Box], Box], str]] = {
    "axes-swapped": (lambda b: [b[1], b[0], b[3], b[2]], ""),
    "sizes-for-corners": (lambda b: [b[0], b[1], b[2] - b[0], b[3] - b[1]], "--boxes xywh"),
    "centres-for-corners": (
        lambda b: [(b[0] + b[2]) / 2, (b[1] + b[3]) / 2, b[2] - b[0], b[3] - b[1]],
        "--boxes cxcywh",
    ),
    "origin-bottom": (lambda b: [b[0], 1400 - b[3], b[2], 1400 - b[1]], "--origin bottom_left"),
    "shares-for-pixels": (lambda b: [b[0] / 1000, b[1] / 1400, b[2] / 1000, b[3] / 1400], "--units normalized"),
    "percent-for-pixels": (lambda b: [b[0] / 10, b[1] / 14, b[2] / 10, b[3] / 14], "--units percent"),
    "thousandths-for-pixels": (lambda b: [b[0], b[1] / 1.4, b[2], b[3] / 1.4], "--units thousand"),
    "scales-differ": (lambda b: [value * 0.36 for value in b], ""),
}


@pytest.mark.parametrize("code", SLIPS)
def test_slips_in_pixels(code: str) -> None:
    undo, option = SLIPS[code]
    truth = items(LAYOUT, **SIZE)
    _, found = read_pair(truth, items([undo(box) for box in LAYOUT], score=0.5))
    (note,) = [issue for issue in found.issues if issue.code in SLIPS]
    assert note.code == code
    assert option in note.help
    assert "would if" in note.message


@pytest.mark.parametrize("code", [code for code, (_, option) in SLIPS.items() if option])
def test_the_option_that_a_note_names_repairs_the_slip(code: str) -> None:
    undo, option = SLIPS[code]
    name, value = option.removeprefix("--").split()
    task = Detection(**{name: value}, page_size=(1000, 1400))
    boxes = LAYOUT if name == "boxes" else [[round(v, 6) for v in box] for box in LAYOUT]
    found = items([undo(box) for box in boxes], score=0.5)
    truth = {
        "images": [{"id": page, "doc_id": "d", "page_index": page, **SIZE} for page in range(6)],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [
            {"id": k + 1, "image_id": k, "category_id": 1, "bbox": [b[0], b[1], b[2] - b[0], b[3] - b[1]]}
            for k, b in enumerate(LAYOUT)
        ],
    }
    result = Evaluator(task).update(truth, found).compute()
    assert result["mean_iou@0.5"] == pytest.approx(1)
    assert result["recall@0.5"] == 1


def test_corners_given_as_widths_and_heights_in_coco_results() -> None:
    truth = {
        "images": [{"id": k} for k in range(6)],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [
            {"id": k + 1, "image_id": k, "category_id": 1, "bbox": [b[0], b[1], b[2] - b[0], b[3] - b[1]]}
            for k, b in enumerate(LAYOUT)
        ],
    }
    results = [{"image_id": k, "category_id": 1, "bbox": b, "score": 0.5} for k, b in enumerate(LAYOUT)]
    # The higher a box lies and the wider it is, the less the wrong reading of its corners differs from the right one.
    results = [{**entry, "bbox": [v + 400 for v in entry["bbox"]]} for entry in results]
    for annotation in truth["annotations"]:
        annotation["bbox"] = [annotation["bbox"][0] + 400, annotation["bbox"][1] + 400, *annotation["bbox"][2:]]
    _, found = read_pair(truth, results)
    assert [issue.code for issue in found.issues] == ["corners-for-sizes"]


def test_no_note_when_boxes_meet_or_nothing_helps() -> None:
    truth = items(LAYOUT, **SIZE)
    far = [[1.0, 1.0, 3.0, 2.0]] * 6
    for boxes in (LAYOUT, far):
        _, found = read_pair(truth, items(boxes, score=0.5))
        assert [issue.code for issue in found.issues] == []


def test_few_objects_prove_nothing() -> None:
    truth = items(LAYOUT[:4], **SIZE)
    _, found = read_pair(truth, items([[b[1], b[0], b[3], b[2]] for b in LAYOUT[:4]], score=0.5))
    assert found.issues == ()


@pytest.mark.parametrize(
    ("boxes", "options", "code"),
    [
        ([[0.1, 0.2, 0.5, 1.0]], {}, "looks-normalized"),
        ([[0.1, 0.2, 0.5, 1.0]], {"units": "percent"}, "looks-divided"),
        ([[10, 20, 500, 1000]], {"page_size": (300, 400)}, "beyond-page"),
        ([[100, 20, 50, 10], [100, 90, 30, 20]], {}, "looks-like-sizes"),
    ],
)
def test_slips_of_one_file(boxes: list[Box], options: dict[str, Any], code: str) -> None:
    corpus = read(items(boxes), **options)
    assert code in [issue.code for issue in corpus.issues]


def test_units_that_cannot_be_brought_together() -> None:
    from calque import CalqueError

    shares = items([[v / 1400 for v in box] for box in LAYOUT])
    snapshot = read(shares, units="normalized")
    with pytest.raises(CalqueError, match="--page-size W,H"):
        read_pair(items(LAYOUT), snapshot)
    truth, found = read_pair(items(LAYOUT), snapshot, page_size=(1400, 1400))
    assert found.boxes.tolist() == [pytest.approx(box) for box in LAYOUT]
    assert truth.extent is found.extent
