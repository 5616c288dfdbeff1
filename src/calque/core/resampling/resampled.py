"""Numbers that can be had for weighted documents: what a task declares, and how whole numbers are added up by weight.

What a task has not declared is had by definition: each document occurs as often as its weight says, and all is measured again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from calque.core.columns import Array, Bytes, Codes, Flags, Floats, Ints, Table
from calque.core.ledger import UNIT, Ledger
from calque.core.measures import fraction_parts, joined_fractions
from calque.core.start_up import Frozen
from calque.kernels import kernels

Replicates: TypeAlias = dict[str, Floats]
"""By the name of a measure its value in each replicate; NaN where it has none."""


MOST_EMPTY = 8
"""How many places there may be for each row, for a table of them to be cheaper than sorting the rows."""


class Counted(Frozen, eq=False):
    """The documents that a measure is about: those that count in its denominator."""

    documents: Flags
    classes: Mapping[str, Flags] = {}
    """Of a mean over classes: the documents of each class."""

    @classmethod
    def over(cls, classes: Mapping[str, Flags], size: int) -> Counted:
        """The documents of a mean over classes: those of any of them."""
        return cls(np.any([np.zeros(size, np.bool_), *classes.values()], axis=0), classes)


class Resampled(ABC):
    """Some numbers of a ledger, for any weights of its documents."""

    @abstractmethod
    def measures(self) -> Mapping[str, Counted]:
        """The names of the numbers, and the documents that each is about."""

    @abstractmethod
    def replicates(self, weights: Codes, names: Collection[str], jobs: int = 1) -> Replicates:
        """At least the numbers of these names, for weights by document (a row) and replicate (a column)."""


class Sheet:
    """What each document adds, as whole numbers: so that the sums of weighted documents are exact, in any order."""

    def __init__(self) -> None:
        self._blocks: dict[str, slice] = {}
        self._scales: dict[str, float] = {}
        self._size = 0
        self._unit: list[Array] = []
        self._column: list[Array] = []
        self._value: list[Array] = []

    def count(self, name: str, unit: Array, group: Array, size: int, values: Array | None = None) -> None:
        """For each group the number of rows, or the sum of whole numbers that stand in them."""
        cells, places = _cells(unit, group, size)
        added = np.ones(len(unit), np.int64) if values is None else values.astype(np.int64)
        sums = np.zeros(len(cells), np.int64)
        np.add.at(sums, places, added)
        self._add(name, cells, sums, size)

    def fractions(self, name: str, values: Floats, unit: Array, group: Array, size: int, scale: float = 1.0) -> None:
        """For each group the sum of numbers; ``scale``, a power of two, brings them to [0, 1]."""
        cells, places = _cells(unit, group, size)
        parts = fraction_parts(values, places, len(cells), scale)
        self._add(f"{name}:0", cells, parts[0], size)
        self._add(f"{name}:1", cells, parts[1], size)
        self._scales[name] = scale

    def _add(self, name: str, cells: Ints, sums: Ints, size: int) -> None:
        kept = sums != 0
        self._unit.append(cells[kept] // max(size, 1))
        self._column.append(cells[kept] % max(size, 1) + self._size)
        self._value.append(sums[kept])
        self._blocks[name] = slice(self._size, self._size + size)
        self._size += size

    def sums(self, weights: Codes, jobs: int = 1) -> dict[str, Array]:
        """For each name a row for each group and a column for each replicate."""
        unit, column = (np.concatenate([np.zeros(0, np.int64), *part]).astype(np.int32) for part in (self._unit, self._column))
        value = np.concatenate([np.zeros(0, np.int64), *self._value])
        totals = kernels().weighted_sums(unit, column, value, self._size, weights, jobs)
        found: dict[str, Array] = {name: totals[block] for name, block in self._blocks.items()}
        for name, scale in self._scales.items():
            found[name] = joined_fractions(np.stack([found.pop(f"{name}:0"), found.pop(f"{name}:1")])) / scale
        return found


def _cells(unit: Array, group: Array, size: int) -> tuple[Ints, Ints]:
    """The pairs of document and group that occur, as one number each, and for each row which of them it is."""
    named = unit.astype(np.int64) * max(size, 1) + group
    if not len(named) or named.max() > MOST_EMPTY * len(named):
        cells, places = np.unique(named, return_inverse=True)
        return cells, places.reshape(-1)
    there = np.bincount(named) > 0  # without sorting
    return np.flatnonzero(there), (np.cumsum(there) - 1)[named]


class Tallies(Resampled):
    """Numbers that are made of sums over documents: one product of weights and tallies serves all of them."""

    def __init__(
        self, sheet: Sheet, counted: Mapping[str, Counted], numbers: Callable[[Mapping[str, Array]], Replicates]
    ) -> None:
        self._sheet = sheet
        self._counted = counted
        self._numbers = numbers

    def measures(self) -> Mapping[str, Counted]:
        """The names of the numbers, and the documents that each is about."""
        return self._counted

    def replicates(self, weights: Codes, names: Collection[str], jobs: int = 1) -> Replicates:  # noqa: ARG002  # one product
        """All numbers: what is not asked for costs next to nothing."""
        return self._numbers(self._sheet.sums(weights, jobs))


def share(above: Array, below: Array) -> Floats:
    """The quotient, NaN where it is undefined.

    >>> share(np.array([1, 1]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    return np.asarray(np.divide(above, below, out=np.full(shape, np.nan), where=np.asarray(below) != 0))


def mean_over_rows(values: Floats, weights: Array) -> Floats:
    """For each column the weighted mean of the rows that have a value; NaN where none has, or nothing weighs."""
    kept = ~np.isnan(values)
    weight = np.where(kept, weights, 0.0)
    return share((np.where(kept, values, 0.0) * weight).sum(axis=0), weight.sum(axis=0))


def tied_rows(columns: Sequence[Array]) -> Bytes:
    """For each row whether it has the same values as the one before it."""
    tied = np.zeros(len(columns[0]), np.uint8)
    tied[1:] = np.all([column[1:] == column[:-1] for column in columns], axis=0)
    return tied


def repeated(ledger: Ledger, weights: Array) -> Ledger:
    """The ledger in which document i occurs ``weights[i]`` times, its copies behind each other and numbered anew."""
    documents = np.repeat(np.arange(len(ledger.units)), weights)
    tables = {}
    for name in ledger.tables:
        offsets = ledger.offsets(name)
        count = (offsets[1:] - offsets[:-1])[documents]
        begin = np.cumsum(count) - count
        rows = np.repeat(offsets[:-1][documents] - begin, count) + np.arange(count.sum())
        unit = np.repeat(np.arange(len(documents), dtype=np.int32), count)
        tables[name] = Table({**ledger.tables[name].take(rows).columns, UNIT: unit})
    return Ledger(units=tuple(range(len(documents))), tables=tables, names=ledger.names, details=ledger.details)


class Repeated(Resampled):
    """Numbers that a task has declared no quicker way to: right for any measure, at the cost of measuring every replicate."""

    def __init__(self, ledger: Ledger, names: Collection[str], values: Callable[[Ledger], Mapping[str, float | None]]) -> None:
        self._ledger = ledger
        self._names = tuple(names)
        self._values = values

    def measures(self) -> Mapping[str, Counted]:
        """The names of the numbers; nobody has said which documents they are about, so all are."""
        everything = Counted(np.ones(len(self._ledger.units), np.bool_))
        return dict.fromkeys(self._names, everything)

    def replicates(self, weights: Codes, names: Collection[str], jobs: int = 1) -> Replicates:  # noqa: ARG002  # one by one
        """The numbers of each replicate's own ledger."""
        found = {name: np.full(weights.shape[1], np.nan) for name in self._names if name in names}
        for replicate in range(weights.shape[1]):
            values = self._values(repeated(self._ledger, weights[:, replicate]))
            for name, column in found.items():
                value = values.get(name)
                column[replicate] = math.nan if value is None else value
        return found
