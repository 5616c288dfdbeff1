"""Outlines against exact arithmetic: what pairs share, what several cover together, and the two twins to the bit."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from calque.base.columns import Outlines
from calque.geometry.forms import BoxForm
from calque.kernels.structs import ABSORBS, LEFT_OUT, KindLimits, PageBoxes, RowRings, SharedAreas
from tests import exact_polygons

Ring = list[tuple[float, float]]

SQUARE: Ring = [(0, 0), (10, 0), (10, 10), (0, 10)]
BOW_TIE: Ring = [(0, 0), (10, 10), (10, 0), (0, 10)]
STAR: Ring = [(5, 0), (8, 10), (0, 4), (10, 4), (2, 10)]
BRIDGE: Ring = [(0, 0), (2, 0), (2, 2), (6, 6), (8, 6), (8, 8), (6, 8), (6, 6), (2, 2), (0, 2)]
"""Two squares joined by a bridge there and back."""
COMB: Ring = [(0, 0), (9, 0), (9, 9), (7, 9), (7, 2), (5, 2), (5, 9), (3, 9), (3, 2), (1, 2), (1, 9), (0, 9)]
SLANTED: Ring = [(1.5, 0.25), (9.75, 2.5), (8.5, 9.0), (0.25, 7.75)]


def side(rings: Sequence[Ring], labels: Sequence[int] = (), roles: Sequence[int] = (), pages: Sequence[int] = ()) -> PageBoxes:
    """Rows of outlines; a ring of two points is an upright box."""
    count = len(rings)
    boxes = [
        [min(x for x, _ in ring), min(y for _, y in ring), max(x for x, _ in ring), max(y for _, y in ring)] for ring in rings
    ]
    drawn = Outlines.pack([[v for point in ring for v in point] if len(ring) > 2 else [] for ring in rings])
    return PageBoxes(
        np.array(boxes, np.float64).reshape(-1, 4),
        BoxForm.XYXY,
        np.array(labels or [0] * count, np.int32),
        np.array(pages or [0, count], np.int64),
        np.array(roles or [0] * count, np.uint8),
        None,
        None,
        RowRings(drawn.points, drawn.offsets),
    )


def measured(kernels, truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[PageBoxes, PageBoxes]:
    """Both sides with their areas, and what they share."""
    truth_areas, found_areas, *shared = kernels.shape_overlaps(truth, found, jobs)
    return truth._replace(areas=truth_areas), found._replace(areas=found_areas, shared=SharedAreas(*shared))


def corners(ring: Ring) -> Ring:
    (left, top), (right, bottom) = ring if len(ring) == 2 else (ring[0], ring[2])
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def outline(ring: Ring) -> Ring:
    return corners(ring) if len(ring) == 2 else ring


def shared_of(found: PageBoxes) -> dict[tuple[int, int], float]:
    rows = np.repeat(np.arange(len(found.boxes)), np.diff(found.shared.offsets)).tolist()
    return {(t, f): area for t, f, area in zip(found.shared.truths.tolist(), rows, found.shared.areas.tolist(), strict=True)}


def random_ring(rng: random.Random) -> Ring:
    """A ring of any kind: a box, a convex one, one that crosses itself, on a coarse grid or anywhere."""
    kind = rng.randrange(5)
    scale = rng.choice([1, 1, 1e-3, 1000])
    if kind == 0:
        x, y = rng.uniform(0, 8), rng.uniform(0, 8)
        return [(x * scale, y * scale), ((x + rng.uniform(0.1, 5)) * scale, (y + rng.uniform(0.1, 5)) * scale)]
    count = rng.randint(3, 9)
    if kind == 1:
        turn = rng.uniform(0, 7)
        points = [(5 + 4 * math.cos(turn + 6.28 * i / count), 5 + 3 * math.sin(turn + 6.28 * i / count)) for i in range(count)]
    elif kind == 2:
        points = [(float(rng.randint(0, 9)), float(rng.randint(0, 9))) for _ in range(count)]
    else:
        points = [(rng.uniform(0, 10), rng.uniform(0, 10)) for _ in range(count)]
    ring = [(x * scale, y * scale) for x, y in points]
    ring = [p for p, q in zip(ring, [None, *ring], strict=False) if p != q]
    while len(ring) > 1 and ring[0] == ring[-1]:
        ring.pop()
    return ring if len(set(ring)) > 2 else [(0.0, 0.0), (4.0 * scale, 3.0 * scale)]


def check_exactly(kernels, truths: list[Ring], founds: list[Ring]) -> None:
    truth, found = measured(kernels, side(truths), side(founds))
    got = shared_of(found)
    for (t, one), (f, two) in product(enumerate(map(outline, truths)), enumerate(map(outline, founds))):
        exact, first, second = exact_polygons.overlap(one, two), exact_polygons.area(one), exact_polygons.area(two)
        assert truth.areas[t] == pytest.approx(float(first), rel=1e-12, abs=0)
        assert found.areas[f] == pytest.approx(float(second), rel=1e-12, abs=0)
        union = first + second - exact
        iou = float(exact / union) if union else 0.0
        common = got.get((t, f), 0.0)
        mine = common / (truth.areas[t] + found.areas[f] - common) if common else 0.0
        assert abs(mine - iou) < 1e-9, (one, two)


def test_rings_that_cross_and_bridges_are_even_odd(kernels):
    truth, found = measured(kernels, side([SQUARE, BOW_TIE, STAR, BRIDGE, COMB]), side([SQUARE]))
    assert truth.areas.tolist()[:2] == [100, 50]
    assert truth.areas[3] == pytest.approx(8, rel=1e-14)
    assert shared_of(found)[1, 0] == 50
    check_exactly(kernels, [SQUARE, BOW_TIE, STAR, BRIDGE, COMB, SLANTED], [SQUARE, BOW_TIE, STAR, BRIDGE, COMB, SLANTED])


def test_random_rings_are_within_a_billionth_of_rational_arithmetic(kernels):
    rng = random.Random(18)
    for _ in range(12):
        check_exactly(kernels, [random_ring(rng) for _ in range(2)], [random_ring(rng) for _ in range(2)])


def test_an_offset_of_the_whole_page_costs_no_digits(kernels):
    far = lambda ring: [(x + 1e6, y - 3e5) for x, y in ring]
    check_exactly(kernels, [far(COMB), far(SLANTED)], [far(STAR), far(SLANTED), far(BRIDGE)])


def test_two_boxes_share_what_boxes_do(kernels):
    rng = random.Random(4)
    boxes = [[(rng.uniform(0, 5), rng.uniform(0, 5)), (rng.uniform(6, 9), rng.uniform(6, 9))] for _ in range(20)]
    truth, found = measured(kernels, side(boxes[:10]), side([*boxes[10:], STAR]))
    plain = [s._replace(areas=None, shared=None, rings=None) for s in (truth, found)]
    rows, others, areas = kernels.overlapping_pairs(*plain)
    of_boxes = {(t, f): a for t, f, a in zip(rows.tolist(), others.tolist(), areas.tolist(), strict=True) if f < 10}
    assert {pair: area for pair, area in shared_of(found).items() if pair[1] < 10} == of_boxes
    widths = truth.boxes[:, 2:] - truth.boxes[:, :2]
    assert truth.areas.tolist() == (widths[:, 0] * widths[:, 1]).tolist()


def test_equal_rings_share_all_of_themselves_wherever_they_begin(kernels):
    for ring in (BOW_TIE, STAR, BRIDGE, COMB, SLANTED):
        others = [ring[2:] + ring[:2], ring[::-1]]
        truth, found = measured(kernels, side([ring]), side(others))
        assert shared_of(found) == {(0, 0): truth.areas[0], (0, 1): truth.areas[0]}


def test_outlines_that_only_touch_share_nothing(kernels):
    left = [(0.0, 0.0), (1 / 3, 0.1), (0.7, 1 / 7), (0.2, 0.9)]
    right = [(1 / 3, 0.1), (0.7, 1 / 7), (0.9, -0.5)]
    part = [((0.7 + 1 / 3) / 2, (0.1 + 1 / 7) / 2), (0.7, 1 / 7), (0.9, -0.5), (0.8, -0.4)]
    _, found = measured(kernels, side([left]), side([right, part]))
    assert shared_of(found) == {}


def union_exactly(truth: Ring, founds: Sequence[Ring]) -> Fraction:
    """The area of a truth that rings cover together, by inclusion and exclusion over exact slabs."""
    edges = [exact_polygons._edges(outline(ring)) for ring in (truth, *founds)]
    flat = [edge for ring in edges for edge in ring]
    cuts = sorted({point[0] for edge in flat for point in edge} | set(exact_polygons._crossings(flat)))
    total = Fraction(0)
    for low, high in pairwise(cuts):
        middle = (low + high) / 2
        inside, *others = (exact_polygons._heights(ring, middle) for ring in edges)
        ends = sorted({y for part in (inside, *others) for span in part for y in span})
        for top, bottom in pairwise(ends):
            y = (top + bottom) / 2
            holds = lambda spans, y=y: any(a < y < b for a, b in spans)
            if holds(inside) and any(map(holds, others)):
                total += (high - low) * (bottom - top)
    return total


def test_what_several_cover_together_is_a_union(kernels):
    """The share of a truth that its predictions cover decides between MISS and PARTIAL."""
    rng = random.Random(9)
    limits = lambda background: KindLimits(0.95, background, 0.99, 0.99)
    for _ in range(12):
        truth_ring, rings = STAR if rng.random() < 0.5 else random_ring(rng), [random_ring(rng) for _ in range(3)]
        truth, found = measured(kernels, side([truth_ring]), side(rings, labels=[1, 1, 1]))
        exact = float(union_exactly(truth_ring, rings) / exact_polygons.area(outline(truth_ring)))
        if not 0.001 < exact < 0.9 or max(shared_of(found).values(), default=0) / truth.areas[0] > 0.9:
            continue
        kinds = [
            kernels.error_kinds(truth, found, np.full(3, 0.5), np.array([-1], np.int32), limits(exact + slack))[0].tolist()
            for slack in (-1e-9, 1e-9)
        ]
        assert kinds[1] != kinds[0] or kinds == [[11], [11]], (truth_ring, rings)


@pytest.mark.parametrize("jobs", [1, 3])
def test_twins_agree_to_the_bit(native, reference, jobs):
    rng = random.Random(2)
    pages, truths, founds = [0], [], []
    found_pages = [0]
    for _ in range(12):
        truths += [random_ring(rng) for _ in range(rng.randrange(5))]
        founds += [random_ring(rng) for _ in range(rng.randrange(5))]
        pages.append(len(truths))
        found_pages.append(len(founds))
    pick = lambda rows, choices: [rng.choice(choices) for _ in rows]
    truth = side(truths, pick(truths, [0, 1]), pick(truths, [0, 0, ABSORBS, LEFT_OUT]), pages)
    found = side(founds, pick(founds, [0, 1]), pick(founds, [0, 0, LEFT_OUT]), found_pages)
    one, two = measured(native, truth, found, jobs), measured(reference, truth, found)
    for mine, theirs in zip(one, two, strict=True):
        assert mine.areas.tobytes() == theirs.areas.tobytes()
    assert [column.tobytes() for column in one[1].shared] == [column.tobytes() for column in two[1].shared]
    scores = np.linspace(0, 1, len(founds))
    for name, arguments in (
        ("match_greedy", (scores, 0.1)),
        ("match_best", ()),
        ("overlapping_pairs", ()),
        ("page_areas", ()),
    ):
        mine, theirs = (getattr(kernels, name)(*one, *arguments) for kernels in (native, reference))
        assert [column.tobytes() for column in mine] == [column.tobytes() for column in theirs], name
    matches = native.match_greedy(*one, scores, 0.1)[0]
    for name, arguments in (("error_kinds", (scores, matches, KindLimits(0.1, 0.05, 0.3, 0.6))),):
        mine, theirs = (getattr(kernels, name)(*one, *arguments) for kernels in (native, reference))
        assert [column.tobytes() for column in mine] == [column.tobytes() for column in theirs], name
