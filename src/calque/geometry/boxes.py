"""Axis-aligned boxes: corners, areas and how much two of them share, row by row."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Floats
from calque.core.corpus import BoxForm


def areas(boxes: Floats, form: BoxForm) -> Floats:
    """The area of each box, computed from the numbers that were read.

    >>> areas(np.array([[0.0, 0.0, 2.0, 3.0]]), BoxForm.XYXY).tolist()
    [6.0]
    """
    with np.errstate(all="ignore"):  # invalid boxes have an area that is no number, and nobody looks at it
        if form is BoxForm.XYWH:
            return np.asarray(boxes[:, 2] * boxes[:, 3])
        return np.asarray((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]))


def corners(boxes: Floats, form: BoxForm) -> Floats:
    """The boxes as x1, y1, x2, y2.

    >>> corners(np.array([[1.0, 2.0, 3.0, 4.0]]), BoxForm.XYWH).tolist()
    [[1.0, 2.0, 4.0, 6.0]]
    """
    if form is BoxForm.XYXY:
        return boxes
    return np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)


def share(part: Floats, whole: Floats) -> Floats:
    """``part / whole`` row by row, 0 where the whole is 0: a degenerate box shares nothing.

    >>> share(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, 0.0]
    """
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
