"""Weights by their definition: the ledger in which each document occurs as often as its weight says, measured again."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

import numpy as np

from calque.core.columns import Array, Codes, Table
from calque.core.ledger import UNIT, Ledger
from calque.core.resampling.resampled import Counted, Replicates, Resampled


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
