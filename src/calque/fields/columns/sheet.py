"""What accountings write of a batch: counts by field, boxes and confidences; and the ledger it becomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from calque.base.columns import Array, Codes, Flags, Floats, Ints, Table
from calque.corpus.boxes import UnitId
from calque.evaluation.ledger import Ledger
from calque.fields.accounting.rows import (
    BOX_COLUMNS,
    COUNT_COLUMNS,
    DOCUMENT_COLUMNS,
    OUTCOMES,
    RATING_COLUMNS,
    Book,
    alphabetical,
)  # fmt: skip
from calque.fields.columns.layout import Layout
from calque.fields.columns.reading import LeafColumn, SideColumns

PAIRS, ONLY_TRUTH, ONLY_FOUND = 0, 1, 2
"""In this order a list is written down."""


def place(documents: Array, field: int, stage: int = 0, items: Array | int = 0, leaf: Array | int = 0, second: int = 0) -> Ints:
    """Where something stands among all that is written: a number that sorts as the reference writes."""
    within = np.asarray(items, dtype=np.int64) << 18 | np.asarray(leaf, dtype=np.int64) << 1
    return np.asarray(documents, dtype=np.int64) << 50 | field << 40 | stage << 38 | within | second


ITEMS = (1 << 24) - 1


def key_of(field: int, leaf: int = -1, items: Array | int = 0) -> Ints:
    """The number of a confidence's key: a field, or a field of an item."""
    return np.int64(field << 40 | (leaf + 1) << 24) + np.asarray(items, dtype=np.int64)


def overlaps(one: LeafColumn, other: LeafColumn) -> Floats:
    """What `iou` says of the boxes of records that go together."""
    a, b = one.boxes.T, other.boxes.T
    width = np.minimum(a[2], b[2]) - np.maximum(a[0], b[0])
    height = np.minimum(a[3], b[3]) - np.maximum(a[1], b[1])
    shared = np.where((width > 0) & (height > 0), width * height, 0.0)
    area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    meet = (shared > 0) & (area - shared > 0)
    paged = ~np.isnan(one.pages) & ~np.isnan(other.pages)
    if paged.any():
        meet &= ~paged | (one.pages == other.pages)
    with np.errstate(all="ignore"):
        return np.where(meet, shared / (area - shared), 0.0)


class Sheet:
    """Columns of a batch; the counterpart of `Book`."""

    def __init__(self, layout: Layout, documents: int) -> None:
        self.layout = layout
        self.size = documents
        self.all_fields = tuple(layout.plan.walk())
        self._tally = np.zeros(documents * len(self.all_fields) * OUTCOMES, dtype=np.int64)
        self._sums = np.zeros(documents * len(self.all_fields))
        self._scored = np.zeros(documents * len(self.all_fields), dtype=np.int64)
        self.total, self.with_box, self.rated, self.seen = (np.zeros(documents, dtype=np.int64) for _ in range(4))
        self._boxes: list[tuple[Any, ...]] = []
        self._ratings: list[tuple[Any, ...]] = []
        self._keys: dict[int, int] = {}

    def count(self, code: int, documents: Array, outcomes: Array | int, times: Array | None = None) -> None:
        """Add outcomes to a field's counts."""
        at = (documents.astype(np.int64) * len(self.all_fields) + code) * OUTCOMES + outcomes
        np.add.at(self._tally, at, 1 if times is None else times)

    def score(self, code: int, documents: Array, applied: Floats) -> None:
        """Add scores to a field's sum, one after the other."""
        np.add.at(self._sums, documents * len(self.all_fields) + code, applied)
        self.scored(code, documents)

    def scored(self, code: int, documents: Array) -> None:
        """Count occurrences that have no score."""
        np.add.at(self._scored, documents * len(self.all_fields) + code, 1)

    def several(self, documents: Array, *, rated: bool, times: Array | None = None) -> None:
        """Occurrences without box and confidence."""
        counted = np.bincount(documents, times, self.size).astype(np.int64)
        self.total += counted
        if rated:
            self.rated += counted

    def rate(self, documents: Array, places: Ints, keys: Ints, match: Flags, confidences: Floats) -> None:
        """The confidences of occurrences, where there is one."""
        there = ~np.isnan(confidences)
        if there.any():
            places, documents, keys, match, confidences = _where(
                there, (places, documents, np.broadcast_to(keys, documents.shape), match, confidences)
            )
            self._ratings.append((places, documents, self._codes(keys), match, confidences))

    def _codes(self, keys: Ints) -> Codes:
        """Small numbers for keys of one field, at least one: of all that occur, in the order in which they do."""
        items = keys & ITEMS
        present = np.flatnonzero(np.bincount(items))
        codes = np.zeros(present[-1] + 1, dtype=np.int32)
        field = int(keys[0]) & ~ITEMS
        codes[present] = [self._keys.setdefault(field + item, len(self._keys)) for item in present.tolist()]
        return np.asarray(codes[items])

    def box(
        self,
        code: int,
        documents: Array,
        places: Ints,
        truth: Flags,
        found: Flags,
        iou: Floats,
        confidences: Floats,
        match: Flags,
    ) -> None:
        """The boxes of occurrences, where there is one on either side."""
        self.seen += np.bincount(documents[truth], minlength=self.size) + np.bincount(documents[found], minlength=self.size)
        there = truth | found
        if there.any():
            label = np.full(len(documents), code, dtype=np.int32)
            columns = (places, documents, label, truth, found, iou, confidences, match & truth & found)
            self._boxes.append(_where(there, columns))

    # The ledger

    def ledger(
        self,
        units: tuple[UnitId, ...],
        about: dict[str, Any],
        wrong: Table,
        name: Callable[[int], str],
        rows: Callable[[Table], Table],
    ) -> Ledger:
        """Everything written, for documents in canonical order; ``name`` spells the keys of confidences.

        ``rows`` gives the outcome list the columns of an empty one.
        """
        book = Book(self.layout.plan, outcomes=False)
        book.outside, book.names_outside = about["outside"], about["names_outside"]
        book.labels = {each.label: code for code, each in enumerate(self.all_fields)}
        boxes = _in_order(self._boxes, len(BOX_COLUMNS))
        ratings = _in_order(self._ratings, len(RATING_COLUMNS))
        book.keys = {name(number): code for number, code in self._keys.items()}
        made = book.ledger(units)
        _, label = alphabetical(book.labels)
        _, key = alphabetical(book.keys)
        tables = {
            **made.tables,
            "wrong": wrong,
            "rows": rows(made.tables["rows"]),
            "documents": self._documents(about),
            "counts": self._counts(),
            "boxes": _typed(BOX_COLUMNS, [boxes[0], label[boxes[1]], *boxes[2:]]),
            "ratings": _typed(RATING_COLUMNS, [ratings[0], key[ratings[1]], *ratings[2:]]),
        }
        return Ledger(units=units, tables=tables, names=made.names, details=made.details)

    def _documents(self, about: dict[str, Any]) -> Table:
        boxes = about["truth_boxes"] + about["found_boxes"]
        every = np.arange(self.size)
        return _typed(DOCUMENT_COLUMNS, [
            every, about["in_truth"], about["in_found"], np.full(self.size, about["named"]), every >= 0, about["score"],
            about["unknown"], self.total, self.with_box, self.rated, about["truth_boxes"], about["found_boxes"],
            about["ignored_boxes"], boxes - self.seen, about["wrong"],
        ])  # fmt: skip

    def _counts(self) -> Table:
        tally = self._tally.reshape(-1, OUTCOMES)
        rows = np.flatnonzero(tally.any(axis=1) | (self._scored > 0))
        unit, code = np.divmod(rows, len(self.all_fields))
        return _typed(COUNT_COLUMNS, [unit, code, *tally[rows].T, self._sums[rows], self._scored[rows]])


def _where(there: Flags, columns: tuple[Array, ...]) -> tuple[Array, ...]:
    """The rows that are there of columns: mostly all."""
    return columns if there.all() else tuple(column[there] for column in columns)


def _in_order(parts: Sequence[tuple[Any, ...]], width: int) -> list[Array]:
    """The columns of all parts, in the order of their places, which are left out."""
    if not parts:
        return [np.zeros(0, dtype=np.int64)] * width
    places, *columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(places, kind="stable")  # parts are in order by themselves, and are only merged
    return [column[order] for column in columns]


def _typed(columns: Sequence[tuple[str, Any]], values: Sequence[Array]) -> Table:
    return Table({name: np.asarray(column).astype(kind) for (name, kind), column in zip(columns, values, strict=True)})


def left_out(truth: SideColumns, found: SideColumns) -> dict[str, Any]:
    """The keys that the schema does not know, as `Book.left_out` has them."""
    names: dict[str, int] = {}
    rows = []
    for document, (mine, theirs) in enumerate(zip(truth.outside, found.outside, strict=True)):
        if mine or theirs:
            first, second = mine or Counter[str](), theirs or Counter[str]()
            rows += [
                (document, names.setdefault(name, len(names)), max(first[name], second[name])) for name in {**first, **second}
            ]
    return {"outside": rows, "names_outside": names}
