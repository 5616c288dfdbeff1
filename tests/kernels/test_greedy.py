"""Greedy matching by IoU: against a loop written for nothing but to be right, and by its laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.geometry.forms import BoxForm
from calque.kernels.structs import PageBoxes
from tests.kernels.box_cases import Case, all_same, cases, plain_boxes, random_case, same


def shared_and_iou(truth: list[float], found: list[float], xywh: bool) -> tuple[float, float, float]:
    if xywh:
        t = truth[0], truth[1], truth[0] + truth[2], truth[1] + truth[3], truth[2] * truth[3]
        f = found[0], found[1], found[0] + found[2], found[1] + found[3], found[2] * found[3]
    else:
        t = *truth, (truth[2] - truth[0]) * (truth[3] - truth[1])
        f = *found, (found[2] - found[0]) * (found[3] - found[1])
    width, height = min(t[2], f[2]) - max(t[0], f[0]), min(t[3], f[3]) - max(t[1], f[1])
    if not (width > 0 and height > 0) or width * height == 0:
        return 0.0, 0.0, f[4]
    return width * height, width * height / (f[4] + t[4] - width * height), f[4]


def brute_force(case: Case, threshold: float) -> tuple[list[int], list[int], list[float]]:
    """Again and again the best pair of all that are left."""
    truth_match, found_match = [-1] * len(case.truth_boxes), [-1] * len(case.found_boxes)
    absorbed = [0.0] * len(found_match)
    for page in range(len(case.truth_offsets) - 1):
        left = {}
        for t in range(case.truth_offsets[page], case.truth_offsets[page + 1]):
            for f in range(case.found_offsets[page], case.found_offsets[page + 1]):
                if case.truth_labels[t] != case.found_labels[f] or case.found_roles[f] != 0 or case.truth_roles[t] == 2:
                    continue
                area, overlap, found_area = shared_and_iou(
                    case.truth_boxes[t].tolist(), case.found_boxes[f].tolist(), case.xywh
                )
                if case.truth_roles[t] == 1:
                    absorbed[f] = max(absorbed[f], area / found_area if found_area > 0 else 0.0)
                elif area > 0 and overlap >= threshold:
                    score = float(case.found_scores[f])
                    left[t, f] = overlap, (not math.isnan(score), score if not math.isnan(score) else 0.0), -f, -t
        while left:
            t, f = max(left, key=left.get)
            truth_match[t], found_match[f] = f, t
            left = {pair: value for pair, value in left.items() if pair[0] != t and pair[1] != f}
    return truth_match, found_match, absorbed


@given(case=cases(boxes=plain_boxes), threshold=st.sampled_from([-1.0, 0.0, 0.1, 0.25, 0.5, 0.75, 1.0]))
def test_is_the_best_pair_again_and_again(kernels, case, threshold):
    for one, other in zip(case.greedy(kernels, threshold)[:3], brute_force(case, threshold), strict=True):
        assert one.tolist() == other


@given(case=cases(), threshold=st.sampled_from([-1.0, 0.0, 0.1, 0.5, 1.0]))
def test_reference_and_native_agree_to_the_bit(reference, native, case, threshold):
    assert all_same(case.greedy(reference, threshold), case.greedy(native, threshold))


@pytest.mark.parametrize("seed", range(6))
def test_many_pages_agree_to_the_bit_for_any_number_of_threads(reference, native, seed):
    case = random_case(seed, pages=800, classes=5, most=40 if seed % 2 else 8)
    expected = case.greedy(reference, 0.3)
    for jobs in (1, 2, 5, 0):
        assert all_same(expected, case.greedy(native, 0.3, jobs))


def test_crowded_pages(kernels):
    case = random_case(3, pages=4, classes=1, most=600)
    truth_match, found_match, *_ = case.greedy(kernels, 0.5)
    matched = np.flatnonzero(truth_match >= 0)
    assert len(matched) > 100
    assert (found_match[truth_match[matched]] == matched).all()


@given(case=cases(boxes=plain_boxes), low=st.sampled_from([0.1, 0.3, 0.5]), high=st.sampled_from([0.5, 0.6, 0.75, 1.0]))
def test_a_higher_threshold_only_filters(kernels, case, low, high):
    truth_match, found_match, absorbed, *_ = case.greedy(kernels, low)
    for t, f in enumerate(truth_match.tolist()):
        if f >= 0 and shared_and_iou(case.truth_boxes[t].tolist(), case.found_boxes[f].tolist(), case.xywh)[1] < high:
            truth_match[t], found_match[f] = -1, -1
    assert all_same((truth_match, found_match, absorbed), case.greedy(kernels, high)[:3])


def test_pairs_come_in_chunks_without_a_trace(reference, monkeypatch):
    case = random_case(5, pages=60, classes=3, most=10)
    expected = case.greedy(reference, 0.3), case.coco(reference)
    monkeypatch.setattr("calque.kernels.reference.boxes.PAIRS_AT_ONCE", 7)
    assert all_same(expected[0], case.greedy(reference, 0.3))
    assert all_same(expected[1], case.coco(reference))


def test_ties_go_to_score_then_position(kernels):
    box, label = np.tile([0.0, 0, 2, 2], (3, 1)), np.zeros(3, np.int32)
    offsets, roles = np.array([0, 3]), np.zeros(3, np.uint8)
    scores = np.array([np.nan, 0.5, 0.5])
    side = PageBoxes(box, BoxForm.XYWH, label, offsets, roles)
    truth_match, found_match, *_ = kernels.match_greedy(side, side, scores, 0.5)
    assert truth_match.tolist() == [1, 2, 0]
    assert found_match.tolist() == [2, 0, 1]


def test_without_pages(kernels):
    nothing = PageBoxes(np.zeros((0, 4)), BoxForm.XYWH, np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.uint8))
    out = kernels.match_greedy(nothing, nothing, np.zeros(0), 0.5)
    assert [len(column) for column in out] == [0] * 8


def refusal(work) -> str:
    with pytest.raises(ValueError) as caught:
        work()
    return str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"truth_offsets": np.array([0, 5, 2])},
        {"truth_offsets": np.array([1, 2])},
        {"truth_offsets": np.zeros(0, np.int64)},
        {"found_offsets": np.array([0, 1])},
        {"found_scores": np.zeros(1)},
        {"truth_labels": np.zeros(1, np.int32)},
    ],
    ids=str,
)
def test_broken_tables_are_refused_in_the_same_words(reference, native, change):
    case = Case(**{**vars(random_case(1, pages=2, classes=1, most=3)), **change})
    assert refusal(lambda: case.greedy(reference, 0.5)) == refusal(lambda: case.greedy(native, 0.5))


def test_offsets_of_different_pages_are_refused(kernels):
    case = random_case(1, pages=2, classes=1, most=3)
    longer = np.append(case.found_offsets, case.found_offsets[-1])
    assert "same number of pages" in refusal(lambda: Case(**{**vars(case), "found_offsets": longer}).greedy(kernels, 0.5))


def test_result_outlives_the_call(kernels):
    case = random_case(2, pages=50, classes=2, most=5)
    columns = case.greedy(kernels, 0.5)
    copies = [column.copy() for column in columns]
    for _ in range(20):
        case.greedy(kernels, 0.1)
    assert all(same(column, copy) for column, copy in zip(columns, copies, strict=True))
