"""The values of a batch that are not right, in the order in which `accounting.wrong` lists them."""

from __future__ import annotations

from typing import Any

import numpy as np

from calque.core.columns import Array, Flags, Ints
from calque.fields.accounting.wrong import Wrong, wrong_value
from calque.fields.columns.accounting import Leaves, Lists, leftover
from calque.fields.columns.reading import LeafColumn
from calque.fields.columns.sheet import ONLY_FOUND, ONLY_TRUTH, PAIRS, place
from calque.fields.comparison.cells import ABSENT, Cell
from calque.fields.comparison.records import Outcome
from calque.fields.schemas.plan import FieldPlan

WORDS = tuple(Outcome)


class WrongValues:
    """Grows field by field; documents whose rows need more than columns hold are named."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, Wrong]] = []
        self.beyond: set[int] = set()
        """Documents with a pair of items that is wrong as a whole, and in no value."""

    def leaf(self, field: int, leaf: Leaves, values: tuple[list[Any], list[Any]]) -> None:
        """A value at the root."""
        plan, judged, truth, found = leaf
        documents = np.flatnonzero(~judged.right)
        cells = _cells(truth, documents, values[0]), _cells(found, documents, values[1])
        listed = zip(place(documents, field).tolist(), documents.tolist(), judged.outcome[documents].tolist(), *cells, strict=True)
        for at, document, outcome, one, other in listed:
            self._rows.append((at, document, wrong_value(plan, WORDS[outcome], plan.key, plan.key, one, other)))

    def items(self, field: int, listed: Lists, values: list[tuple[list[Any], list[Any]]]) -> None:
        """A list of objects."""
        plan, pairs, truth, found = listed
        fine: Flags = np.ones(len(pairs.documents), dtype=np.bool_)
        for number, (judged, a, b) in enumerate(zip(pairs.leaves, truth.leaves, found.leaves, strict=True)):
            fine &= judged.right
            rows = np.flatnonzero(~judged.right)
            documents, one, other = pairs.documents[rows], pairs.truth[rows], pairs.found[rows]
            index, partner = one - truth.offsets[documents], other - found.offsets[documents]
            cells = _cells(a, one, values[number][0]), _cells(b, other, values[number][1])
            outcomes = judged.outcome[rows].tolist()
            before, after = f"{plan.key}[", f"].{judged.plan.key}"
            for at, document, i, j, outcome, first, second in zip(
                place(documents, field, PAIRS, index, number).tolist(), documents.tolist(), index.tolist(), partner.tolist(),
                outcomes, *cells, strict=True,
            ):  # fmt: skip
                paths = f"{before}{i}{after}", f"{before}{j}{after}"
                self._rows.append((at, document, wrong_value(judged.plan, WORDS[outcome], *paths, first, second)))
            self._alone(field, plan, judged.plan, number, a, values[number][0], leftover(truth, pairs.truth), missed=True)
            self._alone(field, plan, judged.plan, number, b, values[number][1], leftover(found, pairs.found), missed=False)
        self.beyond.update(pairs.documents[fine & ~pairs.matched].tolist())

    def _alone(
        self,
        field: int,
        plan: FieldPlan,
        leaf: FieldPlan,
        number: int,
        column: LeafColumn,
        values: list[Any],
        left: tuple[Ints, Ints, Ints],
        *,
        missed: bool,
    ) -> None:
        """The values of items without partner."""
        owners, items, positions = left
        there = column.codes[items] >= 0
        documents, items, positions = owners[there], items[there], positions[there]
        places = place(documents, field, ONLY_TRUTH if missed else ONLY_FOUND, positions, number)
        cells = _cells(column, items, values)
        for at, document, i, cell in zip(places.tolist(), documents.tolist(), positions.tolist(), cells, strict=True):
            path = f"{plan.key}[{i}].{leaf.key}"
            row = (
                wrong_value(leaf, Outcome.FN, path, "", cell, ABSENT)
                if missed
                else wrong_value(leaf, Outcome.FA, "", path, ABSENT, cell)
            )
            self._rows.append((at, document, row))

    def listed(self) -> list[tuple[int, Wrong]]:
        """Each with its document, in order."""
        return [(document, row) for _, document, row in sorted(self._rows, key=lambda each: each[0])]


def _cells(column: LeafColumn, rows: Array, values: list[Any]) -> list[Cell]:
    return [ABSENT if code < 0 else Cell(values[code]) for code in column.codes[rows].tolist()]
