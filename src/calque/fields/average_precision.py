"""Average precision of boxes: observations ranked by confidence, through the same kernels as detection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calque.core.columns import Array, Floats, Table
from calque.core.measures import Undefined, counts, fraction_sums
from calque.kernels import kernels

RECALL_POINTS = np.arange(101) / 100
MASK_BITS = 16
"""How many thresholds one pass of the kernel takes."""

NO_TRUTH = Undefined("no truth boxes")


def average_precisions(labels: Array, has_truth: Array, has_found: Array, iou: Floats, confidence: Floats, classes: int,
                       thresholds: Sequence[float]) -> Floats:  # fmt: skip
    """The average precision for each threshold (ascending) and class; -1 for a class without truth boxes."""
    truths = counts(labels[has_truth], classes)
    label = labels[has_found].astype(np.int32)
    overlap = iou[has_found]
    score = np.where(np.isnan(confidence[has_found]), 1.0, confidence[has_found])
    order, offsets = kernels().score_order(label, score, classes)
    rank, ignored = np.zeros(len(label), dtype=np.int32), np.zeros(len(label), dtype=np.uint16)
    parts = []
    for start in range(0, len(thresholds), MASK_BITS):
        some = np.array(thresholds[start : start + MASK_BITS])
        # One bit for each threshold that the overlap meets; they are sorted, so these are the lowest bits.
        matched = ((1 << np.searchsorted(some, overlap, side="right")) - 1).astype(np.uint16)
        precision, _, _ = kernels().coco_accumulate(
            order, offsets, score, rank, matched, ignored, np.tile(truths, (len(some), 1)), RECALL_POINTS, 1
        )
        # The kernel guards against 0/0 by adding 2**-52, as pycocotools does; rounding takes that away again.
        parts.append(np.where(truths[None, :] > 0, np.round(precision.mean(axis=1), 15), -1.0))
    return np.concatenate(parts) if parts else np.zeros((0, classes))


def box_metrics(boxes: Table, labels: Sequence[str], coverage: tuple[int, int], thresholds: Sequence[float]) -> dict[str, Any]:
    """``bbox_map_metrics``: mean average precision over classes and thresholds, and each class by itself."""
    label, has_truth, has_found = boxes.array("label"), boxes.array("has_truth"), boxes.array("has_found")
    iou, size = boxes.array("iou"), len(labels)
    ap = average_precisions(label, has_truth, has_found, iou, boxes.array("confidence"), size, thresholds)
    truths, detections = counts(label[has_truth], size), counts(label[has_found], size)
    overlap = fraction_sums(iou[has_found], label[has_found], size)
    at = {threshold: position for position, threshold in enumerate(thresholds)}
    per_class = {
        labels[k]: {
            "ap": float(ap[:, k].mean()) if truths[k] else NO_TRUTH,
            "ap_50": _at(ap[:, k], at, 0.5) if truths[k] else NO_TRUTH,
            "ap_75": _at(ap[:, k], at, 0.75) if truths[k] else NO_TRUTH,
            "mean_iou": float(overlap[k] / detections[k]) if detections[k] else 0.0,
            "num_gt": int(truths[k]),
            "num_detections": int(detections[k]),
        }
        for k in range(size)
        if truths[k] or detections[k]
    }
    with_box, total = coverage
    known = truths > 0
    means = ap[:, known].mean(axis=1) if known.any() else None
    return {
        "mean_ap": NO_TRUTH if means is None else float(means.mean()),
        "map_50": NO_TRUTH if means is None else _at(means, at, 0.5),
        "map_75": NO_TRUTH if means is None else _at(means, at, 0.75),
        "iou_thresholds": list(thresholds),
        "fields": per_class,
        "coverage": {"fields_with_bbox": with_box, "fields_total": total, "ratio": with_box / total if total else 0.0},
    }


def _at(values: Floats, at: Mapping[float, int], threshold: float) -> float | Undefined:
    if threshold not in at:
        return Undefined(f"{threshold} is not among the IoU thresholds")
    return float(values[at[threshold]])


def joint_metrics(boxes: Table, thresholds: Sequence[float]) -> dict[str, dict[str, Any]]:
    """Right value in the right place: a truth box whose field has the right value and a predicted box that meets it."""
    has_truth, has_found, match = boxes.array("has_truth"), boxes.array("has_found"), boxes.array("match")
    truths, detections = int(has_truth.sum()), int(has_found.sum())
    result = {}
    for threshold in thresholds:
        right = int((match & (boxes.array("iou") >= threshold)).sum())
        result[repr(threshold)] = {
            "correct": right,
            "precision": right / detections if detections else Undefined("no predicted boxes"),
            "recall": right / truths if truths else NO_TRUTH,
            "f1": 2 * right / (detections + truths) if detections + truths else Undefined("no boxes"),
        }
    return result
