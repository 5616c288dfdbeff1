"""The outcome list of a batch while it grows: rows as columns, each text spelt once and known by its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.columns import Array, Bytes, Flags, Floats, Ints, Strings, Table, distinct
from calque.corpus.boxes import UnitId
from calque.corpus.records import RecordCorpus
from calque.evaluation.ledger import UNIT
from calque.fields.accounting.rows import REASONS, page_name, spell, spelled_values
from calque.fields.columns.reading import LeafColumn
from calque.fields.comparison.cells import unwrapped
from calque.fields.comparison.records import Outcome

NO_TEXT = 0
"""The number of the text that is not there."""

SAME, ABOVE, BELOW, MISSED, MADE_UP, ABSENT, _, APART = range(len(REASONS))
"""The reasons by their numbers."""
_REASON_OF = np.array([ABOVE, MADE_UP, BELOW, MISSED, ABSENT], dtype=np.uint8)
"""What `reason_of` says of each outcome; of a value that is right, where it is not quite the same."""


def reasons(outcomes: Bytes, raw: Floats) -> Bytes:
    """What `reason_of` says of leaves."""
    return np.where((outcomes == Outcome.TP) & (raw == 1.0), np.uint8(SAME), _REASON_OF[outcomes])


@dataclass(frozen=True, slots=True, eq=False)
class ShownSide:
    """What one side has in some rows."""

    paths: Array
    """Numbers of texts, as are the values."""
    values: Array
    boxes: Floats
    pages: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What is said of some rows, one by one or of all of them alike."""

    match: Flags | bool
    score: Floats | float
    threshold: float
    reason: Bytes | int
    iou: Floats | float = np.nan
    confidence: Floats | float = np.nan
    counted: bool = True


class OutcomeTable:
    """Grows part by part."""

    def __init__(self) -> None:
        self._texts = [""]
        self._parts: list[tuple[Array, ...]] = []

    def add(self, places: Ints, documents: Array, truth: ShownSide, found: ShownSide, told: Told) -> None:
        """Some rows: where they stand among all, their documents, both sides, and what is said of them."""
        size = len(documents)
        each = (told.match, told.score, told.threshold, told.reason, told.iou, told.confidence, told.counted)
        match, *others = (np.broadcast_to(column, size) for column in each)
        outcome = _outcomes(truth, found, match)
        self._parts.append((
            places, documents, truth.paths, found.paths, truth.values, found.values, outcome, match, *others,
            truth.boxes, found.boxes, truth.pages, found.pages,
        ))  # fmt: skip

    # What rows are made of

    def texts(self, texts: Sequence[str]) -> int:
        """Take texts in; returns the number of the first."""
        first = len(self._texts)
        self._texts += texts
        return first

    def cells(self, paths: Array | int, column: LeafColumn, values: int, rows: Array) -> ShownSide:
        """Some values of a column, whose texts begin at a number."""
        codes = column.codes[rows]
        numbers = np.where(codes >= 0, codes + values, NO_TEXT)
        return ShownSide(np.broadcast_to(paths, len(rows)), numbers, column.boxes[rows], column.pages[rows])

    def whole(self, paths: Array | int, values: Array | int, size: int) -> ShownSide:
        """Items, lists or objects that are shown as a whole, or nothing at all."""
        nowhere = np.broadcast_to(np.nan, (size, 4))
        return ShownSide(np.broadcast_to(paths, size), np.broadcast_to(values, size), nowhere, nowhere[:, 0])

    def values(self, values: Sequence[Any]) -> int:
        """Take the values of leaves in; returns the number of the first."""
        return self.texts(spelled_values(list(values)))

    # The table

    def table(self, empty: Table) -> Table:
        """All rows in order, with the columns that a table without rows has."""
        if not self._parts:
            return empty
        places, *columns = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        order = np.argsort(places, kind="stable")
        texts = Strings.pack(self._texts)
        made = {name: column[order] for name, column in zip(_COLUMNS, columns, strict=True)}
        return Table({
            name: _spelt(name, made[name], texts) if isinstance(column, Strings) else made[name].astype(column.dtype)
            for name, column in empty.items()
        })  # fmt: skip


_COLUMNS = (
    UNIT, "truth_path", "found_path", "truth_value", "found_value", "outcome", "match", "score", "threshold", "reason", "iou",
    "confidence", "counted", "truth_box", "found_box", "truth_page", "found_page",
)  # fmt: skip


def _spelt(name: str, column: Array, texts: Strings) -> Strings:
    return _page_names(column) if name.endswith("_page") else texts.take(column)


def _page_names(pages: Floats) -> Strings:
    """Pages by number; empty where none is known."""
    known = ~np.isnan(pages)
    used, numbers = distinct(pages[known])
    codes = np.zeros(len(pages), dtype=np.int64)
    codes[known] = numbers + 1
    return Strings.pack(["", *map(page_name, used.tolist())]).take(codes)


def _outcomes(truth: ShownSide, found: ShownSide, match: Flags) -> Bytes:
    """What `outcome_of` says of rows."""
    has_truth, has_found = truth.values != NO_TEXT, found.values != NO_TEXT
    boxes_only = ~has_truth & ~has_found & ~match
    has_truth = has_truth | (boxes_only & (truth.paths != NO_TEXT))
    has_found = has_found | (boxes_only & (found.paths != NO_TEXT))
    alone = np.where(has_truth, Outcome.FN, np.where(has_found, Outcome.FA, Outcome.TN))
    return np.where(has_truth & has_found, np.where(match, Outcome.TP, Outcome.FD), alone).astype(np.uint8)


class WholeValues:
    """Items, lists and objects as JSON text: documents are read once more, for the few rows that show one."""

    def __init__(self, corpus: RecordCorpus, units: Sequence[UnitId]) -> None:
        self._corpus, self._units = corpus, units
        self._places = {unit: place for place, unit in enumerate(corpus.documents)}
        self._last: tuple[int, Any] = (-1, None)

    def texts(self, documents: Array, key: str, items: Array | None = None) -> list[str]:
        """For each document what it has under a key, or one item of that list."""
        places = [None] * len(documents) if items is None else items.tolist()
        held = (self._record(document)[key] for document in documents.tolist())
        return [spell(unwrapped(each if place is None else each[place])) for each, place in zip(held, places, strict=True)]

    def _record(self, document: int) -> Any:
        if self._last[0] != document:
            self._last = document, self._corpus.record(self._places[self._units[document]])
        return self._last[1]
