"""Pairs of tables compared: every measure of many pairs at once, as columns with one row for each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Codes, Floats, Ints
from calque.corpus.tables import CellTable
from calque.kernels import kernels
from calque.kernels.structs import Grids, RowTables, TextPoints
from calque.tables import adjacency
from calque.tables.kinds import Losses

if TYPE_CHECKING:
    from calque.tables.task import Tables


class Vocabulary:
    """Texts by number; the empty one is always there."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {"": 0}

    def code(self, text: str) -> int:
        """The number of a text, a new one if need be."""
        return self._codes.setdefault(text, len(self._codes))

    def points(self) -> TextPoints:
        """All texts as code points."""
        lengths = [len(text) for text in self._codes]
        data = "".join(self._codes).encode("utf-32-le", "surrogatepass")
        return TextPoints(np.frombuffer(data, dtype=np.int32), np.cumsum([0, *lengths], dtype=np.int64))


def row_tables(tables: Iterable[CellTable], texts: Vocabulary) -> RowTables:
    """The tables as rows of cells."""
    starts, rows, spans, codes = [0], [0], list[int](), list[int]()
    for table in tables:
        for size in table.row_sizes():
            rows.append(rows[-1] + size)
        starts.append(len(rows) - 1)
        spans += [down << 32 | across for down, across in zip(table.rowspan, table.colspan, strict=True)]
        codes += map(texts.code, table.text)
    return RowTables(
        np.array(starts, dtype=np.int64),
        np.array(rows, dtype=np.int64),
        np.array(spans, dtype=np.int64),
        np.array(codes, dtype=np.int32),
    )


def _grids(slots: Sequence[Codes], tables: Sequence[CellTable]) -> Grids:
    return Grids(
        np.concatenate([np.zeros(0, dtype=np.int32), *(each.reshape(-1) for each in slots)]),
        np.cumsum([0, *(each.size for each in slots)], dtype=np.int64),
        np.array([table.rows for table in tables], dtype=np.int64),
        np.array([table.columns for table in tables], dtype=np.int64),
    )


def text_grids(tables: Sequence[CellTable], layouts: Sequence[Codes], code: Callable[[str], int]) -> Grids:
    """For each slot the number of its text; a hole has the empty one."""
    slots = []
    for table, layout in zip(tables, layouts, strict=True):
        codes = np.array([*map(code, table.text), code("")], dtype=np.int32)
        slots.append(codes[layout])
    return _grids(slots, tables)


Span = tuple[int, int, int, int]
ALONE: Span = (0, 0, 1, 1)


def span_grids(tables: Sequence[CellTable], layouts: Sequence[Codes], known: dict[Span, int]) -> Grids:
    """For each slot the number of where its cell begins and ends, seen from there; a hole is a cell by itself."""
    alone = known.setdefault(ALONE, len(known))
    slots = []
    for table, layout in zip(tables, layouts, strict=True):
        codes = np.full(layout.shape, alone, dtype=np.int32)
        for cell, (down, across) in enumerate(zip(table.rowspan, table.colspan, strict=True)):
            if down > 1 or across > 1:
                _put_span(codes, layout, (cell, table.row[cell], table.column[cell], down, across), known)
        slots.append(codes)
    return _grids(slots, tables)


def _put_span(codes: Codes, layout: Codes, cell: tuple[int, int, int, int, int], known: dict[Span, int]) -> None:
    number, row, column, down, across = cell
    for below in range(down):
        for right in range(across):
            if layout[row + below, column + right] == number:
                span = (-right, -below, across - right, down - below)
                codes[row + below, column + right] = known.setdefault(span, len(known))


def box_grids(tables: Sequence[CellTable], layouts: Sequence[Codes]) -> tuple[Grids, Floats]:
    """For each slot the number of its cell's box, and the boxes; what has none has one without numbers."""
    boxes: list[Sequence[float]] = []
    slots = []
    for table, layout in zip(tables, layouts, strict=True):
        first = len(boxes)
        boxes += [[np.nan] * 4 if box is None else box for box in (table.boxes or [None] * len(table))]
        boxes.append([np.nan] * 4)
        codes = np.where(layout < 0, len(table), layout) + first
        slots.append(codes.astype(np.int32))
    return _grids(slots, tables), np.array(boxes, dtype=np.float64).reshape(-1, 4)


Pair = tuple[CellTable, CellTable]
EMPTY = CellTable(rows=0, columns=0)
"""Stands where a side has no table."""
GRITS = ("top", "con", "loc")


class Comparison:
    """Pairs of tables under the settings of a task; a missed or spurious table is paired with an empty one."""

    def __init__(self, task: Tables, pairs: Sequence[Pair], jobs: int) -> None:
        self.task, self.pairs, self._jobs = task, pairs, jobs

    @cached_property
    def sides(self) -> tuple[list[CellTable], list[CellTable]]:
        """The tables of each side."""
        return [truth for truth, _ in self.pairs], [found for _, found in self.pairs]

    @cached_property
    def layouts(self) -> tuple[list[Codes], list[Codes]]:
        """The cell of each slot of each table."""
        ours, theirs = ([table.grid() for table in side] for side in self.sides)
        return ours, theirs

    @cached_property
    def _texts(self) -> Vocabulary:
        return Vocabulary()

    @cached_property
    def _rows(self) -> tuple[RowTables, RowTables, TextPoints, Codes, Codes]:
        ours, theirs = (row_tables(side, self._texts) for side in self.sides)
        index = np.arange(len(self.pairs), dtype=np.int32)
        return ours, theirs, self._texts.points(), index, index

    def distances(self, *, structure: bool) -> Floats:
        """What it costs to turn each truth table into the found one."""
        return kernels().row_tree_distances(*self._rows, structure, self._jobs)

    def nodes(self) -> tuple[Ints, Ints]:
        """Rows and cells of each table."""
        ours, theirs = (np.array([table.nodes for table in side], dtype=np.int64) for side in self.sides)
        return ours, theirs

    def sizes(self) -> dict[str, Array]:
        """How large the tables are."""
        return {
            f"{name}_{side}": np.array([getattr(table, name) for table in tables], dtype=np.int64)
            for name in ("rows", "columns", "slots")
            for side, tables in zip(("truth", "found"), self.sides, strict=True)
        }

    def mappings(self, distances: Floats) -> list[tuple[list[int], list[int], list[int]]]:
        """For each pair the partners of truth rows, truth cells and found cells."""
        flat = [part.tolist() for part in kernels().row_tree_mappings(*self._rows, distances, self._jobs)]
        made, row, cell, other = [], 0, 0, 0
        for truth, found in self.pairs:
            ends = row + truth.rows, cell + len(truth), other + len(found)
            made.append((flat[0][row : ends[0]], flat[1][cell : ends[1]], flat[2][other : ends[2]]))
            row, cell, other = ends
        return made

    def grits(self) -> dict[str, Array]:
        """What aligned rows and columns share, and the totals of both alignments, by topology, content and location."""
        shared = {"top": self._topology(), "con": self._content(), "loc": self._location()}
        return {
            name: values
            for kind, (both, by_rows, by_columns) in shared.items()
            for name, values in ((kind, both), (f"{kind}_bound", np.minimum(by_rows, by_columns)))
        }

    def _topology(self) -> tuple[Floats, Floats, Floats]:
        known: dict[Span, int] = {}
        ours, theirs = (span_grids(*side, known) for side in zip(self.sides, self.layouts, strict=True))
        boxes = np.array(list(known), dtype=np.float64).reshape(-1, 4)
        return kernels().grid_boxes(ours, theirs, boxes, boxes, self._jobs)

    def _content(self) -> tuple[Floats, Floats, Floats]:
        code = self._texts.code
        ours, theirs = (text_grids(*side, code) for side in zip(self.sides, self.layouts, strict=True))
        return kernels().grid_texts(ours, theirs, self._texts.points(), self._jobs)

    def _location(self) -> tuple[Floats, Floats, Floats]:
        """NaN where a side has no boxes."""
        known = np.array([_located(truth, found) for truth, found in self.pairs], dtype=np.bool_)
        if not known.any():
            nothing = np.full(len(self.pairs), np.nan)
            return nothing, nothing, nothing
        ours, theirs = (box_grids(*side) for side in zip(self.sides, self.layouts, strict=True))
        both, by_rows, by_columns = kernels().grid_boxes(ours[0], theirs[0], ours[1], theirs[1], self._jobs)
        return tuple(np.where(known, values, np.nan) for values in (both, by_rows, by_columns))  # type: ignore[return-value]  # three

    def adjacency(self) -> Ints:
        """Relations that both sides have, and those of each: by pair, threshold (2013 has one) and these three."""
        rows: list[Any] = []
        places = zip(self.pairs, *self.layouts, strict=True)
        if self.task.adjacency == "2019":
            for (truth, found), ours, theirs in places:
                cells = adjacency.places(truth, ours), adjacency.places(found, theirs)
                rows.append(adjacency.shared_2019(truth, found, *cells))
        else:
            blanks = self.task.adjacency_blanks == "count"
            for (truth, found), ours, theirs in places:
                own, other = (
                    adjacency.relations(table, layout, blanks=blanks) for table, layout in ((truth, ours), (found, theirs))
                )
                rows.append([adjacency.shared_2013(own, other)])
        width = len(adjacency.THRESHOLDS_2019) if self.task.adjacency == "2019" else 1
        return np.array(rows, dtype=np.int64).reshape(-1, width, 3)

    def cells(self) -> Ints:
        """Cells that stand on both sides with the same place, spans and text, and those of each side."""
        names = ("row", "column", "rowspan", "colspan", "text")
        rows = []
        for pair in self.pairs:
            ours, theirs = ({*zip(*(getattr(table, name) for name in names), strict=True)} for table in pair)
            rows.append((len(ours & theirs), len(pair[0]), len(pair[1])))
        return np.array(rows, dtype=np.int64).reshape(-1, 3)

    def losses(self, distances: Floats) -> list[Losses]:
        """The kinds of errors of each pair."""
        places = zip(self.pairs, zip(*self.layouts, strict=True), self.mappings(distances), strict=True)
        return [Losses(pair, layouts, partners) for pair, layouts, partners in places]


def _located(truth: CellTable, found: CellTable) -> bool:
    """Whether the cells of both tables have boxes, as far as there are two tables."""
    return bool(truth.boxes or found.boxes) and all(table.boxes or table is EMPTY for table in (truth, found))


def teds(distances: Floats, ours: Array, theirs: Array, *, clamped: bool = True) -> Floats:
    """One minus the distance by the larger number of nodes; NaN where there are none."""
    most = np.maximum(ours, theirs)
    values = 1 - np.divide(distances, most, out=np.full(len(most), np.nan), where=most > 0)
    return np.asarray(np.maximum(values, 0.0) if clamped else values)
