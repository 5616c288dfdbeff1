"""Which boxes of any system meet which truths: edges of one label, and what else lies there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, distinct
from calque.ceiling.boxes.joint import Joint
from calque.ceiling.boxes.paired import Paired
from calque.geometry.forms import COCO_THRESHOLDS
from calque.kernels import kernels


@dataclass(frozen=True, eq=False, kw_only=True)
class Contacts:
    """Pairs of a truth that counts and a box that takes part, on one page, that may matter at some threshold."""

    joint: Joint
    truth_roles: Bytes
    found_roles: Bytes
    truth: Codes
    found: Codes
    iou: Floats
    same: Flags
    """Whether the two have one label."""
    nearest_box: Floats
    """The highest IoU of each truth with any box, whatever the labels."""
    nearest_truth: Floats
    """The highest IoU of each box with any truth."""
    best: Codes
    """For each truth the row of the box of its label that it overlaps most, or -1; the first wins a tie."""
    reached: Floats
    """For each truth the IoU of the best box, of the best with edges of several systems, and of their best mean."""

    @classmethod
    def of(cls, joint: Joint, paired: Paired, lowest: float, jobs: int) -> Contacts:
        """All pairs of boxes whose score is high enough, from the lowest threshold on."""
        return cls._between(joint, paired.truth_roles, paired.found_roles, min(lowest, COCO_THRESHOLDS[0]), jobs)

    @classmethod
    def _between(cls, joint: Joint, truth_roles: Bytes, found_roles: Bytes, lowest: float, jobs: int = 1) -> Contacts:
        truths, founds = joint.base.truth, joint.found
        truth, found, overlap, nearest_box, nearest_truth, best, reached = kernels().contacts(
            truths.page_boxes(truth_roles), founds.page_boxes(found_roles), joint.system, lowest, jobs
        )
        return cls(
            joint=joint,
            truth_roles=truth_roles,
            found_roles=found_roles,
            truth=truth,
            found=found,
            iou=overlap,
            same=truths.label[truth] == founds.label[found],
            nearest_box=nearest_box,
            nearest_truth=nearest_truth,
            best=best,
            reached=reached,
        )

    def _edges(self, threshold: float) -> tuple[Codes, Codes]:
        truth, found, overlap = self._same_label
        kept = overlap >= threshold
        return truth[kept], found[kept]

    @cached_property
    def _same_label(self) -> tuple[Codes, Codes, Floats]:
        return self.truth[self.same], self.found[self.same], self.iou[self.same]

    def masks(self, threshold: float) -> Array:
        """For each truth the systems that have a box of its label there."""
        truth, found = self._edges(threshold)
        masks = np.zeros(len(self.joint.base.truth), np.uint16)
        np.bitwise_or.at(masks, truth, self.joint.bit[found])
        return masks

    def with_edge(self, threshold: float) -> Flags:
        """For each box whether it has an edge."""
        there = np.zeros(len(self.joint.found), np.bool_)
        there[self._edges(threshold)[1]] = True
        return there

    def contested(self, threshold: float) -> tuple[Codes, Codes]:
        """The edges of truths that share a box with another truth; of boxes that serve one truth alone one for each system."""
        truth, found = self._edges(threshold)
        degree = np.bincount(found, minlength=len(self.joint.found))
        shared = np.zeros(len(self.joint.base.truth), np.bool_)
        shared[truth[degree[found] > 1]] = True
        kept = shared[truth]
        truth, found = truth[kept], found[kept]
        alone = degree[found] == 1
        key = truth.astype(np.int64) * 16 + self.joint.system[found]
        _, places = distinct(np.where(alone, key, -1 - np.arange(len(key))))
        first = np.full(int(places.max(initial=-1)) + 1, len(key))
        np.minimum.at(first, places, np.arange(len(key)))
        first.sort()
        return truth[first], found[first]

    def reachable(self, any_score: Bytes) -> Array:
        """For each truth at which of COCO's thresholds a largest pairing has it, as a mask; scores do not matter here."""
        everyone = np.array_equal(any_score, self.found_roles)
        whole = self if everyone else self._between(self.joint, self.truth_roles, any_score, COCO_THRESHOLDS[0])
        kept = whole.same & (whole.iou >= COCO_THRESHOLDS[0])
        overlap = whole.iou[kept]
        bits = np.zeros(len(overlap), np.uint16)
        for bit, threshold in enumerate(COCO_THRESHOLDS):
            bits |= (overlap >= threshold).astype(np.uint16) << bit
        found = whole.found[kept]  # rising: the boxes with edges are counted, for most have none
        number = np.cumsum(np.diff(found, prepend=-1) > 0, dtype=np.int32) - 1
        boxes = int(number[-1]) + 1 if len(number) else 0
        return kernels().match_most(whole.truth[kept], number.astype(np.int32), bits, len(self.joint.base.truth), boxes)
