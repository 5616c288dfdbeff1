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
    *_, reached = kernels.contacts(case.truth, case.found, systems_of(case), 0.5, 1)
    assert reached == pytest.approx(by_enumeration(case), abs=1e-12)


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


def joined(case: Case, taken: np.ndarray, threshold: float) -> list[list[int]]:
    """Groups by walking from box to box."""
    boxes = [corners(box, case.xywh) for box in case.found_boxes]
    page = np.repeat(np.arange(len(case.found_offsets) - 1), np.diff(case.found_offsets))
    free = [row for row in range(len(boxes)) if case.found_roles[row] == 0 and taken[row] < threshold]

    def agree(a, b):
        same = page[a] == page[b] and case.found_labels[a] == case.found_labels[b] and a % SYSTEMS != b % SYSTEMS
        return same and overlap(boxes[a], boxes[b]) >= threshold

    groups, seen = [], set()
    for row in free:
        line = [] if row in seen else [row]
        for here in line:
            line += [other for other in free if other not in line and agree(here, other)]
        seen |= set(line)
        groups += [sorted(line)] if len(line) > 1 else []
    return groups


LEVELS = np.array([0.1, 0.5, 1.0])


def taken_of(case: Case) -> np.ndarray:
    return (np.arange(len(case.found_boxes)) % 7 * 0.2).astype(np.float64)


@given(case=cases(boxes=plain_boxes))
def test_boxes_that_systems_agree_on(kernels, case):
    level, first, masks, boxes = kernels.agreed_boxes(case.found, systems_of(case), taken_of(case), LEVELS, 2)
    for place, threshold in enumerate(LEVELS):
        groups = joined(case, taken_of(case), threshold)
        here = level == place
        assert first[here].tolist() == [group[0] for group in groups]
        assert masks[here].tolist() == [sum(1 << s for s in {row % SYSTEMS for row in group}) for group in groups]
        means = [np.mean([corners(case.found_boxes[row], case.xywh) for row in group], axis=0) for group in groups]
        assert boxes[here] == pytest.approx(np.array(means).reshape(-1, 4))


@given(case=cases(boxes=plain_boxes))
def test_agreed_boxes_agree_to_the_bit(reference, native, case):
    given = case.found, systems_of(case), taken_of(case), LEVELS
    assert all_same(reference.agreed_boxes(*given), native.agreed_boxes(*given))


@pytest.mark.parametrize("levels", [[], [0.5, 0.1], [0.5] * 256])
def test_levels_rise(kernels, levels):
    case = random_case(1, pages=1, classes=2, most=3)
    given = case.found, systems_of(case), taken_of(case), np.array(levels, np.float64)
    assert refusal(lambda: kernels.agreed_boxes(*given)) == "there must be 1 to 255 thresholds, the lowest first"


@given(case=cases(boxes=plain_boxes), threshold=st.sampled_from([0.1, 0.5, 1.0]))
def test_contacts_are_those_of_every_two_boxes(kernels, case, threshold):
    given = case.truth, case.found, systems_of(case), threshold, 2
    truth, found, shares, truth_best, found_best, nearest, _ = kernels.contacts(*given)
    pairs, best, other, near = [], np.zeros(len(case.truth_boxes)), np.zeros(len(case.found_boxes)), {}
    for page in range(len(case.truth_offsets) - 1):
        for f in range(case.found_offsets[page], case.found_offsets[page + 1]):
            for t in range(case.truth_offsets[page], case.truth_offsets[page + 1]):
                if case.truth_roles[t] or case.found_roles[f]:
                    continue
                share = overlap(corners(case.truth_boxes[t], case.xywh), corners(case.found_boxes[f], case.xywh))
                best[t], other[f] = max(best[t], share), max(other[f], share)
                if case.truth_labels[t] == case.found_labels[f] and share > near.get(t, (0.0, -1))[0]:
                    near[t] = share, f
                pairs += [(t, f)] if share >= threshold else []
    assert list(zip(truth.tolist(), found.tolist(), strict=True)) == pairs
    assert all(shares >= threshold)
    assert (truth_best, found_best) == (pytest.approx(best, abs=1e-12), pytest.approx(other, abs=1e-12))
    assert nearest.tolist() == [near.get(t, (0.0, -1))[1] for t in range(len(best))]


@given(case=cases(boxes=plain_boxes), threshold=st.sampled_from([0.1, 0.5, 1.0]))
def test_contacts_agree_to_the_bit(reference, native, case, threshold):
    given = case.truth, case.found, systems_of(case), threshold
    assert all_same(reference.contacts(*given), native.contacts(*given, 3))


def test_any_number_of_threads(reference, native):
    case = random_case(4, pages=300, classes=3, most=12)
    systems = systems_of(case)
    given = case.found, systems, taken_of(case), LEVELS
    expected = (
        *fused(reference, case),
        *reference.agreed_boxes(*given),
        *reference.contacts(case.truth, case.found, systems, 0.5),
    )
    for jobs in (1, 3, 0):
        found = (
            *fused(native, case, jobs=jobs),
            *native.agreed_boxes(*given, jobs),
            *native.contacts(case.truth, case.found, systems, 0.5, jobs),
        )
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
