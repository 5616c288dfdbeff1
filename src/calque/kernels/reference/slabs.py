"""Exact areas of what rings cover, by what each point is to a label: slabs between all vertices and crossings.

Within a slab no two edges cross, so that every area in it is its width times heights at its middle. Rings cover by the even–odd
rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from calque.kernels.structs import TOO_TANGLED

Point: TypeAlias = tuple[float, float]
Points: TypeAlias = list[Point]

PREDICTED, OWN, OTHER, EXCUSING = 0, 1, 2, 3
"""What a row is to a page and label: a prediction, a truth, a truth of another label, a truth that absorbs."""
STATES = 24
"""All that matters of a point: no prediction, one or more; and whether there is a row of each other part."""
KINDS = 7


def kinds(state: int) -> tuple[bool, ...]:
    """Whether points of a state belong to each kind of area."""
    found, own, other, excusing = state >= 8, bool(state & 4), bool(state & 2), bool(state & 1)
    stray = found and not own
    return (
        own,
        found,
        own and not found,
        state >= 16,
        stray and not excusing and other,
        stray and not excusing and not other,
        stray and excusing,
    )


def covered_area(sums: Sequence[float]) -> float:
    """The area of a truth that one or more predictions cover, where nothing else was added."""
    return sums[12] + sums[20]


BASE_ALLOWANCE, EDGE_ALLOWANCE, MOST_CUTS = 20_000_000, 5_000, 1 << 24


class Allowance:
    """How much work may be spent on a page with so many edges.

    With rings that cross each other thousands of times it would grow with the third power of their length; those are no
    outlines of anything.
    """

    def __init__(self, edges: int) -> None:
        self._left = BASE_ALLOWANCE + EDGE_ALLOWANCE * edges

    def spend(self, steps: int) -> None:
        """Take note of some steps; `ValueError` when there were too many."""
        self._left -= steps
        if self._left < 0:
            raise ValueError(TOO_TANGLED)


class Edge(NamedTuple):
    """An edge of a ring from left to right; upright ones bound no slab."""

    a: Point
    b: Point
    ring: int

    def at(self, x: float) -> float:
        """Where the edge is at x; exact at its ends."""
        if x == self.a[0]:
            return self.a[1]
        if x == self.b[0]:
            return self.b[1]
        return self.a[1] + (self.b[1] - self.a[1]) * ((x - self.a[0]) / (self.b[0] - self.a[0]))


def state_areas(
    rings: Sequence[tuple[Points, int]],
    origin: Point,
    start: float = -math.inf,
    stop: float = math.inf,
    allowance: Allowance | None = None,
) -> list[float]:
    """The area of each state that rings, each with its part, make between two x; ``origin`` is where they are seen from."""
    allowance = allowance or Allowance(sum(len(ring) for ring, _ in rings))
    edges = sorted(
        (edge for number, (ring, _) in enumerate(rings) for edge in _edges(ring, origin, number)), key=lambda edge: edge.a[0]
    )
    parts = [part for _, part in rings]
    sums = [0.0] * STATES
    active: list[Edge] = []
    waiting = 0
    for left, right in pairwise(_cuts(edges, start - origin[0], stop - origin[0], allowance)):
        while waiting < len(edges) and edges[waiting].a[0] <= left:
            active.append(edges[waiting])
            waiting += 1
        active = [edge for edge in active if edge.b[0] > left]
        allowance.spend(len(active))
        _add_slab(active, parts, left, right, sums)
    return sums


def _edges(ring: Points, origin: Point, number: int) -> list[Edge]:
    moved = [(x - origin[0], y - origin[1]) for x, y in ring]
    sides = zip(moved, [*moved[1:], moved[0]], strict=True)
    return [Edge(p, q, number) if p[0] < q[0] else Edge(q, p, number) for p, q in sides if p[0] != q[0]]


def _cuts(edges: list[Edge], start: float, stop: float, allowance: Allowance) -> list[float]:
    """The x of every vertex and crossing. A window ends where a ring does, so that its ends are among them."""
    cuts = {x for edge in edges for x in (edge.a[0], edge.b[0]) if start <= x <= stop}
    for position, one in enumerate(edges):
        if one.b[0] <= start:
            continue
        allowance.spend(1)
        if len(cuts) > MOST_CUTS:
            raise ValueError(TOO_TANGLED)
        for two in edges[position + 1 :]:
            if two.a[0] >= one.b[0] or two.a[0] >= stop:
                break
            allowance.spend(1)
            x = _crossing(one, two)
            if x is not None and start < x < stop:
                cuts.add(x)
    return sorted(cuts)


def _crossing(one: Edge, two: Edge) -> float | None:
    """The x at which two edges cross, other than in their ends."""
    if max(one.a[1], one.b[1]) < min(two.a[1], two.b[1]) or max(two.a[1], two.b[1]) < min(one.a[1], one.b[1]):
        return None
    left, right = max(one.a[0], two.a[0]), min(one.b[0], two.b[0])
    before, after = one.at(left) - two.at(left), one.at(right) - two.at(right)
    if not ((before < 0 < after) or (before > 0 > after)):
        return None
    x = left + (right - left) * (before / (before - after))
    return x if left < x < right else None


def _add_slab(active: list[Edge], parts: list[int], left: float, right: float, sums: list[float]) -> None:
    width = right - left
    middle = left + width / 2
    depth = [0, 0, 0, 0]
    inside: set[int] = set()
    state, above = 0, 0.0
    for y, ring in sorted((edge.at(middle), edge.ring) for edge in active):
        if state:
            sums[state] += width * (y - above)
        above = y
        depth[parts[ring]] += -1 if ring in inside else 1
        inside ^= {ring}
        state = (
            8 * min(depth[PREDICTED], 2) + 4 * (depth[OWN] > 0) + 2 * (depth[OTHER] > 0) + (depth[EXCUSING] > 0)
        )  # fmt: skip
