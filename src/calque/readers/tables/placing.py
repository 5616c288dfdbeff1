"""Cells that come row by row, with spans, put on the slots of a table as HTML does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from calque.base.errors import Issue, Severity
from calque.corpus.tables import MOST_SLOTS, Box, CellTable

MOST_COLUMNS_OF_A_CELL = 1000
TO_THE_END = 0
"""A rowspan of 0 reaches the last row."""


class RawCell(NamedTuple):
    """A cell as it was written, before it has a place."""

    rowspan: int
    colspan: int
    text: str
    header: bool
    box: Box | None = None


def span_of(value: str | None, repairs: Counter[str], *, least: int) -> int:
    """The number that an attribute spells: its leading digits, else 1.

    >>> repairs = Counter()
    >>> span_of("2.0", repairs, least=1), span_of("abc", repairs, least=1), span_of("0", repairs, least=0), dict(repairs)
    (2, 1, 0, {'bad-span': 2})
    """
    if value is None:
        return 1
    stripped = value.strip(" \t\n\f\r")
    digits = stripped[: next((place for place, char in enumerate(stripped) if char not in "0123456789"), len(stripped))]
    if digits != stripped or not digits:
        repairs["bad-span"] += 1
    if not digits:
        return 1
    span = int(digits[:9].rjust(1, "0")) if len(digits.lstrip("0")) < 10 else 10**9
    if span < least:
        repairs["bad-span"] += 1
    return max(span, least)


def placed(rows: Sequence[Sequence[RawCell]], repairs: Counter[str], **more: object) -> CellTable:
    """The table of these rows: every cell takes the first free slot of its row, and rowspans end with the last row."""
    taken: list[int] = []
    """For each column the first row in which it is free again."""
    places: list[tuple[int, int, int, int, RawCell]] = []
    width = 0
    for row, cells in enumerate(rows):
        column = 0
        for cell in cells:
            if not taken and cell.rowspan == cell.colspan == 1:  # as most are
                places.append((row, column, 1, 1, cell))
                column += 1
                continue
            while column < len(taken) and taken[column] > row:
                column += 1
            colspan, rowspan = _clipped(cell, len(rows) - row, repairs)
            end = column + colspan
            if any(until > row for until in taken[column:end]):
                repairs["overlap"] += 1
            if rowspan > 1:
                taken += [0] * (end - len(taken))
                taken[column:end] = [row + rowspan] * colspan
            places.append((row, column, rowspan, colspan, cell))
            column = end
        width = max(width, column)
        if width * len(rows) > MOST_SLOTS:
            break
    return _table(places, len(rows), width, repairs, more)


def _clipped(cell: RawCell, rows_left: int, repairs: Counter[str]) -> tuple[int, int]:
    """The spans that a cell can have where it stands."""
    colspan = min(cell.colspan, MOST_COLUMNS_OF_A_CELL)
    rowspan = rows_left if cell.rowspan == TO_THE_END else min(cell.rowspan, rows_left)
    if colspan < cell.colspan or rowspan < cell.rowspan:
        repairs["span-clipped"] += 1
    return colspan, rowspan


def _table(
    places: list[tuple[int, int, int, int, RawCell]], rows: int, width: int, repairs: Counter[str], more: dict[str, object]
) -> CellTable:
    if rows * width <= MOST_SLOTS and _has_holes(places, rows, width):
        repairs["ragged"] += 1
    row, column, rowspan, colspan, raw = zip(*places, strict=True) if places else ((),) * 5
    _, _, text, header, boxes = zip(*raw, strict=True) if raw else ((),) * 5
    return CellTable(
        rows=rows,
        columns=width,
        row=row,
        column=column,
        rowspan=rowspan,
        colspan=colspan,
        text=text,
        header=header,
        boxes=boxes if any(boxes) else (),
        repairs=dict(+repairs),
        **more,  # type: ignore[arg-type]  # what the caller knows of the table
    )


def _has_holes(places: list[tuple[int, int, int, int, RawCell]], rows: int, width: int) -> bool:
    covered = sum(rowspan * colspan for _, _, rowspan, colspan, _ in places)
    if covered < rows * width:
        return True
    if not any(rowspan > 1 for _, _, rowspan, _, _ in places):
        return False
    ends = [0] * rows
    for row, column, rowspan, colspan, _ in places:
        for each in range(row, row + rowspan):
            ends[each] += min(colspan, width - column)
    return any(end < width for end in ends)


MENDED = {
    "unclosed-tag": "missing end tags of cells, rows and tables were supplied",
    "loose-cell": "cells outside of a row form a row of their own",
    "bad-span": "spans that are no number above 0 were read as far as they are one, else as 1",
    "span-clipped": "spans that reach beyond the table were cut",
    "overlap": "cells lie on one another; a slot belongs to the later one",
    "ragged": "some slots have no cell; they are holes",
    "nested-table": "a table inside of a cell is text of that cell",
    "excess-cells": "rows have more cells than the header; they are kept",
    "blank-header": "a header row without any text was left out: Markdown cannot do without one",
    "stray-text": "text in a table that is in no cell was left out",
    "bad-box": "boxes that are no four finite numbers in order count as absent",
}
"""What was mended, in words for people."""


def repairs_as_issues(repairs: Counter[str], file: str) -> list[Issue]:
    """A note for each kind of repair, with how often it was made."""
    return [
        Issue(code, MENDED[code], file, severity=Severity.NOTE, count=count) for code, count in sorted(repairs.items()) if count
    ]
