"""Ids that a file gives to its images and classes: integers mostly, strings sometimes, and fast for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calque.core.columns import Codes, Ints
from calque.core.corpus import UnitId
from calque.core.frozen import Frozen


class Ids(Frozen, eq=False):
    """A column of ids: integers as they are, or codes into a table when some are strings.

    >>> Ids.of([7, "a", 7]).positions_in(Ids.of(["a", 7])).tolist()
    [1, 0, 1]
    """

    ints: Ints | None
    codes: Codes | None = None
    values: tuple[UnitId, ...] = ()

    @classmethod
    def of(cls, ids: Sequence[UnitId]) -> Ids:
        """The column of these ids."""
        if not any(issubclass(kind, str) for kind in set(map(type, ids))):
            return cls(np.array(ids, dtype=np.int64))
        table = {value: code for code, value in enumerate(dict.fromkeys(ids))}
        return cls(None, np.array([table[value] for value in ids], dtype=np.int32), tuple(table))

    @classmethod
    def scanned(cls, column: Mapping[str, Any]) -> Ids:
        """The column that the scanner filled."""
        if "ints" in column:
            return cls(column["ints"])
        return cls(None, column["codes"], tuple(column["values"]))

    def __len__(self) -> int:
        return len(self.ints if self.ints is not None else self.codes if self.codes is not None else ())

    def tolist(self) -> list[UnitId]:
        """The ids as Python objects."""
        if self.ints is not None:
            return list(self.ints.tolist())
        return [self.values[code] for code in (self.codes if self.codes is not None else ())]

    def positions_in(self, table: Ids) -> Codes:
        """For each id where it stands in a table of distinct ids; -1 when it does not."""
        if self.ints is not None and table.ints is not None:
            return _integer_positions(self.ints, table.ints)
        place = {value: position for position, value in enumerate(table.tolist())}
        if self.ints is not None:
            return np.array([place.get(value, -1) for value in self.ints.tolist()], dtype=np.int32)
        known = np.array([place.get(value, -1) for value in self.values], dtype=np.int32)
        return known[self.codes]


def _integer_positions(ids: Ints, table: Ints) -> Codes:
    if not len(ids) or not len(table):
        return np.full(len(ids), -1, dtype=np.int32)
    low, high = int(table.min()), int(table.max())
    if high - low <= 4 * len(table) + 1_000_000:
        low = 0 if 0 < low <= 100_000 else low  # most files count from 1 or so: nothing has to be subtracted then
        # A direct table, with one entry at its end for everything outside.
        place = np.full(high - low + 2, -1, dtype=np.int32)
        place[table - low] = np.arange(len(table), dtype=np.int32)
        if ids.min() < low or ids.max() > high:
            ids = np.where((ids < low) | (ids > high), high + 1, ids)
        return np.take(place, ids - low if low else ids)
    order = np.argsort(table, kind="stable")
    at = np.minimum(np.searchsorted(table[order], ids), len(table) - 1)
    return np.where(table[order][at] == ids, order[at], -1).astype(np.int32)
