"""Which boxes of a page overlap, whatever their labels, and the area that several boxes cover together."""

from itertools import pairwise

import numpy as np

from calque.kernels.reference.boxes import (
    COUNTS,
    Bytes,
    Floats,
    Ints,
    Rows,
    Side,
    check_offsets,
    check_side,
    edges,
    intersection,
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
    truths, founds = edges(truth_boxes, xywh), edges(found_boxes, xywh)
    parts: list[tuple[Rows, Rows, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    for truth, found in pairs(truth_side, found_side):
        shared = intersection(truths, truth, founds, found)
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
