"""The best assignments of many small matrices of whole numbers."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Codes, Ints
from calque.kernels.cheapest import cheapest_earliest


def best_partners(worth: Ints, heights: Ints, widths: Ints) -> Codes:
    """For each row of many matrices, at least as wide as high, the column that it has in the assignment of the greatest total.

    Matrices stand one after the other, row by row. Of several best assignments the one is taken that gives the earliest row
    the earliest column, then the next row.

    >>> best_partners(np.array([9, 8, 7, 1]), np.array([2]), np.array([2])).tolist()
    [1, 0]
    """
    partners: list[int] = []
    start = 0
    for height, width in zip(heights.tolist(), widths.tolist(), strict=True):
        matrix = worth[start : start + height * width].reshape(height, width)
        partners += cheapest_earliest((-matrix).tolist())
        start += height * width
    return np.array(partners, dtype=np.int32)
