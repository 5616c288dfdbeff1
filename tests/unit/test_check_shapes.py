"""Measures of two polygons against shapely."""

from __future__ import annotations

import math
import random

import pytest
from shapely import Polygon

from calque.checks import evaluator

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
