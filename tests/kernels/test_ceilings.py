"""Kernels of ceilings against enumeration: every mix of edges, every set of truths that boxes can serve, every cluster."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.geometry.forms import BoxForm
from tests.kernels.box_cases import Case, all_same, cases, plain_boxes, random_case, same
from tests.kernels.test_greedy import refusal

SYSTEMS = 3


def systems_of(case: Case) -> np.ndarray:
    return (np.arange(len(case.found_boxes)) % SYSTEMS).astype(np.uint8)


def corners(box, xywh):
    x, y, w, h = box
    return (x, y, x + w, y + h) if xywh else (x, y, w, h)


def overlap(one, other):
    width, height = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    shared = width * height if width > 0 and height > 0 else 0.0
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return shared / (area(one) + area(other) - shared) if shared > 0 else 0.0


def by_enumeration(case: Case):
    """The best box, the best of all mixes of edges, and the truth clipped to the systems' edges."""
    reached = np.zeros((len(case.truth_boxes), 3))
    for page in range(len(case.truth_offsets) - 1):
        for t in range(case.truth_offsets[page], case.truth_offsets[page + 1]):
            if case.truth_roles[t]:
                continue
            truth = corners(case.truth_boxes[t], case.xywh)
            best = {}
            for f in range(case.found_offsets[page], case.found_offsets[page + 1]):
                if case.found_roles[f] == 0 and case.found_labels[f] == case.truth_labels[t]:
                    box = corners(case.found_boxes[f], case.xywh)
                    share = overlap(truth, box)
                    if share > best.get(f % SYSTEMS, (0.0,))[0]:
                        best[f % SYSTEMS] = share, box
            if best:
                boxes = [box for _, box in best.values()]
                mixed = [mix for mix in product(*zip(*boxes, strict=True)) if mix[0] < mix[2] and mix[1] < mix[3]]
                mean = [min(max(edge, min(own)), max(own)) for edge, own in zip(truth, zip(*boxes, strict=True), strict=True)]
                reached[t] = max(best.values())[0], max(overlap(truth, mix) for mix in mixed), overlap(truth, mean)
    return reached


@given(case=cases(boxes=plain_boxes))
def test_only_the_nearest_edges_can_win(kernels, case):
    reached = kernels.nearest_edges(case.truth, case.found, systems_of(case), 1)
    assert reached == pytest.approx(by_enumeration(case), abs=1e-12)


@given(case=cases(boxes=plain_boxes))
def test_edges_agree_to_the_bit(reference, native, case):
    given = case.truth, case.found, systems_of(case)
    assert same(reference.nearest_edges(*given), native.nearest_edges(*given))


edges = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 7)), max_size=12)


def matched(kernels, listed, truths=5, founds=5):
    columns = [np.array([edge[i] for edge in listed], kind) for i, kind in enumerate((np.int32, np.int32, np.uint16))]
    return kernels.match_most(*columns, truths, founds)


def can_be_served(truths, links):
    return any(
        len(set(boxes)) == len(boxes) and all((truth, box) in links for truth, box in zip(truths, boxes, strict=True))
        for boxes in product(range(5), repeat=len(truths))
    )


@given(listed=edges)
def test_no_pairing_is_larger(kernels, listed):
    found = matched(kernels, listed)
    for bit in range(3):
        links = {(t, f) for t, f, mask in listed if mask >> bit & 1}
        served = [row for row in range(5) if found[row] >> bit & 1]
        assert can_be_served(served, links)
        larger = combinations({t for t, _ in links}, len(served) + 1)
        assert not any(can_be_served(truths, links) for truths in larger)


@given(listed=edges)
def test_pairings_agree(reference, native, listed):
    assert same(matched(reference, listed), matched(native, listed))


def test_a_long_chain_moves_on(kernels):
    """Each truth but the last takes the box that the next one needs."""
    size = 2000
    truth = np.repeat(np.arange(size, dtype=np.int32), 2)
    found = np.minimum(truth + np.tile([0, 1], size), size - 1).astype(np.int32)
    paired = kernels.match_most(truth[::-1].copy(), found[::-1].copy(), np.ones(2 * size, np.uint16), size, size)
    assert paired.all()


def test_edges_name_rows_that_exist(kernels):
    assert refusal(lambda: matched(kernels, [(5, 0, 1)])) == "an edge names a row that does not exist"


def fused(kernels, case, threshold=0.55, jobs=1):
    scores = np.where(np.isfinite(case.found_scores), case.found_scores, 1.0)
    return kernels.fuse_boxes(case.found, scores, systems_of(case), threshold, jobs)


@given(case=cases(boxes=plain_boxes), threshold=st.sampled_from([0.1, 0.5, 0.55, 1.0]))
def test_fused_boxes_agree_to_the_bit(reference, native, case, threshold):
    assert all_same(fused(reference, case, threshold), fused(native, case, threshold))


@given(case=cases(boxes=plain_boxes))
def test_every_box_is_in_one_cluster(kernels, case):
    _, labels, boxes, _, masks = fused(kernels, case)
    there = case.found_roles == 0
    assert set(labels.tolist()) == set(case.found_labels[there].tolist())
    assert len(boxes) <= there.sum()
    assert all(masks > 0)


def test_any_number_of_threads(reference, native):
    case = random_case(4, pages=300, classes=3, most=12)
    systems = systems_of(case)
    expected = reference.nearest_edges(case.truth, case.found, systems), *fused(reference, case)
    for jobs in (1, 3, 0):
        found = native.nearest_edges(case.truth, case.found, systems, jobs), *fused(native, case, jobs=jobs)
        assert all_same(expected, found)


def test_scores_weigh_and_zeros_do_not(kernels):
    boxes = np.array([[0.0, 0, 10, 10], [2.0, 0, 12, 10]])
    for scores, left in (([0.75, 0.25], 0.5), ([0.0, 0.0], 1.0), ([0.5, -0.25], 1.0)):
        case = Case(
            truth_boxes=boxes[:0], truth_labels=np.zeros(0, np.int32), truth_offsets=np.zeros(2, np.int64),
            truth_areas=np.zeros(0), truth_crowd=np.zeros(0, np.uint8), truth_roles=np.zeros(0, np.uint8),
            found_boxes=boxes, found_labels=np.zeros(2, np.int32), found_offsets=np.array([0, 2]),
            found_scores=np.array(scores), found_roles=np.zeros(2, np.uint8), xywh=False,
        )  # fmt: skip
        assert case.form is BoxForm.XYXY
        _, _, made, _, masks = fused(kernels, case)
        assert (made[:, 0].tolist(), masks.tolist()) == ([left], [3])
