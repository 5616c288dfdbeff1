"""Ledgers in parts: in memory, in state files, in temporary files or on a cluster.

A part is a stored ledger of whole documents. `PartitionedLedger` measures any number of parts with `fold` and `ranked`, so that
one part at a time is in memory. The runner decides where that happens. `PartCollector` collects the parts of an evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain
from typing import Any, Protocol

import numpy as np

from calque.base.columns import Array, Codes, Strings, Table
from calque.base.errors import Issue
from calque.corpus.boxes import UnitId
from calque.evaluation.ledger import UNIT, Joining, Ledger, Piece, joint_names, joint_units, recoded
from calque.evaluation.storage.ranking import Ranked, Ranking, Rows
from calque.evaluation.storage.state import StoredTables, TableLayout, TemporaryFile, describe

MOST_BYTES = 1 << 23
"""How much of a ledger stays in memory while documents are added, for tasks that measure parts one by one."""
ARRAY_OVERHEAD = 128
"""The bytes that an array takes beside its values."""
SMALL = 1 << 16
"""Ledgers of fewer bytes are joined when they are added: most of their memory is overhead."""
LONG = 1 << 22
"""Ledgers of at least so many bytes become parts of their own; shorter ones are joined first."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A stored ledger. Its documents and the layout of its tables are here; ``source`` has the rows."""

    units: tuple[UnitId, ...]
    names: Mapping[str, tuple[str, ...]]
    details: frozenset[tuple[str, str]]
    layout: Mapping[str, TableLayout]
    source: Any
    """The rows: a ledger, tables in a file or, on a cluster, a future."""
    issues: tuple[Issue, ...] = ()
    """What was noticed while the documents were scored."""

    @classmethod
    def of(cls, ledger: Ledger, source: Any) -> Part:
        """Return the part that holds a ledger."""
        layout = source.layout if isinstance(source, StoredTables) else describe(ledger.tables)[0]
        return cls(ledger.units, ledger.names, ledger.details, layout, source, ledger.issues)

    def load(self) -> Ledger:
        """Return the ledger. Columns in a file are mapped."""
        if not isinstance(self.source, StoredTables):
            ledger: Ledger = self.source
            return ledger
        return Ledger(units=self.units, names=self.names, details=self.details, tables=self.source.load(), verify=False)

    def within(self, file: TemporaryFile) -> Part:
        """Return the part with its rows in that file if they are in another temporary file.

        Otherwise merged evaluations would keep one file open each.
        """
        there = self.source.file if isinstance(self.source, StoredTables) else None
        return write_part(self.load(), file) if isinstance(there, TemporaryFile) and there is not file else self


def write_part(ledger: Ledger, file: TemporaryFile) -> Part:
    """Write the rows of a ledger to a temporary file."""
    return Part.of(ledger, file.append(ledger.tables))


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Makes a ledger a piece of the whole: with the codes, columns and document positions of the whole."""

    names: Mapping[str, tuple[str, ...]]
    details: frozenset[tuple[str, str]]
    columns: Mapping[str, tuple[str, ...]]
    """The columns that each table has in the whole."""
    places: Codes
    aliases: Mapping[str, str]

    def __call__(self, ledger: Ledger) -> Piece:
        """Return the piece."""
        aliased = ledger.called(self.aliases) if self.aliases else ledger
        tables = {name: self._table(name, aliased) for name in self.columns}
        piece = Ledger(units=ledger.units, names=self.names, details=self.details, tables=tables, verify=False)
        return Piece(piece, self.places)

    def _table(self, name: str, ledger: Ledger) -> Table:
        table = ledger.tables[name]
        # A table without rows need not have the columns of the others.
        kept = self.columns[name] if table.height else tuple(table)
        return Table({key: recoded(key, ledger.names, table[key], self.names) for key in kept})


class Runner(Protocol):
    """Where the work on parts runs. Handles stand for placed parts."""

    elsewhere: bool
    """Whether the work runs in other processes."""

    def place(self, part: Part, placement: Placement) -> Any:
        """Return the handle of the piece that a placement makes of a part."""

    def map(self, work: Callable[[Piece], Any], handles: Sequence[Any]) -> Iterator[Any]:
        """Yield what ``work`` makes of each piece."""

    def fold(self, work: Callable[[Piece], Joining], handles: Sequence[Any]) -> Joining:
        """Return what ``work`` makes of each piece, joined."""

    def ranked(self, rows: Callable[[Piece], Rows], handles: Sequence[Any], classes: int, jobs: int) -> Ranked:
        """Return the rows of all pieces by class and score."""


class SerialRunner:
    """Works on one part after the other, in this process."""

    elsewhere = False

    def place(self, part: Part, placement: Placement) -> Callable[[], Piece]:
        """Return a function that loads the piece."""
        return lambda: placement(part.load())

    def map(self, work: Callable[[Piece], Any], handles: Sequence[Callable[[], Piece]]) -> Iterator[Any]:
        """Yield what ``work`` makes of each piece."""
        return (work(load()) for load in handles)

    def fold(self, work: Callable[[Piece], Joining], handles: Sequence[Callable[[], Piece]]) -> Joining:
        """Return what ``work`` makes of each piece, joined."""
        return reduce(lambda one, other: one.join(other), (work(load()) for load in handles))

    def ranked(self, rows: Callable[[Piece], Rows], handles: Sequence[Any], classes: int, jobs: int) -> Ranked:
        """Return the rows of all pieces by class and score."""
        return Ranking(self.map(rows, handles), classes, jobs)


SERIAL = SerialRunner()


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class PartitionedLedger(Ledger):
    """A ledger of several parts. Each part was checked when it was made."""

    parts: tuple[Part, ...]
    runner: Runner
    handles: tuple[Any, ...]
    aliases: Mapping[str, str]

    @classmethod
    def over(
        cls, parts: Sequence[Part], runner: Runner = SERIAL, aliases: Mapping[str, str] | None = None
    ) -> PartitionedLedger:
        """Return the ledger of all parts."""
        aliases = aliases or {}
        layouts = [{**part.layout, **{name: part.layout[table] for name, table in aliases.items()}} for part in parts]
        units = joint_units([part.units for part in parts])
        names = joint_names([part.names for part in parts])
        details = frozenset.intersection(*(part.details for part in parts))
        columns = {name: _shared_columns(name, layouts) for name in layouts[0] if all(name in layout for layout in layouts)}
        handles = tuple(
            runner.place(part, Placement(names, details, columns, places, aliases))
            for part, places in zip(parts, _places(parts, units), strict=True)
        )
        return cls(
            units=units,
            names=names,
            details=details,
            tables=_JointTables(runner, handles, tuple(columns)),
            verify=False,
            parts=tuple(parts),
            runner=runner,
            handles=handles,
            aliases=aliases,
        )

    @property
    def elsewhere(self) -> bool:
        """Whether the rows are in other processes."""
        return self.runner.elsewhere

    def pieces(self) -> Iterator[Piece]:
        """Yield the parts with the codes of the whole."""
        return self.runner.map(_unchanged, self.handles)

    def chunks(self, table: str, *columns: str) -> Iterator[Table]:
        """Yield a table part by part, with the codes of the whole."""
        return (chunk for chunk in self.runner.map(partial(_chunk, table, columns), self.handles) if chunk.height)

    def fold(self, work: Callable[[Piece], Joining]) -> Joining:
        """Return what ``work`` makes of each part, joined."""
        return self.runner.fold(work, self.handles)

    def ranked(self, rows: Callable[[Piece], Rows], classes: int, jobs: int = 1) -> Ranked:
        """Return the rows of all parts by class and score."""
        return self.runner.ranked(rows, self.handles, classes, jobs)

    def called(self, tables: Mapping[str, str]) -> Ledger:
        """Return the ledger with some tables under other names."""
        return PartitionedLedger.over(self.parts, self.runner, {**self.aliases, **tables})

    def split(self, groups: Array, size: int) -> list[Ledger]:
        """Return for each group of documents what `select` would return, in a temporary file."""
        file = TemporaryFile()
        parts: list[list[Part]] = [[] for _ in range(size)]
        for piece in self.pieces():
            for group, ledger in enumerate(piece.ledger.split(groups[piece.places], size)):
                if ledger.units:
                    parts[group].append(write_part(ledger, file))
        empty = write_part(next(self.pieces()).ledger.select(()), file)
        return [PartitionedLedger.over(of_group or [empty]) for of_group in parts]


def _shared_columns(table: str, layouts: Sequence[Mapping[str, TableLayout]]) -> tuple[str, ...]:
    """Return the columns that a table has in all parts with rows."""
    filled = [layout[table] for layout in layouts if layout[table][UNIT]["shape"][0]] or [layouts[0][table]]
    return tuple(key for key in filled[0] if all(key in columns for columns in filled))


def _places(parts: Sequence[Part], units: tuple[UnitId, ...]) -> Iterator[Codes]:
    """Yield for each part the positions of its documents among all."""
    if tuple(chain.from_iterable(part.units for part in parts)) == units:  # usual when documents come from files
        start = 0
        for part in parts:
            yield np.arange(start, start + len(part.units), dtype=np.int32)
            start += len(part.units)
        return
    position = {unit: code for code, unit in enumerate(units)}
    for part in parts:
        yield np.array([position[unit] for unit in part.units], dtype=np.int32)


class _JointTables(Mapping[str, Table]):
    """The tables of a partitioned ledger. Each one is put together when it is needed as a whole."""

    def __init__(self, runner: Runner, handles: Sequence[Any], names: tuple[str, ...]) -> None:
        self._runner, self._handles, self._names = runner, handles, names

    def __getitem__(self, name: str) -> Table:
        if name not in self._names:
            raise KeyError(name)
        return Ledger.concat(list(self._runner.map(partial(_one_table, name), self._handles))).tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


# Work on pieces: functions of a module, because a cluster sends them to its workers.


def _unchanged(piece: Piece) -> Piece:
    return piece


def _chunk(table: str, columns: tuple[str, ...], piece: Piece) -> Table:
    rows = piece.ledger.tables[table]
    if not rows.height:
        return rows
    kept = {key: rows[key] for key in columns or rows}
    return Table({**kept, UNIT: np.asarray(piece.places)[rows.array(UNIT)]})


def _one_table(name: str, piece: Piece) -> Ledger:
    """Return a ledger with a copy of one table: many parts cannot be mapped at the same time."""
    ledger = piece.ledger
    columns = {
        key: Strings(column.data.copy(), column.offsets.copy()) if isinstance(column, Strings) else column.copy()
        for key, column in ledger.tables[name].columns.items()
    }
    return Ledger(
        units=ledger.units, names=ledger.names, details=ledger.details, tables={name: Table(columns)}, verify=False
    )  # fmt: skip


class PartCollector:
    """Collects the ledgers of an evaluation in the order in which they are added.

    Beyond ``most_bytes`` they move to a temporary file. Without a limit they stay in memory.
    """

    def __init__(self, most_bytes: int | None = None, file: TemporaryFile | None = None) -> None:
        self._most_bytes = most_bytes
        self._file = file or TemporaryFile()
        self._parts: list[Part] = []
        self._recent: list[Ledger] = []
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._parts or self._recent)

    def units(self) -> Iterator[tuple[UnitId, ...]]:
        """Yield the documents of each part."""
        return chain((part.units for part in self._parts), (ledger.units for ledger in self._recent))

    def add(self, added: Ledger | Part) -> None:
        """Add a ledger or a stored part."""
        if isinstance(added, Part):
            if self._most_bytes is not None:
                self._parts.append(added)
                return
            added = copied(added.load())
        self._recent.append(added)
        self._bytes += size_of(added)
        self._join_small()
        if self._most_bytes is None:
            return
        # A single long ledger has taken its memory already: writing it would only cost time.
        alone = not self._parts and len(self._recent) == 1 and self._bytes >= LONG
        most = min(self._most_bytes, MOST_BYTES) if self._parts else self._most_bytes
        if self._bytes > most and not alone:
            self._parts += (write_part(ledger, self._file) for ledger in self._joined_recent())
            self._recent, self._bytes = [], 0

    def _join_small(self) -> None:
        """Join the last two ledgers while neither is longer than the one before, like the digits of a binary counter."""
        while len(self._recent) > 1:
            before, last = self._recent[-2:]
            sizes = size_of(before), size_of(last)
            if len(before.units) > len(last.units) or max(sizes) >= SMALL:
                return
            joined = Ledger.concat([before, last])
            self._recent[-2:] = [joined]
            self._bytes += size_of(joined) - sum(sizes)

    def _joined_recent(self) -> list[Ledger]:
        long = [ledger for ledger in self._recent if size_of(ledger) >= LONG]
        short = [ledger for ledger in self._recent if size_of(ledger) < LONG]
        return [*long, *([Ledger.concat(short)] if short else [])]

    def extend(self, other: PartCollector) -> None:
        """Add everything that another collector holds. That one stays as it is."""
        for part in other._parts:
            self.add(part if self._most_bytes is None else part.within(self._file))
        for ledger in other._recent:
            self.add(ledger)

    def ledger(self) -> Ledger:
        """Return one ledger of everything. There must be at least one document or an empty ledger."""
        if not self._parts:
            self._recent = [Ledger.concat(self._recent)]
            return self._recent[0]
        if len(self._parts) == 1 and not self._recent:
            return self._parts[0].load()
        return PartitionedLedger.over([*self._parts, *(Part.of(ledger, ledger) for ledger in self._joined_recent())])


def copied(ledger: Ledger) -> Ledger:
    """Return the ledger with its columns in memory and not in a mapped file."""
    tables = {name: _one_table(name, Piece(ledger, np.zeros(0, np.int32))).tables[name] for name in ledger.tables}
    return replace(ledger, tables=tables, verify=False)


def size_of(ledger: Ledger) -> int:
    """Return about how many bytes a ledger takes."""
    return sum(column.nbytes + ARRAY_OVERHEAD for table in ledger.tables.values() for column in table.columns.values())
