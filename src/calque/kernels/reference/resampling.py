"""Documents drawn again: their weights, and numbers of weighted documents. Weights are a table by document and replicate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from calque.base.columns import Bytes, Codes, Floats, Ints
from calque.kernels.structs import Masks


def weighted_precision(
    units: Codes,
    tied: Bytes,
    class_offsets: Ints,
    matched: Masks,
    ignored: Masks,
    thresholds: int,
    truths: Ints,
    recall_points: Floats,
    weights: Codes,
    jobs: int = 1,
) -> tuple[Floats, Floats]:
    """AP of the rows of each class, in their order, when each occurs as often as its document does.

    Rows that are ``tied`` to the one before them are of the same document, and stand with it in each of its copies: first,
    second, first, second. ``truths`` says how many there are to find, by class and replicate. Returns the mean of precision
    over the recall points, and the recall reached, by threshold, class and replicate; -1 where there are no truths. Without
    recall points only the recall is told.
    """
    del jobs  # the native kernel has threads
    shape = thresholds, len(class_offsets) - 1, weights.shape[1]
    precision, recall = np.full(shape, -1.0), np.full(shape, -1.0)
    for k, replicate in np.argwhere(truths > 0).tolist():
        rows = _drawn(units, tied, slice(*class_offsets[k : k + 2].tolist()), weights[:, replicate])
        for t in range(thresholds):
            counts = (ignored[rows] >> t) & 1 == 0
            true = counts & ((matched[rows] >> t) & 1 == 1)
            tp, everything = np.cumsum(true), np.cumsum(counts)
            at_hits = np.where(true, tp / (everything + np.spacing(1)), 0.0)
            envelope = np.append(np.maximum.accumulate(at_hits[::-1])[::-1], 0.0)
            at = np.searchsorted(tp / truths[k, replicate], recall_points, "left")
            # Added up from the highest recall down, one after the other, as the native kernel does.
            if len(recall_points):
                precision[t, k, replicate] = np.cumsum(envelope[at][::-1])[-1] / len(recall_points)
            recall[t, k, replicate] = np.count_nonzero(true) / truths[k, replicate]
    return precision, recall


def _drawn(units: Codes, tied: Bytes, rows: slice, weight: Codes) -> Ints:
    """The rows of one class in one replicate, each run of tied rows as often as its document occurs."""
    run = np.flatnonzero(tied[rows] == 0) + rows.start if rows.stop > rows.start else np.zeros(0, np.int64)
    if rows.stop > rows.start and (not len(run) or run[0] != rows.start):
        run = np.insert(run, 0, rows.start)
    length = np.diff(np.append(run, rows.stop))
    drawn = np.repeat(np.arange(len(run)), weight[units[run]])
    begin = np.cumsum(length[drawn]) - length[drawn]
    return np.repeat(run[drawn] - begin, length[drawn]) + np.arange(length[drawn].sum())


def weighted_auroc(units: Codes, right: Bytes, rises: Bytes, group_offsets: Ints, weights: Codes, jobs: int = 1) -> Floats:
    """How often a right item is rated higher than a wrong one of its group, when items occur as often as their documents do.

    Items stand by rising confidence, group by group; ``rises`` says whether one is rated higher than the one before it. Equal
    ratings count half. -1 where there are no right or no wrong items.

    >>> flags = np.array([0, 1, 1], np.uint8)
    >>> one_each = np.ones((3, 1), np.int32)
    >>> weighted_auroc(np.arange(3, dtype=np.int32), flags, flags, np.array([0, 3]), one_each).tolist()
    [[1.0]]
    """
    del jobs  # the native kernel has threads
    found = np.full((len(group_offsets) - 1, weights.shape[1]), -1.0)
    for group, (first, last) in enumerate(pairwise(group_offsets.tolist())):
        if first == last:
            continue
        weight = weights[units[first:last]].astype(np.int64)
        is_right = right[first:last, None] != 0
        level = np.cumsum(rises[first:last]) - rises[first]
        start = np.searchsorted(level, np.arange(level[-1] + 1))
        rights = np.add.reduceat(np.where(is_right, weight, 0), start, axis=0)
        wrongs = np.add.reduceat(np.where(is_right, 0, weight), start, axis=0)
        below = np.cumsum(wrongs, axis=0) - wrongs
        twice = (rights * (2 * below + wrongs)).sum(axis=0)
        pairs = 2 * rights.sum(axis=0) * wrongs.sum(axis=0)
        found[group] = np.divide(twice, pairs, out=np.full(len(pairs), -1.0), where=pairs > 0)
    return found
