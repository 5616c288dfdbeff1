"""Average precision of boxes: observations ranked by confidence, through the same kernels as detection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from calque.base.columns import Array, Floats, Ints, where_else
from calque.evaluation.ledger import UNIT, Ledger, Piece
from calque.evaluation.measures import Undefined, counts, fraction_parts, joined_fractions, reached
from calque.evaluation.storage.ranking import Ranked, RankRange, Rows
from calque.geometry.forms import DECIMAL_RECALL_POINTS
from calque.kernels import kernels
from calque.kernels.structs import Verdicts

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
    """Return the average precision for each threshold (ascending) and class; -1 for a class without truth boxes."""
    ranked = ledger.ranked(partial(_ranked_boxes, thresholds), len(totals.truths))
    parts = [_mean_precisions(ranked, totals.truths, range(len(thresholds))[start : start + MASK_BITS])
             for start in range(0, len(thresholds), MASK_BITS)]  # fmt: skip
    return np.concatenate(parts)


def _ranked_boxes(thresholds: Sequence[float], piece: Piece) -> Rows:
    """Return predicted boxes by class, from the highest confidence on, with the number of thresholds that the IoU meets."""
    boxes = piece.ledger.table("boxes")
    labels = where_else(boxes.array("has_found"), boxes.array("label"), -1)
    confidence = boxes.array("confidence")
    met = reached(boxes.array("iou"), thresholds)
    documents = partial(_documents, piece)
    return Rows(labels, np.where(np.isnan(confidence), 1.0, confidence), (met,), documents)


def _documents(piece: Piece) -> Ints:
    return np.asarray(piece.places[piece.ledger.table("boxes").array(UNIT)], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Precision:
    """Precision by threshold, recall point and class."""

    values: Floats

    def join(self, other: Precision) -> Precision:
        """Return the envelope of both."""
        return Precision(np.maximum(self.values, other.values))


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionCurves:
    """Computes the precision curves of ranges for some of the thresholds."""

    truths: Ints
    thresholds: range

    def _met(self, ranked: RankRange) -> Array:
        """Return how many of the thresholds the IoU of each row meets."""
        return np.clip(ranked.columns[0].astype(np.int32) - self.thresholds.start, 0, len(self.thresholds))

    def count(self, ranked: RankRange) -> Ints:
        """Return the true and the false positives by threshold and class."""
        size, classes = len(self.thresholds) + 1, len(self.truths)
        cell = ranked.classes() * np.int64(size) + self._met(ranked)
        hits = counts(cell, classes * size).reshape(classes, size)[:, :0:-1].cumsum(axis=1)[:, ::-1].T
        return np.ascontiguousarray(np.stack([hits, np.diff(ranked.order.class_offsets)[None, :] - hits]))

    def __call__(self, ranked: RankRange, before: Ints | None) -> Precision:
        """Return the curves of a range."""
        # One bit for each threshold that the IoU meets: thresholds are sorted, so these are the lowest bits.
        matched = ((1 << self._met(ranked)) - 1).astype(np.uint16)
        nothing = np.zeros(len(matched), np.int32)
        wanted = np.tile(self.truths, (len(self.thresholds), 1))
        precision, _, _ = kernels().coco_accumulate(
            ranked.order,
            ranked.scores,
            Verdicts(nothing, matched, nothing.astype(np.uint16)),
            wanted,
            np.array(DECIMAL_RECALL_POINTS),
            1,
            before=before,
        )
        return Precision(precision)


def _mean_precisions(ranked: Ranked, truths: Ints, thresholds: range) -> Floats:
    """Return the mean over recall points for some of the thresholds, and each class."""
    curves = PrecisionCurves(truths, thresholds)
    best = ranked.fold(curves.count, curves).values
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
