"""The outcome rows of any number of documents: columns that merge to the same bits in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from operator import eq
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from calque.base.columns import Array, Codes, Column, Ints, Table, concat
from calque.base.errors import Issue, MergeError
from calque.base.short_repr import short_repr
from calque.corpus.boxes import Corpus, UnitId, in_canonical_order

if TYPE_CHECKING:
    from typing import Protocol

    from calque.evaluation.storage.ranking import Ranked, Rows

    class Joins(Protocol):
        """A value that can be joined with others of its type."""

        def join(self, other: Self) -> Self:
            """Return both together. One of the two may be changed for it."""


UNIT = "unit"
"""The column that every table has: the index of the row's document in ``Ledger.units``."""
TRUTH_DIGEST = "truth_digest"
"""The table with an 8-byte digest of the ground truth of each document: runs with different ground truths are not compared."""


Joining = TypeVar("Joining", bound="Joins")


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some documents of a ledger, with all their rows and the codes of the whole ledger."""

    ledger: Ledger
    places: Codes | Ints
    """The position of each document among those of the whole ledger."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Ledger:
    """Tables of outcomes. Rows are sorted by document, and within a document in the order in which the task wrote them.

    A row may refer to rows of its own document only, counted from the document's first row in that table. So merging
    ledgers rewrites nothing.
    """

    units: tuple[UnitId, ...]
    tables: Mapping[str, Table]
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The meaning of each code, by the name of the column that has codes."""
    details: frozenset[tuple[str, str]] = frozenset()
    """(table, column) pairs that no metric needs: boxes and ids, for outcome lists and viewers."""
    issues: tuple[Issue, ...] = ()
    """Issues that scoring found; the evaluator collects them."""
    verify: InitVar[bool] = True
    """Whether to check the order of documents and rows. Ledgers that were checked before need not be checked again."""

    __repr__ = short_repr

    def __post_init__(self, verify: bool) -> None:
        if not verify:
            return
        if list(self.units) != in_canonical_order(self.units) or len(set(self.units)) < len(self.units):
            raise ValueError("the documents of a ledger must be distinct and in canonical order")
        for name, table in self.tables.items():
            unit = table.array(UNIT)
            if len(unit) and (np.any(np.diff(unit) < 0) or unit[0] < 0 or unit[-1] >= len(self.units)):
                raise ValueError(f"the rows of table {name!r} are not in the order of the ledger's documents")

    def table(self, name: str) -> Table:
        """Return a table."""
        return self.tables[name]

    @property
    def elsewhere(self) -> bool:
        """Whether the rows are in other processes."""
        return False

    def chunks(self, table: str, *columns: str) -> Iterator[Table]:  # noqa: ARG002  # a partitioned ledger reads only these
        """Yield the rows of a table, whole documents at a time and in no fixed order of documents; here all at once.

        A chunk has at least the named columns (all columns if none is named), and the document of each row.
        """
        yield self.tables[table]

    def pieces(self) -> Iterator[Piece]:
        """Yield ledgers of whole documents that are this one together, in no fixed order; here it is the only one."""
        yield Piece(self, np.arange(len(self.units)))

    def fold(self, work: Callable[[Piece], Joining]) -> Joining:
        """Return what ``work`` makes of each piece, joined: here, or on a cluster, where the pieces are.

        ``join`` must give the same result for any order and grouping. A cluster needs ``work`` to be defined in a module.
        """
        return work(next(self.pieces()))

    def ranked(self, rows: Callable[[Piece], Rows], classes: int, jobs: int = 1) -> Ranked:
        """Return the rows of all pieces by class and score."""
        from calque.evaluation.storage.ranking import Ranking

        return Ranking(map(rows, self.pieces()), classes, jobs)

    def called(self, tables: Mapping[str, str]) -> Ledger:
        """Return the ledger with further names for some tables, as a mapping from the new name to the table."""
        others = {name: self.tables[source] for name, source in tables.items()}
        return Ledger(units=self.units, names=self.names, details=self.details, tables={**self.tables, **others})

    def offsets(self, table: str) -> Ints:
        """Return the first row of each document in a table, and the table's height at the end. Do not change the array."""
        known = self._known_offsets.get(table)
        if known is None:
            known = np.searchsorted(self.tables[table].array(UNIT), np.arange(len(self.units) + 1)).astype(np.int64)
            self._known_offsets[table] = known
        return known

    @cached_property
    def _known_offsets(self) -> dict[str, Ints]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without the cached offsets, which another process can compute."""
        return {name: value for name, value in self.__dict__.items() if name != "_known_offsets"}

    def absolute(self, table: str, units: Array, relative: Array) -> Ints:
        """Return the rows of a table that rows of these documents refer to."""
        rows = np.take(self.offsets(table), units)
        rows += relative
        return rows

    def renumbered(self, first: int) -> Ledger:
        """Return the ledger with new numbers, at least ``first``, for documents that have no id of their own.

        The column ``named`` of the table ``documents`` tells which documents have an id. Without it nothing changes.
        """
        if "documents" not in self.tables or "named" not in self.tables["documents"].columns:
            return self
        named = self.table("documents").array("named").tolist()
        if all(named):
            return self
        kept, moved = ([unit for unit, own in zip(self.units, named, strict=True) if own is which] for which in (True, False))
        first = max([first, *(unit + 1 for unit in kept if isinstance(unit, int))])
        numbered = self.select(moved)
        shifted = tuple(unit + first for unit in numbered.units if isinstance(unit, int))
        return Ledger.concat([self.select(kept), replace(numbered, units=shifted)])

    def select(self, units: Iterable[UnitId]) -> Ledger:
        """Return only these documents: the ledger that scoring them alone would make."""
        wanted = set(units)
        kept = np.array([position for position, unit in enumerate(self.units) if unit in wanted], dtype=np.int64)
        return Ledger(
            units=tuple(self.units[position] for position in kept),
            names=self.names,
            details=self.details,
            tables={name: self._rows_of(name, kept) for name in self.tables},
        )

    def _rows_of(self, name: str, documents: Ints) -> Table:
        offsets = self.offsets(name)
        first, count = offsets[documents], offsets[documents + 1] - offsets[documents]
        begin = np.cumsum(count) - count
        rows = np.repeat(first - begin, count) + np.arange(count.sum())
        unit = np.repeat(np.arange(len(documents), dtype=np.int32), count)
        return Table({**self.tables[name].take(rows).columns, UNIT: unit})

    def split(self, groups: Array, size: int) -> list[Ledger]:
        """Return for each group of documents what `select` would return, in one pass.

        ``groups`` has the group of each document, starting at 0; ``size`` is the number of groups.
        """
        order, bounds = _dealt(groups, size)
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order)) - bounds[groups[order]]
        tables = {name: _table_parts(table, groups, place, size) for name, table in self.tables.items()}
        return [
            Ledger(
                units=tuple(self.units[position] for position in order[bounds[group] : bounds[group + 1]].tolist()),
                names=self.names,
                details=self.details,
                tables={name: parts[group] for name, parts in tables.items()},
            )
            for group in range(size)
        ]

    def without_details(self) -> Ledger:
        """Return the ledger without the columns that no metric needs."""
        if not self.details:
            return self
        tables = {
            name: Table({key: column for key, column in table.columns.items() if (name, key) not in self.details})
            for name, table in self.tables.items()
        }
        gone = {key for _, key in self.details if not any(key in table for table in tables.values())}
        names = {key: meaning for key, meaning in self.names.items() if key not in gone}
        return Ledger(units=self.units, names=names, tables=tables, issues=self.issues)

    @staticmethod
    def concat(ledgers: Sequence[Ledger]) -> Ledger:
        """Return one ledger of all documents: the same bits for any order and any split."""
        if len(ledgers) == 1:
            return ledgers[0]
        units = joint_units([ledger.units for ledger in ledgers])
        names = joint_names([ledger.names for ledger in ledgers])
        position = {unit: code for code, unit in enumerate(units)}
        unit_codes = [np.array([position[unit] for unit in ledger.units], dtype=np.int32) for ledger in ledgers]
        return Ledger(
            units=units,
            names=names,
            details=_common_details(ledgers),
            tables={
                name: _joint_table(name, ledgers, unit_codes, names)
                for name in ledgers[0].tables
                if all(name in ledger.tables for ledger in ledgers)
            },
        )


def _dealt(groups: Array, size: int) -> tuple[Ints, Ints]:
    """Return the positions by group, in order within each, and where each group begins."""
    order = np.argsort(groups, kind="stable")
    return order, np.searchsorted(groups[order], np.arange(size + 1))


def _table_parts(table: Table, groups: Array, place: Array, size: int) -> list[Table]:
    unit = table.array(UNIT)
    order, bounds = _dealt(groups[unit], size)
    moved = Table({**table.take(order).columns, UNIT: place[unit[order]]})
    return [moved.cut(start, stop) for start, stop in pairwise(bounds.tolist())]


def _common_details(ledgers: Sequence[Ledger]) -> frozenset[tuple[str, str]]:
    return frozenset.intersection(*(ledger.details for ledger in ledgers))


def joint_units(parts: Sequence[Sequence[UnitId]]) -> tuple[UnitId, ...]:
    """Return the documents of all parts in canonical order; each may be in one part only."""
    ordered = in_canonical_order(chain.from_iterable(parts))
    # Sorted, a document that comes twice is next to itself: no set of millions of ids is needed.
    if any(map(eq, ordered, islice(ordered, 1, None))):
        check_disjoint(parts)
    return tuple(ordered)


def check_disjoint(parts: Iterable[Sequence[UnitId]], before: Set[UnitId] = frozenset()) -> None:
    """Raise a `MergeError` that names the documents that occur in more than one part, or came ``before``."""
    parts = list(parts)
    everything = set[UnitId]().union(*parts)
    if len(everything) == sum(map(len, parts)) and everything.isdisjoint(before):
        return
    seen: set[UnitId] = set()
    twice: list[UnitId] = []
    for part in parts:
        for unit in part:
            (twice.append if unit in seen or unit in before else seen.add)(unit)
    listed = ", ".join(repr(unit) for unit in in_canonical_order(twice)[:5])
    more = f" and {len(twice) - 5:,} more" if len(twice) > 5 else ""
    images = any(isinstance(unit, int) for unit in twice)
    help = " (other images with the same ids? name documents by something else: --document-key file_name)" if images else ""
    raise MergeError(f"seen twice: document {listed}{more}; each document may be counted once{help}")


def joint_names(parts: Sequence[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """Return the meaning of the codes of all parts together, by the name of the column."""
    joint: dict[str, tuple[str, ...]] = {}
    for column in parts[0]:
        # Evaluations that keep only numbers lack some columns and their names.
        if not all(column in names for names in parts):
            continue
        tables = [names[column] for names in parts]
        # A fixed vocabulary keeps its own order, also if a later version has added to it; names from data are sorted.
        longest = max(tables, key=len)
        same = all(table == longest[: len(table)] for table in tables)
        joint[column] = longest if same else tuple(sorted({name for table in tables for name in table}))
    return joint


def _joint_table(
    name: str, ledgers: Sequence[Ledger], unit_codes: Sequence[Array], names: Mapping[str, tuple[str, ...]]
) -> Table:
    unit = np.concatenate([codes[ledger.tables[name].array(UNIT)] for ledger, codes in zip(ledgers, unit_codes, strict=True)])
    # A table without rows need not have the columns of the others.
    filled = [ledger for ledger in ledgers if ledger.tables[name].height] or ledgers
    shared = [key for key in filled[0].tables[name] if all(key in ledger.tables[name] for ledger in filled)]
    columns: dict[str, Column] = {
        key: concat([recoded(key, ledger.names, ledger.tables[name][key], names) for ledger in filled])
        for key in shared
        if key != UNIT
    }
    joint = Table({UNIT: unit, **columns})
    in_order = bool(np.all(unit[1:] >= unit[:-1]))  # usual when documents come from files
    return joint if in_order else joint.take(np.argsort(unit, kind="stable"))


def recoded(key: str, old: Mapping[str, tuple[str, ...]], column: Column, new: Mapping[str, tuple[str, ...]]) -> Column:
    """Return a column with the new codes instead of the old, if it has codes that changed."""
    if key not in new or old[key] == new[key]:
        return column
    position = {name: code for code, name in enumerate(new[key])}
    # The last entry is for rows without a name: code -1 stays -1.
    code = np.array([*(position[name] for name in old[key]), -1], dtype=np.int32)
    return np.asarray(code[np.asarray(column)])


def with_digests(ledger: Ledger, truth: Corpus, digests: list[int] | None) -> Ledger:
    """Return the ledger with the digest of each document of the ground truth; unchanged if there are none."""
    return noted(ledger, dict(zip(truth.units(), digests, strict=True))) if digests is not None else ledger


def noted(ledger: Ledger, digests: Mapping[UnitId, int]) -> Ledger:
    """Return the ledger with these digests."""
    rows = [row for row, unit in enumerate(ledger.units) if unit in digests]
    table = Table({
        UNIT: np.array(rows, dtype=np.int32),
        "digest": np.array([digests[ledger.units[row]] for row in rows], dtype=np.int64),
    })  # fmt: skip
    return replace(ledger, tables={**ledger.tables, TRUTH_DIGEST: table})


def digests_of(ledger: Ledger) -> dict[UnitId, int]:
    """Return the digests of a ledger, by document."""
    if TRUTH_DIGEST not in ledger.tables:
        return {}
    table = ledger.table(TRUTH_DIGEST)
    rows = zip(table.array(UNIT).tolist(), table.array("digest").tolist(), strict=True)
    return {ledger.units[unit]: value for unit, value in rows}
