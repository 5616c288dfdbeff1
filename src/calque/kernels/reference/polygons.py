"""Areas that polygons share: the specification of the native polygon kernels, in plain Python.

Rings are ragged tables: the vertices of ring ``r`` are ``points[offsets[r]:offsets[r + 1]]``, at least three, no vertex
equal to the next, the last not repeating the first. Convex rings are clipped (Sutherland–Hodgman), all others are measured
in slabs.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from calque.base.columns import Flags, Floats, Ints
from calque.kernels.reference.slabs import OWN, PREDICTED, Allowance, Point, Points, covered_area, state_areas

NOISE = 64 * sys.float_info.epsilon
"""Beside the box around two rings, an area this small is zero: rings that only touch share nothing."""


class Ring(NamedTuple):
    """A ring with what every pair needs to know of it. Counter-clockwise where y points up."""

    points: Points
    area: float
    convex: bool
    low: Point
    high: Point


def polygon_simple(points: Floats, offsets: Ints) -> Flags:
    """Whether each ring neither crosses nor touches itself."""
    return np.array([_is_simple(ring) for ring in _split(points, offsets)], dtype=np.bool_)


def polygon_overlaps(
    first_points: Floats,
    first_offsets: Ints,
    second_points: Floats,
    second_offsets: Ints,
    first_index: Ints,
    second_index: Ints,
    jobs: int = 1,  # noqa: ARG001  # the native kernel has threads
) -> Floats:
    """The area that two simple rings share, for each pair of indices."""
    firsts = [_ring(points) for points in _split(first_points, first_offsets)]
    seconds = [_ring(points) for points in _split(second_points, second_offsets)]
    pairs = zip(first_index.tolist(), second_index.tolist(), strict=True)
    unbounded = Allowance(10**12)  # simple rings cross each other seldom
    return np.array([shared_area(firsts[i], seconds[j], unbounded) for i, j in pairs], dtype=np.float64)


def _split(points: Floats, offsets: Ints) -> list[Points]:
    rows = [(x, y) for x, y in points.tolist()]
    bounds = offsets.tolist()
    return [rows[start:end] for start, end in pairwise(bounds)]


def _ring(points: Points) -> Ring:
    area = signed_area(points)
    return ring_of(points if area >= 0 else points[::-1], abs(area))


def ring_of(turned: Points, area: float) -> Ring:
    """What pairs need to know of a ring that turns from x towards y."""
    low = (min(x for x, _ in turned), min(y for _, y in turned))
    high = (max(x for x, _ in turned), max(y for _, y in turned))
    return Ring(turned, area, _is_convex(turned), low, high)


def signed_area(points: Points) -> float:
    """The shoelace formula from the first vertex, so that an offset of the whole ring costs no digits."""
    x0, y0 = points[0]
    double = 0.0
    for (x1, y1), (x2, y2) in pairwise(points[1:]):
        double += (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    return double / 2


def _edges(points: Points) -> list[Point]:
    following = [*points[1:], points[0]]
    return [(x2 - x1, y2 - y1) for (x1, y1), (x2, y2) in zip(points, following, strict=True)]


def _is_convex(points: Points) -> bool:
    """Only left turns, no turning back, and once around: a star turns left all the time, but twice around."""
    edges = _edges(points)
    directions = [1 if dx > 0 else -1 for dx, _ in edges if dx != 0]
    if not directions or sum(a != b for a, b in zip(directions, directions[1:] + directions[:1], strict=True)) > 2:
        return False
    for (ax, ay), (bx, by) in zip(edges, edges[1:] + edges[:1], strict=True):
        turn = ax * by - ay * bx
        if turn < 0 or (turn == 0 and ax * bx + ay * by < 0):
            return False
    return True


def shared_area(first: Ring, second: Ring, allowance: Allowance) -> float:
    """The area that two rings share; the allowance bounds the work on rings that are not convex."""
    if _apart(first, second):
        return 0.0
    if first.points == second.points:
        return first.area
    if first.convex and second.convex:
        origin = first.points[0]
        area = _clipped_area(_moved(first.points, origin), _moved(second.points, origin))
    else:
        area = _area_by_slabs(first, second, allowance)
    return min(area, first.area, second.area)


def _area_by_slabs(first: Ring, second: Ring, allowance: Allowance) -> float:
    left, right = max(first.low[0], second.low[0]), min(first.high[0], second.high[0])
    height = min(first.high[1], second.high[1]) - max(first.low[1], second.low[1])
    rings = [(first.points, OWN), (second.points, PREDICTED)]
    area = covered_area(state_areas(rings, first.low, left, right, allowance))
    return area if area > NOISE * ((right - left) * height) else 0.0


def _apart(first: Ring, second: Ring) -> bool:
    return (
        first.high[0] <= second.low[0]
        or second.high[0] <= first.low[0]
        or first.high[1] <= second.low[1]
        or second.high[1] <= first.low[1]
    )


def _moved(points: Points, origin: Point) -> Points:
    return [(x - origin[0], y - origin[1]) for x, y in points]


def _clipped_area(subject: Points, clip: Points) -> float:
    """The area of a convex ring inside another (Sutherland–Hodgman)."""
    kept = subject
    for (cx, cy), (ex, ey) in zip(clip, _edges(clip), strict=True):
        inside = [ex * (y - cy) - ey * (x - cx) for x, y in kept]
        kept = _cut(kept, inside)
        if len(kept) < 3:
            return 0.0
    return max(signed_area(kept), 0.0)


def _cut(points: Points, inside: list[float]) -> Points:
    """The part of a ring on one side of a line; ``inside`` is each vertex's distance from it, not negative on that side."""
    kept: Points = []
    before, side_before = points[-1], inside[-1]
    for here, side in zip(points, inside, strict=True):
        if (side >= 0) != (side_before >= 0):
            share = side_before / (side_before - side)
            kept.append((before[0] + share * (here[0] - before[0]), before[1] + share * (here[1] - before[1])))
        if side >= 0:
            kept.append(here)
        before, side_before = here, side
    return kept


def _is_simple(points: Points) -> bool:
    """No edge meets another but its neighbours, and those only in the vertex that they share."""
    if _is_convex(points) or _is_convex(points[::-1]):
        return True
    count = len(points)
    following = [*points[1:], points[0]]
    order = sorted(range(count), key=lambda i: (min(points[i][0], following[i][0]), i))
    for position, i in enumerate(order):
        right = max(points[i][0], following[i][0])
        for j in order[position + 1 :]:
            if min(points[j][0], following[j][0]) > right:
                break
            if _clash(points[i], following[i], points[j], following[j], (j - i) % count in {1, count - 1}):
                return False
    return True


def _clash(a: Point, b: Point, c: Point, d: Point, neighbours: bool) -> bool:
    if neighbours:
        if a == d:
            a, b, c, d = c, d, a, b
        return _turn(a, b, d) == 0 and (b[0] - a[0]) * (d[0] - c[0]) + (b[1] - a[1]) * (d[1] - c[1]) < 0
    first, second = _turn(a, b, c), _turn(a, b, d)
    third, fourth = _turn(c, d, a), _turn(c, d, b)
    if first * second < 0 and third * fourth < 0:
        return True
    return (
        (first == 0 and _between(a, b, c))
        or (second == 0 and _between(a, b, d))
        or (third == 0 and _between(c, d, a))
        or (fourth == 0 and _between(c, d, b))
    )


def _turn(a: Point, b: Point, c: Point) -> int:
    """1 when c lies left of the line from a to b, -1 when right, 0 on it."""
    cross = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (cross > 0) - (cross < 0)


def _between(a: Point, b: Point, c: Point) -> bool:
    """Whether c, on the line through a and b, lies within their box."""
    return min(a[0], b[0]) <= c[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= c[1] <= max(a[1], b[1])
