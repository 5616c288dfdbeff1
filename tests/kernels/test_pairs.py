"""Measures of pairs: against plain arithmetic, and both twins to the bit."""

import math

import numpy as np
import pytest
from hypothesis import given

from tests.kernels.box_cases import Case, all_same, cases, plain_boxes, random_case
from tests.kernels.test_greedy import refusal


def measures(kernels, case: Case, match: np.ndarray, jobs: int = 1):
    return kernels.pair_measures(case.truth, case.found, match, jobs)


def corners(box, xywh):
    left, top, third, fourth = box
    return (left, top, left + third, top + fourth) if xywh else (left, top, third, fourth)


@given(case=cases(boxes=plain_boxes))
def test_pairs_are_measured_as_by_hand(kernels, case):
    match = case.greedy(kernels, 0.1)[0]
    iou, coverage, purity, edges, found_iou = measures(kernels, case, match)
    for t, f in enumerate(match.tolist()):
        if f < 0:
            assert all(math.isnan(value) for value in (iou[t], coverage[t], purity[t], *edges[t]))
            continue
        a, b = corners(case.truth_boxes[t].tolist(), case.xywh), corners(case.found_boxes[f].tolist(), case.xywh)
        width, height = a[2] - a[0], a[3] - a[1]
        shared = (min(a[2], b[2]) - max(a[0], b[0])) * (min(a[3], b[3]) - max(a[1], b[1]))
        other = (b[2] - b[0]) * (b[3] - b[1])
        assert iou[t] == found_iou[f] == pytest.approx(shared / (width * height + other - shared))
        assert (coverage[t], purity[t]) == (pytest.approx(shared / (width * height)), pytest.approx(shared / other))
        cut = [(b[0] - a[0]) / width, (b[1] - a[1]) / height, (a[2] - b[2]) / width, (a[3] - b[3]) / height]
        assert edges[t].tolist() == pytest.approx(cut)
    assert np.isnan(found_iou).sum() == len(found_iou) - (match >= 0).sum()


@given(case=cases())
def test_twins_agree_to_the_bit(reference, native, case):
    match = case.greedy(reference, 0.1)[0]
    assert all_same(measures(reference, case, match), measures(native, case, match))


def test_any_number_of_threads(reference, native):
    case = random_case(8, pages=2000, classes=2, most=20)
    match = case.greedy(reference, 0.3)[0]
    expected = measures(reference, case, match)
    for jobs in (1, 3, 0):
        assert all_same(expected, measures(native, case, match, jobs))


def test_rows_that_do_not_exist_are_refused_in_the_same_words(reference, native):
    case = random_case(9, pages=3, classes=1, most=6)
    match = case.greedy(reference, 0.3)[0]
    for wrong in (match[1:], np.full_like(match, len(case.found_boxes))):
        messages = {refusal(lambda k=k, w=wrong: measures(k, case, w)) for k in (reference, native)}
        assert len(messages) == 1
