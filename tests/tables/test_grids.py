"""GriTS against the plain recurrence of its authors, with a reward for each pair of slots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from rapidfuzz.distance import LCSseq

from calque.corpus.tables import CellTable
from calque.tables import compare
from tests.examples import examples
from tests.laws.tables import tables

pytestmark = pytest.mark.usefixtures("kernels")
Reward = Callable[[Any, Any], float]


def align(ours: list[Any], theirs: list[Any], reward: Reward) -> tuple[float, list[tuple[int, int]]]:
    """The best alignment in order: pair, else skip truth, else skip prediction, from the end."""
    scores = [[0.0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i, one in enumerate(ours, 1):
        for j, other in enumerate(theirs, 1):
            scores[i][j] = max(scores[i - 1][j - 1] + reward(one, other), scores[i - 1][j], scores[i][j - 1])
    pairs, i, j = [], len(ours), len(theirs)
    while i and j:
        if scores[i][j] == scores[i - 1][j - 1] + reward(ours[i - 1], theirs[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif scores[i][j] == scores[i - 1][j]:
            i -= 1
        else:
            j -= 1
    return scores[-1][-1], pairs


def factored(ours: list[list[Any]], theirs: list[list[Any]], reward: Reward) -> tuple[float, float]:
    """What aligned rows and columns share, and the smaller total of the two alignments."""
    by_rows, rows = align(ours, theirs, lambda a, b: align(a, b, reward)[0])
    turned = [list(map(list, zip(*grid, strict=True))) for grid in (ours, theirs)]
    by_columns, columns = align(*turned, lambda a, b: align(a, b, reward)[0])
    return sum(reward(ours[r][c], theirs[s][d]) for r, s in rows for c, d in columns), min(by_rows, by_columns)


def slots(table: CellTable, value: Callable[[int, int, int], Any], empty: Any) -> list[list[Any]]:
    grid = table.grid().tolist()
    return [
        [empty if cell < 0 else value(cell, row, column) for column, cell in enumerate(line)] for row, line in enumerate(grid)
    ]


def iou(one: Any, other: Any) -> float:
    if one is None or other is None:
        return 0.0
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    shared = width * height if width > 0 and height > 0 else 0.0
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return shared / (areas[0] + areas[1] - shared) if shared else 0.0


def alike(one: str, other: str) -> float:
    return 2 * LCSseq.similarity(one, other) / (len(one) + len(other)) if one or other else 1.0


def extent(table: CellTable) -> Callable[[int, int, int], Any]:
    def relative(cell: int, row: int, column: int) -> tuple[int, int, int, int]:
        top, left = table.row[cell], table.column[cell]
        return left - column, top - row, left + table.colspan[cell] - column, top + table.rowspan[cell] - row

    return relative


@examples(150)
@given(truth=tables(), found=tables())
def test_grits_is_the_factored_alignment(truth: CellTable, found: CellTable) -> None:
    result = compare(truth, found, only=("grits",))
    kinds: dict[str, tuple[Callable[[CellTable], Any], Any, Reward]] = {
        "grits_top": (extent, (0, 0, 1, 1), iou),
        "grits_con": (lambda table: lambda cell, _row, _column: table.text[cell], "", alike),
        "grits_loc": (lambda table: lambda cell, _row, _column: table.boxes[cell], None, iou),
    }
    for name, (value, empty, reward) in kinds.items():
        if name == "grits_loc" and not (truth.boxes and found.boxes):
            assert result[name] is None
            continue
        both = truth.slots + found.slots
        shared, bound = factored(slots(truth, value(truth), empty), slots(found, value(found), empty), reward)
        assert result[name]["f1"] == (None if not both else pytest.approx(2 * shared / both, abs=1e-12)), name
        if both:
            assert result[name]["upper_bound"] == pytest.approx(2 * bound / both, abs=1e-12)
            assert result[name]["f1"] <= result[name]["upper_bound"] + 1e-12
