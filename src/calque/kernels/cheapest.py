"""Optimal one-to-one assignment in whole numbers: the cheapest, and of several the one that prefers early rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Whole: TypeAlias = list[list[int]]
"""A matrix of whole numbers: exact, so that a tie is a tie and rounding decides nothing."""


def cheapest_earliest(costs: Whole) -> list[int]:
    """For each row its column in the cheapest assignment, the earliest of several; beyond the last for a row that has none."""
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
