"""Tables that come in parts: each is copied behind those before it and let go of, so that its memory serves for the next."""

from __future__ import annotations

import numpy as np

from calque.base.columns import Array, Column, Strings, Table
from calque.evaluation.ledger import UNIT

MORE = 1.125
"""How much more room a column has than the parts so far let expect; memory that is not written to costs nothing."""

Columns = dict[str, Column]


class GrowingTables:
    """The tables of some whole documents after the other, on their way to tables of them all.

    >>> growing = GrowingTables(3)
    >>> growing.add(1, {"found": {"unit": np.array([0, 0], np.int32), "score": np.array([0.5, 0.25])}})
    >>> growing.add(2, {"found": {"unit": np.array([1], np.int32), "score": np.array([0.75])}})
    >>> growing.tables()["found"]["unit"].tolist(), growing.tables()["found"]["score"].tolist()
    ([0, 0, 2], [0.5, 0.25, 0.75])
    """

    def __init__(self, documents: int) -> None:
        """``documents``: how many there will be."""
        self._documents = documents
        self._seen = 0
        self._heights: dict[str, int] = {}
        self._numbers: dict[str, dict[str, Array]] = {}
        self._texts: dict[str, dict[str, list[Strings]]] = {}

    def add(self, documents: int, tables: dict[str, Columns]) -> None:
        """Take the tables of so many more documents in, which number these from 0 on."""
        share = (self._seen + documents) / max(self._documents, 1)
        for name, columns in tables.items():
            columns[UNIT] = np.asarray(columns[UNIT]) + np.int32(self._seen)
            numbers, texts = self._numbers.setdefault(name, {}), self._texts.setdefault(name, {})
            begin = self._heights.get(name, 0)
            for key, column in columns.items():
                if isinstance(column, Strings):
                    texts.setdefault(key, []).append(column)
                else:
                    numbers[key] = column if share == 1 and not begin else _appended(numbers.get(key), column, begin, share)
            self._heights[name] = begin + len(columns[UNIT])
        self._seen += documents

    def tables(self) -> dict[str, Table]:
        """Everything that was taken in."""
        return {
            name: Table({
                **{key: column[: self._heights[name]] for key, column in numbers.items()},
                **{key: Strings.concat(parts) for key, parts in self._texts[name].items()},
            })
            for name, numbers in self._numbers.items()
        }  # fmt: skip


def _appended(known: Array | None, column: Array, begin: int, share: float) -> Array:
    """A column behind what is there; in an array with room for all that is to come where there is too little."""
    end = begin + len(column)
    if known is None or len(known) < end:
        larger = np.empty((max(end, int(end / share * MORE)), *column.shape[1:]), column.dtype)
        if known is not None:
            larger[:begin] = known[:begin]
        known = larger
    known[begin:end] = column
    return known
