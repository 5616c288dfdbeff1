"""Areas of each page and label against counting the unit squares of a grid; twins, orders and splits to the bit."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.geometry.boxes import Edges, touch
from calque.kernels.reference import areas as reference_areas
from calque.kernels.reference.areas import _solid
from calque.kernels.reference.slabs import Allowance, _cuts, _edges
from tests.kernels.box_cases import Case, all_same, cases, plain_boxes, random_case
from tests.kernels.test_greedy import refusal

SQUARES = [(x + 0.5, y + 0.5) for x in range(13) for y in range(13)]
SIDES = ("truth", "found")


def areas(kernels, case: Case, jobs: int = 1):
    return kernels.page_areas(case.truth, case.found, jobs)


def one_page(truths, found, *, labels=((), ())) -> Case:
    """A page with corners as boxes; all of one label unless labels are given."""
    column = lambda rows: np.array(rows, float).reshape(-1, 4)
    label = lambda given, rows: np.array(given if len(given) else [0] * len(rows), np.int32)
    zeros = lambda rows: np.zeros(len(rows), np.uint8)
    return replace(
        random_case(1, pages=1, classes=1, most=0),
        truth_boxes=column(truths), truth_labels=label(labels[0], truths), truth_offsets=np.array([0, len(truths)]),
        truth_roles=zeros(truths),
        found_boxes=column(found), found_labels=label(labels[1], found), found_offsets=np.array([0, len(found)]),
        found_roles=zeros(found), xywh=False,
    )  # fmt: skip


def rows_of(case: Case, side: str, page: int, *roles: int) -> list[int]:
    offsets, role = getattr(case, f"{side}_offsets"), getattr(case, f"{side}_roles")
    return [row for row in range(offsets[page], offsets[page + 1]) if role[row] in roles]


def squares(case: Case, side: str, rows: list[int]) -> dict[tuple[float, float], int]:
    """How many of these boxes lie on each unit square."""
    depth = dict.fromkeys(SQUARES, 0)
    for x1, y1, x2, y2 in getattr(case, f"{side}_boxes")[rows].tolist():
        right, bottom = (x1 + x2, y1 + y2) if case.xywh else (x2, y2)
        for x, y in SQUARES:
            depth[x, y] += x1 <= x < right and y1 <= y < bottom
    return depth


def by_hand(case: Case) -> list[tuple[int, int, list[float]]]:
    listed = []
    for page in range(len(case.truth_offsets) - 1):
        true, found = rows_of(case, "truth", page, 0), rows_of(case, "found", page, 0)
        labels = {case.truth_labels[row] for row in true} | {case.found_labels[row] for row in found}
        for label in sorted(labels):
            own = squares(case, "truth", [row for row in true if case.truth_labels[row] == label])
            other = squares(case, "truth", [row for row in true if case.truth_labels[row] != label])
            excusing = [row for row in rows_of(case, "truth", page, 1) if case.truth_labels[row] == label]
            excuse = squares(case, "truth", excusing)
            predicted = squares(case, "found", [row for row in found if case.found_labels[row] == label])
            stray = [at for at in SQUARES if predicted[at] and not own[at]]
            kinds = (
                [at for at in SQUARES if own[at]],
                [at for at in SQUARES if predicted[at]],
                [at for at in SQUARES if own[at] and not predicted[at]],
                [at for at in SQUARES if predicted[at] > 1],
                [at for at in stray if not excuse[at] and other[at]],
                [at for at in stray if not excuse[at] and not other[at]],
                [at for at in stray if excuse[at]],
            )
            listed.append((page, int(label), [float(len(kind)) for kind in kinds]))
    return listed


@given(case=cases(boxes=plain_boxes))
def test_areas_are_the_number_of_squares(kernels, case):
    page, label, values = areas(kernels, case)
    assert list(zip(page.tolist(), label.tolist(), values.tolist(), strict=True)) == by_hand(case)


@given(case=cases())
def test_reference_and_native_agree_to_the_bit(reference, native, case):
    assert all_same(areas(reference, case), areas(native, case))


def test_any_number_of_threads_and_batches(reference, native, monkeypatch):
    case = random_case(4, pages=600, classes=3, most=12, step=0.1)
    expected = areas(reference, case)
    assert len(expected[0]) > 1000
    for jobs in (1, 3, 0):
        assert all_same(expected, areas(native, case, jobs))
    monkeypatch.setattr(reference_areas, "PAIRS_AT_ONCE", 50)
    assert all_same(expected, areas(reference, case))


@given(seed=st.integers(0, 200))
def test_the_order_of_boxes_does_not_change_a_bit(kernels, seed):
    case = random_case(seed, pages=4, classes=2, most=8, step=0.1)
    roles = np.random.default_rng(seed).choice([0, 0, 0, 1, 2], len(case.truth_roles)).astype(np.uint8)
    case = replace(case, truth_roles=roles)
    assert all_same(areas(kernels, case), areas(kernels, shuffled(case, seed)))


def shuffled(case: Case, seed: int) -> Case:
    """The same pages with their rows in another order."""
    random, changed = np.random.default_rng(seed), {}
    for side in SIDES:
        offsets = getattr(case, f"{side}_offsets")
        order = np.concatenate([random.permutation(np.arange(*ends)) for ends in pairwise(offsets)])
        for name in ("boxes", "labels", "roles"):
            changed[f"{side}_{name}"] = getattr(case, f"{side}_{name}")[order.astype(np.int64)]
    return replace(case, **changed)


def test_a_page_alone_has_the_same_bits(kernels):
    case = random_case(8, pages=20, classes=3, most=10, step=0.1)
    page, label, values = areas(kernels, case)
    for number in range(20):
        changed = {}
        for side in SIDES:
            first, last = getattr(case, f"{side}_offsets")[number : number + 2]
            for name in ("boxes", "labels", "roles"):
                changed[f"{side}_{name}"] = getattr(case, f"{side}_{name}")[first:last]
            changed[f"{side}_offsets"] = np.array([0, last - first])
        alone = areas(kernels, replace(case, **changed))
        assert all_same((label[page == number], values[page == number]), alone[1:])


def test_equal_edges_and_equal_boxes(kernels):
    """Sides by side and on top of each other: what touches shares nothing, what coincides is one."""
    case = one_page([(0, 0, 2, 2), (2, 0, 4, 2), (0, 2, 4, 4)], [(0, 0, 4, 4)] * 3 + [(4, 0, 5, 4)])
    assert areas(kernels, case)[2].tolist() == [[16.0, 20.0, 0.0, 16.0, 0.0, 4.0, 0.0]]


def test_boxes_without_area_have_rows_and_no_area(kernels):
    nothing = [(1, 1, 1, 5), (1, 1, 5, 1), (3, 3, 1, 1), (float("nan"), 0, 1, 1)]
    page, label, values = areas(kernels, one_page(nothing, nothing, labels=([0, 0, 1, 1], [0, 2, 2, 2])))
    assert (page.tolist(), label.tolist()) == ([0, 0, 0], [0, 1, 2])
    assert not values.any()


def test_far_and_tiny_coordinates(kernels):
    """Neither an overflow nor NaN where the areas themselves are finite; far from the origin as near to it."""
    far = 2.0**52
    case = one_page([(far, -far, far + 4, 4 - far)], [(far + 1, -far, far + 5, 4 - far)])
    assert areas(kernels, case)[2].tolist() == [[16.0, 16.0, 4.0, 0.0, 0.0, 4.0, 0.0]]
    huge = one_page([(-1e150, 0, 1e150, 1)], [(-1e150, 0, 0, 1)])
    assert areas(kernels, huge)[2].tolist() == [[2e150, 1e150, 1e150, 0.0, 0.0, 0.0, 0.0]]
    tiny = one_page([(0, 0, 1e-200, 1e-200)], [(0, 0, 1, 1)], labels=([0], [1]))
    assert areas(kernels, tiny)[2][1].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    endless = [(-1e308, 0, 1e308, 1), (0, 0, float("inf"), 1), (float("-inf"), 0, 0, 1), (2, 2, 3, 3)]
    assert areas(kernels, one_page(endless, endless[:1]))[2].tolist() == [[1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]]


def test_thousands_of_boxes_on_a_page(reference, native):
    random = np.random.default_rng(5)
    corner = random.random((3000, 2))
    boxes = np.hstack([corner, corner + 0.05 * random.random((3000, 2))])
    case = one_page(boxes[:1500], boxes[1500:], labels=(random.integers(0, 3, 1500), random.integers(0, 3, 1500)))
    assert all_same(areas(reference, case), areas(native, case))


def test_no_pages(kernels):
    page, label, values = areas(kernels, one_page([], []))
    assert (page.shape, label.shape, values.shape) == ((0,), (0,), (0, 7))


@pytest.mark.parametrize(
    "change",
    [{"truth_offsets": np.array([0, 5, 2])}, {"found_roles": np.zeros(1, np.uint8)}, {"found_offsets": np.array([0, 1])}],
    ids=str,
)
def test_broken_tables_are_refused_in_the_same_words(reference, native, change):
    case = replace(random_case(1, pages=2, classes=1, most=3), **change)
    assert refusal(lambda: areas(reference, case)) == refusal(lambda: areas(native, case))


def test_offsets_of_different_pages_are_refused(kernels):
    case = random_case(1, pages=2, classes=1, most=3)
    longer = replace(case, found_offsets=np.append(case.found_offsets, case.found_offsets[-1]))
    assert "same number of pages" in refusal(lambda: areas(kernels, longer))


@pytest.mark.parametrize("turned", [False, True])
def test_a_box_whose_size_is_no_number_has_no_area(turned: bool) -> None:
    """The difference of two finite numbers may be none."""
    far = 1.7e308
    boxes = [[0.0, 0.0, 1.0, 1.0], [-far, 0.0, far, 1.0], [0.0, far, 1.0, far], [0.0, 0.0, np.inf, 1.0], [0.0, 0.0, far, 1.0]]
    left, top, right, bottom = np.array(boxes).T[[1, 0, 3, 2] if turned else [0, 1, 2, 3]]
    assert _solid(Edges(left, top, right, bottom, np.ones(5))).tolist() == [True, False, False, False, True]


@pytest.mark.parametrize(
    ("other", "meets"),
    [
        ([9.0, 9.0, 20.0, 20.0], True), ([10.0, 0.0, 20.0, 10.0], False), ([-10.0, 0.0, 0.0, 10.0], False),
        ([0.0, 10.0, 10.0, 20.0], False), ([0.0, -10.0, 10.0, 0.0], False), ([2.0, 2.0, 3.0, 3.0], True),
    ],
)  # fmt: skip
def test_boxes_that_share_an_edge_do_not_meet(other: list[float], meets: bool) -> None:
    """Whichever edge that is, and whoever is asked first."""
    one, two = (Edges(*np.array([[*box, 1.0]]).T) for box in ([0.0, 0.0, 10.0, 10.0], other))
    assert touch(one, two).tolist() == touch(two, one).tolist() == [meets]


def test_what_is_looked_at_is_paid_for() -> None:
    """A step for each edge that is no wall, and one for each two of them that stand above one another."""
    box = [(0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0)]
    beside = [(x + 9.0, y) for x, y in box]
    for rings, steps in (([box], 3), ([box, beside], 6), ([box, box], 4 + 6)):
        allowance = Allowance(0)
        edges = sorted(
            (edge for number, ring in enumerate(rings) for edge in _edges(ring, (0.0, 0.0), number)), key=lambda edge: edge.a
        )
        before = allowance._left
        _cuts(edges, 0.0, 13.0, allowance)
        assert before - allowance._left == steps
