"""Documents drawn again: how often each occurs in a replicate, and how numbers are made of weighted documents.

A task declares which numbers it can make of whole numbers added up by weight. What it has not declared is had by definition:
each document occurs as often as its weight says, and all is measured again.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints, Table
from calque.corpus.boxes import UnitId
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import fraction_parts, joined_fractions

POISSON_THRESHOLDS = (
    6786177901268885274, 13572355802537770549, 16965444753172213186, 18096474403383694065, 18379231815936564285,
    18435783298447138329, 18445208545532234003, 18446555009401533385, 18446723317385195808, 18446742018272269410,
    18446743888360976771, 18446744058369041076, 18446744072536379768, 18446744073626175052, 18446744073704017573,
    18446744073709207074, 18446744073709531418, 18446744073709550497, 18446744073709551557, 18446744073709551613,
)  # fmt: skip
"""Where a random number of 64 bits means one occurrence more: the distribution of Poisson(1), times 2**64."""

MOST_SEED = 2**64 - 1
PHILOX_BLOCK = 4
"""How many numbers Philox makes for each value of its counter."""


def document_key(unit: UnitId) -> int:
    """The number that stands for a document, the same in every corpus, shard and process.

    >>> document_key(1) == document_key("1")
    False
    """
    text = f"s:{unit}" if isinstance(unit, str) else f"i:{unit}"
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def document_keys(units: Sequence[UnitId]) -> Ints:
    """The numbers that stand for some documents, written as signed ones."""
    return np.array([document_key(unit) for unit in units], dtype=np.uint64).view(np.int64)


def poisson_weights(keys: Ints, replicates: int, seed: int = 0, *, first: int = 0) -> Codes:
    """Return the weight of each document (a row) in each replicate (a column), beginning with replicate ``first``.

    Each document has its own random stream: NumPy's Philox with the seed and the document's key. Replicate ``r`` uses the
    ``r``-th number of the stream; the weight is the number of thresholds that this number reaches.

    >>> poisson_weights(document_keys(["d01", 1]), 6, seed=0).tolist()
    [[1, 1, 1, 2, 1, 2], [0, 2, 3, 2, 1, 1]]
    """
    if not 0 <= seed <= MOST_SEED:
        raise ValueError(f"the seed must be a whole number from 0 to {MOST_SEED}, not {seed}")
    thresholds = np.array(POISSON_THRESHOLDS, dtype=np.uint64)
    weights = np.empty((len(keys), replicates), dtype=np.int32)
    counter, skipped = divmod(first, PHILOX_BLOCK)
    stream = np.random.Philox(key=np.array([seed, 0], dtype=np.uint64))
    state: Any = stream.advance(counter).state
    # One stream that changes its key: building a stream for each document takes five times as long.
    for row, key in enumerate(keys.view(np.uint64)):
        state["state"]["key"][1] = key
        stream.state = state
        drawn = stream.random_raw(skipped + replicates)[skipped:]
        weights[row] = thresholds.searchsorted(drawn, side="right")
    return weights


Replicates: TypeAlias = dict[str, Floats]
"""By the name of a measure its value in each replicate; NaN where it has none."""


MOST_EMPTY = 8
"""How many places there may be for each row, for a table of them to be cheaper than sorting the rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """The documents that a measure is about: those that count in its denominator."""

    documents: Flags
    classes: Mapping[str, Flags] = field(default_factory=dict)
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

    def sums(self, weights: Codes) -> dict[str, Array]:
        """For each name a row for each group and a column for each replicate."""
        unit, column, value = (
            np.concatenate([np.zeros(0, np.int64), *part]) for part in (self._unit, self._column, self._value)
        )
        totals = weighted_sums(unit, column, value, self._size, weights)
        found: dict[str, Array] = {name: totals[block] for name, block in self._blocks.items()}
        for name, scale in self._scales.items():
            found[name] = joined_fractions(np.stack([found.pop(f"{name}:0"), found.pop(f"{name}:1")])) / scale
        return found


MOST_EXACT = 2.0**52
"""Float64 holds sums of whole numbers up to twice this one exactly."""

TABLE_CELLS = 1 << 20
"""How many cells of documents by columns are multiplied at once."""


def weighted_sums(units: Ints, columns: Ints, values: Ints, size: int, weights: Codes) -> Ints:
    """Return the exact sum of ``values`` for each column and replicate, each value times the weight of its document.

    >>> table = np.array([[1, 2], [0, 3]], np.int32)
    >>> weighted_sums(np.array([0, 1]), np.array([0, 0]), np.array([10, 1]), 1, table).tolist()
    [[10, 23]]
    """
    sums = np.zeros((size, weights.shape[1]), dtype=np.int64)
    order = np.argsort(units, kind="stable")
    units, columns, values = units[order], columns[order], values[order]
    documents = max(1, TABLE_CELLS // max(size, 1))
    for first in range(0, len(weights), documents):
        rows = slice(*np.searchsorted(units, (first, first + documents)).tolist())
        table = np.zeros((size, min(documents, len(weights) - first)), dtype=np.int64)
        np.add.at(table, (columns[rows], units[rows] - first), values[rows])
        some = weights[first : first + documents]
        largest = float(np.abs(table.astype(np.float64)).sum(axis=1).max(initial=0)) * float(some.max(initial=0))
        # Float64 is exact here, and much faster: NumPy multiplies tables of integers without BLAS.
        exact = np.float64 if largest <= MOST_EXACT else np.int64
        sums += (table.astype(exact) @ some.astype(exact)).astype(np.int64)
    return sums


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
        return self._numbers(self._sheet.sums(weights))


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
