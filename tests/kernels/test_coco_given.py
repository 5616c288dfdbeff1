"""COCO's matching with overlaps that are given: as with boxes where they are those of the boxes, and with partners."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from pycocotools import mask

from calque.kernels.structs import CocoSettings, CocoTruths, PairOverlaps
from tests.examples import examples
from tests.kernels.box_cases import Case, all_same, cases, random_case


def listed(case: Case, lowest: float = 0.0) -> PairOverlaps:
    """Every pair of one page and label with pycocotools' own overlaps, by found row."""
    truths, overlaps, offsets = [], [], [0]
    sides = (case.truth_boxes, case.truth_offsets), (case.found_boxes, case.found_offsets)
    pages = [np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) for _, offsets in sides]
    for row, box in enumerate(case.found_boxes):
        here = np.flatnonzero((pages[0] == pages[1][row]) & (case.truth_labels == case.found_labels[row]))
        for truth in here:
            overlap = mask.iou(box[None], case.truth_boxes[truth][None], [int(case.truth_crowd[truth] != 0)])[0, 0]
            if overlap >= lowest:
                truths.append(truth)
                overlaps.append(overlap)
        offsets.append(len(truths))
    areas = case.found_boxes[:, 2] * case.found_boxes[:, 3]
    return PairOverlaps(np.array(offsets, np.int64), np.array(truths, np.int32), np.array(overlaps, np.float64), areas)


def matched(kernels, case: Case, overlaps: PairOverlaps, *, partners: bool = False, jobs: int = 1):
    settings = CocoSettings(case.thresholds, case.ranges, case.max_detections)
    facts = CocoTruths(case.truth_areas, case.truth_crowd)
    # The boxes are not looked at.
    sides = [side._replace(boxes=np.full_like(side.boxes, np.nan)) for side in (case.truth, case.found)]
    return kernels.coco_match_given(sides[0], facts, sides[1], case.found_scores, overlaps, settings, partners, jobs)


@pytest.mark.parametrize("limit", [2, 100])
@pytest.mark.parametrize(("seed", "step"), [(1, 2.0), (2, 20.0), (3, 40.0)])
def test_with_the_overlaps_of_boxes_it_matches_as_with_boxes(kernels, seed, step, limit):
    case = replace(random_case(seed, 12, 3, 8, step), max_detections=limit)
    for lowest in (0.0, 0.5):
        *verdicts, partners = matched(kernels, case, listed(case, lowest))
        assert all_same(tuple(verdicts), case.coco(kernels))
        assert partners.shape == (0, len(case.ranges), len(case.thresholds))


@given(case=cases())
@examples(60)
def test_both_twins_and_any_number_of_threads_agree(native, reference, case):
    boxes = [np.clip(np.nan_to_num(side), -9, 9) for side in (case.truth_boxes, case.found_boxes)]
    finite = replace(case, truth_boxes=boxes[0], found_boxes=boxes[1])
    overlaps = listed(finite, -1.0)
    one = matched(native, finite, overlaps, partners=True)
    assert all_same(one, matched(reference, finite, overlaps, partners=True))
    assert all_same(one, matched(native, finite, overlaps, partners=True, jobs=3))


@pytest.mark.parametrize("seed", range(6))
def test_partners_are_the_truths_that_were_taken(kernels, seed):
    case = random_case(seed, 10, 2, 8, 20.0)
    overlaps = listed(case)
    _, taken, ignored, truth_ignored, partners = matched(kernels, case, overlaps, partners=True)
    value = {
        (row, truth): overlap
        for row in range(len(case.found_boxes))
        for truth, overlap in zip(
            *(column[overlaps.offsets[row] : overlaps.offsets[row + 1]] for column in (overlaps.truth, overlaps.overlap)),
            strict=True,
        )
    }
    for row, by_range in enumerate(partners.tolist()):
        for a, by_threshold in enumerate(by_range):
            for t, truth in enumerate(by_threshold):
                assert (truth >= 0) == bool(taken[row, a] >> t & 1)
                if truth >= 0:
                    assert value[row, truth] >= case.thresholds[t]
                    assert bool(truth_ignored[truth, a]) == bool(ignored[row, a] >> t & 1)
    for a in range(len(case.ranges)):
        for t in range(len(case.thresholds)):
            once = [truth for truth in partners[:, a, t].tolist() if truth >= 0 and not case.truth_crowd[truth]]
            assert len(once) == len(set(once))


def test_pairs_of_other_pages_and_columns_that_do_not_fit_are_refused(kernels):
    case = random_case(1, 3, 2, 4, 20.0)
    fine = listed(case)
    last = len(case.truth_boxes) - 1
    assert fine.offsets[1] > 0
    for wrong, message in (
        (
            fine._replace(truth=np.where(np.arange(len(fine.truth)) == 0, last, fine.truth).astype(np.int32)),
            "same page and label",
        ),
        (fine._replace(truth=(fine.truth - 1000).astype(np.int32)), "same page and label"),
        (fine._replace(found_areas=fine.found_areas[:-1]), "every found row"),
        (fine._replace(overlap=fine.overlap[:-1]), "a truth row and an overlap"),
        (fine._replace(offsets=fine.offsets[:-1]), "must rise from 0"),
    ):
        with pytest.raises(ValueError, match=message):
            matched(kernels, case, wrong)
