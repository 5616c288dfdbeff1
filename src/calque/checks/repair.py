"""Rings as they are read become regions: repeated vertices go, and a ring that crosses itself is cut into pieces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from calque.checks.coordinates import BadValue
from calque.checks.shapes import Point, Region, Ring, signed_area


def region_of(points: Sequence[Point]) -> Region:
    """The region inside a ring, by the even–odd rule; `BadValue` when fewer than three vertices differ.

    >>> bow_tie = region_of([(0.0, 0.0), (10.0, 10.0), (10.0, 0.0), (0.0, 10.0)])
    >>> bow_tie.area, bow_tie.repaired
    (50.0, True)
    """
    ring = _canonical(_without_repeats(points))
    if len(set(ring)) < 3:
        raise BadValue(f"a polygon needs three different vertices, not {len(set(ring))}")
    if len(ring) == 3 or _is_simple(ring):
        return Region((ring,))
    pieces = _even_odd(ring)
    # A ring without any area is degenerate, not broken.
    return Region(pieces, repaired=True) if pieces else Region((ring,))


def _without_repeats(points: Sequence[Point]) -> list[Point]:
    kept = [point for point, before in zip(points, [None, *points[:-1]], strict=True) if point != before]
    while len(kept) > 1 and kept[0] == kept[-1]:
        kept.pop()
    return kept


def _canonical(points: list[Point]) -> Ring:
    """From the smallest vertex on, turning from x towards y, so that equal polygons are equal rings."""
    if len(points) < 3:
        return tuple(points)
    turned = points if signed_area(points) >= 0 else points[::-1]
    start = turned.index(min(turned))
    return (*turned[start:], *turned[:start])


def _is_simple(ring: Ring) -> bool:
    import numpy as np

    from calque.kernels import kernels

    offsets = np.array([0, len(ring)], dtype=np.int64)
    return bool(kernels().polygon_simple(np.array(ring, dtype=np.float64), offsets)[0])


def _even_odd(ring: Ring) -> tuple[Ring, ...]:
    """The inside of a ring as trapezoids: vertical slabs between all vertices and crossings, every second gap is inside.

    Own code and not shapely's repair: it needs no extra, and every piece is convex, so areas stay clips of convex rings.
    """
    x0, y0 = ring[0]
    points = [(x - x0, y - y0) for x, y in ring]
    edges = [(a, b) if a <= b else (b, a) for a, b in zip(points, [*points[1:], points[0]], strict=True)]
    cuts = sorted({x for x, _ in points} | set(_crossings(edges)))
    pieces = []
    for left, right in pairwise(cuts):
        spans = sorted(_at_both(a, b, left, right) for a, b in edges if a[0] <= left and b[0] >= right)
        spans.sort(key=sum)
        for (top_left, top_right), (low_left, low_right) in zip(spans[::2], spans[1::2], strict=False):
            corners = [(left, top_left), (right, top_right), (right, low_right), (left, low_left)]
            kept = _without_repeats([(x + x0, y + y0) for x, y in corners])
            if len(kept) > 2 and signed_area(kept) != 0:
                pieces.append(_canonical(kept))
    return tuple(pieces)


def _at_both(a: Point, b: Point, left: float, right: float) -> tuple[float, float]:
    return _height(a, b, left), _height(a, b, right)


def _height(a: Point, b: Point, x: float) -> float:
    """Where the edge from a to b is at x; exact at its ends."""
    if x == a[0]:
        return a[1]
    return b[1] if x == b[0] else a[1] + (b[1] - a[1]) * ((x - a[0]) / (b[0] - a[0]))


def _crossings(edges: Sequence[tuple[Point, Point]]) -> list[float]:
    """The x of every point where two edges cross."""
    ordered = sorted(edges)
    found = []
    for position, (a, b) in enumerate(ordered):
        for c, d in ordered[position + 1 :]:
            if c[0] > b[0]:
                break
            x = _crossing(a, b, c, d)
            if x is not None:
                found.append(x)
    return found


def _crossing(a: Point, b: Point, c: Point, d: Point) -> float | None:
    (px, py), (qx, qy) = (b[0] - a[0], b[1] - a[1]), (d[0] - c[0], d[1] - c[1])
    across = px * qy - py * qx
    if across == 0 or not math.isfinite(across):
        return None
    share = ((c[0] - a[0]) * qy - (c[1] - a[1]) * qx) / across
    other = ((c[0] - a[0]) * py - (c[1] - a[1]) * px) / across
    return a[0] + share * px if 0 <= share <= 1 and 0 <= other <= 1 else None
