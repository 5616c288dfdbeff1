"""What outlines share, exactly: boxes as boxes, convex rings by clipping, all others slab by slab."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from calque.base.columns import Codes, Floats, Ints
from calque.geometry.boxes import Edges
from calque.geometry.boxes import corners as box_corners
from calque.geometry.rectangles import intersection
from calque.kernels.reference.boxes import box_edges
from calque.kernels.reference.polygons import NOISE, Ring, ring_of, shared_area, signed_area
from calque.kernels.reference.slabs import PREDICTED, Allowance, Points, state_areas
from calque.kernels.structs import LEFT_OUT, PageBoxes


class Row(NamedTuple):
    """A row of a page as a shape."""

    row: int
    edges: tuple[float, float, float, float]
    """Of its box, as it was read."""
    outlined: bool
    """Whether it is more than a box."""
    ring: Ring


def shape_overlaps(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Floats, Floats, Ints, Codes, Floats]:
    """The area of each truth and of each found row, and what each found row shares with each truth of its page.

    Rows that are left out have no area. Two boxes share what boxes do, to the bit. Returns both sides' areas, then the fields
    of `calque.kernels.structs.SharedAreas`.
    """
    del jobs  # the native kernel has threads
    below, above = box_edges(truth), box_edges(found)
    truth_areas, found_areas = np.zeros(len(truth.boxes)), np.zeros(len(found.boxes))
    counts = np.zeros(len(found.boxes), np.int64)
    truths: list[int] = []
    areas: list[float] = []
    pages = zip(pairwise(truth.offsets.tolist()), pairwise(found.offsets.tolist()), strict=True)
    for truth_rows, found_rows in pages:
        edges = _edges(truth, *truth_rows) + _edges(found, *found_rows)
        own, pairs = Allowance(edges), Allowance(edges)
        candidates = page_shapes(truth, below, *truth_rows, own)
        for candidate in candidates:
            truth_areas[candidate.row] = candidate.ring.area
        for shape in page_shapes(found, above, *found_rows, own):
            found_areas[shape.row] = shape.ring.area
            for candidate in candidates:
                area = shared(candidate, shape, pairs)
                if area > 0:
                    counts[shape.row] += 1
                    truths.append(candidate.row)
                    areas.append(area)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return truth_areas, found_areas, offsets, np.array(truths, np.int32), np.array(areas, np.float64)


def _edges(side: PageBoxes, start: int, stop: int) -> int:
    """How many edges the rows of a page have; a box has four."""
    return sum(max(4, len(points_of(side, row))) for row in range(start, stop))


def page_shapes(side: PageBoxes, edges: Edges, start: int, stop: int, allowance: Allowance) -> list[Row]:
    """The rows of one page that are not left out."""
    columns = zip(range(start, stop), *(column[start:stop].tolist() for column in edges), strict=True)
    return [
        _row(row, (left, top, right, bottom), area, points_of(side, row), allowance)
        for row, left, top, right, bottom, area in columns
        if side.roles[row] != LEFT_OUT
    ]


def points_of(side: PageBoxes, row: int) -> Points:
    """The ring of a row; empty where it is a box."""
    if side.rings is None:
        return []
    start, stop = side.rings.offsets[row : row + 2].tolist()
    return [(x, y) for x, y in side.rings.points[start:stop].tolist()]


def corners(edges: Sequence[float]) -> Points:
    """The ring of a box."""
    left, top, right, bottom = edges
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _row(row: int, edges: tuple[float, float, float, float], area: float, points: Points, allowance: Allowance) -> Row:
    if not points:
        ring = corners(edges)
        return Row(row, edges, False, Ring(ring, area, True, ring[0], ring[2]))
    turned = points if signed_area(points) >= 0 else points[::-1]
    start = turned.index(min(turned))
    shape = ring_of([*turned[start:], *turned[:start]], abs(signed_area(points)))
    if not shape.convex:
        shape = shape._replace(area=state_areas([(shape.points, PREDICTED)], shape.low, allowance=allowance)[8])
    return Row(row, edges, True, shape)


def shared(truth: Row, found: Row, allowance: Allowance) -> float:
    """The area that two rows of one page share."""
    if not truth.outlined and not found.outlined:
        return intersection(truth.edges, found.edges)
    one, two = truth.ring, found.ring
    if not (one.area > 0 and two.area > 0):
        return 0.0
    if one.points == two.points:
        return one.area
    low = max(one.low[0], two.low[0]), max(one.low[1], two.low[1])
    high = min(one.high[0], two.high[0]), min(one.high[1], two.high[1])
    if not (low[0] < high[0] and low[1] < high[1]):
        return 0.0
    area = shared_area(one, two, allowance)
    return area if area > NOISE * ((high[0] - low[0]) * (high[1] - low[1])) else 0.0


def ring_states(truth: PageBoxes, found: PageBoxes, truths: Sequence[tuple[int, int]], founds: Sequence[int]) -> list[float]:
    """The areas of states that truths, each with its part, and found rows make."""
    rings = [(_ring_or_box(found, row), PREDICTED) for row in founds] + [
        (_ring_or_box(truth, row), part) for row, part in truths
    ]
    if not rings:
        return state_areas([], (0.0, 0.0))
    points = [point for ring, _ in rings for point in ring]
    return state_areas(rings, (min(x for x, _ in points), min(y for _, y in points)))


def _ring_or_box(side: PageBoxes, row: int) -> Points:
    return points_of(side, row) or corners(box_corners(side.boxes[row : row + 1], side.form)[0].tolist())
