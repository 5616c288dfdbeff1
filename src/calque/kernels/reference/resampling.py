"""Documents drawn again: their weights, and numbers of weighted documents. Weights are a table by document and replicate."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Array, Codes, Ints


def poisson_weights(keys: Ints, thresholds: Ints, seed: int, first: int, replicates: int, jobs: int = 1) -> Codes:
    """How often each document occurs in the replicates ``first``, ``first + 1`` and so on.

    Each document has a stream of random numbers of its own: NumPy's Philox with the seed and the document's key. Replicate r
    takes the r-th number; the weight is how many of the thresholds are no larger. Keys and thresholds are numbers of 64 bits
    without a sign, written as signed ones.
    """
    del jobs  # the native twin's threads
    limits = thresholds.view(np.uint64)
    weights = np.empty((len(keys), replicates), dtype=np.int32)
    for row, key in enumerate(keys.view(np.uint64)):
        stream = np.random.Philox(key=np.array([seed, key], dtype=np.uint64))
        drawn = stream.random_raw(first + replicates)[first:]
        weights[row] = np.searchsorted(limits, drawn, side="right")
    return weights


def weighted_sums(units: Codes, columns: Codes, values: Ints, size: int, weights: Codes, jobs: int = 1) -> Ints:
    """For each column and replicate the sum of ``values``, each as often as its document occurs.

    >>> table = np.array([[1, 2], [0, 3]], np.int32)
    >>> weighted_sums(np.array([0, 1], np.int32), np.array([0, 0], np.int32), np.array([10, 1]), 1, table).tolist()
    [[10, 23]]
    """
    del jobs  # the native twin's threads
    if not len(units) == len(columns) == len(values):
        raise ValueError("units, columns and values must have the same length")
    check_weights(weights)
    check_codes("units", units, len(weights))
    check_codes("columns", columns, size)
    sums = np.zeros((size, weights.shape[1]), dtype=np.int64)
    order = np.argsort(columns, kind="stable")
    for rows in np.array_split(order, max(1, len(order) // 4096)):
        there, first = np.unique(columns[rows], return_index=True)
        if len(there):
            sums[there] += np.add.reduceat(values[rows, None] * weights[units[rows]].astype(np.int64), first, axis=0)
    return sums


def check_weights(weights: Codes) -> None:
    """Refuse weights that no document can have."""
    if (weights < 0).any():
        raise ValueError("weights must not be negative")


def check_codes(name: str, codes: Array, size: int) -> None:
    """Refuse codes of what does not exist."""
    if len(codes) and (codes.min() < 0 or codes.max() >= size):
        raise ValueError(f"{name} names one that does not exist")
