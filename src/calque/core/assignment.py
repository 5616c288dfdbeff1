"""Optimal one-to-one assignment: which rows go with which columns so that the total is the best possible."""

from __future__ import annotations

import math

import numpy as np

from calque.core.columns import Floats, Ints
from calque.core.errors import MissingExtra
from calque.kernels.cheapest import Whole, cheapest_earliest

SMALL = 1 << 21
"""Up to this much work (128 × 128, a tenth of a second) the exact solver runs; above it scipy, slow only to import."""


def assign(scores: Floats, *, maximize: bool = True) -> tuple[Ints, Ints]:
    """The rows and the columns of a best complete assignment, rows ascending: one pair for each of the shorter side.

    Small matrices are solved in exact arithmetic; of several best assignments the result is the one that gives the
    earliest row the earliest column, then the next row (to be left out comes last). Large matrices are solved by scipy:
    the same total, deterministic, without that promise about ties.

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
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError as error:
        size = " × ".join(map(str, matrix.shape))
        raise MissingExtra("scipy", "assignment", f"the optimal assignment of {size} items") from error
    rows, columns = linear_sum_assignment(matrix, maximize=maximize)
    return rows.astype(np.int64), columns.astype(np.int64)


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
