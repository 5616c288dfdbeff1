"""Areas of polygons in exact arithmetic: slow, short, and independent of every kernel."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

Ring = Sequence[tuple[float, float]]
Edge = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]


def overlap(first: Ring, second: Ring) -> Fraction:
    """The area inside both rings by the even–odd rule, without any rounding.

    Between neighbouring x of vertices and crossings the common height is linear in x: its middle times the width is exact.
    """
    one, two = _edges(first), _edges(second)
    cuts = sorted({point[0] for edge in (*one, *two) for point in edge} | set(_crossings([*one, *two])))
    total = Fraction(0)
    for left, right in pairwise(cuts):
        middle = (left + right) / 2
        total += (right - left) * _common(_heights(one, middle), _heights(two, middle))
    return total


def area(ring: Ring) -> Fraction:
    """The area inside a ring by the even–odd rule."""
    return overlap(ring, ring)


def _edges(ring: Ring) -> list[Edge]:
    points = [(Fraction(x), Fraction(y)) for x, y in ring]
    return list(zip(points, [*points[1:], points[0]], strict=True))


def _crossings(edges: Sequence[Edge]) -> list[Fraction]:
    found = []
    for (a, b), (c, d) in combinations(edges, 2):
        across = (b[0] - a[0]) * (d[1] - c[1]) - (b[1] - a[1]) * (d[0] - c[0])
        if across:
            share = ((c[0] - a[0]) * (d[1] - c[1]) - (c[1] - a[1]) * (d[0] - c[0])) / across
            found.append(a[0] + share * (b[0] - a[0]))
    return found


def _heights(edges: Sequence[Edge], x: Fraction) -> list[tuple[Fraction, Fraction]]:
    """The stretches of the vertical line at x that lie inside."""
    ys = sorted(a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]) for a, b in edges if min(a[0], b[0]) < x < max(a[0], b[0]))
    return list(zip(ys[::2], ys[1::2], strict=True))


def _common(one: Sequence[tuple[Fraction, Fraction]], two: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    return sum((max(Fraction(0), min(b, d) - max(a, c)) for a, b in one for c, d in two), Fraction(0))
