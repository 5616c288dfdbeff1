"""Polygon kernels, both twins, against exact rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.checks.shapes.overlap import overlap
from calque.checks.shapes.regions import region_of
from calque.kernels import checked_kernels, native_built
from calque.kernels import kernels as chosen_kernels
from calque.kernels.reference import polygons as reference
from tests import exact_polygons

Ring = Sequence[tuple[float, float]]


def arrays(rings: Sequence[Ring]) -> tuple[np.ndarray, np.ndarray]:
    points = np.array([point for ring in rings for point in ring], dtype=np.float64).reshape(-1, 2)
    return points, np.cumsum([0, *map(len, rings)], dtype=np.int64)


def shared(first: Ring, second: Ring) -> float:
    index = np.zeros(1, dtype=np.int64)
    return float(chosen_kernels().polygon_overlaps(*arrays([first]), *arrays([second]), index, index)[0])


def rectangle(x: float, y: float, width: float, height: float, angle: float = 0.0) -> list[tuple[float, float]]:
    """Turned around the origin."""
    cos, sin = math.cos(angle), math.sin(angle)
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return [(a * cos - b * sin, a * sin + b * cos) for a, b in corners]


L_SHAPE = [(0.0, 0.0), (10.0, 0.0), (10.0, 4.0), (4.0, 4.0), (4.0, 10.0), (0.0, 10.0)]
PAIRS = {
    "nested": (rectangle(0, 0, 10, 10), rectangle(2, 3, 4, 5)),
    "equal": (rectangle(0, 0, 10, 10), rectangle(0, 0, 10, 10)),
    "apart": (rectangle(0, 0, 1, 1), rectangle(5, 5, 1, 1)),
    "touching along an edge": (rectangle(0, 0, 10, 10), rectangle(10, 0, 10, 10)),
    "touching in a corner": (rectangle(0, 0, 10, 10), rectangle(10, 10, 10, 10)),
    "sharing an edge from inside": (rectangle(0, 0, 10, 10), rectangle(0, 2, 4, 4)),
    "sharing two edges": (rectangle(0, 0, 10, 10), rectangle(0, 0, 4, 4)),
    "crossing": (rectangle(0, 4, 10, 2), rectangle(4, 0, 2, 10)),
    "triangle and square": ([(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)], rectangle(0, 0, 10, 10)),
    "concave and its notch": (L_SHAPE, rectangle(4, 4, 6, 6)),
    "concave and square": (L_SHAPE, rectangle(0, 0, 10, 10)),
    "concave and concave": (L_SHAPE, [(10.0 - x, 10.0 - y) for x, y in L_SHAPE]),
    "concave and itself": (L_SHAPE, L_SHAPE),
    "comb and bar": (
        [(0, 0), (9, 0), (9, 9), (7, 9), (7, 2), (5, 2), (5, 9), (3, 9), (3, 2), (1, 2), (1, 9), (0, 9)],
        rectangle(-1, 5, 12, 1),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("turned", ["as they are", "clockwise", "swapped"])
def test_what_touches_shares_nothing_and_the_rest_is_right_to_the_last_digits(kernels: str, name: str, turned: str) -> None:
    first, second = PAIRS[name]
    if turned == "clockwise":
        first = first[::-1]
    elif turned == "swapped":
        first, second = second, first
    exact = float(exact_polygons.overlap(first, second))
    assert shared(first, second) == pytest.approx(exact, rel=1e-15 if max(len(first), len(second)) == 4 else 1e-14, abs=0)


ANGLES = st.floats(0, 2 * math.pi)
SIZES = st.integers(1, 12).map(float)
PLACES = st.integers(-8, 8).map(float)


@given(ANGLES, PLACES, PLACES, SIZES, SIZES, st.sampled_from([0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0]))
def test_rotated_rectangles_that_share_edges(
    kernels: str, angle: float, x: float, y: float, width: float, height: float, part: float, start: float
) -> None:
    outer = rectangle(x, y, width, height, angle)
    inner = rectangle(x + start * (1 - part) * width, y, part * width, height / 2, angle)
    for first, second in ((outer, inner), (inner, outer), (outer, inner[2:] + inner[:2]), (outer[::-1], inner)):
        exact = float(exact_polygons.overlap(first, second))
        assert shared(first, second) == pytest.approx(exact, rel=1e-12, abs=1e-12)
        assert exact == pytest.approx(part * width * height / 2, rel=1e-9)


@st.composite
def star_shaped(draw: st.DrawFn) -> list[tuple[float, float]]:
    """A simple ring, mostly concave: vertices around a centre in the order of their angles."""
    count = draw(st.integers(3, 9))
    x, y = draw(PLACES), draw(PLACES)
    turns = sorted(draw(st.lists(st.integers(0, 359), min_size=count, max_size=count, unique=True)))
    if any((later - before) % 360 >= 180 for before, later in zip(turns, [*turns[1:], turns[0]], strict=True)):
        turns = [place * 360 // count for place in range(count)]
    reach = [draw(st.integers(1, 10)) for _ in turns]
    return [(x + r * math.cos(math.radians(t)), y + r * math.sin(math.radians(t))) for t, r in zip(turns, reach, strict=True)]


@given(star_shaped(), star_shaped())
def test_concave_rings(kernels: str, first: Ring, second: Ring) -> None:
    exact = float(exact_polygons.overlap(first, second))
    assert shared(first, second) == pytest.approx(exact, rel=1e-11, abs=1e-11)
    assert shared(second, first) == pytest.approx(exact, rel=1e-11, abs=1e-11)
    assert shared(first, first) == pytest.approx(float(exact_polygons.area(first)), rel=1e-12)


@given(star_shaped(), star_shaped())
def test_far_from_the_origin_no_digit_is_lost(kernels: str, first: Ring, second: Ring) -> None:
    far = [[(x + 2.0**20, y - 2.0**20) for x, y in ring] for ring in (first, second)]
    assert shared(*far) == pytest.approx(float(exact_polygons.overlap(*far)), rel=1e-11, abs=1e-11)


@pytest.mark.skipif(not native_built(), reason="the native kernels are not built here")
@given(st.lists(star_shaped(), min_size=1, max_size=6), st.lists(star_shaped(), min_size=1, max_size=6), st.integers(1, 3))
def test_the_twins_give_the_same_bits(firsts: list[Ring], seconds: list[Ring], jobs: int) -> None:
    _native = checked_kernels("native")
    index = np.array([(i, j) for i in range(len(firsts)) for j in range(len(seconds))], dtype=np.int64)
    left, right = np.ascontiguousarray(index[:, 0]), np.ascontiguousarray(index[:, 1])
    arguments = (*arrays(firsts), *arrays(seconds), left, right, jobs)
    assert _native.polygon_overlaps(*arguments).tobytes() == reference.polygon_overlaps(*arguments).tobytes()
    native, twin = (module.polygon_simple(*arrays(firsts)) for module in (_native, reference))
    assert native.dtype == twin.dtype
    assert native.tobytes() == twin.tobytes()


@pytest.mark.skipif(not native_built(), reason="the native kernels are not built here")
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=4, max_size=9))
def test_the_twins_agree_on_what_is_simple(points: list[tuple[int, int]]) -> None:
    _native = checked_kernels("native")
    ring = [point for point, before in zip(points, [points[-1], *points], strict=False) if point != before]
    if len(set(ring)) > 2:
        assert _native.polygon_simple(*arrays([ring])).tolist() == reference.polygon_simple(*arrays([ring])).tolist()


@pytest.mark.parametrize(
    ("ring", "simple"),
    [
        (L_SHAPE, True),
        (rectangle(0, 0, 3, 4, 0.3), True),
        ([(0, 0), (10, 10), (10, 0), (0, 10)], False),
        ([(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)], False),
        ([(0, 0), (8, 0), (4, 0), (4, 4)], False),
        ([(math.cos(k * 4 * math.pi / 5), math.sin(k * 4 * math.pi / 5)) for k in range(5)], False),
    ],
    ids=["L", "rotated", "bow-tie", "touches itself", "runs back", "pentagram"],
)
def test_what_crosses_or_touches_itself_is_not_simple(kernels: str, ring: Ring, simple: bool) -> None:
    for turned in (ring, ring[::-1]):
        assert chosen_kernels().polygon_simple(*arrays([turned])).tolist() == [simple]


@pytest.mark.skipif(not native_built(), reason="the native kernels are not built here")
def test_native_kernels_refuse_what_does_not_fit_together() -> None:
    _native = checked_kernels("native")
    points, offsets = arrays([L_SHAPE])
    one = np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match="must rise"):
        _native.polygon_simple(points, offsets[:1])
    with pytest.raises(ValueError, match="does not exist"):
        _native.polygon_overlaps(points, offsets, points, offsets, one, one + 1)
    with pytest.raises(ValueError, match="same length"):
        _native.polygon_overlaps(points, offsets, points, offsets, one, np.zeros(2, dtype=np.int64))


# Rings that cross themselves.

RINGS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=3, max_size=8, unique=True)


@given(RINGS, RINGS)
def test_any_ring_has_its_even_odd_area(kernels: str, first: Ring, second: Ring) -> None:
    regions = [region_of([(float(x), float(y)) for x, y in ring]) for ring in (first, second)]
    for region, ring in zip(regions, (first, second), strict=True):
        assert region.area == pytest.approx(float(exact_polygons.area(ring)), rel=1e-12, abs=1e-12)
    exact = float(exact_polygons.overlap(first, second))
    assert overlap(*regions).intersection == pytest.approx(exact, rel=1e-11, abs=1e-11)


@given(RINGS)
def test_repair_agrees_with_shapely(ring: Ring) -> None:
    shapely = pytest.importorskip("shapely")
    polygon = shapely.Polygon(ring)
    valid = polygon if polygon.is_valid else shapely.make_valid(polygon, method="linework")
    assert region_of([(float(x), float(y)) for x, y in ring]).area == pytest.approx(valid.area, rel=1e-9, abs=1e-9)
