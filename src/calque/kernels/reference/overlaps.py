"""Which boxes of a page overlap, how much the two boxes of a pair share, and the area that several cover together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from calque.geometry import boxes as geometry
from calque.geometry.boxes import edges, intersection, share
from calque.kernels.reference.boxes import (
    COUNTS,
    Bytes,
    Floats,
    Ints,
    Rows,
    Side,
    box_form,
    check_offsets,
    check_side,
    pairs,
)


def overlapping_pairs(
    truth_boxes: Floats,
    truth_offsets: Rows,
    truth_roles: Bytes,
    found_boxes: Floats,
    found_offsets: Rows,
    found_roles: Bytes,
    xywh: bool,
    jobs: int = 1,
) -> tuple[Ints, Ints, Floats]:
    """Every truth and found box of one page that count and share some area, by found row and then truth row.

    Returns the rows of the truths, the rows of the found boxes, and the areas that they share.

    >>> truth, found = np.array([[0.0, 0, 2, 2], [5.0, 5, 6, 6]]), np.array([[1.0, 0, 4, 2]])
    >>> counts = np.zeros(2, np.uint8)
    >>> overlapping_pairs(truth, np.array([0, 2]), counts, found, np.array([0, 1]), counts[:1], False)
    (array([0], dtype=int32), array([0], dtype=int32), array([2.]))
    """
    del jobs  # the native twin's threads
    check_side("truth", truth_boxes, truth_roles, truth_offsets)
    check_side("found", found_boxes, found_roles, found_offsets)
    if len(truth_offsets) != len(found_offsets):
        raise ValueError("truth_offsets and found_offsets must have the same number of pages")
    pages = np.arange(len(truth_offsets) - 1)
    truth_side = Side(np.flatnonzero(truth_roles == COUNTS), np.repeat(pages, np.diff(truth_offsets)))
    found_side = Side(np.flatnonzero(found_roles == COUNTS), np.repeat(pages, np.diff(found_offsets)))
    truths, founds = edges(truth_boxes, box_form(xywh)), edges(found_boxes, box_form(xywh))
    parts: list[tuple[Rows, Rows, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    for truth, found in pairs(truth_side, found_side):
        shared = intersection(truths.take(truth), founds.take(found))
        keep = shared > 0
        parts.append((truth[keep], found[keep], shared[keep]))
    truth_rows, found_rows, areas = (np.concatenate(column) for column in zip(*parts, strict=True))
    return truth_rows.astype(np.int32), found_rows.astype(np.int32), areas


def union_areas(boxes: Floats, offsets: Rows, jobs: int = 1) -> Floats:
    """For each group of boxes (x1, y1, x2, y2; ``offsets`` cut the rows into groups) the area of their union.

    Exact, without a raster: the plane is cut at every left and right edge, and within such a slab the union is a matter
    of heights alone.

    >>> union_areas(np.array([[0.0, 0, 2, 2], [1.0, 0, 3, 2], [7.0, 7, 8, 8]]), np.array([0, 2, 3])).tolist()
    [6.0, 1.0]
    """
    del jobs  # the native twin's threads
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError("boxes must have four columns")
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
    truth_boxes: Floats, found_boxes: Floats, truth_match: Ints, xywh: bool, jobs: int = 1
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """For each truth IoU, coverage, purity and edge errors of its pair, and for each found box its IoU; NaN without a partner.

    An edge error is what the found box cuts off (positive) or adds (negative): left and right relative to the truth's
    width, top and bottom to its height.

    >>> truth, found = np.array([[0.0, 0, 4, 4]]), np.array([[0.0, 0, 4, 3]])
    >>> iou, coverage, purity, sides, found_iou = pair_measures(truth, found, np.array([0], np.int32), False)
    >>> iou.tolist(), coverage.tolist(), purity.tolist(), sides.tolist(), found_iou.tolist()
    ([0.75], [0.75], [1.0], [[0.0, 0.0, 0.0, 0.25]], [0.75])
    """
    del jobs  # the native twin's threads
    if len(truth_match) != len(truth_boxes):
        raise ValueError("truth_match must have as many rows as truth_boxes")
    if (truth_match >= len(found_boxes)).any():
        raise ValueError("truth_match names a row that does not exist")
    truth = np.flatnonzero(truth_match >= 0)
    found: Rows = truth_match[truth].astype(np.int64)
    one = edges(truth_boxes, box_form(xywh)).take(truth)
    other = edges(found_boxes, box_form(xywh)).take(found)
    shared = intersection(one, other)
    iou = geometry.iou(shared, one.area, other.area)
    with np.errstate(all="ignore"):
        width, height = one.right - one.left, one.bottom - one.top
        sides = [
            (other.left - one.left) / width,
            (other.top - one.top) / height,
            (one.right - other.right) / width,
            (one.bottom - other.bottom) / height,
        ]
    rows = len(truth_boxes)
    return (
        _spread(iou, truth, rows),
        _spread(share(shared, one.area), truth, rows),
        _spread(share(shared, other.area), truth, rows),
        np.stack([_spread(side, truth, rows) for side in sides], axis=1),
        _spread(iou, found, len(found_boxes)),
    )


def _spread(values: Floats, rows: Rows, size: int) -> Floats:
    column = np.full(size, np.nan)
    column[rows] = values
    return column
