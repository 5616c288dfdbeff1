"""How far apart two points, or two sets of points, are; one function a metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Vector: TypeAlias = Sequence[float]


@dataclass(frozen=True, slots=True)
class Metric:
    """A distance; ``None`` where it is undefined."""

    name: str
    help: str
    distance: Callable[..., float | None]
    limit: float = math.inf
    """The largest distance there is."""
    of_sets: bool = False
    """Whether it compares sets of points and not points."""


def euclidean(a: Vector, b: Vector) -> float:
    """The straight line; scaled inside, so that nothing overflows before the distance itself does.

    >>> euclidean([10, 20], [13, 24]), euclidean([1e200, 0], [0, 1e200]) > 1.4e200
    (5.0, True)
    """
    return math.dist(a, b)


def manhattan(a: Vector, b: Vector) -> float:
    """The sum of the differences."""
    return _finite_sum([abs(x - y) for x, y in zip(a, b, strict=True)])


def _finite_sum(terms: Sequence[float]) -> float:
    try:
        return math.fsum(terms)
    except OverflowError:
        return math.inf


def chebyshev(a: Vector, b: Vector) -> float:
    """The largest difference."""
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def cosine(a: Vector, b: Vector) -> float | None:
    """1 less the cosine of the angle between two vectors; undefined for a vector without length.

    Half the squared distance of the unit vectors: never negative, and exact for equal directions.

    >>> cosine([3, 4], [6, 8]), cosine([1, 0], [0, 5]), cosine([0, 0], [1, 0])
    (0.0, 1.0, None)
    """
    first, second = _unit(a), _unit(b)
    if first is None or second is None:
        return None
    return min(math.fsum((x - y) ** 2 for x, y in zip(first, second, strict=True)) / 2, 2.0)


def _unit(vector: Vector) -> list[float] | None:
    largest = max(abs(value) for value in vector)
    if largest == 0:
        return None
    scaled = [value / largest for value in vector]
    length = math.hypot(*scaled)
    return [value / length for value in scaled]


def hausdorff(a: Sequence[Vector], b: Sequence[Vector]) -> float:
    """How far one set of points is from covering the other: the largest of all smallest distances.

    >>> hausdorff([[0, 0], [10, 0]], [[0, 0], [7, 4]])
    5.0
    """
    return max(_farthest(a, b), _farthest(b, a))


def _farthest(a: Sequence[Vector], b: Sequence[Vector]) -> float:
    return max(min(math.dist(point, other) for other in b) for point in a)


def oks(a: Sequence[Vector], b: Sequence[Vector], *, area: float, sigmas: Sequence[float]) -> float | None:
    """1 less COCO's object keypoint similarity; a third number of a true keypoint is its visibility, 0 leaves it out.

    Undefined when no true keypoint is labelled or the object has no area.

    >>> oks([[0, 0], [3, 4]], [[0, 0], [3, 4]], area=100.0, sigmas=[0.05, 0.05])
    0.0
    """
    labelled = [k for k, point in enumerate(b) if len(point) < 3 or point[2] > 0]
    if not labelled or area <= 0:
        return None
    terms = [_similarity(math.dist(a[k][:2], b[k][:2]), 8 * area * sigmas[k] ** 2) for k in labelled]
    return 1.0 - math.fsum(terms) / len(terms)


def _similarity(distance: float, spread: float) -> float:
    """Return how alike two keypoints are; 0 where their squared distance, or its quotient, is larger than any number."""
    try:
        return math.exp(-(distance**2) / spread) if distance else 1.0
    except (OverflowError, ZeroDivisionError):
        return 0.0


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("euclidean", "the straight line", euclidean),
        Metric("manhattan", "the sum of the differences", manhattan),
        Metric("cosine", "1 less the cosine of the angle", cosine, limit=2.0),
        Metric("chebyshev", "the largest difference", chebyshev),
        Metric("hausdorff", "between sets of points: the largest of all smallest distances", hausdorff, of_sets=True),
        Metric("oks", "between sets of keypoints: 1 less COCO's object keypoint similarity", oks, limit=1.0, of_sets=True),
    )
}
