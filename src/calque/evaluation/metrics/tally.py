"""A tally: the rows of a ledger that add to each count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from calque.base.columns import Array, Ints, Table
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import fraction_parts, joined_fractions
from calque.evaluation.metrics.formulas import Metric


@dataclass(slots=True, eq=False)
class Column:
    """The rows that add to one count."""

    size: int = 1
    """The number of classes."""
    scale: float | None = None
    """A power of two that brings fractions to the range from 0 to 1; ``None`` for whole numbers."""
    exact: bool = False
    """Whether the plain sum of fractions is rounded only once."""
    rows: list[tuple[Array, Array | None, Array | None]] = field(default_factory=list)
    """The documents of the rows, perhaps their classes, and perhaps their values."""

    def by_class(self) -> Ints:
        """Add up the rows of each class; fractions as two whole numbers each."""
        return self._added(self.size, lambda _unit, group: group)

    def by_document(self, documents: int) -> Ints:
        """Add up the rows of each document; fractions as two whole numbers each."""
        return self._added(documents, lambda unit, _group: unit)

    def _added(self, size: int, chosen: Callable[[Array, Array | None], Array | None]) -> Ints:
        total = np.zeros(size if self.scale is None else (2, size), np.int64)
        for unit, group, values in self.rows:
            key = chosen(unit, group)
            if self.scale is not None and values is not None:
                total += fraction_parts(values, np.zeros(len(unit), np.int32) if key is None else key, size, self.scale)
            elif key is None:
                total += len(unit) if values is None else values.sum(dtype=np.int64)
            elif values is None:
                total += np.bincount(key, minlength=size)
            else:
                np.add.at(total, key, values.astype(np.int64))
        return total

    def joined(self, sums: Ints) -> Array:
        """Return sums of fractions as numbers; whole numbers as they are."""
        return sums if self.scale is None else joined_fractions(sums) / self.scale


class Tally:
    """The rows of a ledger that add to each count.

    >>> from calque.base.columns import Table
    >>> rows = Table({"unit": np.array([0, 0, 1]), "label": np.array([0, 1, 1])})
    >>> tally = Tally(Ledger(units=("a", "b"), tables={"rows": rows}, names={"label": ("text", "image")}))
    >>> tally.count("blocks", rows, by="label")
    >>> tally.columns["blocks"].by_class().tolist(), tally.columns["blocks"].by_document(2).tolist()
    ([1, 2], [2, 1])
    """

    def __init__(self, ledger: Ledger) -> None:
        self.documents = len(ledger.units)
        self.names = ledger.names
        self.columns: dict[str, Column] = {}

    def count(
        self,
        name: str,
        table: Table,
        rows: Array | None = None,
        *,
        by: str | Array | None = None,
        size: int = 1,
        values: Array | None = None,
    ) -> None:
        """Add rows of a table to a count.

        Args:
            name: The name of the count. Rows of several tables may add to the same count.
            table: The table.
            rows: The rows that count, as flags or positions; all by default.
            by: The column with the class of each row, or the classes themselves.
            size: The number of classes, if ``by`` is not a column.
            values: The whole number that each row of the table adds; 1 by default.
        """
        size = len(self.names[by]) if isinstance(by, str) else size
        self._add(self.columns.setdefault(name, Column(size)), table, rows, by, values)

    def add(
        self,
        name: str,
        table: Table,
        values: Array,
        rows: Array | None = None,
        *,
        by: str | Array | None = None,
        size: int = 1,
        scale: float = 1.0,
        exact: bool = False,
    ) -> None:
        """Add fractions to a sum; ``scale``, a power of two, brings them to the range from 0 to 1."""
        size = len(self.names[by]) if isinstance(by, str) else size
        self._add(self.columns.setdefault(name, Column(size, scale, exact)), table, rows, by, values)

    @staticmethod
    def _add(column: Column, table: Table, rows: Array | slice | None, by: str | Array | None, values: Array | None) -> None:
        group = table.array(by) if isinstance(by, str) else by
        if rows is None:
            rows = slice(None)
        column.rows.append((
            table.array(UNIT)[rows],
            None if group is None else group[rows],
            None if values is None else values[rows],
        ))  # fmt: skip

    def document_values(self, metric: Metric) -> Array:
        """Return the value of a metric for each document by itself; NaN where it has none."""
        columns = {name: self.columns[name] for name in metric.counts}
        return metric.of({name: column.joined(column.by_document(self.documents)) for name, column in columns.items()})
