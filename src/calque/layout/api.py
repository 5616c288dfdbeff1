"""Layout accuracy of two lists of blocks, without files: ``{"bbox": [x, y, width, height], "category": ...}``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calque.base.arguments import check_number, check_type
from calque.base.columns import Codes, Floats
from calque.base.errors import ConfigError, ContractError, Issue
from calque.geometry.forms import BoxForm
from calque.geometry.rectangles import Sized, iou_of_sized
from calque.kernels import kernels
from calque.kernels.structs import PageBoxes

Block = Mapping[str, Any]


def bbox_iou(boxA: Sequence[float], boxB: Sequence[float]) -> float:  # noqa: N803  # the names that callers use
    """Compute the intersection over union (IoU) of two boxes.

    Args:
        boxA: A box as ``[x, y, width, height]``.
        boxB: The other box.

    Returns:
        The IoU, 0.0 if the boxes do not overlap or have no area.

    Raises:
        ContractError: A box is not four finite numbers, or its width or height is negative.

    >>> bbox_iou([0, 0, 10, 10], [0, 0, 10, 5])
    0.5
    """
    return iou_of_sized(_box(boxA, "boxA"), _box(boxB, "boxB"))


def evaluate_layout(gt_blocks: Sequence[Block], pred_blocks: Sequence[Block], iou_threshold: float = 0.5) -> dict[str, Any]:
    """Count the ground-truth blocks that are matched, and the fraction of them with the right category.

    Each ground-truth block takes the prediction with the highest IoU, the first one in a tie. Several blocks may take the
    same prediction. A block is matched if the IoU is at least the threshold and above 0.

    Args:
        gt_blocks: The ground-truth blocks, each with ``bbox`` (``[x, y, width, height]``) and ``category``.
        pred_blocks: The predicted blocks, in the same form.
        iou_threshold: The lowest IoU of a match.

    Returns:
        A dict with ``layout_total_blocks``, ``layout_matched_blocks`` and ``layout_classification_accuracy``. The accuracy is
        ``None`` if no block is matched.

    Raises:
        ContractError: A block lacks a key, or its box is not valid.
        ConfigError: The threshold is not from 0 to 1.

    >>> truth = [{"bbox": [10, 20, 100, 50], "category": "text"}, {"bbox": [150, 30, 200, 80], "category": "image"}]
    >>> predictions = [{"bbox": [12, 22, 98, 48], "category": "text"}, {"bbox": [155, 35, 195, 75], "category": "table"}]
    >>> evaluate_layout(truth, predictions)
    {'layout_total_blocks': 2, 'layout_matched_blocks': 2, 'layout_classification_accuracy': 0.5}
    """
    for name, blocks in (("gt_blocks", gt_blocks), ("pred_blocks", pred_blocks)):
        check_type("evaluate_layout", name, blocks, Sequence, "a list of blocks")
    check_number("evaluate_layout", "iou_threshold", iou_threshold)
    check_threshold(iou_threshold)
    truth, found = _boxes(gt_blocks, "gt_blocks"), _boxes(pred_blocks, "pred_blocks")
    match, iou = _best(truth, found)
    matched = np.flatnonzero((iou >= iou_threshold) & (iou > 0)).tolist()
    right = sum(gt_blocks[row]["category"] == pred_blocks[match[row]]["category"] for row in matched)
    return {
        "layout_total_blocks": len(truth),
        "layout_matched_blocks": len(matched),
        "layout_classification_accuracy": right / len(matched) if matched else None,
    }


def check_threshold(threshold: float) -> None:
    """Refuse what is no IoU."""
    if not 0 <= threshold <= 1:
        raise ConfigError(f"the IoU threshold must be from 0 to 1, not {threshold}")


def _best(truth: Floats, found: Floats) -> tuple[Codes, Floats]:
    def side(boxes: Floats) -> PageBoxes:
        count = len(boxes)
        offsets = np.array([0, count], np.int64)
        return PageBoxes(boxes, BoxForm.XYWH, np.zeros(count, np.int32), offsets, np.zeros(count, np.uint8))

    return kernels().match_best(side(truth), side(found))


def _boxes(blocks: Sequence[Block], name: str) -> Floats:
    issues: list[Issue] = []
    rows = []
    for number, block in enumerate(blocks):
        place = f"{name}[{number}]"
        if not isinstance(block, Mapping) or not {"bbox", "category"} <= block.keys():
            lacking = [key for key in ("bbox", "category") if not isinstance(block, Mapping) or key not in block]
            text = f"the block has no {' and no '.join(lacking)}"
            issues.append(Issue("missing-key", text, pointer=place, help="a block is {'bbox': [x, y, w, h], 'category': ...}"))
            continue
        try:
            rows.append(_box(block["bbox"], f"{place}['bbox']"))
        except ContractError as error:
            issues += error.issues
    if issues:
        raise ContractError(issues)
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _box(value: Any, place: str) -> Sized:
    numbers = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
    fine = len(numbers) == 4 and all(isinstance(n, int | float | np.number) and not isinstance(n, bool) for n in numbers)
    if not fine or not all(abs(n) <= sys.float_info.max for n in numbers):
        raise ContractError.single(
            "box-shape", f"expected four finite numbers [x, y, width, height], not {value!r}", pointer=place
        )
    if numbers[2] < 0 or numbers[3] < 0:
        raise ContractError.single("box-invalid", f"the width or height is negative: {value!r}", pointer=place)
    x, y, width, height = map(float, numbers)
    return x, y, width, height
