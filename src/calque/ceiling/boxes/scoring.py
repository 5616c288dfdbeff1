"""From a truth and several systems of boxes to the ledger: what each finds, what they share, what could be made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Codes, Column, distinct
from calque.ceiling.boxes.contacts import Contacts
from calque.ceiling.boxes.fusing import fused_columns
from calque.ceiling.boxes.growing import Columns, GrowingTables
from calque.ceiling.boxes.joint import Joint, laid_over, some_at_a_time
from calque.ceiling.boxes.paired import Paired, blocks_of, boxes_of
from calque.ceiling.boxes.suspects import suspect_rows
from calque.corpus.boxes import BoxCorpus
from calque.detection.scoring import STATUS_NAMES, sortable_images
from calque.engines import current_progress
from calque.evaluation.boxes.overlay import PAGE_DETAILS, Layer
from calque.evaluation.ledger import Ledger
from calque.geometry.forms import FORMS

if TYPE_CHECKING:
    from calque.ceiling.systems import Systems
    from calque.ceiling.task import Ceiling

DETAILS = frozenset((side, name) for side in ("truth", "found") for name in ("box", "form", "id")) | {("truth", "match")}


AT_ONCE = 1 << 18
"""About how many boxes are looked at at a time: what is made of them on the way stays where it is quick to reach."""


def score(task: Ceiling, truth: BoxCorpus, found: Systems, *, jobs: int) -> Ledger:
    """The ledger: tables ``documents``, ``pages``, ``truth``, ``found``, ``cells``, ``tallies``, ``edges`` and ``suspects``."""
    overlays = laid_over(truth, found.parts, task.on, jobs)
    current_progress().expect(0)
    growing = GrowingTables(len(overlays[0].documents))
    for some in some_at_a_time(overlays, AT_ONCE):
        joint = Joint.of(some, intersect=task.missing == "intersect")
        growing.add(len(joint.known), _tables(task, joint, jobs))
    labels = overlays[0].labels
    return Ledger(
        units=overlays[0].documents,
        names={"label": labels, "other": labels, "status": STATUS_NAMES},
        details=DETAILS | PAGE_DETAILS,
        tables=growing.tables(),
    )


def _tables(task: Ceiling, joint: Joint, jobs: int) -> dict[str, Columns]:
    paired = (blocks_of if task.kind == "layout" else boxes_of)(task, joint, jobs)
    contacts = Contacts.of(joint, paired, task.iou[0], jobs)
    cells = _Cells(joint, paired)
    masks = np.stack([contacts.masks(threshold) for threshold in task.iou], axis=1)
    tables = {
        "documents": _documents(joint),
        "pages": {**joint.base.page_columns(), **sortable_images(joint.base), **joint.base.page_details()},
        "truth": _truth_rows(joint, paired, contacts, masks),
        "found": _found_rows(joint, paired),
        "cells": cells.table(contacts.reachable(paired.any_score) if paired.ranked else None),
        "suspects": suspect_rows(task, joint, paired, contacts, masks, jobs),
    }
    if task.kind == "boxes":
        tables["edges"] = _edges(task, joint, contacts)
        tables["tallies"] = {
            "unit": np.arange(len(joint.known), dtype=np.int32),
            "pool": _pool(task, joint, paired, contacts),
            **fused_columns(task, joint, paired, jobs),
        }
    if not task.keeps_outcomes:
        for table, name in DETAILS:
            tables[table].pop(name, None)
    return tables


def _documents(joint: Joint) -> Columns:
    base = joint.base
    columns: dict[str, Column] = {
        **base.document_table().columns,
        "in_found": joint.known > 0,
        "known": joint.known,
        "in_play": joint.in_play,
    }
    return columns


def _truth_rows(joint: Joint, paired: Paired, contacts: Contacts, masks: Array) -> Columns:
    base = joint.base
    columns: dict[str, Column] = {
        "status": paired.truth_status,
        "hits": paired.hits,
        "met": paired.met,
        "masks": masks,
        "reached": contacts.reached,
        "out_of_range": paired.out_of_range,
        "match": base.within_document(base.truth, joint.found, contacts.best),
    }
    return {**base.row_columns(base.truth), **columns, **_details(base.truth)}


def _found_rows(joint: Joint, paired: Paired) -> Columns:
    columns: dict[str, Column] = {
        "system": joint.system,
        "status": paired.found_status,
        "hit": paired.found_hits,
        "score": joint.found.scores,
        **paired.ranks,
    }
    return {**joint.base.row_columns(joint.found), **columns, **_details(joint.found)}


def _details(layer: Layer) -> Columns:
    return {**layer.detail_columns(), "form": np.full(len(layer), FORMS.index(layer.form), dtype=np.uint8)}


class _Places:
    """The keys that occur, rising, and where each key stands among them; in a table where there is room for all that could."""

    def __init__(self, parts: Sequence[Array], room: int) -> None:
        self._places: Array | None = None
        if room > 4 * sum(map(len, parts)):
            self.keys, _ = distinct(np.concatenate(parts))
            return
        there = np.zeros(room, np.bool_)
        for keys in parts:
            there[keys] = True
        self.keys = np.flatnonzero(there)
        self._places = np.cumsum(there, dtype=np.int32) - 1

    def of(self, keys: Array) -> Array:
        """The places of keys; whatever place for those that do not occur."""
        return np.searchsorted(self.keys, keys) if self._places is None else self._places[keys]


class _Cells:
    """What each system has of each label in each document."""

    def __init__(self, joint: Joint, paired: Paired) -> None:
        self._joint, self._paired = joint, paired
        base = joint.base
        self._size = max(len(base.labels), 1)
        room = len(base.documents) * self._size
        self._key_type = np.int32 if room < 2**31 else np.int64  # half the memory where it is enough
        truth_at, found_at = (self._keys(layer) for layer in (base.truth, joint.found))
        self._truths = np.flatnonzero(paired.counts_truth)
        there = truth_at[self._truths], found_at[np.logical_or.reduce(paired.counted.T)]
        places = _Places(there, room)
        self._keys_there = places.keys
        self._truth_cell, self._found_cell = places.of(truth_at), places.of(found_at)

    def _keys(self, layer: Layer) -> Array:
        first = self._joint.base.page_document.astype(self._key_type) * self._size
        return np.asarray(layer.spread(first) + layer.label)

    def table(self, reachable: Array | None) -> Columns:
        """One row for each document and label: truths, and for each level and system what is right and what is found."""
        paired, systems = self._paired, len(self._joint.overlays)
        right, found = [], []
        for level in range(paired.hits.shape[1]):
            for system in range(systems):
                right.append(self._count(self._truth_cell, (paired.hits[:, level] >> system & 1).astype(np.bool_)))
                if paired.by_truth:
                    found.append(self._count(self._truth_cell, (paired.met[:, level] >> system & 1).astype(np.bool_)))
                else:
                    found.append(self._count(self._found_cell, paired.counted[:, level] & (self._joint.system == system)))
        rows = len(self._keys_there)
        bound = np.zeros((rows, 10), np.int32)
        if reachable is not None:
            for bit in range(10):
                bound[:, bit] = self._count(self._truth_cell, (reachable >> bit & 1).astype(np.bool_))
        counted = np.zeros(len(paired.truth_status), np.bool_)
        counted[self._truths] = True
        return {
            "unit": (self._keys_there // self._size).astype(np.int32),
            "label": (self._keys_there % self._size).astype(np.int32),
            "truths": self._count(self._truth_cell, counted),
            "right": np.stack(right, axis=1),
            "found": np.stack(found, axis=1),
            "reachable": bound,
        }

    def _count(self, cell: Array, flags: Array) -> Codes:
        return np.bincount(cell[flags], minlength=len(self._keys_there)).astype(np.int32)


def _edges(task: Ceiling, joint: Joint, contacts: Contacts) -> Columns:
    """The edges of truths that share a box with another truth: only there is the largest pairing more than a count."""
    base = joint.base
    parts = [contacts.contested(threshold) for threshold in task.iou]
    level = np.repeat(np.arange(len(parts), dtype=np.uint8), [len(truth) for truth, _ in parts])
    truth, found = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    document = base.page_document[base.truth.page[truth]]
    first_truth, first_found = (_first_rows(joint, layer)[document] for layer in (base.truth, joint.found))
    order = np.argsort(document, kind="stable")
    return {
        "unit": document[order].astype(np.int32),
        "level": level[order],
        "truth": (truth - first_truth)[order].astype(np.int32),
        "box": (found - first_found)[order].astype(np.int32),
        "system": joint.system[found][order],
    }


def _first_rows(joint: Joint, layer: Layer) -> Array:
    """The first row of each document in a layer."""
    base = joint.base
    page = np.searchsorted(base.page_document, np.arange(len(base.documents)))
    return np.asarray(layer.offsets[page])


def _pool(task: Ceiling, joint: Joint, paired: Paired, contacts: Contacts) -> Array:
    """For each document and level the boxes that have an edge, or are excused by nothing."""
    document = joint.base.page_document[joint.found.page]
    pool = []
    for threshold in task.iou:
        kept = paired.counts_found & (contacts.with_edge(threshold) | ~(paired.absorbed >= threshold))
        pool.append(np.bincount(document[kept], minlength=len(joint.known)))
    return np.stack(pool, axis=1).astype(np.int32)
