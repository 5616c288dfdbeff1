"""Which expected item goes with which found item, and how much they share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calque.base.columns import Bytes, Codes, Floats
from calque.evaluation.boxes.overlay import Overlay
from calque.geometry.forms import COCO_THRESHOLDS
from calque.kernels import kernels
from calque.kernels.structs import CocoSettings, CocoTruths, Masks


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pairing:
    """A 1:1 pairing of the rows of an overlay's two layers, with how much each pair shares."""

    truth_match: Codes
    """For each truth the row of its prediction, or -1."""
    found_match: Codes
    """For each prediction the row of its truth, or -1."""
    iou: Floats
    """For each truth the IoU with its prediction; NaN where there is none, as in the next two."""
    coverage: Floats
    purity: Floats
    edges: Floats
    """For each truth how much its prediction cuts off (positive) or adds (negative): left, top, right, bottom.

    Left and right are relative to the truth's width, top and bottom to its height."""
    found_iou: Floats
    """For each prediction the IoU with its truth; NaN where there is none."""
    absorbed: Floats
    """For each prediction the largest share of its own area on one absorbing truth."""


def greedy(overlay: Overlay, truth_roles: Bytes, found_roles: Bytes, *, threshold: float, jobs: int = 1) -> Pairing:
    """Pairs of one page and label with IoU at or above the threshold, the best first.

    Exact ties go to the higher score, then to the earlier prediction, then to the earlier truth. The pairing at a higher
    threshold is this one filtered to that IoU, so one pairing at the lowest threshold serves all.
    """
    truth, found = overlay.truth.page_boxes(truth_roles), overlay.found.page_boxes(found_roles)
    truth_match, found_match, absorbed, iou, coverage, purity, edges, found_iou = kernels().match_greedy(
        truth, found, overlay.found.scores, threshold, jobs
    )
    return Pairing(
        truth_match=truth_match,
        found_match=found_match,
        iou=iou,
        coverage=coverage,
        purity=purity,
        edges=edges,
        found_iou=found_iou,
        absorbed=absorbed,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BestPairing:
    """For each truth the prediction that it overlaps most; many truths may share one."""

    match: Codes
    """The row of the prediction, or -1 where nothing overlaps."""
    iou: Floats


def best(overlay: Overlay, truth_roles: Bytes, found_roles: Bytes, *, jobs: int = 1) -> BestPairing:
    """Each truth with its best prediction on the page, whatever the labels; the first prediction wins a tie."""
    match, iou = kernels().match_best(overlay.truth.page_boxes(truth_roles), overlay.found.page_boxes(found_roles), jobs)
    return BestPairing(match=match, iou=iou)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScorePairing:
    """COCO's pairing: predictions of a page and label, best score first, each take the truth they overlap most.

    Bit ``t`` of a mask is about the threshold ``t``, one column for each area range.
    """

    rank: Codes
    """For each prediction its place by score in its page and label; -1 when it takes no part."""
    matched: Masks
    ignored: Masks
    truth_ignored: Bytes
    """For each truth and area range whether it does not have to be found."""


def by_score(
    overlay: Overlay, truth_roles: Bytes, found_roles: Bytes, *, area_ranges: Floats, max_detections: int, jobs: int = 1
) -> ScorePairing:
    """COCO's pairing at all ten thresholds at once, for each area range.

    As in pycocotools, a truth is excused for being a crowd or of another size; its ``ignore`` flag has no effect here.
    """
    truth, found = overlay.truth, overlay.found
    areas = truth.areas()
    if truth.given_areas is not None:
        areas = np.where(np.isnan(truth.given_areas), areas, truth.given_areas)
    crowd = np.zeros(len(truth), dtype=np.uint8) if truth.crowd is None else truth.crowd
    rank, matched, ignored, truth_ignored = kernels().coco_match(
        truth.page_boxes(truth_roles),
        CocoTruths(areas, crowd, None if found.mask_sizes is None or found.masks is None else found.masks.range_areas),
        found.page_boxes(found_roles),
        found.scores,
        CocoSettings(np.array(COCO_THRESHOLDS), area_ranges, max_detections),
        jobs,
    )
    return ScorePairing(rank=rank, matched=matched, ignored=ignored, truth_ignored=truth_ignored)
