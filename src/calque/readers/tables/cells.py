"""Tables as lists of cells with their places: what is known of each cell, checked, and the JSON that says it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from calque.base.errors import IssueLog, Severity
from calque.corpus.tables import MOST_SLOTS, Box, CellTable
from calque.geometry.forms import FAR
from calque.readers.sources.json_tree import entries, identity, index, kind, number, numbers, pointer, shown
from calque.readers.tables.placing import MENDED

HEADERS = ("header", "is_column_header", "column header", "column_header", "is_projected_row_header")


class PlacedCell(NamedTuple):
    """A cell on its place, and where the file says so."""

    row: int
    column: int
    rowspan: int
    colspan: int
    text: str
    header: bool
    box: Box | None
    where: str


class GatheredCells:
    """The cells of one table as a reader finds them: everything that is wrong goes to the log."""

    def __init__(self, log: IssueLog, *, lenient: bool) -> None:
        self._log = log
        self._severity = Severity.LOSS if lenient else Severity.ERROR
        self._lenient = lenient
        self.cells: list[PlacedCell] = []
        self.repairs: Counter[str] = Counter()

    def whole(self, value: Any, where: str, what: str, least: int) -> int | None:
        """A whole number from ``least`` on; otherwise an issue."""
        if isinstance(value, str) and value.strip().isascii() and value.strip().lstrip("-").isdigit() and len(value) < 16:
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            text = f"expected {what} as a whole number from {least}, not {kind(value)} {shown(value)}"
            if least:
                self._log.add("bad-span", where, text, severity=self._severity)
            else:
                self._log.add("bad-place", where, text, severity=self._severity)
            return None
        return value

    def box(self, value: Sequence[float] | None, where: str) -> Box | None:
        """A box of four numbers in order; what is none is absent and noted."""
        if value is not None and len(value) == 4:
            left, top, right, bottom = value
            if all(math.isfinite(side) and abs(side) <= FAR for side in value) and left <= right and top <= bottom:
                return left, top, right, bottom
        self.repairs["bad-box"] += 1
        self._log.add("bad-box", where, MENDED["bad-box"], severity=Severity.NOTE)
        return None

    def add(self, place: Sequence[int | None], text: str, header: bool, box: Box | None, where: str) -> None:
        """A cell at row, column, rowspan, colspan, if all of them are known."""
        row, column, rowspan, colspan = place
        if row is not None and column is not None and rowspan is not None and colspan is not None:
            self.cells.append(PlacedCell(row, column, rowspan, colspan, text, header, box, where))

    def table(self, *, rows: int = 0, columns: int = 0, **more: Any) -> CellTable:
        """The table of these cells; two on one slot are refused, unless one is lenient: then the later keeps it."""
        height = max([rows, *(cell.row + cell.rowspan for cell in self.cells)])
        if rows and all(cell.row < rows for cell in self.cells):
            self.cells = [self._ending(cell, rows) for cell in self.cells]
            height = rows
        width = max([columns, *(cell.column + cell.colspan for cell in self.cells)])
        order = sorted(range(len(self.cells)), key=lambda place: self.cells[place][:2])
        if height * width <= MOST_SLOTS:
            self._check_slots(height, width)
        cells = [self.cells[place] for place in order]
        rank = [0] * len(order)
        for new, old in enumerate(order):
            rank[old] = new
        boxes = tuple(cell.box for cell in cells)
        return CellTable(
            rows=height,
            columns=width,
            row=tuple(cell.row for cell in cells),
            column=tuple(cell.column for cell in cells),
            rowspan=tuple(cell.rowspan for cell in cells),
            colspan=tuple(cell.colspan for cell in cells),
            text=tuple(cell.text for cell in cells),
            header=tuple(cell.header for cell in cells),
            boxes=boxes if any(boxes) else (),
            laid=tuple(rank) if rank != sorted(rank) else (),
            repairs=dict(self.repairs),
            **more,
        )

    def _ending(self, cell: PlacedCell, rows: int) -> PlacedCell:
        if cell.row + cell.rowspan <= rows:
            return cell
        self.repairs["span-clipped"] += 1
        self._log.add("span-clipped", cell.where, MENDED["span-clipped"], severity=Severity.NOTE)
        return cell._replace(rowspan=rows - cell.row)

    def _check_slots(self, height: int, width: int) -> None:
        slots = np.full((height, width), -1, dtype=np.int32)
        for number_of, cell in enumerate(self.cells):
            part = slots[cell.row : cell.row + cell.rowspan, cell.column : cell.column + cell.colspan]
            before = int(part.max())
            if before >= 0:
                other = self.cells[before]
                text = (
                    f"the cells at row {other.row}, column {other.column} ({shown(other.text)}) and row {cell.row}, column "
                    f"{cell.column} ({shown(cell.text)}) lie on one slot"
                )
                help = "" if self._lenient else "correct their places, or let the later one keep it: --lenient"
                severity = Severity.NOTE if self._lenient else Severity.ERROR
                self.repairs["overlap"] += 1
                self._log.add("overlap", cell.where, text, help=help, severity=severity)
            part[:] = number_of


def looks_like_cells(value: Any) -> bool:
    """Whether a list holds cells, as calque or table-transformer writes them."""
    if not isinstance(value, list) or not value or not isinstance(value[0], Mapping):
        return False
    return "row_nums" in value[0] or {"row", "column"} <= value[0].keys()


def table_of(entry: Mapping[str, Any], where: str, log: IssueLog, *, lenient: bool) -> CellTable:
    """The table that an object with ``cells`` describes."""
    gathering = GatheredCells(log, lenient=lenient)
    for place, cell in entries(entry.get("cells"), where + pointer("cells"), log):
        _take(cell, place, gathering)
    rows = gathering.whole(entry["rows"], where + pointer("rows"), "rows", 0) if entry.get("rows") is not None else None
    columns = entry.get("columns")
    width = gathering.whole(columns, where + pointer("columns"), "columns", 0) if columns is not None else None
    return gathering.table(rows=rows or 0, columns=width or 0, **about(entry, where, gathering))


def about(entry: Mapping[str, Any], where: str, gathering: GatheredCells) -> dict[str, Any]:
    """What an object says of a table beside its cells: id, page and box."""
    name = identity(entry.get("id", entry.get("table_id")))
    box = entry.get("box", entry.get("bbox"))
    page = entry.get("page")
    return {
        "id": "" if name is None else str(name),
        "page": index(page),
        "box": None if box is None else gathering.box(numbers(box), where + pointer("box")),
    }


def _take(cell: Mapping[str, Any], where: str, gathering: GatheredCells) -> None:
    box = cell.get("box", cell.get("bbox"))
    found = None if box is None else gathering.box(numbers(box), where + pointer("box" if "box" in cell else "bbox"))
    text = cell.get("text", cell.get("cell_text", ""))
    header = any(cell.get(key) is True for key in HEADERS)
    if "row_nums" in cell:
        rows, columns = (_run(cell.get(key), where + pointer(key), gathering) for key in ("row_nums", "column_nums"))
        place: list[int | None] = [rows[0], columns[0], rows[1], columns[1]]
    else:
        place = [gathering.whole(cell.get(key), where + pointer(key), f"the {key}", 0) for key in ("row", "column")]
        place += [gathering.whole(cell.get(key, 1), where + pointer(key), f"the {key}", 1) for key in ("rowspan", "colspan")]
    gathering.add(place, spelt(text), header, found, where)


def _run(value: Any, where: str, gathering: GatheredCells) -> tuple[int | None, int | None]:
    """The first of some numbers on end, and how many there are."""
    listed = value if isinstance(value, list) and value else [value]
    read = [gathering.whole(each, where, "a place", 0) for each in listed]
    known = sorted(each for each in read if each is not None)
    if len(known) < len(read):
        return None, None
    if known[-1] - known[0] + 1 != len(known):
        gathering.whole(None, where, "numbers on end", 0)
        return None, None
    return known[0], len(known)


def spelt(value: Any) -> str:
    """A text as a cell has it: numbers are spelt, nothing is nothing."""
    from calque.base.text_normalization import squeezed

    if value is None:
        return ""
    return squeezed(value if isinstance(value, str) else shown(value) if number(value) is not None else str(value))
