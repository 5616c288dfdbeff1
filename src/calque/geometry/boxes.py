"""Columns of upright boxes: corners, areas and how much two of them share, row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calque.base.columns import Array, Flags, Floats
from calque.geometry.forms import FAR, BoxForm


class Edges(NamedTuple):
    """Boxes as columns. The area is kept because it cannot be had from the corners of x, y, w, h to the bit."""

    left: Floats
    top: Floats
    right: Floats
    bottom: Floats
    area: Floats

    def take(self, rows: Array) -> Edges:
        """The boxes of these rows, in this order."""
        return Edges(*(column[rows] for column in self))

    def stacked(self) -> Edges:
        """The same boxes, one below the other, so that each meets every box of another row."""
        return Edges(*(column[:, None] for column in self))


def edges(boxes: Floats, form: BoxForm) -> Edges:
    """The sides and areas of boxes.

    >>> edges(np.array([[1.0, 2.0, 3.0, 4.0]]), BoxForm.XYWH).right.tolist()
    [4.0]
    """
    left, top, right, bottom = np.ascontiguousarray(corners(boxes, form).T)
    return Edges(left, top, right, bottom, areas(boxes, form))


def areas(boxes: Floats, form: BoxForm) -> Floats:
    """The area of each box, computed from the numbers that were read.

    >>> areas(np.array([[0.0, 0.0, 2.0, 3.0]]), BoxForm.XYXY).tolist()
    [6.0]
    """
    with np.errstate(all="ignore"):  # invalid boxes have an area that is no number, and nobody looks at it
        if form == BoxForm.XYWH:
            return np.asarray(boxes[:, 2] * boxes[:, 3])
        return np.asarray((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]))


def corners(boxes: Floats, form: BoxForm) -> Floats:
    """The boxes as x1, y1, x2, y2.

    >>> corners(np.array([[1.0, 2.0, 3.0, 4.0]]), BoxForm.XYWH).tolist()
    [[1.0, 2.0, 4.0, 6.0]]
    """
    if form == BoxForm.XYXY:
        return boxes
    with np.errstate(all="ignore"):  # invalid boxes have corners that are no numbers: they share nothing
        return np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)


def from_centres(boxes: Floats) -> Floats:
    """Boxes given as centre and size, as x, y, w, h.

    >>> from_centres(np.array([[5.0, 5.0, 4.0, 2.0]])).tolist()
    [[3.0, 4.0, 4.0, 2.0]]
    """
    return np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, 2:]], axis=1)


def intersection(one: Edges, other: Edges) -> Floats:
    """The area that the two boxes of each row share; 0 where they only touch, and where a coordinate is NaN.

    >>> a, b = np.array([[0.0, 0.0, 2.0, 2.0]]), np.array([[1.0, 0.0, 3.0, 2.0]])
    >>> intersection(edges(a, BoxForm.XYXY), edges(b, BoxForm.XYXY)).tolist()
    [2.0]
    """
    with np.errstate(all="ignore"):
        width = np.minimum(one.right, other.right)
        width -= np.maximum(one.left, other.left)
        height = np.minimum(one.bottom, other.bottom)
        height -= np.maximum(one.top, other.top)
        return np.where((width > 0) & (height > 0), width * height, 0.0)


def touch(one: Edges, other: Edges) -> Flags:
    """Whether the insides of the two boxes of each row meet, even where the area that they share is too small for a number."""
    return np.asarray((one.left < other.right) & (other.left < one.right) & (one.top < other.bottom) & (other.top < one.bottom))


def iou(shared: Floats, area: Floats, other_area: Floats) -> Floats:
    """Intersection over union, in pycocotools' order of operations: another order moves decisions at a threshold.

    NaN for boxes that share something and are too large for a number.

    >>> iou(np.array([2.0, 0.0]), np.array([4.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.3333333333333333, 0.0]
    """
    with np.errstate(all="ignore"):
        return np.where(shared > 0, shared / (area + other_area - shared), 0.0)


def iou_of_crowds(found: Floats, truth: Floats, crowd: Array) -> Floats:
    """The IoU of every box with every true one, both with a size; of a crowd only the box itself is the union.

    In pycocotools' order of operations, numbers that are none included.
    """
    g, d = truth[:, None, :], found[None, :, :]
    with np.errstate(all="ignore"):
        width = np.fmin(d[..., 2] + d[..., 0], g[..., 2] + g[..., 0]) - np.fmax(d[..., 0], g[..., 0])
        height = np.fmin(d[..., 3] + d[..., 1], g[..., 3] + g[..., 1]) - np.fmax(d[..., 1], g[..., 1])
        shared = width * height
        alone = d[..., 2] * d[..., 3]
        union = np.where(crowd[:, None] != 0, alone, alone + g[..., 2] * g[..., 3] - shared)
        # A NaN is not below 0, and stays.
        overlap: Floats = np.where((width <= 0) | (height <= 0), 0.0, shared / union)
    return overlap.T


def share(part: Floats, whole: Floats) -> Floats:
    """``part / whole`` row by row, 0 where the whole is 0: a degenerate box shares nothing.

    >>> share(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, 0.0]
    """
    with np.errstate(all="ignore"):  # a whole that is next to nothing may have more than a number of parts
        return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def in_reach(boxes: Floats) -> Flags:
    """For each box whether its numbers are finite, and small enough for areas to be so too.

    >>> in_reach(np.array([[0.0, 0, 1, 1], [0, 0, np.nan, 1], [0, 0, 1e200, 1]])).tolist()
    [True, False, False]
    """
    if boxes.min(initial=0.0) >= -FAR and boxes.max(initial=0.0) <= FAR:
        return np.ones(len(boxes), dtype=np.bool_)
    return np.asarray(((boxes >= -FAR) & (boxes <= FAR)).all(axis=1))


def unsound(boxes: Floats, form: BoxForm) -> Flags | None:
    """Which boxes are not finite, out of reach or of negative size; ``None`` when all are fine.

    >>> unsound(np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, -1.0, 1.0]]), BoxForm.XYWH).tolist()
    [False, True]
    """
    if not len(boxes):
        return None
    if form == BoxForm.XYWH and float(boxes.min()) >= 0 and float(boxes.max()) <= FAR:
        return None
    near = in_reach(boxes)
    ordered = boxes[:, 2:] >= (boxes[:, :2] if form == BoxForm.XYXY else 0.0)
    if near.all() and ordered.all():
        return None
    return np.asarray(~(near & ordered.all(axis=1)))
