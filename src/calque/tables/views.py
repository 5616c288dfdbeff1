"""What can be looked at beside the numbers of tables: a row for each table, and two grids side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Column, Strings, Table
from calque.base.errors import ConfigError, did_you_mean
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation.sections import cut, pad, printable, width
from calque.tables.kinds import KINDS
from calque.tables.numbers import Rows
from calque.tables.scoring import KIND_NAMES, STATUS_NAMES

if TYPE_CHECKING:
    from calque.tables.task import Tables

PLAIN = (
    "teds", "teds_struct", "distance", "struct_distance", "nodes_truth", "nodes_found", "rows_truth", "rows_found",
    "columns_truth", "columns_found",
)  # fmt: skip
OUTCOMES = {"paired": "tp", "missed": "fn", "spurious": "fp", "invalid": "invalid"}


def outcomes(task: Tables, ledger: Ledger) -> Table:  # noqa: ARG001  # the columns that are there say enough
    """One row for each table: where it is, what happened to it, its numbers, and the kind that cost most."""
    rows = ledger.table("tables")
    status = [STATUS_NAMES[code] for code in rows.array("status").tolist()]
    columns: dict[str, Column] = {
        "document": Strings.pack(str(ledger.units[unit]) for unit in rows.array(UNIT).tolist()),
        "truth": rows.array("truth"),
        "found": rows.array("found"),
        "page": rows.array("page"),
        "outcome": Strings.pack(OUTCOMES[each] for each in status),
        "status": Strings.pack(status),
    }
    columns |= {name: rows.array(name) for name in PLAIN if name in rows}
    if "kind_cost" in rows:
        costs = rows.array("kind_cost")
        columns["kind"] = Strings.pack(KINDS[int(row.argmax())] if row.max() > 0 else "" for row in costs)
    return Table(columns)


def shown(ledger: Ledger, wanted: str, *, columns: int | None = None) -> Iterator[str]:
    """Both grids of each table of a document, or of the one that ``DOCUMENT#TABLE`` names, side by side."""
    document, _, number = wanted.rpartition("#") if "#" in wanted else (wanted, "", "")
    names = {str(unit): row for row, unit in enumerate(ledger.units)}
    if wanted in names:
        document, number = wanted, ""
    if document not in names:
        raise ConfigError(f"--show: there is no document {document!r}. {did_you_mean(document, names)}".strip())
    first, last = ledger.offsets("tables")[names[document] : names[document] + 2].tolist()
    listed = [place for place in range(first, last) if not number or str(place - first) == number]
    if not listed:
        raise ConfigError(f"--show: document {document!r} has {last - first} tables, and none is #{number}")
    for place in listed:
        yield from _one(ledger, document, place, place - first, columns)


def _one(ledger: Ledger, document: str, place: int, number: int, columns: int | None) -> Iterator[str]:
    rows = ledger.table("tables")
    status = STATUS_NAMES[int(rows.array("status")[place])]
    title, scores = Rows(ledger).score()
    score = "–" if np.isnan(scores[place]) else f"{float(scores[place]):.4f}"
    yield f"{document}#{number}: {status}, {title} {score}; truth (left), prediction (right)"
    sides = [_grid(ledger, int(rows.array(UNIT)[place]), number, side) for side in (0, 1)]
    room = None if columns is None else (columns - 3) // 2
    left, right = (_drawn(side, room) for side in sides)
    size = max(map(width, left), default=0)
    for line in range(max(len(left), len(right))):
        ours, theirs = (lines[line] if line < len(lines) else "" for lines in (left, right))
        yield f"{pad(ours, size, left=True)} ┃ {theirs}".rstrip()
    kinds = sorted({kind for side in sides for row in side for _, kind in row if kind})
    if kinds:
        yield "marked: " + ", ".join(f"{MARKS[kind]} {kind}" for kind in kinds)
    yield ""


MARKS = {
    "row_missed": "-", "row_spurious": "+", "row_merged": "m", "row_split": "s", "column_missed": "-", "column_spurious": "+",
    "cell_missed": "-", "cell_spurious": "+", "cell_merged": "m", "cell_split": "s", "shift": ">", "span": "#", "text": "~",
    "table_missed": "-", "table_spurious": "+", "header_wrong": "h",
}  # fmt: skip
"""What stands before a cell that is wrong."""

Grid = list[list[tuple[str, str]]]
"""For each slot its text and what is wrong with its cell."""


def _grid(ledger: Ledger, unit: int, table: int, side: int) -> Grid:
    cells = ledger.table("cells")
    if "text" not in cells:
        raise ValueError('the cells were let go of (keep="numbers"): evaluate again and keep outcomes')
    first, last = ledger.offsets("cells")[unit : unit + 2].tolist()
    here = cells.cut(first, last)
    chosen = here.take(np.flatnonzero((here.array("table") == table) & (here.array("side") == side)))
    entries: list[dict[str, Any]] = list(chosen.rows())
    height = max((entry["row"] + entry["rowspan"] for entry in entries), default=0)
    breadth = max((entry["column"] + entry["colspan"] for entry in entries), default=0)
    slots: Grid = [[("", "")] * breadth for _ in range(height)]
    for entry in entries:
        kind = KIND_NAMES[entry["kind"]]
        for row in range(entry["row"], entry["row"] + entry["rowspan"]):
            for column in range(entry["column"], entry["column"] + entry["colspan"]):
                at_start = row == entry["row"] and column == entry["column"]
                slots[row][column] = (entry["text"], kind) if at_start else ("^" if row > entry["row"] else "<", "")
    return slots


def _drawn(grid: Grid, room: int | None) -> list[str]:
    """The lines of a grid, its widest columns cut until it fits."""
    texts = [[f"{MARKS[kind]} {printable(text)}" if kind else f"  {printable(text)}" for text, kind in row] for row in grid]
    if not texts or not texts[0]:
        return ["(no cells)"]
    sizes = [max(width(row[column]) for row in texts) for column in range(len(texts[0]))]
    while room is not None and _total(sizes) > room and max(sizes) > 4:
        sizes[sizes.index(max(sizes))] -= 1
    return ["│".join(pad(cut(text, size), size, left=True) for text, size in zip(row, sizes, strict=True)) for row in texts]


def _total(sizes: Sequence[int]) -> int:
    return sum(sizes) + len(sizes) - 1
