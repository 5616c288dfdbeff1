"""Metrics of weighted documents: what a task declares so that bootstrap replicates do not measure everything again.

A task adds up integers per document (`DocumentTallies`) and computes metrics from the weighted sums (`TalliedMetrics`), or it
implements `WeightedMetrics` itself, as rankings do. `calque.statistics.bootstrap` draws the weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints
from calque.evaluation.measures import fraction_parts, joined_fractions

Replicates: TypeAlias = dict[str, Floats]
"""The values of each metric in all replicates, by its name; NaN where a metric has no value."""


MOST_EMPTY = 8
"""Up to how many cells per row a table of all cells is cheaper than sorting the rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """The documents that count in the denominator of a metric."""

    documents: Flags
    classes: Mapping[str, Flags] = field(default_factory=dict)
    """The documents of each class, for a mean over classes."""

    @classmethod
    def over(cls, classes: Mapping[str, Flags], size: int) -> Support:
        """Return the support of a mean over classes: the documents of any class."""
        return cls(np.any([np.zeros(size, np.bool_), *classes.values()], axis=0), classes)


class WeightedMetrics(ABC):
    """Some metrics of a ledger, for any weights of its documents."""

    @abstractmethod
    def measures(self) -> Mapping[str, Support]:
        """Return the support of each metric by its name."""

    @abstractmethod
    def replicates(self, weights: Codes, names: Collection[str], jobs: int = 1) -> Replicates:
        """Return at least these metrics, for weights with one row per document and one column per replicate."""


class DocumentTallies:
    """Integer tallies of each document. Sums of weighted integers are exact and do not depend on the order."""

    def __init__(self) -> None:
        self._blocks: dict[str, slice] = {}
        self._scales: dict[str, float] = {}
        self._size = 0
        self._unit: list[Array] = []
        self._column: list[Array] = []
        self._value: list[Array] = []

    def count(self, name: str, unit: Array, group: Array, size: int, values: Array | None = None) -> None:
        """Add a tally per group: the number of rows, or the sum of their integer values."""
        cells, places = _cells(unit, group, size)
        added = np.ones(len(unit), np.int64) if values is None else values.astype(np.int64)
        sums = np.zeros(len(cells), np.int64)
        np.add.at(sums, places, added)
        self._add(name, cells, sums, size)

    def fractions(self, name: str, values: Floats, unit: Array, group: Array, size: int, scale: float = 1.0) -> None:
        """Add a tally per group: the sum of fractional values. ``scale``, a power of two, brings them to [0, 1]."""
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
        """Return the weighted sums of each tally: one row per group and one column per replicate."""
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
    """Return the pairs of document and group that occur, as one integer each, and the index of each row's pair."""
    named = unit.astype(np.int64) * max(size, 1) + group
    if not len(named) or named.max() > MOST_EMPTY * len(named):
        cells, places = np.unique(named, return_inverse=True)
        return cells, places.reshape(-1)
    there = np.bincount(named) > 0  # without sorting
    return np.flatnonzero(there), (np.cumsum(there) - 1)[named]


class TalliedMetrics(WeightedMetrics):
    """Metrics that follow from sums over documents. One product of weights and tallies serves all of them."""

    def __init__(
        self, tallies: DocumentTallies, support: Mapping[str, Support], compute: Callable[[Mapping[str, Array]], Replicates]
    ) -> None:
        self._tallies = tallies
        self._support = support
        self._compute = compute

    def measures(self) -> Mapping[str, Support]:
        """Return the support of each metric by its name."""
        return self._support

    def replicates(self, weights: Codes, names: Collection[str], jobs: int = 1) -> Replicates:  # noqa: ARG002  # one product
        """Return all metrics, because the other ones cost next to nothing."""
        return self._compute(self._tallies.sums(weights))


def share(above: Array, below: Array) -> Floats:
    """Return the quotient; NaN where it is undefined.

    >>> share(np.array([1, 1]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    return np.asarray(np.divide(above, below, out=np.full(shape, np.nan), where=np.asarray(below) != 0))


def mean_over_rows(values: Floats, weights: Array) -> Floats:
    """Return for each column the weighted mean of the rows that have a value; NaN if none has a value or a weight."""
    kept = ~np.isnan(values)
    weight = np.where(kept, weights, 0.0)
    return share((np.where(kept, values, 0.0) * weight).sum(axis=0), weight.sum(axis=0))


def tied_rows(columns: Sequence[Array]) -> Bytes:
    """Return for each row whether it has the same values as the row before it."""
    tied = np.zeros(len(columns[0]), np.uint8)
    tied[1:] = np.all([column[1:] == column[:-1] for column in columns], axis=0)
    return tied
