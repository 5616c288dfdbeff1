"""How many pairs two orders agree on: counted by bits, so that a page of a hundred thousand blocks takes milliseconds."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Array, Flags, Ints

SMALL = 128
"""Up to so many entries it is quicker to look at every pair."""


def agreement(positions: Array) -> tuple[Ints, Ints]:
    """For each entry of a sequence with how many others it stands in rising order, and with how many in falling order.

    Equal entries are in neither. Entries are whole numbers from 0.

    >>> [counts.tolist() for counts in agreement(np.array([0, 2, 1, 1]))]
    [[3, 1, 1, 1], [0, 2, 1, 1]]
    """
    values = np.asarray(positions, dtype=np.int64)
    size = len(values)
    if size <= SMALL:
        rises = np.triu(values[:, None] < values, 1)
        falls = np.triu(values[:, None] > values, 1)
        return rises.sum(0) + rises.sum(1), falls.sum(0) + falls.sum(1)
    falling = np.zeros(size, dtype=np.int64)
    rising = np.zeros(size, dtype=np.int64)
    at = np.arange(size)
    bits = int(values.max(initial=0)).bit_length()
    for bit in range(bits - 1, -1, -1):
        # Entries that agree in all higher bits stand together, in their order; two of them first differ in this bit or below.
        ones: Flags = (values[at] >> bit & 1).astype(np.bool_)
        begin = _group_starts(values[at] >> (bit + 1))
        before = np.concatenate([[0], np.cumsum(ones)])
        group_ones = before[_group_ends(begin)] - before[begin]
        ones_before = before[:-1] - before[begin]
        place = np.arange(size) - begin
        zeros = _group_ends(begin) - begin - group_ones
        zeros_before = place - ones_before
        falling[at] += np.where(ones, zeros - zeros_before, ones_before)
        rising[at] += np.where(ones, zeros_before, group_ones - ones_before)
        target = begin + np.where(ones, zeros + ones_before, zeros_before)
        moved = np.empty_like(at)
        moved[target] = at
        at = moved
    return rising, falling


def _group_starts(keys: Ints) -> Ints:
    """For each entry where the run of equal keys that it is in begins."""
    new = np.concatenate([[True], keys[1:] != keys[:-1]]) if len(keys) else np.zeros(0, dtype=np.bool_)
    starts: Ints = np.maximum.accumulate(np.where(new, np.arange(len(keys)), 0)) if len(keys) else np.zeros(0, dtype=np.int64)
    return starts


def _group_ends(starts: Ints) -> Ints:
    """For each entry where the run that it is in ends."""
    first, size = np.unique(starts, return_counts=True)
    ends: Ints = np.repeat(first + size, size)
    return ends


def longest_rise(ranks: Array) -> int:
    """The length of the longest rising subsequence of different numbers.

    >>> longest_rise(np.array([2, 0, 1, 3]))
    3
    """
    from bisect import bisect_left

    tails: list[int] = []
    for rank in ranks.tolist():
        place = bisect_left(tails, rank)
        tails[place : place + 1] = [rank]
    return len(tails)
