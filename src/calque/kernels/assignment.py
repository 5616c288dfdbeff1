"""Optimal one-to-one assignment: which rows go with which columns so that the total is the best possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from calque.base.columns import Floats, Ints
from calque.kernels import kernels

SMALL = 1 << 21
"""Up to this much work (128 × 128, a tenth of a second) scores of any precision are compared exactly."""

STEPS = 59
"""Larger matrices are solved by the kernel, in steps of the greatest score divided by two to this power."""


def assign(scores: Floats, *, maximize: bool = True) -> tuple[Ints, Ints]:
    """Return the rows and the columns of a best complete assignment, rows ascending: one pair for each of the shorter side.

    Small matrices are solved in exact arithmetic. Of several best assignments the result is the one that gives the
    earliest row the earliest column, then the next row (to be left out comes last). The scores of large matrices are
    rounded to whole steps (`STEPS`). Of equally good ones the earliest of the shorter side gets the earliest partner.

    >>> rows, columns = assign(np.array([[0.9, 0.8], [0.7, 0.1]]))
    >>> rows.tolist(), columns.tolist()
    ([0, 1], [1, 0])
    >>> assign(np.array([[3.0, 1.0, 2.0]]), maximize=False)[1].tolist()
    [1]
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"an assignment needs a matrix, not an array of {matrix.ndim} dimensions")
    if not np.isfinite(matrix).all():
        raise ValueError("an assignment needs finite scores")
    if matrix.size == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    columns = _row_bests(matrix, maximize)
    if columns is not None:
        return np.arange(len(matrix), dtype=np.int64), columns
    if min(matrix.shape) * matrix.size <= SMALL:
        return _exact(matrix, maximize)
    return _large(matrix, maximize)


def _row_bests(matrix: Floats, maximize: bool) -> Ints | None:
    """Each row's own first best column, when no two rows want the same: nothing can beat that."""
    if matrix.shape[0] > matrix.shape[1]:
        return None
    columns = (matrix.argmax(axis=1) if maximize else matrix.argmin(axis=1)).astype(np.int64)
    return columns if len(set(columns.tolist())) == len(columns) else None


def _large(matrix: Floats, maximize: bool) -> tuple[Ints, Ints]:
    _, exponent = np.frexp(np.abs(matrix).max())
    levels = np.rint(np.ldexp(matrix, STEPS - 1 - int(exponent))).astype(np.int64)
    worth = levels - levels.min() if maximize else levels.max() - levels
    turned = worth.shape[0] > worth.shape[1]
    worth = np.ascontiguousarray(worth.T if turned else worth)
    sizes = (np.array([size], dtype=np.int64) for size in worth.shape)
    columns = kernels().best_partners(worth.ravel(), *sizes).astype(np.int64)
    if not turned:
        return np.arange(len(columns), dtype=np.int64), columns
    order = np.argsort(columns)
    return columns[order], order.astype(np.int64)


def _exact(matrix: Floats, maximize: bool) -> tuple[Ints, Ints]:
    costs = _whole(matrix, -1 if maximize else 1)
    partner = cheapest_earliest(costs)
    paired = [row for row, column in enumerate(partner) if column < matrix.shape[1]]
    return np.array(paired, dtype=np.int64), np.array([partner[row] for row in paired], dtype=np.int64)


def _whole(matrix: Floats, sign: int) -> Whole:
    """The numbers times one power of two that makes them all whole."""
    ratios = [[value.as_integer_ratio() for value in row] for row in matrix.tolist()]
    scale = sign * math.lcm(*(below for row in ratios for _, below in row))
    return [[above * (scale // below) for above, below in row] for row in ratios]


Whole: TypeAlias = list[list[int]]
"""A matrix of whole numbers: exact, so that a tie is a tie and rounding decides nothing."""


def cheapest_earliest(costs: Whole) -> list[int]:
    """Return for each row its column in the cheapest assignment, the earliest of several; beyond the last for a row without."""
    return _earliest(costs, *_solve(costs))


def _solve(costs: Whole) -> tuple[list[int], list[int], list[int]]:
    """A cheapest assignment with its proof: each row's column (or beyond the last), and the prices of rows and columns.

    No entry costs less than its row's price plus its column's price, and the pairs chosen cost exactly that.
    """
    height, width = len(costs), len(costs[0])
    if height <= width:
        return _hungarian(costs)
    row_of, column_price, row_price = _hungarian([list(column) for column in zip(*costs, strict=True)])
    partner = [width] * height
    for column, row in enumerate(row_of):
        partner[row] = column
    spare = iter(range(width, height))
    return [next(spare) if column == width else column for column in partner], row_price, column_price


def _hungarian(costs: Whole) -> tuple[list[int], list[int], list[int]]:
    """The Hungarian method, one shortest path for each row; there are at least as many columns as rows."""
    row_price, column_price = [0] * len(costs), [0] * len(costs[0])
    owner = [-1] * len(costs[0])
    for row in range(len(costs)):
        _give_column(row, costs, row_price, column_price, owner)
    partner = [-1] * len(costs)
    for column, row in enumerate(owner):
        if row >= 0:
            partner[row] = column
    return partner, row_price, column_price


def _give_column(start: int, costs: Whole, row_price: list[int], column_price: list[int], owner: list[int]) -> None:
    """Give a row a column, moving other rows along the cheapest path to a free one; the prices stay a proof."""
    distance = [cost - price for cost, price in zip(costs[start], column_price, strict=True)]
    come_from = [-1] * len(owner)
    outside = list(range(len(owner)))
    passed: list[int] = []
    column = min(outside, key=distance.__getitem__)
    while owner[column] >= 0:
        passed.append(column)
        outside.remove(column)
        row_costs, gone = costs[owner[column]], distance[column] - row_price[owner[column]]
        for target in outside:
            length = gone + row_costs[target] - column_price[target]
            if length < distance[target]:
                distance[target], come_from[target] = length, column
        column = min(outside, key=distance.__getitem__)
    row_price[start] += distance[column]
    for other in passed:
        gain = distance[column] - distance[other]
        row_price[owner[other]] += gain
        column_price[other] -= gain
    while come_from[column] >= 0:
        owner[column] = owner[come_from[column]]
        column = come_from[column]
    owner[column] = start


def _earliest(costs: Whole, partner: Sequence[int], row_price: Sequence[int], column_price: Sequence[int]) -> list[int]:
    """The best assignment in which the earliest row has the earliest column.

    All best assignments use only pairs whose cost equals their prices, where an invented row or column, which makes the
    matrix square, is free for whoever has price 0. Moving along cycles of such pairs leads from one to any other.
    """
    size = max(len(costs), len(costs[0]))
    takers = _takers(costs, row_price, column_price, size)
    holds = list(partner)
    holds += sorted(set(range(size)) - set(holds))
    for row in range(len(costs)):
        _move_earlier(row, holds, takers)
    return holds[: len(costs)]


def _takers(costs: Whole, row_price: Sequence[int], column_price: Sequence[int], size: int) -> list[list[int]]:
    """For each column of the square matrix the rows that may hold it in a best assignment."""
    height, width = len(costs), len(costs[0])
    invented_rows = list(range(height, size))
    takers = [
        [row for row in range(height) if costs[row][column] == row_price[row] + price] + (invented_rows if price == 0 else [])
        for column, price in enumerate(column_price)
    ]
    idle = [row for row in range(height) if row_price[row] == 0]
    return takers + [idle for _ in range(width, size)]


def _move_earlier(row: int, holds: list[int], takers: list[list[int]]) -> None:
    """Let the row have the earliest column that later rows can give up by moving on among themselves."""
    released = holds[row]
    inherits: dict[int, int] = {}
    front = [released]
    for column in front:
        for later in takers[column]:
            if later > row and later not in inherits:
                inherits[later] = column
                front.append(holds[later])
    giver = {holds[later]: later for later in inherits}
    earlier = [column for column in giver if column < released and row in takers[column]]
    if earlier:
        column = holds[row] = min(earlier)
        while column != released:
            later = giver[column]
            column = holds[later] = inherits[later]
