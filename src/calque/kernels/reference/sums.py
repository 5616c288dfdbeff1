"""Sums that are the same bits in any order."""

import numpy as np

from calque.kernels.reference.boxes import Floats, Ints

_HALF = float(1 << 27)


def fraction_sums(values: Floats, groups: Ints, size: int, scale: float = 1.0) -> Floats:
    """For each group the sum of ``values * scale``, which must lie in [0, 1]; rows of a negative group are left out.

    Each value is cut into two 27-bit integers. Sums of up to 2**26 of those are exact in float64, so no order and no
    split can change them; what lies below 2**-54 is dropped, less than the last digit of a mean.

    >>> fraction_sums(np.array([0.75, 0.5, 0.3]), np.array([0, 0, 1], np.int32), 2).tolist()
    [1.25, 0.3]
    """
    if len(values) != len(groups):
        raise ValueError("values and groups must have the same length")
    if (groups >= size).any():
        raise ValueError("a group must be less than the number of groups")
    kept = groups >= 0
    scaled = values[kept] * scale * _HALF
    high = np.floor(scaled)
    low = np.floor((scaled - high) * _HALF)
    whole = np.bincount(groups[kept], weights=high, minlength=size)
    rest = np.bincount(groups[kept], weights=low, minlength=size)
    return np.asarray(whole / _HALF + rest / (_HALF * _HALF))
