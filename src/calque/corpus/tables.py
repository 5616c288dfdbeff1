"""Tables of documents: cells on rows and columns, whatever they were written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from calque.base.columns import Codes
from calque.base.errors import Issue
from calque.corpus.boxes import Corpus, UnitId, canonical, json_digest

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom."""

MOST_SLOTS = 4_000_000
"""Rows times columns of one table; a larger one cannot be evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellTable:
    """One table: its cells as columns, row by row and in each row from left to right.

    >>> table = CellTable.of([(0, 0, 1, 2, "both", True), (1, 0, 1, 1, "a", False), (1, 1, 1, 1, "b", False)])
    >>> table.rows, table.columns, table.grid().tolist()
    (2, 2, [[0, 0], [1, 2]])
    """

    rows: int
    columns: int
    row: tuple[int, ...] = ()
    column: tuple[int, ...] = ()
    rowspan: tuple[int, ...] = ()
    colspan: tuple[int, ...] = ()
    text: tuple[str, ...] = ()
    header: tuple[bool, ...] = ()
    boxes: tuple[Box | None, ...] = ()
    """A box for each cell, or nothing at all where no cell has one."""
    laid: tuple[int, ...] = ()
    """The order in which cells take their slots, where it is not that of the cells: the later one keeps a slot."""
    id: str = ""
    page: int | None = None
    box: Box | None = None
    markup: str = ""
    """The HTML that it was read from; empty where it was something else."""
    span: tuple[int, int] = (0, 0)
    """Where that begins and ends in its file."""
    repairs: Mapping[str, int] = field(default_factory=dict)
    """What had to be mended while it was read: codes of issues, and how often."""

    @classmethod
    def of(cls, cells: Iterable[tuple[int, int, int, int, str, bool]], **more: Any) -> CellTable:
        """A table of cells ``(row, column, rowspan, colspan, text, header)``, in any order."""
        listed = sorted(cells)
        columns: list[Any] = list(zip(*listed, strict=True)) if listed else [()] * 6
        more["rows"] = max([more.get("rows", 0), *(cell[0] + cell[2] for cell in listed)])
        more["columns"] = max([more.get("columns", 0), *(cell[1] + cell[3] for cell in listed)])
        row, column, rowspan, colspan, text, header = columns
        return cls(row=row, column=column, rowspan=rowspan, colspan=colspan, text=text, header=header, **more)

    def __len__(self) -> int:
        """The number of cells."""
        return len(self.row)

    def __repr__(self) -> str:
        name = f" {self.id}" if self.id else ""
        return f"<Table{name}: {self.rows} × {self.columns}, {len(self)} cell{'' if len(self) == 1 else 's'}>"

    @property
    def slots(self) -> int:
        """How many places there are for cells of one row and one column."""
        return self.rows * self.columns

    @property
    def nodes(self) -> int:
        """How many rows and cells there are."""
        return self.rows + len(self)

    def spans(self) -> bool:
        """Whether any cell lies on more than one row or column."""
        return any(span > 1 for span in self.rowspan) or any(span > 1 for span in self.colspan)

    def grid(self) -> Codes:
        """For each row and column the cell there, or -1 where there is none."""
        slots = np.full((self.rows, self.columns), -1, dtype=np.int32)
        for cell in self.laid or range(len(self)):
            row, column = self.row[cell], self.column[cell]
            slots[row : row + self.rowspan[cell], column : column + self.colspan[cell]] = cell
        return slots

    def overlay(self) -> tuple[int, ...]:
        """Return the order in which cells take their slots if it decides which of two cells keeps one; else nothing.

        A table that is too large for a grid keeps its order: nothing is evaluated on it.
        """
        if self.slots > MOST_SLOTS:
            return self.laid
        decides = self.laid and not np.array_equal(self.grid(), replace(self, laid=()).grid())
        return self.laid if decides else ()

    def row_sizes(self) -> list[int]:
        """How many cells begin in each row."""
        sizes = [0] * self.rows
        for row in self.row:
            sizes[row] += 1
        return sizes

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, which is read back as the same table."""
        boxes = self.boxes or (None,) * len(self)
        head = {"id": self.id or None, "page": self.page, "box": None if self.box is None else list(self.box)}
        names = ("row", "column", "rowspan", "colspan", "text", "header")
        cells = []
        for place, values in enumerate(zip(*(getattr(self, name) for name in names), strict=True)):
            box = boxes[place]
            cells.append(dict(zip(names, values, strict=True)) | ({} if box is None else {"box": list(box)}))
        return {**{key: value for key, value in head.items() if value is not None}, "rows": self.rows, "cells": cells}


@dataclass(frozen=True, eq=False, kw_only=True)
class TableCorpus(Corpus):
    """The tables of documents, in the order in which they stand there."""

    tables: Mapping[UnitId, Sequence[CellTable]]
    metadata: Mapping[str, Mapping[UnitId, str]] = field(default_factory=dict)
    """What is known of documents beside their tables, by column and document."""
    prepared: object = None
    """How its texts were made alike, so that it is done once."""
    uses_markup: bool = True
    """Whether metrics read the HTML of tables, as those of other tools do. If not, it does not count in digests."""
    model: str = ""
    source: str = ""
    issues: tuple[Issue, ...] = ()

    def __repr__(self) -> str:
        return f"<TableCorpus {self.source or 'from memory'}: {self.contents()}>"

    def contents(self) -> str:
        """How much there is."""
        count = sum(map(len, self.tables.values()))
        return f"{super().contents()} with {count:,} table{'' if count == 1 else 's'}"

    def units(self) -> tuple[UnitId, ...]:
        """The ids of all documents, those without tables too."""
        return tuple(sorted(self.tables, key=canonical))

    def digests(self) -> list[int]:
        """Return a digest of each document: its tables in their order."""

        def content(table: CellTable) -> list[Any]:
            return [table.to_dict(), table.columns, table.overlay(), self.uses_markup and table.markup]

        return [json_digest([content(table) for table in self.tables[unit]]) for unit in self.units()]

    def select(self, units: Iterable[UnitId]) -> TableCorpus:
        """Only these documents (those that are here), whole."""
        wanted = set(units)
        return replace(self, tables={unit: tables for unit, tables in self.tables.items() if unit in wanted})
