"""Adjacency relations: which cells are neighbours, as the ICDAR competitions of 2013 and 2019 count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from calque.base.columns import Codes, Floats
from calque.corpus.tables import CellTable
from calque.geometry.boxes import edges, intersection, iou
from calque.geometry.forms import BoxForm

RIGHT, BELOW = "H", "V"
THRESHOLDS_2019 = (0.6, 0.7, 0.8, 0.9)


class Neighbours(NamedTuple):
    """Two cells of one table, how the second lies to the first, and how many slots are between them."""

    cell: int
    other: int
    direction: str
    between: int


def neighbours(layout: Codes, counts: list[bool]) -> Iterator[Neighbours]:
    """Each cell that counts with the next that counts to the right in each of its rows, and below in each of its columns.

    Two cells are neighbours once in each direction, in however many rows they meet.
    """
    seen: set[tuple[int, int, str]] = set()
    for lines, direction in ((layout, RIGHT), (layout.T, BELOW)):
        for line in lines.tolist():
            last, gap = -1, 0
            for cell in line:
                if cell < 0 or not counts[cell]:
                    gap += 1
                    continue
                if last >= 0 and cell != last and (last, cell, direction) not in seen:
                    seen.add((last, cell, direction))
                    yield Neighbours(last, cell, direction, gap)
                last, gap = cell, 0


def relations(table: CellTable, layout: Codes, *, blanks: bool) -> Counter[tuple[str, str, str, int]]:
    """The relations of 2013: texts without white space in capitals, the direction, and the blank slots between."""
    texts = ["".join(text.split()).upper() for text in table.text]
    found = neighbours(layout, [bool(text) for text in texts])
    return Counter((texts[each.cell], texts[each.other], each.direction, each.between if blanks else 0) for each in found)


def places(table: CellTable, layout: Codes) -> set[tuple[int, int, str]]:
    """The relations of 2019: all listed cells count, and other slots are skipped."""
    return {each[:3] for each in neighbours(layout, [True] * len(table))}


def pairs_by_box(truth: CellTable, found: CellTable) -> list[tuple[float, int, int]]:
    """Cells of both sides whose boxes meet, the largest IoU first, each in one pair only."""
    if not truth.boxes or not found.boxes:
        return []
    one, other = edges(_boxes(truth), BoxForm.XYXY).stacked(), edges(_boxes(found), BoxForm.XYXY)
    shares = iou(intersection(one, other), one.area, other.area)
    rows, columns = np.nonzero(shares > 0)
    order = np.lexsort((columns, rows, -shares[rows, columns]))
    taken: tuple[set[int], set[int]] = (set(), set())
    pairs = []
    for place in order.tolist():
        row, column = int(rows[place]), int(columns[place])
        if row not in taken[0] and column not in taken[1]:
            taken[0].add(row)
            taken[1].add(column)
            pairs.append((float(shares[row, column]), row, column))
    return pairs


def _boxes(table: CellTable) -> Floats:
    missing = (np.nan,) * 4
    return np.array([box or missing for box in table.boxes], dtype=np.float64).reshape(-1, 4)


def shared_2013(truth: Counter[tuple[str, str, str, int]], found: Counter[tuple[str, str, str, int]]) -> tuple[int, int, int]:
    """How many relations both sides have, and how many each."""
    return (truth & found).total(), truth.total(), found.total()


def shared_2019(
    truth: CellTable, found: CellTable, ours: set[tuple[int, int, str]], theirs: set[tuple[int, int, str]]
) -> list[tuple[int, int, int]]:
    """The same for each threshold of 2019: cells go together by their boxes."""
    pairs = pairs_by_box(truth, found)
    counts = []
    for threshold in THRESHOLDS_2019:
        partner = {row: column for share, row, column in pairs if share >= threshold}
        both = sum(
            (partner[cell], partner[other], direction) in theirs
            for cell, other, direction in ours
            if cell in partner and other in partner
        )
        counts.append((both, len(ours), len(theirs)))
    return counts
