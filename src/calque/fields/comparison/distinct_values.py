"""Long lists by distinct values: what occurs often is compared once, and looked up from then on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from calque.base.columns import Codes, Flags, Floats, Ints
from calque.fields.comparison.cells import Cell
from calque.fields.comparison.item_similarities import ItemSide, mean_similarities
from calque.fields.schemas.plan import FieldPlan, RecordPlan

MOST_KNOWN = 9_000_000
"""So many similarities of distinct values (3,000 × 3,000) are held for all fields of a list together."""


class DistinctValues:
    """One field of two long lists: for each item the number of its value, and how alike values are."""

    def __init__(self, plan: FieldPlan, truths: Sequence[Cell], founds: Sequence[Cell]) -> None:
        (self._truth, values), (self._found, others) = _numbered(truths), _numbered(founds)
        self._sizes = len(values), len(others)
        self._score = plan.comparator.by_pairs(*map(plan.comparator.prepare_all, (values, others)))
        self._known: Floats | None = None
        self._rows_known: Flags = np.zeros(len(values), dtype=np.bool_)

    @property
    def pairs(self) -> int:
        """How many pairs of distinct values there are."""
        return self._sizes[0] * self._sizes[1]

    @property
    def is_held(self) -> bool:
        """Whether similarities are kept once they are computed."""
        return self._known is not None

    def hold(self) -> None:
        """Keep every similarity that is computed from now on."""
        self._known = np.zeros(self._sizes)

    def scores(self, rows: Ints, columns: Ints) -> tuple[Floats, Flags | None]:
        """The similarities of some truths with some found items, 0 where one lacks the field; and where either has it."""
        truth, found = self._truth[rows], self._found[columns]
        if truth.min(initial=0) >= 0 and found.min(initial=0) >= 0:
            return self._alike(truth, found), None
        has_truth, has_found = truth >= 0, found >= 0
        made = np.zeros((len(rows), len(columns)))
        made[np.ix_(has_truth, has_found)] = self._alike(truth[has_truth], found[has_found])
        return made, has_truth[:, None] | has_found[None, :]

    def _alike(self, truth: Codes, found: Codes) -> Floats:
        every = np.arange(self._sizes[1], dtype=np.int32)
        if self._known is None:
            return self._matrix(truth, every)[:, found] if len(every) <= len(found) else self._matrix(truth, found)
        new = np.flatnonzero((np.bincount(truth, minlength=self._sizes[0]) > 0) & ~self._rows_known).astype(np.int32)
        if len(new):
            self._known[new] = self._matrix(new, every)
            self._rows_known[new] = True
        return self._known[truth[:, None], found]

    def _matrix(self, truth: Codes, found: Codes) -> Floats:
        return self._score(np.repeat(truth, len(found)), np.tile(found, len(truth))).reshape(len(truth), len(found))


def _numbered(cells: Sequence[Cell]) -> tuple[Codes, list[Any]]:
    """For each cell the number of its value (-1 where there is none), and the values by number."""
    numbers: dict[Any, int] = {}
    values: list[Any] = []
    codes = np.full(len(cells), -1, dtype=np.int32)
    for place, cell in enumerate(cells):
        value = cell.value
        if value is not None:
            # 1, 1.0, True and -0.0 are equal or nearly so for Python, and not for every comparator.
            key = value if type(value) is str else (type(value), repr(value))
            codes[place] = number = numbers.setdefault(key, len(numbers))
            if number == len(values):
                values.append(value)
    return codes, values


def distinct_fields(record: RecordPlan, truths: ItemSide, founds: ItemSide) -> list[tuple[FieldPlan, DistinctValues]] | None:
    """The fields of items whose values are all plain; nothing where some are objects, lists or of another type."""
    fields = []
    for index, plan in enumerate(record.fields):
        if plan.ignored:
            continue
        sides = truths.column(index), founds.column(index)
        if not plan.is_leaf or not all(side.is_plain for side in sides):
            return None
        fields.append((plan, DistinctValues(plan, sides[0].cells, sides[1].cells)))
    hold_what_fits([values for _, values in fields])
    return fields


def hold_what_fits(fields: Sequence[DistinctValues]) -> None:
    """Let fields keep their similarities, those with few distinct values first, as long as there is room."""
    room = MOST_KNOWN
    for values in sorted(fields, key=lambda each: each.pairs):
        room -= values.pairs
        if room >= 0:
            values.hold()


def item_scores(fields: Sequence[tuple[FieldPlan, DistinctValues]]) -> Callable[[Ints, Ints], Floats]:
    """What gives the similarities of some items with others."""

    def scores(rows: Ints, columns: Ints) -> Floats:
        made = ((plan.weight, *values.scores(rows, columns)) for plan, values in fields)
        return mean_similarities(made, (len(rows), len(columns)))

    return scores
