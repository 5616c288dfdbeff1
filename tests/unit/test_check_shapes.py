"""Measures of two polygons against shapely."""

from __future__ import annotations

import math
import random

import pytest
from shapely import Polygon

from calque.checks import evaluator
from calque.checks.shapes.overlap import overlap, overlaps
from calque.checks.shapes.regions import Box

Points = list[tuple[float, float]]


def ring(chance: random.Random, corners: int) -> Points:
    """A polygon that does not cross itself: its corners go round a centre, and some are bent inwards."""
    x, y = chance.uniform(0, 20), chance.uniform(0, 20)
    turns = sorted(chance.uniform(0, math.tau) for _ in range(corners))
    reach = [chance.uniform(1, 12) for _ in turns]
    return [(x + far * math.cos(turn), y + far * math.sin(turn)) for turn, far in zip(turns, reach, strict=True)]


@pytest.mark.parametrize("seed", range(60))
def test_overlap_and_the_hull_around_both(seed: int) -> None:
    chance = random.Random(seed)
    found, truth = (ring(chance, chance.randint(3, 9)) for _ in range(2))
    one, other = Polygon(found), Polygon(truth)
    if not (one.is_valid and other.is_valid):
        pytest.skip("a ring that crosses itself is refused")
    shared, whole, hull = one.intersection(other).area, one.union(other).area, one.union(other).convex_hull.area
    left, top, right, bottom = one.union(other).bounds
    apart = math.dist(*[shape.centroid.coords[0] for shape in (one, other)])
    expected = {
        "iou": shared / whole,
        "giou": shared / whole - (hull - whole) / hull,
        "diou": shared / whole - (apart / math.dist((left, top), (right, bottom))) ** 2,
        "dice": 2 * shared / (one.area + other.area),
        "containment": shared / one.area,
        "coverage": shared / other.area,
    }
    for name, value in expected.items():
        judge = evaluator(
            {"type": "iou_score", "bbox_path": "b", "expected_bbox_path": "b", "format": "polygon", "metric": name}
        )
        outcome = judge.evaluate({"b": found}, {"b": truth})
        assert outcome.metadata[name] == pytest.approx(value, abs=1e-9), name
        assert outcome.score == pytest.approx(max(0.0, value), abs=1e-9), name


@pytest.mark.parametrize("size", [1.0, 2.0**600])
def test_areas_of_many_pairs_are_those_of_each(size: float) -> None:
    """Shapes so large that their areas would be no numbers are scaled for that; the areas are told in the input's units."""
    found, truth = [Box(0, 0, 2 * size, size), Box(0, 0, size, size)], [Box(size, 0, 4 * size, size)]
    pairs = [(0, 0), (1, 0)]
    together = overlaps(found, truth, pairs)
    for i, j in pairs:
        one, many = overlap(found[i], truth[j]), together[i, j]
        assert many.area(many.intersection) == one.area(one.intersection)
        assert many.iou == one.iou == [0.25, 0.0][i]
    assert together[0, 0].area(together[0, 0].intersection) == (1.0 if size == 1 else None)
