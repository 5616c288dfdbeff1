"""Tables as the kernels take them: rows of cells, grids of slots, and one numbering of all texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from calque.core.columns import Codes, Floats
from calque.core.corpora.tables import CellTable
from calque.kernels.structs import Grids, RowTables, TextPoints


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
