"""The annotations to look at: truths under another name, boxes agreed on that nobody annotated, truths nobody saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints, distinct
from calque.ceiling.boxes.contacts import Contacts
from calque.ceiling.boxes.growing import Columns
from calque.ceiling.boxes.joint import Joint, laid, systems_in
from calque.ceiling.boxes.paired import Paired
from calque.geometry.boxes import corners
from calque.geometry.forms import BoxForm
from calque.kernels import kernels
from calque.kernels.structs import Masks, PageBoxes

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

KINDS = ("label", "agreed", "unfound")
"""In the order in which they are listed."""
INSIDE = 0.5
"""How much of a truth lies in a box that covers it."""


def suspect_rows(task: Ceiling, joint: Joint, paired: Paired, contacts: Contacts, masks: Array, jobs: int) -> Columns:
    """One row for each suspect and level, document by document."""
    looking = _Looking(joint, paired, contacts, task.iou, jobs)
    parts = [
        {**rows, "level": np.full(len(rows["page"]), level, np.uint8), "kind": np.full(len(rows["page"]), kind, np.uint8)}
        for level, threshold in enumerate(task.iou)
        for kind, rows in looking.at(level, threshold, paired.counts_truth & (masks[:, level] == 0))
    ]
    del looking  # it holds groups that are as many as the rows
    base = joint.base
    places = _by_document([base.page_document[part["page"]] for part in parts])
    columns = {name: laid([part.pop(name) for part in parts], places) for name in tuple(parts[0])}
    page, row = columns["page"], columns["truth"]
    first = base.first_pages[page]
    columns["truth"] = np.where(row < 0, -1, row - base.truth.offsets[first]).astype(np.int32)
    columns["page"] = (page - first).astype(np.int32)
    return {"unit": base.page_document[page], **columns}


def _by_document(documents: Sequence[Codes]) -> list[Ints]:
    """For each part where its rows stand when all are put together document by document, the parts one after the other."""
    order = np.argsort(np.concatenate(documents), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    ends = np.cumsum([len(part) for part in documents])
    return np.split(place, ends[:-1])


class _Looking:
    """Looks for suspects at one level after the other."""

    def __init__(self, joint: Joint, paired: Paired, contacts: Contacts, thresholds: Sequence[float], jobs: int) -> None:
        self._joint, self._paired, self._contacts, self._jobs = joint, paired, contacts, jobs
        self._truths = corners(joint.base.truth.boxes, joint.base.truth.form)
        self._groups = self._agreeing(thresholds)

    def at(self, level: int, threshold: float, unfound: Flags) -> Iterator[tuple[int, dict[str, Array]]]:
        """The suspects of each kind."""
        named, other, systems = self._other_names(threshold, unfound)
        yield KINDS.index("label"), self._of_truths(named, other=other, systems=systems)
        yield KINDS.index("agreed"), self._agreed(level)
        rest = unfound.copy()
        rest[named] = False
        yield KINDS.index("unfound"), self._of_truths(np.flatnonzero(rest), best=self._contacts.nearest_box)

    def _of_truths(
        self, rows: Ints, other: Array | None = None, systems: Array | None = None, best: Array | None = None
    ) -> dict[str, Array]:
        truth = self._joint.base.truth
        nothing = np.zeros(len(rows), np.int32)
        return {
            "page": truth.page[rows],
            "truth": rows.astype(np.int32),
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
        by_system, _ = distinct(key * 16 + joint.system[contacts.found[there]][named])
        key, places = distinct(by_system // 16)
        count = np.bincount(places, minlength=len(key))
        order = np.lexsort((key % size, -count, key // size))
        rows = (key // size)[order]
        first = np.append(True, rows[1:] != rows[:-1])[: len(rows)]
        rows, chosen = rows[first], order[first]
        return rows, (key[chosen] % size).astype(np.int32), count[chosen].astype(np.int32)

    def _agreeing(self, thresholds: Sequence[float]) -> tuple[Bytes, Codes, Masks, Floats]:
        """Boxes without any truth on which systems agree, at every level: by page, level and first box."""
        joint = self._joint
        taken = np.fmax(self._contacts.nearest_truth, self._paired.absorbed)
        boxes = replace(joint.found, measured=None, shared=None).page_boxes(self._paired.found_roles)
        return kernels().agreed_boxes(boxes, joint.system, taken, np.array(thresholds), self._jobs)

    def _agreed(self, level: int) -> dict[str, Array]:
        found, (at, first, systems, box) = self._joint.found, self._groups
        here = np.flatnonzero(at == level)
        rows, boxes = first[here], box[here]
        page = found.page[rows]
        return {
            "page": page,
            "truth": np.full(len(here), -1, np.int32),
            "label": found.label[rows],
            "other": np.full(len(here), -1, np.int32),
            "systems": systems_in(systems[here]),
            "best_iou": np.full(len(here), np.nan),
            "covers": self._covers(page, boxes),
            "box": boxes,
        }

    def _covers(self, page: Codes, box: Array) -> Codes:
        """How many truths of its page lie in each box by half or more; boxes come page by page."""
        base = self._joint.base
        offsets = np.concatenate([[0], np.cumsum(np.bincount(page, minlength=len(base.page_index)))]).astype(np.int64)
        nothing = np.zeros(len(page), np.int32)
        found = PageBoxes(box, BoxForm.XYXY, nothing, offsets, nothing.astype(np.uint8))
        truth = replace(base.truth, measured=None)
        rows, boxes, shared = kernels().overlapping_pairs(truth.page_boxes(self._paired.truth_roles), found, self._jobs)
        inside = shared >= INSIDE * truth.areas()[rows]
        return np.bincount(boxes[inside], minlength=len(page)).astype(np.int32)
