"""The annotations to look at: truths under another name, boxes agreed on that nobody annotated, truths nobody saw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from calque.ceiling.boxes.contacts import Contacts
from calque.ceiling.boxes.joint import Joint, systems_in
from calque.ceiling.boxes.paired import Paired
from calque.core.columns import Array, Codes, Column, Flags, Ints, Table, concat
from calque.geometry.boxes import corners
from calque.geometry.forms import BoxForm
from calque.kernels import kernels
from calque.kernels.structs import LEFT_OUT, TAKES_PART, PageBoxes

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

KINDS = ("label", "agreed", "unfound")
"""In the order in which they are listed."""
INSIDE = 0.5
"""How much of a truth lies in a box that covers it."""


def suspect_rows(task: Ceiling, joint: Joint, paired: Paired, contacts: Contacts, masks: Array, jobs: int) -> Table:
    """One row for each suspect and level."""
    looking = _Looking(joint, paired, contacts, jobs)
    parts = [
        {**rows, "level": np.full(len(rows["page"]), level, np.uint8), "kind": np.full(len(rows["page"]), kind, np.uint8)}
        for level, threshold in enumerate(task.iou)
        for kind, rows in looking.at(threshold, paired.counts_truth & (masks[:, level] == 0))
    ]
    table = Table({name: concat([part[name] for part in parts]) for name in parts[0]})
    page = table.array("page")
    document = joint.base.page_document[page]
    within = (page - joint.base.first_pages[page]).astype(np.int32)
    ordered = np.argsort(document, kind="stable")
    row = table.array("truth")
    first = joint.base.truth.offsets[joint.base.first_pages[page]]
    truth = np.where(row < 0, -1, row - first).astype(np.int32)
    return Table({"unit": document, **table.columns, "page": within, "truth": truth}).take(ordered)


class _Looking:
    """Looks for suspects at one level after the other."""

    def __init__(self, joint: Joint, paired: Paired, contacts: Contacts, jobs: int) -> None:
        self._joint, self._paired, self._contacts, self._jobs = joint, paired, contacts, jobs
        self._nearest_box, self._nearest_truth = contacts.nearest()
        self._truths = corners(joint.base.truth.boxes, joint.base.truth.form)
        self._boxes = corners(joint.found.boxes, joint.found.form)

    def at(self, threshold: float, unfound: Flags) -> Iterator[tuple[int, dict[str, Column]]]:
        """The suspects of each kind."""
        named, other, systems = self._other_names(threshold, unfound)
        yield KINDS.index("label"), self._of_truths(named, other=other, systems=systems)
        yield KINDS.index("agreed"), self._agreed(threshold)
        rest = unfound.copy()
        rest[named] = False
        yield KINDS.index("unfound"), self._of_truths(np.flatnonzero(rest), best=self._nearest_box)

    def _of_truths(
        self, rows: Ints, other: Array | None = None, systems: Array | None = None, best: Array | None = None
    ) -> dict[str, Column]:
        truth = self._joint.base.truth
        nothing = np.zeros(len(rows), np.int32)
        return {
            "page": truth.page[rows],
            "truth": rows,
            "label": truth.label[rows],
            "other": nothing - 1 if other is None else other,
            "systems": nothing if systems is None else systems,
            "best_iou": np.full(len(rows), np.nan) if best is None else best[rows],
            "covers": nothing - 1,
            "box": self._truths[rows],
        }

    def _other_names(self, threshold: float, unfound: Flags) -> tuple[Ints, Codes, Codes]:
        """Unfound truths that systems have under another label: that of most systems, then the first by name."""
        contacts, joint = self._contacts, self._joint
        there = np.flatnonzero(~contacts.same & (contacts.iou >= threshold) & unfound[contacts.truth])
        truth, label = contacts.truth[there].astype(np.int64), joint.found.label[contacts.found[there]]
        named = label >= 0
        size = len(joint.base.labels) + 1
        key = truth[named] * size + label[named]
        key, count = np.unique(np.unique(key * 16 + joint.system[contacts.found[there]][named]) // 16, return_counts=True)
        order = np.lexsort((key % size, -count, key // size))
        rows, first = np.unique((key // size)[order], return_index=True)
        chosen = order[first]
        return rows, (key[chosen] % size).astype(np.int32), count[chosen].astype(np.int32)

    def _agreed(self, threshold: float) -> dict[str, Column]:
        """Boxes without any truth on which systems agree."""
        joint = self._joint
        free = self._paired.counts_found & ~(self._nearest_truth >= threshold) & ~(self._paired.absorbed >= threshold)
        rows, group, first = self._joined(free, threshold)
        size = len(first)
        members = np.bincount(group, minlength=size)
        box = np.stack([np.bincount(group, self._boxes[rows, side], size) for side in range(4)], axis=1) / members[:, None]
        systems = np.zeros(size, np.uint16)
        np.bitwise_or.at(systems, group, joint.bit[rows])
        page = joint.found.page[rows[first]]
        return {
            "page": page,
            "truth": np.full(size, -1, np.int64),
            "label": joint.found.label[rows[first]],
            "other": np.full(size, -1, np.int32),
            "systems": systems_in(systems),
            "best_iou": np.full(size, np.nan),
            "covers": self._covers(page, box),
            "box": box,
        }

    def _joined(self, free: Flags, threshold: float) -> tuple[Ints, Ints, Ints]:
        """The boxes that agree with one of another system, in page order, the number of each one's group, and its first box."""
        layer = self._joint.found.replaced(measured=None, shared=None)
        boxes = layer.page_boxes(np.where(free, np.uint8(TAKES_PART), np.uint8(LEFT_OUT)))
        first = kernels().agreeing_boxes(boxes, self._joint.system, threshold, self._jobs)
        rows = np.flatnonzero(first >= 0)
        leads = first[rows]
        heads = np.flatnonzero(leads == rows)
        number = np.zeros(len(layer), np.int64)
        number[rows[heads]] = np.arange(len(heads))
        return rows, number[leads], heads

    def _covers(self, page: Codes, box: Array) -> Codes:
        """How many truths of its page lie in each box by half or more."""
        base = self._joint.base
        order = np.argsort(page, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(page, minlength=len(base.page_index)))]).astype(np.int64)
        nothing = np.zeros(len(page), np.int32)
        found = PageBoxes(np.ascontiguousarray(box[order]), BoxForm.XYXY, nothing, offsets, nothing.astype(np.uint8))
        truth = base.truth.replaced(measured=None)
        rows, boxes, shared = kernels().overlapping_pairs(truth.page_boxes(self._paired.truth_roles), found, self._jobs)
        inside = shared >= INSIDE * truth.areas()[rows]
        covers = np.zeros(len(page), np.int32)
        covers[order] = np.bincount(boxes[inside], minlength=len(page))
        return covers
