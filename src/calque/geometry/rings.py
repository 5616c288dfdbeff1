"""Single rings x, y, x, y, ...: without repeats, told apart from upright boxes, and made from turned boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

QUARTER = 1e-15
"""A sine or cosine this close to 0 is that of quarter turns."""
Pairs: TypeAlias = list[tuple[float, float]]


def without_repeats(points: Sequence[float]) -> Pairs:
    """The vertices of a ring, none equal to the next, and the first not repeated at the end.

    >>> without_repeats([0, 0, 2, 0, 2, 0, 1, 1, 0, 0])
    [(0, 0), (2, 0), (1, 1)]
    """
    listed = list(zip(points[0::2], points[1::2], strict=False))
    kept = [point for point, before in zip(listed, [None, *listed], strict=False) if point != before]
    while len(kept) > 1 and kept[0] == kept[-1]:
        kept.pop()
    return kept


def is_upright_box(ring: Pairs) -> bool:
    """Whether a ring is a rectangle along the axes; vertices along its sides do not matter.

    >>> is_upright_box([(0, 0), (1, 0), (2, 0), (2, 3), (0, 3)]), is_upright_box([(0, 0), (2, 3), (2, 0), (0, 3)])
    (True, False)
    """
    corners = [here for before, here, after in _turns(ring) if not _goes_on(before, here, after)]
    if len(corners) != 4:
        return False
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = corners
    return (ax == bx and by == cy and cx == dx and dy == ay) or (ay == by and bx == cx and cy == dy and dx == ax)


def _turns(ring: Pairs) -> list[tuple[tuple[float, float], ...]]:
    return list(zip([ring[-1], *ring[:-1]], ring, [*ring[1:], ring[0]], strict=True)) if ring else []


def _goes_on(before: tuple[float, float], here: tuple[float, float], after: tuple[float, float]) -> bool:
    """Whether a vertex lies on the way of an upright or level side, between its neighbours."""
    return any(before[axis] == here[axis] == after[axis] and _between(before[1 - axis], here[1 - axis], after[1 - axis])
               for axis in (0, 1))  # fmt: skip


def _between(low: float, value: float, high: float) -> bool:
    return low < value < high or high < value < low


def turned_box(x: float, y: float, width: float, height: float, angle: float) -> list[float]:
    """The corners of a box given by its centre and size, turned by an angle in radians from x towards y.

    >>> [round(value, 9) for value in turned_box(0, 0, 4, 2, math.pi / 2)]
    [1.0, -2.0, 1.0, 2.0, -1.0, 2.0, -1.0, -2.0]
    """
    along, across = math.cos(angle), math.sin(angle)
    if abs(along) < QUARTER or abs(across) < QUARTER:  # a quarter turn is no whole number of radians
        along, across = float(round(along)), float(round(across))
    points: list[float] = []
    for right, down in ((-width / 2, -height / 2), (width / 2, -height / 2), (width / 2, height / 2), (-width / 2, height / 2)):
        points += [x + right * along - down * across, y + right * across + down * along]
    return points
