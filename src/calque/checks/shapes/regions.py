"""What a format's numbers describe: an upright box or a region, repaired where its ring crosses itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from calque.checks.shapes.coordinates import BadValue
from calque.geometry.rectangles import Corners

Point: TypeAlias = tuple[float, float]
Ring: TypeAlias = tuple[Point, ...]

LARGEST = 2.0**300
SMALLEST = 2.0**-300
"""Sides beyond these would overflow or vanish in a product; such pairs are scaled before they are compared."""
FARTHEST = 2.0**503
"""Coordinates of a polygon: beyond this its area is larger than any number."""
MOST_VERTICES = 10_000
"""Vertices of one polygon. Work grows with the product of those of two; no outline of anything on a page has as many."""
MOST_CUTS = 20_000_000
"""Edges times the slabs that a ring which crosses itself is cut into: some seconds of work."""


@dataclass(frozen=True)
class Box:
    """An upright box by its corners."""

    left: float
    top: float
    right: float
    bottom: float

    def __post_init__(self) -> None:
        if not (
            math.isfinite(self.right) and math.isfinite(self.bottom) and math.isfinite(self.left) and math.isfinite(self.top)
        ):
            raise BadValue("the box reaches beyond the largest number")

    @property
    def bounds(self) -> Box:
        """The smallest upright box around it."""
        return self

    @property
    def edges(self) -> Corners:
        """Left, top, right and bottom."""
        return self.left, self.top, self.right, self.bottom

    @property
    def area(self) -> float:
        """Width times height."""
        return (self.right - self.left) * (self.bottom - self.top)

    @property
    def center(self) -> Point:
        """The point in the middle."""
        return self.left + (self.right - self.left) / 2, self.top + (self.bottom - self.top) / 2

    @property
    def corners(self) -> Ring:
        """The four corners, in turn."""
        return (self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom)

    def contains(self, point: Point) -> bool:
        """Whether a point lies inside or on the edge."""
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom

    def scaled(self, exponent: int) -> Box:
        """The box times a power of two."""
        return Box(*(math.ldexp(value, exponent) for value in self.edges))

    def region(self) -> Region:
        """The same box as a region."""
        return Region((self.corners,))


@dataclass(frozen=True)
class Region:
    """An area bounded by one simple ring, or made of several that do not overlap."""

    rings: tuple[Ring, ...]
    repaired: bool = False
    """Whether the ring that was read crossed itself."""

    @cached_property
    def bounds(self) -> Box:
        """The smallest upright box around it."""
        xs, ys = [x for ring in self.rings for x, _ in ring], [y for ring in self.rings for _, y in ring]
        return Box(min(xs), min(ys), max(xs), max(ys))

    @cached_property
    def area(self) -> float:
        """The area of all rings."""
        return math.fsum(abs(signed_area(ring)) for ring in self.rings)

    @property
    def corners(self) -> Ring:
        """All vertices."""
        return tuple(point for ring in self.rings for point in ring)

    @property
    def center(self) -> Point:
        """The centre of mass; of a region without area the middle of its bounds."""
        weights = [
            (x0 * y1 - x1 * y0, x0 + x1, y0 + y1) for ring in self._around_center() for (x0, y0), (x1, y1) in _sides(ring)
        ]
        total = 3 * math.fsum(cross for cross, _, _ in weights)
        x, y = self.bounds.center
        if total == 0:
            return x, y
        return x + math.fsum(c * sx for c, sx, _ in weights) / total, y + math.fsum(c * sy for c, _, sy in weights) / total

    def _around_center(self) -> list[Ring]:
        """The rings, all turning the same way, seen from the middle of the bounds."""
        x, y = self.bounds.center
        rings = (ring if signed_area(ring) >= 0 else ring[::-1] for ring in self.rings)
        return [tuple((px - x, py - y) for px, py in ring) for ring in rings]

    def contains(self, point: Point) -> bool:
        """Whether a point lies inside or on the edge."""
        return any(_inside(ring, point) for ring in self.rings)

    def scaled(self, exponent: int) -> Region:
        """The region times a power of two."""
        rings = tuple(tuple((math.ldexp(x, exponent), math.ldexp(y, exponent)) for x, y in ring) for ring in self.rings)
        return Region(rings, self.repaired)

    def region(self) -> Region:
        """The region itself."""
        return self


Shape: TypeAlias = Box | Region


def _sides(ring: Ring) -> list[tuple[Point, Point]]:
    return list(pairwise((*ring, ring[0])))


def signed_area(ring: Sequence[Point]) -> float:
    """The shoelace formula from the first vertex."""
    x0, y0 = ring[0]
    return math.fsum((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0) for (x1, y1), (x2, y2) in pairwise(ring[1:])) / 2


def _inside(ring: Ring, point: Point) -> bool:
    """Even–odd rule; the edge belongs to the inside."""
    x, y = point
    inside = False
    for (x1, y1), (x2, y2) in _sides(ring):
        cross = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)
        if cross == 0 and min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2):
            return True
        if (y1 > y) != (y2 > y) and (cross > 0) == (y2 > y1):
            inside = not inside
    return inside


def hull(points: Sequence[Point]) -> Ring:
    """The convex hull (Andrew's monotone chain)."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return tuple(ordered)
    return tuple(_half_hull(ordered)[:-1] + _half_hull(ordered[::-1])[:-1])


def _half_hull(ordered: Sequence[Point]) -> list[Point]:
    chain: list[Point] = []
    for point in ordered:
        while len(chain) > 1 and signed_area((chain[-2], chain[-1], point)) <= 0:
            chain.pop()
        chain.append(point)
    return chain


def region_of(points: Sequence[Point]) -> Region:
    """The region inside a ring, by the even–odd rule; `BadValue` when fewer than three vertices differ.

    >>> bow_tie = region_of([(0.0, 0.0), (10.0, 10.0), (10.0, 0.0), (0.0, 10.0)])
    >>> bow_tie.area, bow_tie.repaired
    (50.0, True)
    """
    ring = _without_repeats(points)
    if len(set(ring)) < 3:
        raise BadValue(f"a polygon needs three different vertices, not {len(set(ring))}")
    if any(abs(value) > FARTHEST for point in ring for value in point):
        raise BadValue(f"a polygon may reach to {FARTHEST:.0e} at most: its area would be larger than any number")
    if len(ring) > MOST_VERTICES:
        raise BadValue(f"a polygon may have {MOST_VERTICES:,} vertices, not {len(ring):,}")
    vertices = _canonical(ring)
    if len(vertices) == 3 or _is_simple(vertices):
        return Region((vertices,))
    pieces = _even_odd(vertices)
    # A ring without any area is degenerate, not broken.
    return Region(pieces, repaired=True) if pieces else Region((vertices,))


def _without_repeats(points: Sequence[Point]) -> list[Point]:
    kept = [point for position, point in enumerate(points) if not position or point != points[position - 1]]
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
    found: list[float] = []
    for position, (a, b) in enumerate(ordered):
        if (len(edges) + len(found)) * len(edges) > MOST_CUTS:
            raise BadValue(f"a polygon with {len(edges):,} vertices that crosses itself so often cannot be measured")
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
