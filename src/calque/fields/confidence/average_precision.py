"""Average precision of boxes: observations ranked by confidence, through the same kernels as detection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from calque.base.columns import Floats, Ints, Table
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import Undefined, counts, fraction_parts, joined_fractions, reached
from calque.fields.confidence.ranking import Ranked, Ranking, by_code
from calque.geometry.forms import DECIMAL_RECALL_POINTS
from calque.kernels import kernels
from calque.kernels.structs import ScoreOrder, Verdicts

MASK_BITS = 16
"""How many thresholds one pass of the kernel takes."""

NO_TRUTH = Undefined("no truth boxes")


class BoxTotals:
    """What can be said of all boxes without ranking them, by class."""

    def __init__(self, ledger: Ledger, thresholds: Sequence[float]) -> None:
        size = len(ledger.names["label"])
        self.truths, self.detections = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.right = np.zeros(len(thresholds), np.int64)
        """At each threshold: truth boxes whose field has the right value and a predicted box that meets them."""
        overlap = np.zeros((2, size), np.int64)
        for rows in ledger.chunks("boxes"):
            label, has_found, iou = rows.array("label"), rows.array("has_found"), rows.array("iou")
            self.truths += counts(label[rows.array("has_truth")], size)
            self.detections += counts(label[has_found], size)
            overlap += fraction_parts(iou[has_found], label[has_found], size)
            self.right += [int((rows.array("match") & (iou >= threshold)).sum()) for threshold in thresholds]
        self.overlap = joined_fractions(overlap)
        """The sum of IoUs of predicted boxes."""


def average_precisions(ledger: Ledger, totals: BoxTotals, thresholds: Sequence[float]) -> Floats:
    """The average precision for each threshold (ascending) and class; -1 for a class without truth boxes."""

    def chunks() -> Iterator[Ranked]:
        return (_detections(rows, thresholds) for rows in ledger.chunks("boxes", "label", "has_found", "iou", "confidence"))

    ranking = Ranking(chunks, int(totals.detections.sum()))
    parts = [_mean_precisions(ranking, totals.truths, range(len(thresholds))[start : start + MASK_BITS])
             for start in range(0, len(thresholds), MASK_BITS)]  # fmt: skip
    return np.concatenate(parts)


def _detections(rows: Table, thresholds: Sequence[float]) -> Ranked:
    """Predicted boxes, from the highest confidence on: the class, and how many thresholds the overlap meets."""
    found = np.flatnonzero(rows.array("has_found"))
    confidence = rows.array("confidence")[found]
    met = reached(rows.array("iou")[found], thresholds)
    return Ranked(-np.where(np.isnan(confidence), 1.0, confidence), rows.array(UNIT)[found], (rows.array("label")[found], met))


def _mean_precisions(ranking: Ranking, truths: Ints, thresholds: range) -> Floats:
    """The mean over recall points for some of the thresholds, and each class."""
    wanted = np.tile(truths, (len(thresholds), 1))
    before = np.zeros((2, *wanted.shape), np.int64)
    best = np.where(wanted > 0, 0.0, -1.0)[:, None].repeat(len(DECIMAL_RECALL_POINTS), axis=1)
    for rows in ranking:
        label, met = rows.values
        # One bit for each threshold that the overlap meets; they are sorted, so these are the lowest bits.
        here = np.clip(met.astype(np.int32) - thresholds.start, 0, len(thresholds))
        matched = ((1 << here) - 1).astype(np.uint16)
        nothing = np.zeros(len(label), np.int32)
        order, offsets = by_code(label, len(truths))
        precision, _, _ = kernels().coco_accumulate(
            ScoreOrder(order.astype(np.int32), offsets),
            -rows.number,
            Verdicts(nothing, matched, nothing.astype(np.uint16)),
            wanted,
            np.array(DECIMAL_RECALL_POINTS),
            1,
            before=before,
        )
        best = np.maximum(best, precision)
        exactly = counts(label * np.int64(len(thresholds) + 1) + here, before[0].size + len(truths)).reshape(len(truths), -1)
        hits = exactly[:, :0:-1].cumsum(axis=1)[:, ::-1].T
        before += np.stack([hits, np.diff(offsets)[None, :] - hits])
    # The kernel guards against 0/0 by adding 2**-52, as pycocotools does; rounding takes that away again.
    return np.where(truths[None, :] > 0, np.round(best.mean(axis=1), 15), -1.0)


def box_metrics(ledger: Ledger, totals: BoxTotals, coverage: tuple[int, int], thresholds: Sequence[float]) -> dict[str, Any]:
    """``bbox_map_metrics``: mean average precision over classes and thresholds, and each class by itself."""
    labels, truths, detections = ledger.names["label"], totals.truths, totals.detections
    ap = average_precisions(ledger, totals, thresholds)
    at = {threshold: position for position, threshold in enumerate(thresholds)}
    per_class = {
        labels[k]: {
            "ap": float(ap[:, k].mean()) if truths[k] else NO_TRUTH,
            "ap_50": _at(ap[:, k], at, 0.5) if truths[k] else NO_TRUTH,
            "ap_75": _at(ap[:, k], at, 0.75) if truths[k] else NO_TRUTH,
            "mean_iou": float(totals.overlap[k] / detections[k]) if detections[k] else 0.0,
            "num_gt": int(truths[k]),
            "num_detections": int(detections[k]),
        }
        for k in range(len(labels))
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


def joint_metrics(totals: BoxTotals, thresholds: Sequence[float]) -> dict[str, dict[str, Any]]:
    """Right value in the right place: a truth box whose field has the right value and a predicted box that meets it."""
    truths, detections = int(totals.truths.sum()), int(totals.detections.sum())
    return {
        repr(threshold): {
            "correct": right,
            "precision": right / detections if detections else Undefined("no predicted boxes"),
            "recall": right / truths if truths else NO_TRUTH,
            "f1": 2 * right / (detections + truths) if detections + truths else Undefined("no boxes"),
        }
        for threshold, right in zip(thresholds, totals.right.tolist(), strict=True)
    }
