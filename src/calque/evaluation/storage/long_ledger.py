"""A ledger that is longer than memory: its parts lie in a temporary file and are read one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import Self

import numpy as np

from calque.base.columns import Array, Codes, Column, Strings, Table
from calque.corpus.boxes import UnitId
from calque.evaluation.ledger import UNIT, Ledger, Piece, joint_names, joint_units, recoded
from calque.evaluation.storage.forms import Form
from calque.evaluation.storage.spool import KeptFile, Place, Places, Shelf, Spool


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A ledger whose columns lie in a file."""

    units: tuple[UnitId, ...]
    names: Mapping[str, tuple[str, ...]]
    details: frozenset[tuple[str, str]]
    shelf: Shelf
    tables: Mapping[str, Mapping[str, Places]]

    @classmethod
    def of(cls, ledger: Ledger, spool: Spool) -> StoredPart:
        """Write a ledger's columns into the file."""
        tables = {
            name: {key: spool.store(column) for key, column in table.columns.items()} for name, table in ledger.tables.items()
        }
        return cls(ledger.units, ledger.names, ledger.details, spool, tables)

    @classmethod
    def kept(cls, ledger: Ledger, file: KeptFile, start: int, forms: Sequence[Form]) -> StoredPart:
        """A ledger whose columns stand in a state, from that place on and in these forms."""
        starts = accumulate((form.size for form in forms), initial=start)
        standing = map(Place, starts, forms)

        def places(column: Column) -> Places:
            first = next(standing)  # of strings, where they begin
            return (next(standing), first) if isinstance(column, Strings) else (first,)

        tables = {name: {key: places(column) for key, column in table.columns.items()} for name, table in ledger.tables.items()}
        return cls(ledger.units, ledger.names, ledger.details, file, tables)

    def within(self, spool: Spool) -> StoredPart:
        """The same part in that file: evaluators that are merged must not hold a file each."""
        if self.shelf is spool or isinstance(self.shelf, KeptFile):
            return self
        whole = {name: self._read(name, tuple(columns)) for name, columns in self.tables.items()}
        return StoredPart.of(Ledger(units=self.units, names=self.names, details=self.details, tables=whole), spool)

    def ledger(self, table: str, columns: Sequence[str] = ()) -> Ledger:
        """One of its tables, back in memory: all of it, or the columns that are asked for."""
        wanted = tuple({UNIT: 0, **dict.fromkeys(columns or self.tables[table])})
        return Ledger(units=self.units, names=self.names, details=self.details, tables={table: self._read(table, wanted)})

    def _read(self, table: str, columns: Sequence[str]) -> Table:
        return Table({key: self.shelf.load(self.tables[table][key]) for key in columns})

    def height(self, table: str) -> int:
        """How many rows a table has."""
        return self.tables[table][UNIT][0].form.shape[0]

    def called(self, tables: Mapping[str, str]) -> StoredPart:
        """The part with some tables under other names."""
        return replace(self, tables={**self.tables, **{name: self.tables[source] for name, source in tables.items()}})


class StoredColumns(Mapping[str, Column]):
    """The columns of a stored table, each read when somebody asks for it, and then kept."""

    def __init__(self, names: Sequence[str], read: Callable[[str], Column]) -> None:
        self._names = names
        self._read = read
        self._known: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._known:
            if name not in self._names:
                raise KeyError(name)
            self._known[name] = self._read(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def table(self) -> Table:
        """The table that has them; that all are of one length was seen when they were written."""
        table = object.__new__(Table)
        object.__setattr__(table, "columns", self)
        return table


@dataclass(frozen=True, repr=False, eq=False)
class StoredPiece(Ledger):
    """A part of a stored ledger. It was checked when it was a ledger of its own."""

    def __post_init__(self) -> None:
        """Nothing is read before somebody asks."""


class StoredTables(Mapping[str, Table]):
    """The tables of a stored ledger, each put together when somebody asks for the whole of it."""

    def __init__(self, parts: Sequence[StoredPart]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> Table:
        return Ledger.concat([part.ledger(name) for part in self._parts]).tables[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._parts[0].tables if all(name in part.tables for part in self._parts))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
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

    def pieces(self) -> Iterator[Piece]:
        """Its parts, with this ledger's codes."""
        shared = {name: self._shared(name) for name in self.tables}
        for part, places in zip(self.parts, self._unit_codes(), strict=True):
            tables = {
                name: StoredColumns(columns, self._reading(part, name)).table()
                if part.height(name)
                else part.ledger(name).tables[name]
                for name, columns in shared.items()
            }
            yield Piece(StoredPiece(units=part.units, names=self.names, details=self.details, tables=tables), places)

    def _reading(self, part: StoredPart, table: str) -> Callable[[str], Column]:
        return lambda key: recoded(key, part.names, part.shelf.load(part.tables[table][key]), self.names)

    def _shared(self, table: str) -> tuple[str, ...]:
        """The columns that a table has in the whole; a part without rows says nothing about them."""
        telling = [part.tables[table] for part in self.parts if part.height(table)] or [self.parts[0].tables[table]]
        return tuple(key for key in telling[0] if all(key in columns for columns in telling))

    def called(self, tables: Mapping[str, str]) -> Ledger:
        """The ledger with some tables under other names."""
        return StoredLedger.of(tuple(part.called(tables) for part in self.parts))

    def split(self, groups: Array, size: int) -> list[Ledger]:
        """For each group of documents what `select` would give, in files again."""
        spool = Spool()
        dealt: list[list[StoredPart]] = [[] for _ in range(size)]
        for piece in self.pieces():
            for parts, part in zip(dealt, piece.ledger.split(groups[piece.places], size), strict=True):
                if part.units:
                    parts.append(StoredPart.of(part, spool))
        nothing = StoredPart.of(next(self.pieces()).ledger.select(()), spool)
        return [StoredLedger.of(tuple(parts) or (nothing,)) for parts in dealt]

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
