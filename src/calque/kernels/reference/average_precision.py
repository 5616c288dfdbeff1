"""COCO's matching and curves, decision for decision as pycocotools takes them: the specification of the native twin.

The chain is ``coco_match`` (who matches whom, at all thresholds and area ranges), ``score_order`` (rows by class and
score), then ``coco_accumulate`` (the curve; without recall points only its end).
Ten thresholds share one pass: a mask has bit ``t`` set where the statement holds at threshold ``t``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from calque.base.columns import Bytes, Codes, Flags, Floats, Ints
from calque.geometry.boxes import iou
from calque.kernels.reference.boxes import (
    Grouped,
    box_edges,
    by_page_and_label,
    pairs,
    shared_area,
)
from calque.kernels.structs import LEFT_OUT, CocoSettings, CocoTruths, Masks, PageBoxes, PairOverlaps, ScoreOrder, Verdicts

MOST_THRESHOLDS = 16
HIGHEST_THRESHOLD = 1 - 1e-10
"""pycocotools' ceiling, so that a box equal to its truth passes a threshold of 1 in spite of rounding."""


class Candidates(NamedTuple):
    """Pairs that reach the lowest threshold; ``mask`` says which thresholds."""

    overlap: Floats
    mask: Masks
    truth: Ints
    found: Ints


def coco_match(
    truth: PageBoxes, facts: CocoTruths, found: PageBoxes, scores: Floats, settings: CocoSettings, jobs: int = 1
) -> tuple[Codes, Masks, Masks, Bytes]:
    """Let every found box, best score first, take the free truth that it overlaps most.

    A truth that counts goes before an ignored one, whatever the overlap; a crowd is never used up, and is compared by
    the share of the found box that it covers. Equal overlaps go to the later truth.

    Returns, per found row, its rank by score in its page and label (-1: left out) and, per area range, the thresholds
    at which it is matched, and at which it is ignored (matched to an ignored truth, or unmatched and of a size outside
    the range); and per truth and area range whether the truth is ignored (always, when it is left out).
    """
    del jobs  # the native kernel has threads
    truth_groups, found_groups = by_page_and_label(truth, found)
    truths, founds = box_edges(truth), box_edges(found)
    rank = ranks(found_groups, scores)
    ranked = within(rank, settings)
    crowd = facts.crowd != 0

    candidates = []
    for t, f in pairs(truth_groups, Grouped(np.flatnonzero(ranked), found_groups.groups)):
        one, other = truths.take(t), founds.take(f)
        shared = shared_area(found, one, other, t, f)
        overlap = iou(shared, one.area, other.area)
        with np.errstate(all="ignore"):
            overlap = np.where(crowd[t] & (shared > 0), shared / other.area, overlap)
        candidates.append(reaching(overlap, t, f, settings))
    sizes = founds.area if facts.found_areas is None else facts.found_areas
    return take_by_score(truth, facts, rank, sizes, candidates, settings)[:4]


def coco_match_given(
    truth: PageBoxes,
    facts: CocoTruths,
    found: PageBoxes,
    scores: Floats,
    overlaps: PairOverlaps,
    settings: CocoSettings,
    partners: bool = False,
    jobs: int = 1,
) -> tuple[Codes, Masks, Masks, Bytes, Codes]:
    """The same with overlaps and sizes of any kind; the boxes themselves are not looked at.

    Returns besides, where ``partners`` are asked for, the truth row that each found row took, by area range and threshold
    (-1: none).
    """
    del jobs  # the native kernel has threads
    rank = ranks(by_page_and_label(truth, found)[1], scores)
    rows = np.repeat(np.arange(len(scores)), np.diff(overlaps.offsets))
    ranked = within(rank, settings)[rows] & (truth.roles[overlaps.truth] != LEFT_OUT)
    listed = reaching(overlaps.overlap[ranked], overlaps.truth[ranked].astype(np.int64), rows[ranked], settings)
    *verdicts, taken = take_by_score(truth, facts, rank, overlaps.found_areas, [listed], settings)
    return *verdicts, taken if partners else taken[:0]  # type: ignore[return-value]  # the four columns before the last


def within(rank: Codes, settings: CocoSettings) -> Flags:
    """Which rows are ranked high enough to take part."""
    flags: Flags = (rank >= 0) & (rank < settings.max_detections)
    return flags


def reaching(overlap: Floats, truth: Ints, found: Ints, settings: CocoSettings) -> Candidates:
    """The pairs that reach some threshold."""
    mask = masks(overlap[:, None] >= np.minimum(settings.thresholds, HIGHEST_THRESHOLD))
    keep = mask != 0
    return Candidates(overlap[keep], mask[keep], truth[keep], found[keep])


def take_by_score(
    truth: PageBoxes, facts: CocoTruths, rank: Codes, areas: Floats, candidates: list[Candidates], settings: CocoSettings
) -> tuple[Codes, Masks, Masks, Bytes, Codes]:
    """Match at all thresholds at once, area range by area range: what both ways to match give back."""
    thresholds, area_ranges, _ = settings
    crowd = facts.crowd != 0
    truth_ignored = outside(facts.areas, area_ranges) | (crowd | (truth.roles == LEFT_OUT))[:, None]
    shape = len(rank), len(area_ranges)
    matched, ignored = np.zeros(shape, np.uint16), np.zeros(shape, np.uint16)
    partners = np.full((*shape, len(thresholds)), -1, np.int32)
    every = np.uint16((1 << len(thresholds)) - 1)
    unsized = outside(areas, area_ranges) & within(rank, settings)[:, None]
    for a in range(len(area_ranges)):
        for take, t, f, is_out in takes(candidates, rank, crowd, truth_ignored[:, a]):
            matched[f, a] |= take
            if is_out:
                ignored[f, a] |= take
            partners[f, a, [bit for bit in range(len(thresholds)) if take >> bit & 1]] = t
        ignored[:, a] |= np.where(unsized[:, a], every & ~matched[:, a], 0)
    return rank, matched, ignored, truth_ignored.astype(np.uint8), partners


def takes(candidates: list[Candidates], rank: Codes, crowd: Flags, out: Flags) -> Iterator[tuple[int, int, int, bool]]:
    """At which thresholds, which truth is taken by which found row, and whether it is one of those ``out`` that are ignored."""
    if not candidates:
        return
    overlap, mask, truth, found = (np.concatenate(column) for column in zip(*candidates, strict=True))
    # Groups do not touch each other, so all first ranks may go first, then all second ranks, and so on.
    order = np.lexsort((-truth, -overlap, out[truth], found, rank[found]))
    taken, match = [0] * len(crowd), [0] * len(rank)
    columns = mask, truth, found, out[truth], crowd[truth]
    for reach, t, f, is_out, is_crowd in zip(*(column[order].tolist() for column in columns), strict=True):
        take = reach & ~match[f] & ~taken[t]
        if take:
            match[f] |= take
            if not is_crowd:
                taken[t] |= take
            yield take, t, f, is_out


def score_order(labels: Codes, scores: Floats, classes: int, jobs: int = 1) -> tuple[Codes, Ints]:
    """Ints with a label (>= 0) and a finite score, by label, then score descending, then row.

    Returns the rows, and ``class_offsets``: class ``k`` has ``order[class_offsets[k]:class_offsets[k + 1]]``.

    >>> score_order(np.array([1, 0, 1, -1], np.int32), np.array([0.2, 0.5, 0.9, 1.0]), 2)
    (array([1, 2, 0], dtype=int32), array([0, 1, 3]))
    """
    del jobs  # the native kernel has threads
    rows = np.flatnonzero((labels >= 0) & np.isfinite(scores))
    rows = rows[np.lexsort((-scores[rows], labels[rows]))]
    class_offsets = np.zeros(classes + 1, np.int64)
    np.cumsum(np.bincount(labels[rows], minlength=classes), out=class_offsets[1:])
    return rows.astype(np.int32), class_offsets


def coco_accumulate(
    ranking: ScoreOrder,
    scores: Floats,
    verdicts: Verdicts,
    truths: Ints,
    recall_points: Floats,
    max_detections: int,
    jobs: int = 1,
    before: Ints | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Precision and score at each recall point, and the recall reached, per threshold and class.

    ``truths`` says how many there are to find, by threshold (bit ``t`` of the masks) and class.
    The precision at a recall is the highest at that recall or any later one (the envelope); it is 0 where the recall
    is never reached, and everything is -1 for a class without truths.

    ``before``, of shape (2, thresholds, classes), says how many true and how many false positives rank before these
    rows. So a ranking too long for memory goes through here piece by piece: its precision is the highest of any piece.
    """
    del jobs  # the native kernel has threads
    earlier = np.zeros((2, *truths.shape), np.int64) if before is None else before
    shape = len(truths), len(recall_points), truths.shape[1]
    precision, scores_at = np.full(shape, -1.0), np.full(shape, -1.0)
    recall = np.full(truths.shape, -1.0)
    for k in np.flatnonzero((truths > 0).any(axis=0)):
        rows = class_rows(ranking, verdicts.rank, int(k), max_detections)
        for t in np.flatnonzero(truths[:, k] > 0).tolist():
            true, false = right_and_wrong(verdicts, rows, t)
            tp, fp = earlier[0, t, k] + np.cumsum(true), earlier[1, t, k] + np.cumsum(false)
            reached = tp / truths[t, k]
            # After a true positive precision falls until the next, so what lies between cannot be the highest.
            at_hits = np.where(true, tp / (fp + tp + np.spacing(1)), 0.0)
            envelope = np.maximum.accumulate(at_hits[::-1])[::-1]
            at = np.searchsorted(reached, recall_points, "left")
            there = at < len(rows)
            recall[t, k] = (earlier[0, t, k] + np.count_nonzero(true)) / truths[t, k]
            precision[t, :, k] = scores_at[t, :, k] = 0.0
            precision[t, there, k] = envelope[at[there]]
            scores_at[t, there, k] = scores[rows[at[there]]]
    return precision, recall, scores_at


def ranks(found: Grouped, scores: Floats) -> Codes:
    """Each found row's position by score, best first, in its group; -1 for rows left out. NaN comes last."""
    rank = np.full(len(scores), -1, np.int32)
    rows = found.rows[np.lexsort((-scores[found.rows], found.groups[found.rows]))]
    groups = found.groups[rows]
    rank[rows] = np.arange(len(rows)) - np.searchsorted(groups, groups)
    return rank


def outside(areas: Floats, area_ranges: Floats) -> Flags:
    """Whether each area is outside each range, whose two ends are inside."""
    return (areas[:, None] < area_ranges[:, 0]) | (areas[:, None] > area_ranges[:, 1])


def masks(flags: Flags) -> Masks:
    """The flags of each row as one number: bit ``t`` is column ``t``."""
    bits = np.uint16(1) << np.arange(flags.shape[1], dtype=np.uint16)
    packed: Masks = np.where(flags, bits, np.uint16(0)).sum(axis=1, dtype=np.uint16)
    return packed


def class_rows(ranking: ScoreOrder, rank: Codes, k: int, max_detections: int) -> Codes:
    """The rows of one class, best score first, among the first ``max_detections`` of their pages."""
    rows = ranking.order[ranking.class_offsets[k] : ranking.class_offsets[k + 1]]
    return rows[(rank[rows] >= 0) & (rank[rows] < max_detections)]


def right_and_wrong(verdicts: Verdicts, rows: Codes, t: int) -> tuple[Flags, Flags]:
    """Which rows are true and which are false positives at threshold ``t``; an ignored row is neither."""
    counts = (verdicts.ignored[rows] >> t) & 1 == 0
    hit = (verdicts.matched[rows] >> t) & 1 == 1
    return counts & hit, counts & ~hit
