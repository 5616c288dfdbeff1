"""Which boxes of a page overlap, how much the two boxes of a pair share, and the area that several cover together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from calque.base.columns import Codes, Floats, Ints
from calque.geometry import boxes as geometry
from calque.geometry.boxes import intersection, share
from calque.kernels.reference.boxes import box_edges, by_page, check_offsets, check_sides, pairs, shared_area
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
    del jobs  # the native twin's threads
    check_sides(truth, found)
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
    check_offsets("offsets", offsets, len(boxes))
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


def pair_measures(
    truth: PageBoxes, found: PageBoxes, truth_match: Codes, jobs: int = 1
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """For each truth IoU, coverage, purity and edge errors of its pair, and for each found box its IoU; NaN without a partner.

    ``truth_match`` holds the row of each truth's found box, or -1. An edge error is what the found box cuts off (positive)
    or adds (negative): left and right relative to the truth's width, top and bottom to its height.

    >>> from calque.geometry.forms import BoxForm
    >>> rest = BoxForm.XYXY, np.zeros(1, np.int32), np.array([0, 1]), np.zeros(1, np.uint8)
    >>> truth, found = PageBoxes(np.array([[0.0, 0, 4, 4]]), *rest), PageBoxes(np.array([[0.0, 0, 4, 3]]), *rest)
    >>> [column.tolist() for column in pair_measures(truth, found, np.array([0], np.int32))]
    [[0.75], [0.75], [1.0], [[0.0, 0.0, 0.0, 0.25]], [0.75]]
    """
    del jobs  # the native twin's threads
    check_sides(truth, found, truth_columns=(truth_match,))
    if (truth_match >= len(found.boxes)).any():
        raise ValueError("truth_match names a row that does not exist")
    truth_rows = np.flatnonzero(truth_match >= 0)
    found_rows: Ints = truth_match[truth_rows].astype(np.int64)
    one, other = box_edges(truth).take(truth_rows), box_edges(found).take(found_rows)
    shared = shared_area(found, one, other, truth_rows, found_rows)
    iou = geometry.iou(shared, one.area, other.area)
    with np.errstate(all="ignore"):
        width, height = one.right - one.left, one.bottom - one.top
        sides = [
            (other.left - one.left) / width,
            (other.top - one.top) / height,
            (one.right - other.right) / width,
            (one.bottom - other.bottom) / height,
        ]
    rows = len(truth.boxes)
    return (
        _spread(iou, truth_rows, rows),
        _spread(share(shared, one.area), truth_rows, rows),
        _spread(share(shared, other.area), truth_rows, rows),
        np.stack([_spread(side, truth_rows, rows) for side in sides], axis=1),
        _spread(iou, found_rows, len(found.boxes)),
    )


def _spread(values: Floats, rows: Ints, size: int) -> Floats:
    column = np.full(size, np.nan)
    column[rows] = values
    return column
