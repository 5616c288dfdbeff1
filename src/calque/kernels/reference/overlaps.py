"""Overlapping boxes of a page, and the area of the union of boxes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from calque.base.columns import Codes, Floats, Ints
from calque.geometry.boxes import intersection
from calque.kernels.reference.boxes import box_edges, by_page, pairs
from calque.kernels.structs import TAKES_PART, PageBoxes, SharedAreas


def overlapping_pairs(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Codes, Codes, Floats]:
    """Every truth and found box of one page that count and share some area, by found row and then truth row.

    Returns the rows of the truths, the rows of the found boxes, and the areas that they share. Labels play no part.

    >>> from calque.geometry.forms import BoxForm
    >>> label, counts = np.zeros(2, np.int32), np.zeros(2, np.uint8)
    >>> truth = PageBoxes(np.array([[0.0, 0, 2, 2], [5.0, 5, 6, 6]]), BoxForm.XYXY, label, np.array([0, 2]), counts)
    >>> found = PageBoxes(np.array([[1.0, 0, 4, 2]]), BoxForm.XYXY, label[:1], np.array([0, 1]), counts[:1])
    >>> overlapping_pairs(truth, found)
    (array([0], dtype=int32), array([0], dtype=int32), array([2.]))
    """
    del jobs  # the native kernel has threads
    if found.shared is not None:
        return _counting_pairs(truth, found, found.shared)
    truths, founds = box_edges(truth), box_edges(found)
    parts: list[tuple[Ints, Ints, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    for t, f in pairs(by_page(truth), by_page(found)):
        shared = intersection(truths.take(t), founds.take(f))
        keep = shared > 0
        parts.append((t[keep], f[keep], shared[keep]))
    truth_rows, found_rows, areas = (np.concatenate(column) for column in zip(*parts, strict=True))
    return truth_rows.astype(np.int32), found_rows.astype(np.int32), areas


def _counting_pairs(truth: PageBoxes, found: PageBoxes, shared: SharedAreas) -> tuple[Codes, Codes, Floats]:
    """The pairs that are known already, of rows that count."""
    founds = np.repeat(np.arange(len(found.roles), dtype=np.int32), np.diff(shared.offsets))
    keep = (truth.roles[shared.truths] == TAKES_PART) & (found.roles[founds] == TAKES_PART)
    return shared.truths[keep], founds[keep], shared.areas[keep]


def union_areas(boxes: Floats, offsets: Ints) -> Floats:
    """For each group of boxes (x1, y1, x2, y2; ``offsets`` cut the rows into groups) the area of their union.

    Exact, without a raster: the plane is cut at every left and right edge, and within such a slab the union is a matter
    of heights alone.

    >>> union_areas(np.array([[0.0, 0, 2, 2], [1.0, 0, 3, 2], [7.0, 7, 8, 8]]), np.array([0, 2, 3])).tolist()
    [6.0, 1.0]
    """
    rows = boxes.tolist()
    areas = [_union_area(rows[start:end]) for start, end in pairwise(offsets.tolist())]
    return np.array(areas, dtype=np.float64)


def _union_area(boxes: list[list[float]]) -> float:
    solid = [(x1, y1, x2, y2) for x1, y1, x2, y2 in boxes if x1 < x2 and y1 < y2]
    cuts = sorted({x for box in solid for x in (box[0], box[2])})
    area = 0.0
    for left, right in pairwise(cuts):
        area += (right - left) * _covered(sorted((y1, y2) for x1, y1, x2, y2 in solid if x1 <= left and right <= x2))
    return area


def _covered(spans: list[tuple[float, float]]) -> float:
    """The length that spans, sorted by where they begin, cover together."""
    if not spans:
        return 0.0
    length = 0.0
    start, end = spans[0]
    for first, last in spans[1:]:
        if first <= end:
            end = max(end, last)
        else:
            length += end - start
            start, end = first, last
    return length + (end - start)
