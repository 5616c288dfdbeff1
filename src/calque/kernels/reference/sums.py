"""Sums that are the same bits in any order."""

from __future__ import annotations

import math

import numpy as np

from calque.base.columns import Codes, Floats, Ints

_HALF = float(1 << 27)
_MOST = float(1 << 30)
"""Far beyond what values should be; the sums of what is cut off stay whole numbers."""


_MOST_SUMMED = 2.0**900
"""No sum of such values is beyond the range of floats."""


def fraction_parts(values: Floats, groups: Codes, size: int, scale: float = 1.0) -> Ints:
    """For each group the sum of ``values * scale``, which must lie in [0, 1]; rows of a negative group are left out.

    Each value is cut into two 27-bit integers, and these are summed: first those in units of 2**-27, then those in units
    of 2**-54. So no order and no split can change a sum; what lies below is dropped, less than the last digit of a mean.

    >>> (fraction_parts(np.array([0.75, 0.5, 0.25]), np.array([0, 0, 1], np.int32), 2) / _HALF).tolist()
    [[1.25, 0.25], [0.0, 0.0]]
    """
    if len(values) != len(groups):
        raise ValueError("values and groups must have the same length")
    if (groups >= size).any():
        raise ValueError("a group must be less than the number of groups")
    kept = groups >= 0
    if not (np.abs(values[kept] * scale) <= _MOST).all():
        raise ValueError("a value must lie from 0 to 1")
    scaled = values[kept] * scale * _HALF
    high = np.floor(scaled)
    low = np.floor((scaled - high) * _HALF)
    return np.array([np.bincount(groups[kept], weights=half, minlength=size) for half in (high, low)]).astype(np.int64)


def exact_parts(values: Floats) -> Floats:
    """A few numbers with exactly the same sum, the greatest first.

    So `math.fsum` over the parts of any split is that over all values.

    >>> exact_parts(np.array([1e16, 1.0, 1.0, 1e-3])).tolist()
    [1.0000000000000002e+16, 0.001]
    """
    if not (np.abs(values) <= _MOST_SUMMED).all():
        raise ValueError("a value is too great to be summed, or none")
    parts: list[float] = []
    while rest := math.fsum([*values.tolist(), *(-part for part in parts)]):
        parts.append(rest)
    return np.array(parts, dtype=np.float64)
