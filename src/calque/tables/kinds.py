"""Where the loss went: each unit of the distance between two tables under the one kind of error that explains it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from rapidfuzz.distance import Levenshtein

from calque.base.columns import Codes
from calque.corpus.tables import CellTable

KINDS = (
    "row_missed", "row_spurious", "row_merged", "row_split", "column_missed", "column_spurious", "cell_missed",
    "cell_spurious", "cell_merged", "cell_split", "shift", "span", "text", "table_missed", "table_spurious", "header_wrong",
)  # fmt: skip
ALONE, BY_ROW = -1, -2
"""Instead of a partner: there is none, or it is a row without cells."""


class Half:
    """One side of a mapping: a table, and the partners of its rows and cells on the other side."""

    def __init__(
        self, table: CellTable, layout: Codes, rows: Sequence[int], cells: Sequence[int], names: dict[str, str]
    ) -> None:
        self.table = table
        self._layout = layout
        self.rows, self.cells, self.names = rows, cells, names
        self.text = table.text
        self.kinds = [""] * len(table)
        """What is wrong with each cell, as far as it is known."""

    @cached_property
    def layout(self) -> list[list[int]]:
        """The cell of each slot."""
        slots: list[list[int]] = self._layout.tolist()
        return slots

    @cached_property
    def in_row(self) -> list[list[int]]:
        """The cells of each row."""
        listed: list[list[int]] = [[] for _ in range(self.table.rows)]
        for cell, row in enumerate(self.table.row):
            listed[row].append(cell)
        return listed

    @cached_property
    def at(self) -> dict[tuple[int, int], int]:
        """Which cell begins at a row and column."""
        return {place: cell for cell, place in enumerate(zip(self.table.row, self.table.column, strict=True))}

    @cached_property
    def in_column(self) -> dict[int, list[int]]:
        """The cells of paired rows that begin in each column."""
        listed: dict[int, list[int]] = {}
        for cell, (row, column) in enumerate(zip(self.table.row, self.table.column, strict=True)):
            if self.rows[row] >= 0:
                listed.setdefault(column, []).append(cell)
        return listed

    def spans(self, cell: int) -> bool:
        """Whether a cell lies on several slots."""
        return self.table.rowspan[cell] > 1 or self.table.colspan[cell] > 1

    def span_at(self, row: int, column: int) -> bool:
        """Whether a slot belongs to a cell that lies on several."""
        if column >= self.table.columns:
            return False
        cell = self.layout[row][column]
        return cell >= 0 and self.spans(cell)

    def near(self, row: int) -> Iterator[int]:
        """The rows paired with the nearest paired row above, and with that below."""
        for rows in (range(row - 1, -1, -1), range(row + 1, len(self.rows))):
            nearest = next((each for each in rows if self.rows[each] >= 0), None)
            if nearest is not None:
                yield self.rows[nearest]


TRUTH_NAMES = {
    "several": "row_split", "one": "row_merged", "inside": "row_merged", "row": "row_missed",
    "cell_inside": "cell_merged", "column": "column_missed", "cell": "cell_missed",
}  # fmt: skip
FOUND_NAMES = {
    "several": "row_merged", "one": "row_split", "inside": "row_split", "row": "row_spurious",
    "cell_inside": "cell_split", "column": "column_spurious", "cell": "cell_spurious",
}  # fmt: skip


class Losses:
    """The kinds of one pair of tables: how often each occurs, and what it costs."""

    def __init__(
        self, tables: tuple[CellTable, CellTable], layouts: tuple[Codes, Codes], partners: tuple[Sequence[int], ...]
    ) -> None:
        rows, cells, others = partners
        back = [ALONE] * tables[1].rows
        for row, partner in enumerate(rows):
            if partner >= 0:
                back[partner] = row
        self.truth = Half(tables[0], layouts[0], rows, cells, TRUTH_NAMES)
        self.found = Half(tables[1], layouts[1], back, others, FOUND_NAMES)
        self.count: Counter[str] = Counter()
        self.cost: dict[str, float] = {}
        self._explained: dict[tuple[int, int], str] = {}
        """Pairs of cells whose difference a merge or split explains."""
        for half, other in ((self.truth, self.found), (self.found, self.truth)):
            self._rows_alone(half, other)
            self._cells_alone(half, other)
        self._pairs()

    def headers_together(self) -> int:
        """Pairs of cells that are headers on both sides."""
        ours, theirs = self.truth.table.header, self.found.table.header
        return sum(partner >= 0 and ours[cell] and theirs[partner] for cell, partner in enumerate(self.truth.cells))

    def _add(self, kind: str, cost: float, count: int = 1) -> None:
        self.count[kind] += count
        self.cost[kind] = self.cost.get(kind, 0.0) + cost

    def _explain(self, half: Half, cell: int, partner: int, kind: str) -> None:
        pair = (cell, partner) if half is self.truth else (partner, cell)
        self._explained.setdefault(pair, kind)

    def _rows_alone(self, half: Half, other: Half) -> None:
        for row, partner in enumerate(half.rows):
            if partner >= 0:
                continue
            cells = half.in_row[row]
            kind = self._kind_of_row(half, other, row)
            alone = [cell for cell in cells if half.cells[cell] == ALONE]
            for cell in alone:
                half.kinds[cell] = kind
            self._add(kind, 1.0 + len(alone))

    def _kind_of_row(self, half: Half, other: Half, row: int) -> str:
        cells = half.in_row[row]
        rows = {other.table.row[half.cells[cell]] for cell in cells if half.cells[cell] >= 0}
        if rows:
            return half.names["several" if len(rows) > 1 else "one"]
        texts = [cell for cell in cells if half.text[cell]]
        for near in half.near(row):
            inside = [
                holder
                for cell in texts
                if (holder := other.at.get((near, half.table.column[cell]))) is not None
                and _inside(half.text[cell], other.text[holder])
            ]
            if inside and 2 * len(inside) >= len(texts):
                for holder in inside:
                    if other.cells[holder] >= 0:
                        self._explain(other, holder, other.cells[holder], half.names["inside"])
                return half.names["inside"]
        return half.names["row"]

    def _cells_alone(self, half: Half, other: Half) -> None:
        for row, partner in enumerate(half.rows):
            if partner < 0:
                continue
            for place, cell in enumerate(half.in_row[row]):
                if half.cells[cell] == ALONE:
                    half.kinds[cell] = self._kind_of_cell(half, other, row, place)
                    self._add(half.kinds[cell], 1.0)

    def _kind_of_cell(self, half: Half, other: Half, row: int, place: int) -> str:
        cells = half.in_row[row]
        cell = cells[place]
        column = half.table.column[cell]
        if half.spans(cell) or other.span_at(half.rows[row], column):
            return "span"
        for beside in (*cells[max(place - 1, 0) : place], *cells[place + 1 : place + 2]):
            partner = half.cells[beside]
            if partner >= 0 and other.text[partner] != half.text[beside] and _inside(half.text[cell], other.text[partner]):
                self._explain(half, beside, partner, half.names["cell_inside"])
                return half.names["cell_inside"]
        same = half.in_column[column]
        lacking = sum(half.cells[each] == ALONE for each in same)
        if lacking >= 2 and 2 * lacking >= len(same):
            return half.names["column"]
        return "shift" if _shifted(half, other, cells[place + 1 :]) else half.names["cell"]

    def _pairs(self) -> None:
        ours, theirs = self.truth.table, self.found.table
        for cell, partner in enumerate(self.truth.cells):
            if partner < 0:
                continue
            if ours.header[cell] != theirs.header[partner]:
                self._add("header_wrong", 0.0)
            spans = ours.rowspan[cell] == theirs.rowspan[partner] and ours.colspan[cell] == theirs.colspan[partner]
            if spans and ours.text[cell] == theirs.text[partner]:
                continue
            explained = self._explained.get((cell, partner))
            kind = "span" if not spans else explained or "text"
            cost = Levenshtein.normalized_distance(ours.text[cell], theirs.text[partner]) if spans else 1.0
            self._add(kind, cost, int(kind in ("span", "text")))
            self.truth.kinds[cell] = self.found.kinds[partner] = kind


def _inside(text: str, longer: str) -> bool:
    return 0 < len(text) < len(longer) and text in longer


def _shifted(half: Half, other: Half, following: Sequence[int]) -> bool:
    """Whether the next paired cell stands in another column than most of its own column do on the other side."""
    after = next((cell for cell in following if half.cells[cell] >= 0), None)
    if after is None:
        return False
    column = half.table.column[after]
    columns = Counter(
        other.table.column[half.cells[cell]] for cell in half.in_column[column] if cell != after and half.cells[cell] >= 0
    )
    usual = max(columns, key=lambda each: (columns[each], each == column, -each)) if columns else column
    return other.table.column[half.cells[after]] != usual
