"""How much the two boxes of a pair share, and how their edges lie."""

import numpy as np

from calque.kernels.reference.boxes import Floats, Ints, Rows, edges, intersection


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
    truths, founds = edges(truth_boxes, xywh), edges(found_boxes, xywh)
    common = intersection(truths, truth, founds, found)
    truth_area, found_area = truths.area[truth], founds.area[found]
    with np.errstate(all="ignore"):
        iou = _share(common, found_area + truth_area - common)
        coverage, purity = _share(common, truth_area), _share(common, found_area)
        width, height = truths.right[truth] - truths.left[truth], truths.bottom[truth] - truths.top[truth]
        sides = [
            (founds.left[found] - truths.left[truth]) / width,
            (founds.top[found] - truths.top[truth]) / height,
            (truths.right[truth] - founds.right[found]) / width,
            (truths.bottom[truth] - founds.bottom[found]) / height,
        ]
    rows = len(truth_boxes)
    return (
        _spread(iou, truth, rows),
        _spread(coverage, truth, rows),
        _spread(purity, truth, rows),
        np.stack([_spread(side, truth, rows) for side in sides], axis=1),
        _spread(iou, found, len(found_boxes)),
    )


def _share(part: Floats, whole: Floats) -> Floats:
    return np.where(whole > 0, part / whole, 0.0)


def _spread(values: Floats, rows: Rows, size: int) -> Floats:
    column = np.full(size, np.nan)
    column[rows] = values
    return column
