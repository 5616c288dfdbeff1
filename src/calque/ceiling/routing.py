"""Routing: one system for each cell, chosen for the highest F1 of all, and what such a choice is worth on other documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from calque.base.columns import Array, Flags, Ints
from calque.corpus.boxes import UnitId
from calque.words.holdout import second_halves

AT_ONCE = 1 << 12
"""So many rows are added up at a time, for all splits."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What is right, what is found, and how much there is."""

    right: int
    found: int
    truths: int

    def f1(self) -> Fraction | None:
        """The exact F1; nothing where there is nothing."""
        whole = self.truths + self.found
        return Fraction(2 * self.right, whole) if whole else None


@dataclass(frozen=True, slots=True)
class Goal:
    """What a choice is made for: F1, or recall alone where nothing counts as found in vain."""

    recall_only: bool = False

    def value(self, totals: Totals) -> float | None:
        """The number that a choice is judged by."""
        if self.recall_only:
            return totals.right / totals.truths if totals.truths else None
        exact = totals.f1()
        return None if exact is None else float(exact)

    def best(self, right: Sequence[int], found: Sequence[int], truths: int) -> int:
        """The best system by itself: by the goal, then by hits, then in the order given."""
        return self.ranking(right, found, truths)[0]

    def ranking(self, right: Sequence[int], found: Sequence[int], truths: int) -> list[int]:
        """The systems, the best first."""

        def key(system: int) -> tuple[Fraction, int, int]:
            totals = Totals(int(right[system]), 0 if self.recall_only else int(found[system]), truths)
            exact = totals.f1()
            return (Fraction(-1) if exact is None else exact), int(right[system]), -system

        return sorted(range(len(right)), key=key, reverse=True)

    def choice(self, right: Ints, found: Ints, truths: int, best: int) -> Ints:
        """For each cell (a row) the system (a column) with which all cells together do best; ties: the best, then in order.

        Every cell takes the system with the largest 2·right − λ·found, λ becomes the F1 of that, until it stands; in
        whole numbers, so that nothing is rounded.
        """
        order = np.array([best, *(system for system in range(right.shape[1]) if system != best)])
        above, below = 0, 1
        rows = np.arange(len(right))
        while True:
            gain = 2 * right[:, order] * below - (0 if self.recall_only else found[:, order] * above)
            chosen: Ints = order[np.argmax(gain, axis=1)] if len(right) else np.zeros(0, np.int64)
            reached = Totals(int(right[rows, chosen].sum()), int(found[rows, chosen].sum()), truths)
            new_above, new_below = 2 * reached.right, reached.truths + reached.found
            if self.recall_only or not new_below or new_above * below == above * new_below:
                return chosen
            above, below = new_above, new_below


class Halves:
    """Documents dealt into two halves, many times, by a hash of their names alone."""

    def __init__(self, units: Sequence[UnitId], documents: Ints, splits: int, seed: int) -> None:
        self.documents = documents
        self.first: Flags = np.zeros((splits, len(units)), np.bool_)
        self.first[:, documents] = second_halves([units[row] for row in documents.tolist()], seed, splits) == 0
        self.first.flags.writeable = False

    def used(self) -> list[Flags]:
        """The splits that leave documents on both sides: for each document whether it is in the first half."""
        counts = self.first[:, self.documents].sum(axis=1)
        return [row for row, count in zip(self.first, counts.tolist(), strict=True) if 0 < count < len(self.documents)]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What systems have in cells, document by document: a row has both, truths, and two numbers for each system."""

    document: Array
    cell: Array
    size: int
    """How many cells there are."""
    truths: Array
    right: Ints
    found: Ints

    def sums(self) -> tuple[Ints, Ints]:
        """What is right and found of all documents, by cell and system."""
        right, found = (
            np.stack([np.bincount(self.cell, column, self.size) for column in values.T], axis=1).astype(np.int64)
            for values in (self.right, self.found)
        )
        return right, found

    def halves(self, first: Flags) -> tuple[Ints, Ints, Ints]:
        """The same of the first half of each split, by split, cell and system; and how many truths are there."""
        systems = self.right.shape[1]
        columns = np.column_stack([self.right, self.found, self.truths]).astype(np.float64)
        sums = np.zeros((len(first), self.size, columns.shape[1]))
        order = np.argsort(self.cell, kind="stable")
        ends = np.cumsum(np.bincount(self.cell, minlength=self.size)).tolist()
        for cell, (start, end) in enumerate(pairwise([0, *ends])):
            for at in range(start, end, AT_ONCE):
                rows = order[at : min(at + AT_ONCE, end)]
                sums[:, cell] += first[:, self.document[rows]] @ columns[rows]  # whole numbers far below 2**53: exact
        whole = sums.astype(np.int64)
        return whole[:, :, :systems], whole[:, :, systems:-1], whole[:, :, -1].sum(axis=1)


def held_out(table: Table, halves: Halves, goal: Goal, *, single: bool = False) -> float | None:
    """The mean over splits of what a choice made on one half is worth on the other, both ways; nothing without a split.

    With ``single`` one system is chosen for all cells.
    """
    values = []
    splits = halves.used()
    if not splits:
        return None
    all_right, all_found = table.sums()
    all_truths = int(table.truths.sum())
    for half_right, half_found, half_truths in zip(*table.halves(np.stack(splits)), strict=True):
        first = half_right, half_found, int(half_truths)
        parts = [first, (all_right - first[0], all_found - first[1], all_truths - first[2])]
        right = found = 0
        for (own_right, own_found, truths), (other_right, other_found, _) in (parts, parts[::-1]):
            best = goal.best(own_right.sum(axis=0).tolist(), own_found.sum(axis=0).tolist(), truths)
            chosen = np.full(table.size, best) if single else goal.choice(own_right, own_found, truths, best)
            rows = np.arange(table.size)
            right += int(other_right[rows, chosen].sum())
            found += int(other_found[rows, chosen].sum())
        value = goal.value(Totals(right, found, all_truths))
        if value is not None:
            values.append(value)
    return math.fsum(values) / len(values) if values else None
