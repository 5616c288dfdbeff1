"""One image and class at a time, decision for decision as pycocotools takes them: for subclasses and for unusual input.

What pycocotools raises an exception for is answered: a missing ``area`` is that of the box or mask, a missing ``iscrowd`` is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from calque.base.columns import Array, Floats
from calque.coco import mask as maskUtils

Row: TypeAlias = dict[str, Any]

HIGHEST_THRESHOLD = 1 - 1e-10
"""pycocotools' ceiling, so that an object equal to its truth passes a threshold of 1 in spite of rounding."""


def is_crowd(row: Mapping[str, Any]) -> int:
    """Whether any number of detections may lie on a truth."""
    return int(row.get("iscrowd") or 0)


def area_of(row: Mapping[str, Any]) -> Any:
    """The size that decides about area ranges."""
    if row.get("area") is not None:
        return row["area"]
    segmentation = row.get("segmentation")
    if isinstance(segmentation, Mapping) and isinstance(segmentation["counts"], str | bytes):
        return maskUtils.area(segmentation)
    return row["bbox"][2] * row["bbox"][3]


def by_score(rows: Sequence[Row], most: int) -> list[Row]:
    """The detections with the highest scores, best first; equal ones stay in order."""
    if len(rows) < 2:
        return list(rows[:most])
    order = np.array([-row["score"] for row in rows]).argsort(kind="mergesort")
    return [rows[number] for number in order[:most].tolist()]


def overlaps(truth: Sequence[Row], found: Sequence[Row], key: str, most: int) -> Any:
    """The table of overlaps of one image and class: detections by score against truths. ``key`` names box or mask."""
    if not truth and not found:
        return []
    ranked = by_score(found, most)
    try:
        return maskUtils.iou([row[key] for row in ranked], [row[key] for row in truth], [is_crowd(row) for row in truth])
    except ValueError:
        for row in (*truth, *ranked) if key == "segmentation" else ():
            _name_if_broken(row)
        raise


def _name_if_broken(row: Row) -> None:
    try:
        maskUtils.area([row["segmentation"]])
    except ValueError as error:
        raise ValueError(f"annotation {row['id']!r} of image {row['image_id']!r}: {error}") from None


def verdict(
    truth: Sequence[Row],
    found: Sequence[Row],
    ious: Any,
    thresholds: Any,
    area_range: Sequence[float],
    most: int,
    id_zero_counts: bool,
) -> Row:
    """What happens to the detections and truths of one image and class in one range of sizes."""
    low, high = area_range[0], area_range[1]
    for row in truth:
        row["_ignore"] = 1 if row["ignore"] or _outside(row, low, high) else 0
    order = np.array([row["_ignore"] for row in truth], dtype=np.int64).argsort(kind="mergesort")
    gt, dt = [truth[number] for number in order.tolist()], by_score(found, most)
    ignored = np.array([row["_ignore"] for row in gt])
    table = ious[:, order] if len(ious) > 0 else ious
    to_truth = matches(gt, dt, table, thresholds, ignored)
    gt_ids, dt_ids = [row["id"] for row in gt], [row["id"] for row in dt]
    outside = np.array([_outside(row, low, high) for row in dt], dtype=np.bool_).reshape(1, len(dt))
    return filled(to_truth, gt_ids, dt_ids, [row["score"] for row in dt], ignored, outside, id_zero_counts)


def _outside(row: Row, low: float, high: float) -> bool:
    area = area_of(row)
    return bool(area < low or area > high)


def filled(
    to_truth: Array,
    gt_ids: list[Any],
    dt_ids: list[Any],
    scores: list[Any],
    ignored: Array,
    outside: Array,
    id_zero_counts: bool,
) -> Row:
    """The fields of pycocotools' verdict. ``to_truth`` has the place of each detection's truth by threshold, or -1."""
    shape = to_truth.shape
    dtm, gtm, dt_ignored = np.zeros(shape), np.zeros((shape[0], len(gt_ids))), np.zeros(shape)
    for t, d in zip(*(places.tolist() for places in np.nonzero(to_truth >= 0)), strict=True):
        g = to_truth[t, d]
        dt_ignored[t, d] = ignored[g]
        dtm[t, d] = gt_ids[g]
        gtm[t, g] = dt_ids[d]
    matched = to_truth >= 0 if id_zero_counts else dtm != 0
    fields: Row = {
        "dtIds": dt_ids,
        "gtIds": gt_ids,
        "dtMatches": dtm,
        "gtMatches": gtm,
        "dtScores": scores,
        "gtIgnore": ignored,
        "dtIgnore": np.logical_or(dt_ignored, np.logical_and(~matched, np.repeat(outside, shape[0], 0))),
    }
    if (matched != (dtm != 0)).any():
        fields["dtMatched"] = matched  # a match with an annotation whose id is 0 cannot be told from none by the id
    return fields


def matches(gt: Sequence[Row], dt: Sequence[Row], ious: Any, thresholds: Any, ignored: Array) -> Array:
    """The place of the truth that each detection takes, by threshold: -1 for none."""
    taken = np.full((len(thresholds), len(dt)), -1)
    if len(ious) == 0 or not gt:
        return taken
    crowd, uses_up = [is_crowd(row) for row in gt], [row["id"] > 0 for row in dt]
    known = np.asarray(ious)
    table: list[list[float]] = known.tolist()
    # A NaN is the highest here, as it matches at any threshold there.
    highest = known.max(axis=1).tolist()
    out: list[int] = ignored.tolist()
    for t, threshold in enumerate(thresholds):
        free, least = [True] * len(gt), min(threshold, HIGHEST_THRESHOLD)
        for d in range(len(dt)):
            if highest[d] < least:
                continue
            best = _best(table[d], least, free, crowd, out)
            if best >= 0:
                taken[t, d] = best
                # A later detection overwrites the mark of a crowd; pycocotools knows a used truth by an id above 0.
                free[best] = not uses_up[d]
    return taken


def _best(overlap: Sequence[float], least: float, free: list[bool], crowd: list[int], out: list[int]) -> int:
    """The truth that is overlapped most: one that counts before one that does not, among equals the later."""
    best = -1
    for place, value in enumerate(overlap):
        if not free[place] and not crowd[place]:
            continue
        if best >= 0 and out[best] == 0 and out[place] == 1:
            break
        if value < least:
            continue
        least, best = value, place
    return best


def key_of(iou_type: str) -> str:
    """Where the shapes of that kind stand in a row."""
    if iou_type not in {"segm", "bbox"}:
        raise ValueError(f"unknown iouType for iou computation: {iou_type!r}")
    return "segmentation" if iou_type == "segm" else "bbox"


def plain_boxes(values: Sequence[Any]) -> Floats:
    """A table of four columns; `ValueError` where a box has more or fewer numbers."""
    boxes = np.array(values, dtype=np.float64)
    if boxes.size == 0 and not len(values):
        return np.zeros((0, 4))
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError("boxes have four numbers")
    return boxes
