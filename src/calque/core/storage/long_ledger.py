"""A ledger that is longer than memory: its parts lie in a temporary file and are read one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np

from calque.core.columns import Codes, Table
from calque.core.corpus import UnitId
from calque.core.ledger import UNIT, Ledger, joint_names, joint_units, recoded
from calque.core.storage.spool import Places, Spool


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A ledger whose columns lie in a file."""

    units: tuple[UnitId, ...]
    names: Mapping[str, tuple[str, ...]]
    details: frozenset[tuple[str, str]]
    spool: Spool
    tables: Mapping[str, Mapping[str, Places]]

    @classmethod
    def of(cls, ledger: Ledger, spool: Spool) -> StoredPart:
        """Write a ledger's columns into the file."""
        tables = {
            name: {key: spool.store(column) for key, column in table.columns.items()} for name, table in ledger.tables.items()
        }
        return cls(ledger.units, ledger.names, ledger.details, spool, tables)

    def within(self, spool: Spool) -> StoredPart:
        """The same part in that file: evaluators that are merged must not hold a file each."""
        if self.spool is spool:
            return self
        whole = {name: self._read(name, tuple(columns)) for name, columns in self.tables.items()}
        return StoredPart.of(Ledger(units=self.units, names=self.names, details=self.details, tables=whole), spool)

    def ledger(self, table: str, columns: Sequence[str] = ()) -> Ledger:
        """One of its tables, back in memory: all of it, or the columns that are asked for."""
        wanted = tuple({UNIT: 0, **dict.fromkeys(columns or self.tables[table])})
        return Ledger(units=self.units, names=self.names, details=self.details, tables={table: self._read(table, wanted)})

    def _read(self, table: str, columns: Sequence[str]) -> Table:
        return Table({key: self.spool.load(self.tables[table][key]) for key in columns})


class StoredTables(Mapping[str, Table]):
    """The tables of a stored ledger, each put together when somebody asks for the whole of it."""

    def __init__(self, parts: Sequence[StoredPart]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> Table:
        return Ledger.concat([part.ledger(name) for part in self._parts]).tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts[0].tables)

    def __len__(self) -> int:
        return len(self._parts[0].tables)


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredLedger(Ledger):
    """A ledger in a file. Whoever reads it by `chunks` never holds more than one part of it."""

    parts: tuple[StoredPart, ...]

    def __post_init__(self) -> None:
        """Every part was checked when it was a ledger of its own."""

    @classmethod
    def of(cls, parts: tuple[StoredPart, ...]) -> Self:
        """The ledger of all parts."""
        return cls(
            units=joint_units([part.units for part in parts]),
            names=joint_names([part.names for part in parts]),
            details=frozenset.intersection(*(part.details for part in parts)),
            tables=StoredTables(parts),
            parts=parts,
        )

    def chunks(self, table: str, *columns: str) -> Iterator[Table]:
        """A table part by part, with this ledger's codes."""
        for part, units in zip(self.parts, self._unit_codes(), strict=True):
            ledger = part.ledger(table, columns)
            read = ledger.tables[table]
            if read.height:
                coded = {key: recoded(key, ledger.names, column, self.names) for key, column in read.columns.items()}
                yield Table({**coded, UNIT: units[read.array(UNIT)]})

    def _unit_codes(self) -> Iterator[Codes]:
        """For each part the positions of its documents among all."""
        if tuple(chain.from_iterable(part.units for part in self.parts)) == self.units:  # as documents from files come
            ends = np.cumsum([len(part.units) for part in self.parts]).tolist()
            yield from (
                np.arange(end - len(part.units), end, dtype=np.int32) for part, end in zip(self.parts, ends, strict=True)
            )
            return
        position = {unit: code for code, unit in enumerate(self.units)}
        for part in self.parts:
            yield np.array([position[unit] for unit in part.units], dtype=np.int32)
