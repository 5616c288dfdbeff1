"""How much two shapes share, and the measures made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, product
from typing import TYPE_CHECKING, TypeAlias

from calque.base.arguments import wrong_argument
from calque.checks.shapes.regions import LARGEST, SMALLEST, Box, Region, Shape, hull, signed_area
from calque.geometry import rectangles

if TYPE_CHECKING:
    from calque.base.columns import Floats, Ints


FEW = 64
"""Pairs up to which plain Python is quicker than arrays."""
MOST_BITS = 1000
"""Coordinates are scaled to less than two to this power, so that they stay numbers."""
AT_ONCE = 1 << 20
"""Pairs that are looked at together."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """The areas of two shapes and of what they share.

    >>> shared = overlap(Box(10, 10, 30, 30), Box(20, 20, 40, 40))
    >>> shared.intersection, shared.union, shared.iou
    (100, 700, 0.14285714285714285)
    """

    intersection: float
    found_area: float
    truth_area: float
    exponent: int = 0
    """The areas are those of shapes that were scaled by this power of two."""

    @property
    def union(self) -> float:
        """The area that one or both cover."""
        return self.found_area + self.truth_area - self.intersection

    @property
    def iou(self) -> float:
        """Intersection over union, 0 when there is no area at all."""
        return ratio(self.intersection, self.union)

    def area(self, scaled: float) -> float | None:
        """An area in the units of the input; ``None`` when it is larger than any number."""
        try:
            return math.ldexp(scaled, -2 * self.exponent)
        except OverflowError:
            return None


def ratio(part: float, whole: float) -> float:
    """A share between 0 and 1, where the areas of polygons are rounded; 0 of nothing."""
    return min(rectangles.share(part, whole), 1.0)


def overlap(found: Shape, truth: Shape) -> Overlap:
    """What two shapes share."""
    exponent = _exponent(found, truth)
    if exponent:
        found, truth = found.scaled(exponent), truth.scaled(exponent)
    if isinstance(found, Box) and isinstance(truth, Box):
        return Overlap(rectangles.intersection(found.edges, truth.edges), found.area, truth.area, exponent)
    shared = _regions([found.region()], [truth.region()], [(0, 0)])[0]
    return Overlap(shared, found.area, truth.area, exponent)


def _exponent(found: Shape, truth: Shape) -> int:
    """The power of two that brings very large or very small shapes to a size whose areas are numbers."""
    a, b = found.bounds, truth.bounds
    side = max(a.right - a.left, a.bottom - a.top, b.right - b.left, b.bottom - b.top)
    if SMALLEST < side < LARGEST or side == 0:
        return 0
    reach = math.frexp(max(abs(value) for box in (a, b) for value in box.edges))[1]
    return -reach if side >= LARGEST else min(-math.frexp(side)[1], MOST_BITS - reach)


Pairs: TypeAlias = Sequence[tuple[int, int]]


def overlaps(found: Sequence[Shape], truth: Sequence[Shape], pairs: Pairs) -> dict[tuple[int, int], Overlap]:
    """What each of these pairs shares."""
    if any(_exponent(found[i], truth[j]) for i, j in pairs):
        return {(i, j): overlap(found[i], truth[j]) for i, j in pairs}
    if all(isinstance(shape, Box) for shape in (*found, *truth)):
        shared = [rectangles.intersection(found[i].bounds.edges, truth[j].bounds.edges) for i, j in pairs]
    else:
        shared = _regions([shape.region() for shape in found], [shape.region() for shape in truth], pairs)
    found_areas, truth_areas = [shape.area for shape in found], [shape.area for shape in truth]
    return {(i, j): Overlap(area, found_areas[i], truth_areas[j]) for (i, j), area in zip(pairs, shared, strict=True)}


def meeting(found: Sequence[Shape], truth: Sequence[Shape]) -> list[tuple[int, int]]:
    """The pairs whose bounds meet; all others share nothing."""
    if len(found) * len(truth) <= FEW:
        boxes = [shape.bounds for shape in truth]
        return [(i, j) for i, shape in enumerate(found) for j, box in enumerate(boxes) if _meet(shape.bounds, box)]
    import numpy as np

    first, second = _bounds(found), _bounds(truth)
    step = max(AT_ONCE // len(second), 1)
    pairs: list[tuple[int, int]] = []
    for start in range(0, len(first), step):
        part = first[start : start + step, None]
        meet = (part[..., :2] <= second[:, 2:]).all(axis=2) & (second[:, :2] <= part[..., 2:]).all(axis=2)
        rows, columns = np.nonzero(meet)
        pairs += zip((rows + start).tolist(), columns.tolist(), strict=True)
    return pairs


def _meet(a: Box, b: Box) -> bool:
    return a.left <= b.right and b.left <= a.right and a.top <= b.bottom and b.top <= a.bottom


def _bounds(shapes: Sequence[Shape]) -> Floats:
    import numpy as np

    boxes = (shape.bounds for shape in shapes)
    return np.array([box.edges for box in boxes], dtype=np.float64).reshape(-1, 4)


def _regions(found: Sequence[Region], truth: Sequence[Region], pairs: Pairs) -> list[float]:
    """The areas that pairs of regions share: the sums over pairs of their rings."""
    import numpy as np

    from calque.kernels import kernels

    found_points, found_offsets, found_rings = _ragged(found)
    truth_points, truth_offsets, truth_rings = _ragged(truth)
    found_bounds, truth_bounds = _ring_bounds(found_points, found_offsets), _ring_bounds(truth_points, truth_offsets)
    ring_pairs = [list(_near(found_rings[i], found_bounds, truth_rings[j], truth_bounds)) for i, j in pairs]
    index = np.array([pair for listed in ring_pairs for pair in listed], dtype=np.int64).reshape(-1, 2)
    first, second = np.ascontiguousarray(index[:, 0]), np.ascontiguousarray(index[:, 1])
    shared = kernels().polygon_overlaps(found_points, found_offsets, truth_points, truth_offsets, first, second).tolist()
    ends = accumulate(map(len, ring_pairs), initial=0)
    return [math.fsum(shared[start:end]) for start, end in pairwise(ends)]


def _ring_bounds(points: Floats, offsets: Ints) -> Floats:
    """Left, top, right and bottom of each ring."""
    import numpy as np

    starts = offsets[:-1]
    if not len(starts):
        return np.zeros((0, 4))
    return np.concatenate([np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)], axis=1)


def _near(ours: range, our_bounds: Floats, theirs: range, their_bounds: Floats) -> Iterable[tuple[int, int]]:
    """Pairs of rings, of many only those whose bounds meet: a region that crosses itself may have thousands of rings."""
    if len(ours) * len(theirs) <= FEW:
        return product(ours, theirs)
    import numpy as np

    others = their_bounds[theirs.start : theirs.stop]

    def meeting(ring: int) -> list[int]:
        both = (others[:, :2] < our_bounds[ring, 2:]) & (others[:, 2:] > our_bounds[ring, :2])
        return np.flatnonzero(np.all(both, axis=1)).tolist()

    return ((ring, theirs.start + place) for ring in ours for place in meeting(ring))


def _ragged(regions: Sequence[Region]) -> tuple[Floats, Ints, list[range]]:
    import numpy as np

    rings = [ring for region in regions for ring in region.rings]
    points = np.array([point for ring in rings for point in ring], dtype=np.float64).reshape(-1, 2)
    offsets = np.array([0, *accumulate(map(len, rings))], dtype=np.int64)
    counts = [0, *accumulate(len(region.rings) for region in regions)]
    return points, offsets, [range(start, end) for start, end in pairwise(counts)]


def polygon_iou(first: Floats, second: Floats, *, jobs: int = 1) -> Floats:
    """Compute the IoU of many pairs of polygons.

    Args:
        first: The first polygon of each pair, as an array of shape (pairs, vertices, 2). No polygon crosses itself.
        second: The second polygon of each pair, in the same form.
        jobs: The number of threads.

    Returns:
        The IoU of each pair.

    Raises:
        ValueError: An array has another shape.

    >>> import numpy as np
    >>> square = np.array([[[0, 0], [2, 0], [2, 2], [0, 2]]])
    >>> polygon_iou(square, square + [1, 0]).round(4).tolist()
    [0.3333]
    """
    import numpy as np

    from calque.geometry.boxes import share
    from calque.kernels import kernels

    sides = []
    for name, side in (("first", first), ("second", second)):
        try:
            array = np.ascontiguousarray(side, dtype=np.float64)
        except (TypeError, ValueError):
            raise wrong_argument("polygon_iou", name, side, "an array of numbers") from None
        if array.ndim != 3 or array.shape[2] != 2 or array.shape[1] < 3:
            raise ValueError(f"polygons must be an array of shape (pairs, vertices, 2), not {array.shape}")
        sides.append((array.reshape(-1, 2), np.arange(len(array) + 1, dtype=np.int64) * array.shape[1]))
    if len(sides[0][1]) != len(sides[1][1]):
        raise ValueError(f"there are {len(first)} and {len(second)} polygons; pairs need as many on both sides")
    for points, offsets in sides:
        simple = kernels().polygon_simple(points, offsets)
        if not simple.all():
            raise ValueError(f"polygon {int(np.flatnonzero(~simple)[0])} crosses itself")
    index = np.arange(len(sides[0][1]) - 1, dtype=np.int64)
    shared = kernels().polygon_overlaps(*sides[0], *sides[1], index, index, jobs)
    whole = sum(np.abs(_signed_areas(points.reshape(len(index), -1, 2))) for points, _ in sides) - shared
    return share(shared, whole)


def _signed_areas(polygons: Floats) -> Floats:
    """Return the area of each polygon by the shoelace formula from its first vertex, so that an offset costs no digits."""
    import numpy as np

    x, y = np.moveaxis(polygons - polygons[:, :1], 2, 0)
    double = np.zeros(len(polygons))
    for vertex in range(1, polygons.shape[1] - 1):
        double += x[:, vertex] * y[:, vertex + 1] - x[:, vertex + 1] * y[:, vertex]
    return double / 2


@dataclass(frozen=True, slots=True)
class Measure:
    """A score between 0 and 1 for how well two shapes fit."""

    name: str
    help: str
    value: Callable[[Shape, Shape, Overlap], float]


def _iou(_found: Shape, _truth: Shape, shared: Overlap) -> float:
    return shared.iou


def _giou(found: Shape, truth: Shape, shared: Overlap) -> float:
    """IoU less the part of the smallest convex shape around both that neither fills."""
    around = _hull_area(found, truth, shared.exponent)
    if math.isinf(around):  # two tiny shapes far apart
        return shared.iou - 1.0
    return shared.iou - (max(around - shared.union, 0.0) / around if around > 0 else 0.0)


def _hull_area(found: Shape, truth: Shape, exponent: int) -> float:
    if isinstance(found, Box) and isinstance(truth, Box):
        return _around(found, truth).scaled(exponent).area
    ring = hull([*found.scaled(exponent).corners, *truth.scaled(exponent).corners])
    return abs(signed_area(ring)) if len(ring) > 2 else 0.0


def _diou(found: Shape, truth: Shape, shared: Overlap) -> float:
    """IoU less the squared distance of the centres over the squared diagonal of the box around both."""
    found, truth = found.scaled(shared.exponent), truth.scaled(shared.exponent)
    around = _around(found.bounds, truth.bounds)
    diagonal = math.dist((around.left, around.top), (around.right, around.bottom))
    return shared.iou - ((math.dist(found.center, truth.center) / diagonal) ** 2 if diagonal > 0 else 0.0)


def _around(found: Box, truth: Box) -> Box:
    return Box(
        min(found.left, truth.left), min(found.top, truth.top), max(found.right, truth.right), max(found.bottom, truth.bottom)
    )


def _dice(_found: Shape, _truth: Shape, shared: Overlap) -> float:
    return ratio(2 * shared.intersection, shared.found_area + shared.truth_area)


def _containment(_found: Shape, _truth: Shape, shared: Overlap) -> float:
    return ratio(shared.intersection, shared.found_area)


def _coverage(_found: Shape, _truth: Shape, shared: Overlap) -> float:
    return ratio(shared.intersection, shared.truth_area)


def _center(found: Shape, truth: Shape, shared: Overlap) -> float:
    return 1.0 if truth.scaled(shared.exponent).contains(found.scaled(shared.exponent).center) else 0.0


MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("iou", "intersection over union", _iou),
        Measure("giou", "generalised IoU: also how much empty space lies around both; negative values score 0", _giou),
        Measure("diou", "distance IoU: also how far the centres are apart; negative values score 0", _diou),
        Measure("dice", "twice the intersection over the sum of both areas", _dice),
        Measure("containment", "the share of the found shape that lies in the true one (IoF)", _containment),
        Measure("coverage", "the share of the true shape that was found", _coverage),
        Measure("center_in_box", "1 when the centre of the found shape lies in the true one", _center),
    )
}
