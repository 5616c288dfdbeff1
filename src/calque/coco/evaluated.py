"""A whole evaluation on the kernels: all images and classes at once, and pycocotools' fields of each when they are read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from calque.base.columns import Array, Codes, Flags, Floats, Ints
from calque.coco.curves import Chosen, Tables
from calque.coco.per_image import Row, key_of
from calque.coco.runs import Packed, mask_areas, mask_bounds
from calque.coco.sides import CocoSide, Places, Unusual, numeric_ids
from calque.kernels import kernels
from calque.kernels.structs import CocoSettings, CocoTruths, Masks, PageBoxes, PairOverlaps, ScoreOrder, Verdicts


class Group(NamedTuple):
    """The truths and the ranked detections of one image and class, as stretches of the two sides in this order."""

    number: int
    truth: slice
    found: slice


@dataclass(frozen=True, eq=False)
class Layout:
    """Detections by group and score, up to the limit; truths by group."""

    truth: CocoSide
    found: CocoSide
    groups: Ints
    ranked: Ints
    """Found rows in order."""
    truth_bounds: Ints
    found_bounds: Ints

    @classmethod
    def of(cls, truth: CocoSide, found: CocoSide, scores: Floats, groups: Ints, most: int) -> Layout:
        """The order of both sides."""
        order = np.lexsort((-scores, found.groups))
        starts = np.searchsorted(found.groups, groups)
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        ranked = order[rank < most]
        return cls(
            truth,
            found,
            groups,
            ranked,
            np.append(np.searchsorted(truth.groups, groups), len(truth)),
            np.append(np.searchsorted(found.groups[ranked], groups), len(ranked)),
        )

    def each(self) -> Iterator[Group]:
        """Every group that has rows."""
        truths, founds = pairwise(self.truth_bounds.tolist()), pairwise(self.found_bounds.tolist())
        for number, truth, found in zip(self.groups.tolist(), truths, founds, strict=True):
            yield Group(number, slice(*truth), slice(*found))

    def tables(self, pairs: PairOverlaps) -> Iterator[tuple[int, Any]]:
        """The overlaps of every group: detections by score against truths, ``[]`` where either side is empty."""
        heights, widths = np.diff(self.found_bounds), np.diff(self.truth_bounds)
        starts = np.concatenate([[0], np.cumsum(heights * widths)])
        place = np.full(len(self.found), -1)
        place[self.ranked] = np.arange(len(self.ranked))
        rows = place[np.repeat(np.arange(len(self.found)), np.diff(pairs.offsets))]
        kept = rows >= 0
        rows, truths = rows[kept], pairs.truth[kept].astype(np.int64)
        group = np.searchsorted(self.found_bounds, rows, side="right") - 1
        inside = rows - self.found_bounds[group] + (truths - self.truth_bounds[group]) * heights[group]
        values = np.zeros(starts[-1])
        values[starts[group] + inside] = pairs.overlap[kept]
        shapes = zip(self.groups.tolist(), pairwise(starts.tolist()), heights.tolist(), widths.tolist(), strict=True)
        for number, (start, end), height, width in shapes:
            yield number, values[start:end].reshape((height, width), order="F") if end > start else []


class VerdictsOfRange(NamedTuple):
    """The verdicts of one area range, all groups in a row; the truths of a group that count stand before those that do not."""

    order: Ints
    """Truth rows."""
    gt_ignore: Ints
    gt_matches: Floats
    dt_matches: Floats
    dt_ignore: Flags
    found: Flags | None
    """Which detections are matched, where ids do not tell: a match with an annotation whose id is 0."""

    @classmethod
    def of(cls, layout: Layout, partners: Array, ignored: Ints, outside: Flags, *, id_zero_counts: bool) -> VerdictsOfRange:
        """From the truth row that each found row took by threshold, and which rows of either side are ignored if unmatched."""
        order = np.lexsort((ignored, layout.truth.groups))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        taken = partners[layout.ranked].T
        t, d = np.nonzero(taken >= 0)
        rows = taken[t, d]
        gt_ids = np.array(layout.truth.ids, dtype=np.float64)
        dt_ids = np.array(layout.found.ids, dtype=np.float64)
        dt_matches, gt_matches = np.zeros(taken.shape), np.zeros((len(taken), len(order)))
        dt_ignore = np.zeros(taken.shape, dtype=np.bool_)
        dt_matches[t, d] = gt_ids[rows]
        dt_ignore[t, d] = ignored[rows] != 0
        gt_matches[t, place[rows]] = dt_ids[layout.ranked[d]]  # of several on a crowd, the last
        matched = taken >= 0 if id_zero_counts else dt_matches != 0
        dt_ignore |= ~matched & outside[layout.ranked]
        return cls(order, ignored[order], gt_matches, dt_matches, dt_ignore, matched if (gt_ids == 0).any() else None)

    def fields(self, layout: Layout, group: Group, dt_ids: Sequence[Any], scores: Sequence[Any]) -> Row:
        """The fields of one group."""
        truth, found = group.truth, group.found
        gt_ids = layout.truth.ids
        fields: Row = {
            "dtIds": list(dt_ids[found]),
            "gtIds": [gt_ids[row] for row in self.order[truth].tolist()],
            "dtMatches": self.dt_matches[:, found].copy(),
            "gtMatches": self.gt_matches[:, truth].copy(),
            "dtScores": list(scores[found]),
            "gtIgnore": self.gt_ignore[truth].copy() if truth.stop > truth.start else np.array([]),
            "dtIgnore": self.dt_ignore[:, found].copy(),
        }
        if self.found is not None and (self.found[:, found] != (fields["dtMatches"] != 0)).any():
            fields["dtMatched"] = self.found[:, found].copy()
        return fields


AT_ONCE = 16
"""How many thresholds one pass of the matching kernel can hold."""
MASKS_AT_ONCE = 1 << 14
"""Masks of so many rows are spread out at one time; what is kept of them is how much they overlap."""


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Both sides as they were, what was asked for, and what matched."""

    params: Any
    """A copy of the parameters."""
    id_zero_counts: bool
    truth: CocoSide
    found: CocoSide
    scores: Floats
    groups: Ints
    """The numbers of the groups that have rows, rising."""
    pairs: PairOverlaps
    parts: list[tuple[Codes, Masks, Masks, Array]]
    """Of up to sixteen thresholds each: the rank of found rows, what is matched and ignored, and which truths are ignored."""

    @classmethod
    def of(cls, gts: Sequence[Row], dts: Sequence[Row], params: Any, id_zero_counts: bool) -> Evaluated:
        """Match everything; `Unusual` where only the way image by image knows the answer."""
        places, key = Places.of(params), key_of(params.iouType)
        truth = CocoSide.of(gts, places, key, found=False)
        found = CocoSide.of(dts, places, key, found=True)
        if not (numeric_ids(found.ids, above=0) and numeric_ids(truth.ids, above=-np.inf)):
            raise Unusual("ids that are no positive numbers")
        if not id_zero_counts and any(one == 0 for one in truth.ids):
            raise Unusual("an annotation with id 0 that must not be found")
        thresholds, ranges = _numbers(params)
        scores, groups = found.numbers(), np.union1d(truth.groups, found.groups)
        pairs = _mask_pairs(truth, found, groups) if key == "segmentation" else _box_pairs(truth, found, groups)
        settings = _settings(params, thresholds, ranges)
        evaluated = cls(params, id_zero_counts, truth, found, scores, groups, pairs, [])
        evaluated.parts.extend(evaluated._matched(part, partners=False)[:4] for part in settings)
        # pycocotools leaves what it thought of a truth in the last area range, and so does this.
        for row, ignored in zip(truth.rows, evaluated.parts[0][3][:, -1].tolist() if len(ranges) else (), strict=False):
            row["_ignore"] = ignored
        return evaluated

    def _matched(self, settings: CocoSettings, *, partners: bool) -> tuple[Codes, Masks, Masks, Array, Array]:
        truth, found = (side.page_boxes(self.groups, _no_boxes(side)) for side in (self.truth, self.found))
        facts = CocoTruths(self.truth.areas, (self.truth.crowd != 0).astype(np.uint8))
        return kernels().coco_match_given(truth, facts, found, self.scores, self.pairs, settings, partners, os.cpu_count() or 1)

    @property
    def classes(self) -> list[Any]:
        """The ids of the classes that are told apart."""
        return list(self.params.catIds) if self.params.useCats else [-1]

    @property
    def size(self) -> int:
        """How many verdicts there are, those of empty images included."""
        return len(self.classes) * len(self.params.areaRng) * len(self.params.imgIds)

    def accumulated(self, p: Any, evaluated: Any) -> Tables | None:
        """The curves of all images; ``None`` where the parameters ask for something else."""
        chosen = Chosen.of(p, evaluated)
        ours = self.params
        recalls = np.asarray(p.recThrs, dtype=np.float64)
        usual = (
            chosen.images == list(range(len(ours.imgIds)))
            and [len(evaluated.imgIds), len(evaluated.areaRng)] == [len(ours.imgIds), len(ours.areaRng)]
            and len(p.iouThrs) == len(ours.iouThrs)
            and all(place < len(self.classes) for place in chosen.classes)
            and all(place < len(ours.areaRng) for place in chosen.areas)
            and bool((np.diff(recalls) >= 0).all())
        )
        if not usual:
            return None
        tables = Tables.empty(p)
        labels = self.found.labels.astype(np.int32)
        ranking = ScoreOrder(*kernels().score_order(labels, self.scores, len(self.classes)))
        for a, area in enumerate(chosen.areas):
            truths = np.bincount(self.truth.labels[self.parts[0][3][:, area] == 0], minlength=len(self.classes))
            for m, limit in enumerate(chosen.limits):
                self._draw(tables, ranking, truths, recalls, chosen.classes, (area, limit), (a, m))
        return tables

    def _draw(
        self,
        tables: Tables,
        ranking: ScoreOrder,
        truths: Ints,
        recalls: Floats,
        classes: list[int],
        wanted: tuple[int, int],
        at: tuple[int, int],
    ) -> None:
        """The curves of one area range and limit, at all thresholds."""
        (area, limit), (a, m), start = wanted, at, 0
        for rank, matched, ignored, _ in self.parts:
            end = min(start + AT_ONCE, len(self.params.iouThrs))
            precision, recall, scores = kernels().coco_accumulate(
                ranking,
                self.scores,
                Verdicts(rank, matched[:, area], ignored[:, area]),
                np.tile(truths, (end - start, 1)),
                recalls,
                limit,
            )
            kept = slice(0, len(classes))
            tables.precision[start:end, :, kept, a, m] = precision[:, :, classes]
            tables.recall[start:end, kept, a, m] = recall[:, classes]
            tables.scores[start:end, :, kept, a, m] = scores[:, :, classes]
            start = end

    # What is made when somebody reads it.

    def _layout(self) -> Layout:
        return Layout.of(self.truth, self.found, self.scores, self.groups, int(self.params.maxDets[-1]))

    def overlaps(self) -> dict[tuple[Any, Any], Any]:
        """What pycocotools calls `ious`: the tables of overlaps by image and class."""
        by_group = dict(self._layout().tables(self.pairs))
        width = max(len(self.params.catIds), 1) if self.params.useCats else 1
        return {
            (image, category): by_group.get(i * width + k, [])
            for i, image in enumerate(self.params.imgIds)
            for k, category in enumerate(self.classes)
        }

    def verdicts(self) -> list[Row | None]:
        """What pycocotools calls `evalImgs`: class by class, area range by area range, image by image."""
        params, images, areas = self.params, len(self.params.imgIds), len(self.params.areaRng)
        verdicts: list[Row | None] = [None] * self.size
        layout = self._layout()
        dt_ids, scores = ([column[row] for row in layout.ranked.tolist()] for column in (self.found.ids, self.found.scores))
        width = max(len(params.catIds), 1) if params.useCats else 1
        for a, verdict in enumerate(self._by_area(layout)):
            for group in layout.each():
                image, k = divmod(group.number, width)
                head = {
                    "image_id": params.imgIds[image],
                    "category_id": self.classes[k],
                    "aRng": params.areaRng[a],
                    "maxDet": params.maxDets[-1],
                }
                verdicts[(k * areas + a) * images + image] = head | verdict.fields(layout, group, dt_ids, scores)
        return verdicts

    def _by_area(self, layout: Layout) -> Iterator[VerdictsOfRange]:
        """Who took whom, in each area range."""
        thresholds, ranges = _numbers(self.params)
        parts = [self._matched(part, partners=True)[4] for part in _settings(self.params, thresholds, ranges)]
        partners = np.concatenate(parts, axis=2)
        for a, (low, high) in enumerate(ranges.tolist()):
            ignored = self.parts[0][3][:, a].astype(np.int64)
            outside = (self.found.areas < low) | (self.found.areas > high)
            yield VerdictsOfRange.of(layout, partners[:, a], ignored, outside, id_zero_counts=self.id_zero_counts)


def _settings(params: Any, thresholds: Floats, ranges: Floats) -> list[CocoSettings]:
    """As many thresholds at once as the kernels take."""
    return [
        CocoSettings(thresholds[start : start + AT_ONCE], ranges, int(params.maxDets[-1]))
        for start in range(0, max(len(thresholds), 1), AT_ONCE)
    ]


def _numbers(params: Any) -> tuple[Floats, Floats]:
    """Thresholds and area ranges as columns; `Unusual` for what the kernels do not take."""
    try:
        thresholds = np.asarray(params.iouThrs, dtype=np.float64)
        ranges = np.array([[low, high] for low, high in params.areaRng], dtype=np.float64).reshape(-1, 2)
        limits = [int(limit) == limit and limit >= 0 for limit in params.maxDets]
    except (TypeError, ValueError):
        raise Unusual("parameters that are no numbers") from None
    if thresholds.ndim != 1 or not (thresholds > 0).all() or np.isnan(ranges).any():
        raise Unusual("a threshold at which everything overlaps")
    if not limits or not all(limits):
        raise Unusual("limits that are no counts")
    return thresholds, ranges


def _no_boxes(side: CocoSide) -> Floats:
    return np.zeros((len(side), 4))


def _pair_table(truth: Ints, found: Ints, overlap: Floats, rows: CocoSide) -> PairOverlaps:
    """Pairs by found row, which is the order that they come in."""
    offsets = np.searchsorted(found, np.arange(len(rows) + 1))
    return PairOverlaps(offsets.astype(np.int64), truth.astype(np.int32), overlap, rows.areas)


def _box_pairs(truth: CocoSide, found: CocoSide, groups: Ints) -> PairOverlaps:
    """How much boxes overlap, in pycocotools' order of operations."""
    sides = truth.page_boxes(groups), found.page_boxes(groups)
    t, f, shared = _touching(*sides)
    with np.errstate(all="ignore"):
        areas = [side.boxes[:, 2] * side.boxes[:, 3] for side in (truth, found)]
        union = np.where(truth.crowd[t] != 0, areas[1][f], areas[1][f] + areas[0][t] - shared)
        overlap = shared / union
    if not np.isfinite(overlap).all():
        raise Unusual("boxes too large or too small for their product")
    return _pair_table(t.astype(np.int64), f.astype(np.int64), overlap, found)


def _touching(truth: PageBoxes, found: PageBoxes) -> tuple[Codes, Codes, Floats]:
    return kernels().overlapping_pairs(truth, found, os.cpu_count() or 1)


def _mask_pairs(truth: CocoSide, found: CocoSide, groups: Ints) -> PairOverlaps:
    """How much masks overlap, a share of the groups at a time."""
    counted = np.searchsorted(truth.groups, groups) + np.searchsorted(found.groups, groups)
    shares = np.flatnonzero(np.diff(counted // MASKS_AT_ONCE, prepend=-1)).tolist()
    parts = []
    for start, end in pairwise([*shares, len(groups)]):
        here = groups[start:end]
        parts.append(_mask_share(_part(truth, here), _part(found, here), here))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.zeros(0)] * 3
    return _pair_table(columns[0].astype(np.int64), columns[1].astype(np.int64), columns[2], found)


def _part(side: CocoSide, groups: Ints) -> tuple[int, CocoSide]:
    """The rows of neighbouring groups, and the place of the first."""
    start = int(np.searchsorted(side.groups, groups[0]))
    rows = slice(start, int(np.searchsorted(side.groups, groups[-1], side="right")))
    columns = {name: getattr(side, name)[rows] for name in ("ids", "scores", "areas", "crowd", "groups", "labels", "shapes")}
    return start, replace(side, **columns)


def _mask_share(truths: tuple[int, CocoSide], founds: tuple[int, CocoSide], groups: Ints) -> tuple[Ints, Ints, Floats]:
    (first_truth, truth), (first_found, found) = truths, founds
    masks = [Packed.of(side.shapes) for side in (truth, found)]
    sizes = [packed.sizes for packed in masks]
    intervals = [_intervals(packed) for packed in masks]
    bounds = [mask_bounds(*table, size[:, 0]) for table, size in zip(intervals, sizes, strict=True)]
    boxes = [side.page_boxes(groups, box.astype(np.float64)) for side, box in zip((truth, found), bounds, strict=True)]
    t, f = (rows.astype(np.int64) for rows in _touching(*boxes)[:2])
    shared = kernels().mask_overlaps(*intervals[0], *intervals[1], t, f, os.cpu_count() or 1)
    areas = [mask_areas(*table) for table in intervals]
    union = np.where(truth.crowd[t] != 0, areas[1][f], areas[0][t] + areas[1][f] - shared)
    overlap = np.where((sizes[0][t] == sizes[1][f]).all(axis=1), shared / union, -1.0)
    kept = overlap != 0
    return t[kept] + first_truth, f[kept] + first_found, overlap[kept]


def _intervals(masks: Packed) -> tuple[Codes, Ints]:
    intervals = masks.intervals()
    if intervals is None:
        raise Unusual("runs that are not canonical")
    return intervals
