"""What pycocotools keeps of each image and class, `evalImgs` and `ious`, laid out from an evaluation of everything at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from calque.coco.per_image import Row
from calque.coco.sides import CocoSide
from calque.core.columns import Array, Flags, Floats, Ints
from calque.kernels.structs import PairOverlaps


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


class Verdicts(NamedTuple):
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
    def of(cls, layout: Layout, partners: Array, ignored: Ints, outside: Flags, *, id_zero_counts: bool) -> Verdicts:
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
