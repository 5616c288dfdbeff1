"""Sums that are the same bits in any order."""

from __future__ import annotations

import numpy as np

from calque.base.columns import Codes, Floats, Ints

_HALF = float(1 << 27)


def fraction_parts(values: Floats, groups: Codes, size: int, scale: float = 1.0) -> Ints:
    """For each group the sum of ``values * scale``, which must lie in [0, 1]; rows of a negative group are left out.

    Each value is cut into two 27-bit integers, and these are summed: first those in units of 2**-27, then those in units
    of 2**-54. So no order and no split can change a sum; what lies below is dropped, less than the last digit of a mean.

    >>> (fraction_parts(np.array([0.75, 0.5, 0.25]), np.array([0, 0, 1], np.int32), 2) / _HALF).tolist()
    [[1.25, 0.25], [0.0, 0.0]]
    """
    kept = groups >= 0
    scaled = values[kept] * scale * _HALF
    high = np.floor(scaled)
    low = np.floor((scaled - high) * _HALF)
    return np.array([np.bincount(groups[kept], weights=half, minlength=size) for half in (high, low)]).astype(np.int64)
