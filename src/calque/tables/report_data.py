"""What a report draws of tables: every table as a case with its kinds of errors, and both grids, row beside row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from calque.base.columns import Floats, Strings, Table
from calque.base.wording import counted
from calque.corpus.boxes import distinct_names
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation.report_data import OUTCOMES as IN_REPORTS
from calque.evaluation.presentation.report_data import Number, Overview, Part, ReportData
from calque.tables.kinds import KINDS
from calque.tables.numbers import Rows
from calque.tables.presentation import IN_WORDS
from calque.tables.scoring import KIND_NAMES, STATUS_NAMES

if TYPE_CHECKING:
    from calque.tables.task import Tables

TITLES = {
    "teds": ("TEDS", "mean over true tables"),
    "teds_struct": ("TEDS-Struct", "texts ignored"),
    "grits_top": ("GriTS-Top", "extent of cells"),
    "grits_con": ("GriTS-Con", "texts in their places"),
    "grits_loc": ("GriTS-Loc", "boxes of cells"),
    "exact": ("Exact", "nothing differs"),
}
MOST_CELLS, MOST_OF_A_TABLE = 200_000, 1_500
"""How many cells stand in a page, the worst tables first, and how many of one table."""

Drawn: TypeAlias = "list[list[Any]]"
"""Lines of cells (text, look, colspan, rowspan, kind); nothing stands between the two sides."""


def report_data(task: Tables, ledger: Ledger, numbers: Mapping[str, Any]) -> ReportData | None:  # noqa: ARG001  # as all tasks
    """Every table with what is wrong, and its grids; nothing when the cells were let go of."""
    if not isinstance(ledger.table("cells").get("text"), Strings):
        return None
    title, scores = Rows(ledger).score()
    cases = list(_cases(ledger, scores, {(str(one["document"]), one["truth"]) for one in numbers["apart"]}))
    grids = _Grids(ledger)
    left = MOST_CELLS
    for place in np.argsort(np.nan_to_num(scores), kind="stable").tolist():
        told = cases[place]["rows"][0]
        if (left := left - grids.size(place)) < 0:
            told["reasoning"] += f"; its grids are left out: the page holds {MOST_CELLS:,} cells, of the worst tables"
            continue
        cases[place]["grid"], more = grids.drawn(place)
        told["reasoning"] += f"; {counted(more, 'more row')} not shown" if more else ""
    head = {
        "kind": "checks",
        "title": "Tables",
        "noun": "table",
        "words": IN_WORDS,
        "evaluators": [title],
        "cases": cases,
        "numbers": {"overviews": [_overview(numbers).to_dict()], "gate": None},
    }
    codes = [IN_REPORTS.index(case["outcome"]) for case in cases]
    return ReportData(head, {"case.outcome": np.array(codes, dtype=np.uint8)})


OUTCOMES = {"paired": "tp", "missed": "fn", "spurious": "fp", "invalid": "invalid"}
"""What is counted of tables, in the one language of outcomes."""
APART = "apart"
"""Beside kinds of errors: values stand under the wrong headings."""


def _cases(ledger: Ledger, scores: Floats, apart: set[tuple[str, int]]) -> Iterator[dict[str, Any]]:
    tables = ledger.table("tables")
    names = distinct_names(ledger.units)
    units = tables.array(UNIT)
    truth = tables.array("truth").tolist()
    number = (np.arange(len(units)) - ledger.offsets("tables")[units]).tolist()
    for place, (unit, code) in enumerate(zip(units.tolist(), tables.array("status").tolist(), strict=True)):
        status = STATUS_NAMES[code]
        score = None if np.isnan(scores[place]) else float(scores[place])
        paired = "pass" if score == 1 else "partial" if score is not None else "error"
        verdict = {"paired": paired, "invalid": "error"}.get(status, "fail")
        yield {
            "id": f"{names[unit]}#{number[place]}",
            "outcome": OUTCOMES[status],
            "kinds": [*_kinds(tables, place), *([APART] if (str(ledger.units[unit]), truth[place]) in apart else [])],
            "rows": [
                {
                    "evaluator": 0,
                    "score": score,
                    "verdict": verdict,
                    "reasoning": status,
                    "hits": [],
                    "misses": _losses(tables, place),
                }
            ],
        }


def _kinds(tables: Table, place: int) -> list[str]:
    """The kinds of errors that a table has."""
    return [KINDS[kind] for kind in np.flatnonzero(tables.array("kind_cost")[place] > 0)] if "kind_cost" in tables else []


def _losses(tables: Table, place: int) -> list[str]:
    """The kinds of errors of a table, the dearest first."""
    if "kind_cost" not in tables:
        return []
    costs, counts = tables.array("kind_cost")[place], tables.array("kind_count")[place]
    order = np.argsort(-costs, kind="stable").tolist()
    return [f"{IN_WORDS[KINDS[kind]]}: {counts[kind]:,}, cost {costs[kind]:.2f}" for kind in order if costs[kind] > 0]


class _Grids:
    """The cells of all tables, laid out side by side when they are asked for."""

    def __init__(self, ledger: Ledger) -> None:
        self._cells = cells = ledger.table("cells")
        place = (ledger.offsets("tables")[cells.array(UNIT)] + cells.array("table")) * 2 + cells.array("side")
        self._bounds = np.searchsorted(place, np.arange(2 * ledger.table("tables").height + 1)).tolist()

    def size(self, place: int) -> int:
        """How many cells a table has on both sides."""
        first, last = self._bounds[2 * place], self._bounds[2 * place + 2]
        return min(int(last - first), MOST_OF_A_TABLE)

    def drawn(self, place: int) -> tuple[Drawn, int]:
        """The lines of a table, rows that have partners beside each other, and how many more there are."""
        sides = [_Side(list(self._cells.cut(*self._bounds[2 * place + side : 2 * place + side + 2]).rows())) for side in (0, 1)]
        lines = _beside(*sides)
        most = max(1, MOST_OF_A_TABLE // max(1, sides[0].width + sides[1].width))
        ours, theirs = (side.lines([line[number] for line in lines[:most]]) for number, side in enumerate(sides))
        drawn = [[*left, None, *right] for left, right in zip(ours, theirs, strict=True)]
        return drawn, max(0, len(lines) - most)


class _Side:
    """The cells of one side, and where they lie."""

    def __init__(self, cells: Sequence[Mapping[str, Any]]) -> None:
        self.cells = cells
        self.height = max((cell["row"] + cell["rowspan"] for cell in cells), default=0)
        self.width = max((cell["column"] + cell["colspan"] for cell in cells), default=1)
        self.slots = np.full((self.height, self.width), -1, dtype=np.int32)
        for number, cell in enumerate(cells):
            self._part(cell)[:] = number

    def _part(self, cell: Mapping[str, Any]) -> Any:
        row, column = cell["row"], cell["column"]
        return self.slots[row : row + cell["rowspan"], column : column + cell["colspan"]]

    def lines(self, rows: Sequence[int]) -> Drawn:
        """The cells of each line; a line without a row is a gap, unless a cell reaches over it."""
        if not self.cells and rows:
            return [[["no table", "g", 1, len(rows), ""]], *([] for _ in rows[1:])]
        at = {row: line for line, row in enumerate(rows) if row >= 0}
        covered: dict[int, int] = {}
        """For each column the last line that a cell above reaches."""
        drawn: Drawn = []
        for line, row in enumerate(rows):
            made: list[Any] = []
            for column in range(self.width):
                if covered.get(column, -1) >= line:
                    continue
                number = int(self.slots[row, column]) if row >= 0 else -1
                if number < 0:
                    made.append(["", "g" if row < 0 else "", 1, 1, ""])
                    continue
                made.append(self._cell(number, line, column, at, covered))
            drawn.append(made)
        return drawn

    def _cell(self, number: int, line: int, column: int, at: Mapping[int, int], covered: dict[int, int]) -> list[Any]:
        cell = self.cells[number]
        kind = KIND_NAMES[cell["kind"]]
        look = ("h " if cell["header"] else "") + _look(kind)
        if not (self._part(cell) == number).all():  # another cell lies on it
            return [cell["text"], look, 1, 1, kind]
        inside = [at[row] for row in range(cell["row"], cell["row"] + cell["rowspan"]) if row in at]
        last = max(inside, default=line)
        for each in range(column, column + cell["colspan"]):
            covered[each] = last
        return [cell["text"], look, cell["colspan"], last - line + 1, kind]


def _look(kind: str) -> str:
    if not kind:
        return ""
    return "fn" if kind.endswith("missed") else "fp" if kind.endswith("spurious") else "wrong"


def _beside(ours: _Side, theirs: _Side) -> list[tuple[int, int]]:
    """Rows that stand beside each other: where most cells of a row have their partners, as long as the order is kept."""
    votes: list[Counter[int]] = [Counter() for _ in range(ours.height)]
    for cell in ours.cells:
        if cell["partner"] >= 0:
            votes[cell["row"]][theirs.cells[cell["partner"]]["row"]] += 1
    lines, following = list[tuple[int, int]](), 0
    for row, counted_rows in enumerate(votes):
        best = max(counted_rows, key=lambda each: (counted_rows[each], -each), default=-1)
        if best < following:
            lines.append((row, -1))
            continue
        lines += [(-1, other) for other in range(following, best)]
        lines.append((row, best))
        following = best + 1
    return [*lines, *((-1, other) for other in range(following, theirs.height))]


def _overview(numbers: Mapping[str, Any]) -> Overview:
    """The first view."""
    counts, means = numbers["counts"], numbers["mean"]
    shown = [Number(title, name, means[name], note) for name, (title, note) in TITLES.items() if name in means]
    sizes = [counted(counts["documents"], "document"), counted(counts["truth"], "true table"), f"{counts['pred']:,} predicted"]
    return Overview(
        line=["Tables", *sizes],
        parts=[
            Part("tp", counts["paired"], "paired"),
            Part("fn", counts["missed"], "missed"),
            Part("fp", counts["spurious"], "spurious"),
        ],
        numbers=shown[:6],
    )
