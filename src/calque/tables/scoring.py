"""From two corpora of tables to the ledger: which tables go together, and one row for each table of both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from calque.base.columns import Column, Floats, Strings, Table
from calque.base.errors import Issue, Severity
from calque.corpus.boxes import UnitId, canonical
from calque.corpus.tables import MOST_SLOTS, CellTable, TableCorpus
from calque.evaluation.ledger import UNIT, Ledger
from calque.tables import comparing
from calque.tables.comparing import EMPTY, Comparison, Pair
from calque.tables.kinds import KINDS, Losses
from calque.tables.pairing import MOST_STEPS, paired
from calque.tables.task import TEDS_ALONE, Tables


class Status(IntEnum):
    """What happened to a table."""

    PAIRED = 0
    MISSED = 1
    """Only the truth has it."""
    SPURIOUS = 2
    """Only the prediction has it."""
    INVALID = 3
    """It has more slots than can be evaluated, or its document takes too much work."""


STATUS_NAMES = tuple(status.name.lower() for status in Status)
KIND_NAMES = ("", *KINDS)
SIDES = ("truth", "prediction")


class TableRow(NamedTuple):
    """A table of the truth, of the prediction, or a pair of both."""

    unit: int
    truth: int
    """Its place in the document's truth, or -1."""
    found: int
    status: Status
    page: int | None
    tables: Pair


def score(task: Tables, truth: TableCorpus, found: TableCorpus, *, jobs: int) -> Ledger:
    """The ledger: ``documents``, ``tables`` with a row for each table, and ``cells`` with what happened to each cell."""
    units = tuple(sorted({*truth.units(), *found.units()}, key=canonical))
    known = Distances(task, jobs)
    rows, beyond = _rows(units, truth, found, known)
    columns, losses, issues = _measured(task, rows, known, jobs)
    cells = _cells(rows, losses)
    return Ledger(
        units=units,
        names={"status": STATUS_NAMES, "kind": KIND_NAMES, "side": SIDES},
        details=frozenset(("cells", name) for name in cells if name != UNIT) | {("tables", "id")},
        tables={
            "documents": _documents(units, truth, found),
            "tables": Table({**_heads(rows), **columns}),
            "cells": cells,
        },
        issues=(*issues, *(too_much_work(units[unit], truth.source) for unit in beyond)),
    )


def too_much_work(unit: UnitId, source: str) -> Issue:
    """The issue of a document whose tables are not compared."""
    message = f"its tables are too large, or too many, to be compared: that takes more than {MOST_STEPS:,} steps"
    help = "evaluate smaller tables, or give each an id where there are many"
    return Issue("too-much-work", message, source, str(unit), help, Severity.LOSS)


class Distances:
    """How far tables are apart, each pair computed once: first to find out which go together, then to score those."""

    def __init__(self, task: Tables, jobs: int) -> None:
        self._task, self._jobs = task, jobs
        self._known: dict[tuple[int, int], tuple[float, float, float]] = {}

    def of(self, pairs: Sequence[Pair]) -> tuple[Floats, Floats, Floats]:
        """The distance of each pair, and how many nodes both sides have; NaN where a tool has none."""
        new = [pair for pair in pairs if (id(pair[0]), id(pair[1])) not in self._known]
        if new:
            for pair, values in zip(new, zip(*self._computed(new), strict=True), strict=True):
                self._known[id(pair[0]), id(pair[1])] = values
        columns = np.array([self._known[id(pair[0]), id(pair[1])] for pair in pairs], dtype=np.float64).reshape(-1, 3)
        return columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy()

    def _computed(self, pairs: Sequence[Pair]) -> tuple[list[float], list[float], list[float]]:
        if self._task.compat in TEDS_ALONE:
            from calque.tables.other_tools.trees import trees_apart

            distances, ours, theirs = trees_apart(self._task.compat, pairs, structure=False, jobs=self._jobs)
            return distances.tolist(), ours.tolist(), theirs.tolist()
        made = Comparison(self._task, pairs, self._jobs)
        sizes = made.nodes()
        return made.distances(structure=False).tolist(), sizes[0].tolist(), sizes[1].tolist()

    def alike(self, pairs: list[Pair]) -> Floats:
        """The TEDS of tables; 1 where neither has anything that could differ."""
        values = comparing.teds(*self.of(pairs))
        nothing = np.array([truth.nodes == found.nodes == 0 for truth, found in pairs], dtype=np.bool_)
        return np.where(nothing, 1.0, np.nan_to_num(values))


def _rows(
    units: Sequence[UnitId], truth: TableCorpus, found: TableCorpus, known: Distances
) -> tuple[list[TableRow], list[int]]:
    """The tables of all documents, and the documents whose tables take too much work."""
    sides = [(truth.tables.get(unit, ()), found.tables.get(unit, ())) for unit in units]
    valid = [(_valid(ours), _valid(theirs)) for ours, theirs in sides]
    documents = [([table for _, table in ours], [table for _, table in theirs]) for ours, theirs in valid]
    rows, beyond = [], []
    for unit, pairs in enumerate(paired(documents, known.alike)):
        ours, theirs = valid[unit]
        partner = None if pairs is None else {ours[a][0]: theirs[b][0] for a, b in pairs}
        rows += _document_rows(unit, sides[unit], partner)
        if pairs is None:
            beyond.append(unit)
    return rows, beyond


def _valid(tables: Iterable[CellTable]) -> list[tuple[int, CellTable]]:
    return [(place, table) for place, table in enumerate(tables) if table.slots <= MOST_SLOTS]


def _document_rows(
    unit: int, sides: tuple[Sequence[CellTable], Sequence[CellTable]], partners: dict[int, int] | None
) -> list[TableRow]:
    """One row for each table; without ``partners`` none of them can be evaluated."""
    ours, theirs = sides
    partner = partners or {}
    rows = []
    for place, table in enumerate(ours):
        if place in partner:
            rows.append(TableRow(unit, place, partner[place], Status.PAIRED, table.page, (table, theirs[partner[place]])))
        elif partners is None or table.slots > MOST_SLOTS:
            rows.append(TableRow(unit, place, -1, Status.INVALID, table.page, (EMPTY, EMPTY)))
        else:
            rows.append(TableRow(unit, place, -1, Status.MISSED, table.page, (table, EMPTY)))
    taken = set(partner.values())
    for place, table in enumerate(theirs):
        if place not in taken:
            invalid = partners is None or table.slots > MOST_SLOTS
            status = Status.INVALID if invalid else Status.SPURIOUS
            rows.append(TableRow(unit, -1, place, status, table.page, (EMPTY, EMPTY if invalid else table)))
    return rows


def _heads(rows: Sequence[TableRow]) -> dict[str, Column]:
    """Where each table is, and what happened to it."""
    return {
        UNIT: np.array([row.unit for row in rows], dtype=np.int32),
        "truth": np.array([row.truth for row in rows], dtype=np.int32),
        "found": np.array([row.found for row in rows], dtype=np.int32),
        "status": np.array([row.status for row in rows], dtype=np.uint8),
        "page": np.array([-1 if row.page is None else row.page for row in rows], dtype=np.int64),
        "complex": np.array([row.tables[0].spans() for row in rows], dtype=np.bool_),
        "id": Strings.pack(row.tables[0].id or row.tables[1].id for row in rows),
    }


Losing = list["Losses | None"]


def _measured(
    task: Tables, rows: Sequence[TableRow], known: Distances, jobs: int
) -> tuple[dict[str, Column], Losing, tuple[Issue, ...]]:
    pairs = [row.tables for row in rows]
    nothing: Losing = [None] * len(rows)
    if task.compat != "none":
        from calque.tables.other_tools.compat import compat_columns

        compat, issues = compat_columns(task, pairs, known.of, jobs)
        return compat, nothing, issues
    made = Comparison(task, pairs, jobs)
    columns: dict[str, Column] = {**made.sizes()}
    distances, ours, theirs = known.of(pairs)
    columns |= {"nodes_truth": ours.astype(np.int64), "nodes_found": theirs.astype(np.int64)}
    if task.wants("teds"):
        apart = made.distances(structure=True)
        columns |= {"distance": distances, "struct_distance": apart}
        columns |= {"teds": comparing.teds(distances, ours, theirs), "teds_struct": comparing.teds(apart, ours, theirs)}
    if task.wants("grits"):
        columns |= made.grits()
    if task.wants("adjacency"):
        columns["adjacency"] = made.adjacency()
    if task.wants("cells"):
        columns["cells"] = made.cells()
    if not (task.wants("header") or task.wants("errors")):
        return columns, nothing, ()
    losses = _losses(task, rows, distances, jobs)
    return columns | _kind_columns(task, rows, losses, distances), losses, ()


def teds_of(task: Tables, pairs: Sequence[Pair], *, structure: bool) -> Floats:
    """The TEDS of pairs, and nothing else."""
    if task.compat in TEDS_ALONE:
        from calque.tables.other_tools.trees import trees_apart

        return comparing.teds(*trees_apart(task.compat, pairs, structure=structure, jobs=1), clamped=False)
    made = Comparison(task, pairs, 1)
    return comparing.teds(made.distances(structure=structure), *made.nodes())


def measured_pair(task: Tables, pair: Pair, known: Distances) -> tuple[dict[str, Column], tuple[Issue, ...]]:
    """The columns of one pair that goes together whatever it has in common."""
    columns, _, issues = _measured(task, [TableRow(0, 0, 0, Status.PAIRED, None, pair)], known, 1)
    return columns, issues


def _losses(task: Tables, rows: Sequence[TableRow], distances: Floats, jobs: int) -> Losing:
    """The kinds of errors of pairs; a table that has no partner has one kind of its own."""
    places = [place for place, row in enumerate(rows) if row.status is Status.PAIRED]
    made = Comparison(task, [rows[place].tables for place in places], jobs)
    losses: Losing = [None] * len(rows)
    for place, loss in zip(places, made.losses(distances[places]), strict=True):
        losses[place] = loss
    return losses


def _kind_columns(task: Tables, rows: Sequence[TableRow], losses: Losing, distances: Floats) -> dict[str, Column]:
    counts = np.zeros((len(rows), len(KINDS)), dtype=np.int64)
    costs = np.zeros((len(rows), len(KINDS)), dtype=np.float64)
    heads = np.zeros((len(rows), 3), dtype=np.int64)
    alone = {Status.MISSED: KINDS.index("table_missed"), Status.SPURIOUS: KINDS.index("table_spurious")}
    for place, (row, loss) in enumerate(zip(rows, losses, strict=True)):
        truth, found = row.tables
        heads[place, 1:] = sum(truth.header), sum(found.header)
        if loss is not None:
            heads[place, 0] = loss.headers_together()
            counts[place] = [loss.count[kind] for kind in KINDS]
            costs[place] = [loss.cost.get(kind, 0.0) for kind in KINDS]
        elif row.status in alone:
            counts[place, alone[row.status]] = 1
            costs[place, alone[row.status]] = distances[place]
    columns: dict[str, Column] = {"header": heads} if task.wants("header") else {}
    return columns | ({"kind_count": counts, "kind_cost": costs} if task.wants("errors") else {})


def _documents(units: Sequence[UnitId], truth: TableCorpus, found: TableCorpus) -> Table:
    columns: dict[str, Column] = {
        UNIT: np.arange(len(units), dtype=np.int32),
        "in_truth": np.array([unit in truth.tables for unit in units], dtype=np.bool_),
        "in_found": np.array([unit in found.tables for unit in units], dtype=np.bool_),
    }
    return Table(columns)


def _cells(rows: Sequence[TableRow], losses: Losing) -> Table:
    """One row for each cell of both sides: where it is, what it says, its partner and what is wrong with it."""
    first: dict[int, int] = {}
    entries: list[tuple[object, ...]] = []
    code = {kind: number for number, kind in enumerate(KIND_NAMES)}
    for place, (row, loss) in enumerate(zip(rows, losses, strict=True)):
        number = place - first.setdefault(row.unit, place)
        whole = {Status.MISSED: "table_missed", Status.SPURIOUS: "table_spurious"}.get(row.status, "")
        for side, table in enumerate(row.tables):
            half = None if loss is None else (loss.truth, loss.found)[side]
            boxes = table.boxes or ((np.nan,) * 4,) * len(table)
            for cell in range(len(table)):
                partner, kind = (-1, whole) if half is None else (half.cells[cell], half.kinds[cell])
                place_of = (table.row[cell], table.column[cell], table.rowspan[cell], table.colspan[cell])
                head = (row.unit, number, side, *place_of, table.header[cell], partner, code[kind])
                entries.append((*head, table.text[cell], boxes[cell] or (np.nan,) * 4))
    names = (UNIT, "table", "side", "row", "column", "rowspan", "colspan", "header", "partner", "kind")
    whole_numbers = np.array([entry[: len(names)] for entry in entries], dtype=np.int32).reshape(-1, len(names))
    columns: dict[str, Column] = {name: whole_numbers[:, place].copy() for place, name in enumerate(names)}
    columns["text"] = Strings.pack(str(entry[-2]) for entry in entries)
    columns["box"] = np.array([entry[-1] for entry in entries], dtype=np.float64).reshape(-1, 4)
    return Table(columns)
