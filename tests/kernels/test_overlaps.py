"""Overlapping pairs against a plain loop; unions against counting the unit squares of a grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.kernels.reference.overlaps import union_areas
from tests.kernels.box_cases import Case, all_same, cases, plain_boxes, random_case, same
from tests.kernels.test_greedy import refusal, shared_and_iou


def overlaps(kernels, case: Case, jobs: int = 1):
    return kernels.overlapping_pairs(case.truth, case.found, jobs)


@given(case=cases(boxes=plain_boxes))
def test_pairs_are_those_that_share_area(kernels, case):
    expected = []
    for page in range(len(case.truth_offsets) - 1):
        for f in range(case.found_offsets[page], case.found_offsets[page + 1]):
            for t in range(case.truth_offsets[page], case.truth_offsets[page + 1]):
                area, _, _ = shared_and_iou(case.truth_boxes[t].tolist(), case.found_boxes[f].tolist(), case.xywh)
                if area > 0 and case.truth_roles[t] == 0 and case.found_roles[f] == 0:
                    expected.append((t, f, area))
    assert list(zip(*(column.tolist() for column in overlaps(kernels, case)), strict=True)) == expected


@given(case=cases())
def test_reference_and_native_agree_on_pairs_to_the_bit(reference, native, case):
    assert all_same(overlaps(reference, case), overlaps(native, case))


def test_any_number_of_threads(reference, native):
    case = random_case(4, pages=800, classes=3, most=30)
    expected = overlaps(reference, case)
    assert len(expected[0]) > 1000
    for jobs in (1, 3, 0):
        assert all_same(expected, overlaps(native, case, jobs))


corner = st.integers(0, 9).map(float)
groups = st.lists(st.lists(st.tuples(corner, corner, corner, corner), max_size=6), max_size=5)


def ragged(parts):
    rows = np.array([box for part in parts for box in part], dtype=np.float64).reshape(-1, 4)
    return rows, np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)


@given(parts=groups)
def test_the_union_is_the_number_of_squares_inside(parts):
    def inside(boxes):
        return sum(any(x1 <= x < x2 and y1 <= y < y2 for x1, y1, x2, y2 in boxes) for x in np.arange(10) for y in np.arange(10))

    assert union_areas(*ragged(parts)).tolist() == [inside(boxes) for boxes in parts]


@given(parts=st.lists(st.lists(st.tuples(*[st.floats(-2, 2)] * 4), max_size=6), max_size=4), seed=st.integers(0, 99))
def test_a_union_is_the_same_in_any_order(parts, seed):
    shuffled = [[boxes[i] for i in np.random.default_rng(seed).permutation(len(boxes))] for boxes in parts]
    assert same(union_areas(*ragged(parts)), union_areas(*ragged(shuffled)))


@pytest.mark.parametrize(
    "change",
    [{"truth_offsets": np.array([0, 5, 2])}, {"found_roles": np.zeros(1, np.uint8)}, {"found_offsets": np.array([0, 1])}],
    ids=str,
)
def test_broken_tables_are_refused_in_the_same_words(reference, native, change):
    case = Case(**{**vars(random_case(1, pages=2, classes=1, most=3)), **change})
    assert refusal(lambda: overlaps(reference, case)) == refusal(lambda: overlaps(native, case))


def test_offsets_of_different_pages_are_refused(kernels):
    case = random_case(1, pages=2, classes=1, most=3)
    longer = np.append(case.found_offsets, case.found_offsets[-1])
    assert "same number of pages" in refusal(lambda: overlaps(kernels, Case(**{**vars(case), "found_offsets": longer})))
