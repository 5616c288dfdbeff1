"""Whether scores can be taken for shares: of the predictions of each score, how many are right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calque.core.columns import Array
from calque.core.presentation.pictured import FP, TP

BINS = 10
"""How many parts scores from 0 to 1 are cut into."""


def calibration(outcomes: Sequence[Array], scores: Array) -> list[list[list[float]]]:
    """For each threshold, and each tenth of scores that has predictions: its ends, how many, their mean score, the share right.

    Scores are cut on 32 bits, as a report cuts them. Those that are no shares have no calibration.

    >>> calibration([np.array([TP, FP, TP])], np.array([0.95, 0.45, 0.91]))
    [[[0.4, 0.5, 1, 0.45, 0.0], [0.9, 1.0, 2, 0.9299999999999999, 1.0]]]
    """
    known = scores[~np.isnan(scores)]
    if not len(known) or known.min() < 0 or known.max() > 1:
        return [[] for _ in outcomes]
    edges = np.linspace(0, 1, BINS + 1).astype(np.float32)
    tenth = np.searchsorted(edges[1:-1], scores.astype(np.float32), side="right")
    return [_tenths(np.where(np.isnan(scores), -1, outcome), scores, tenth) for outcome in outcomes]


def _tenths(outcome: Array, scores: Array, tenth: Array) -> list[list[float]]:
    judged = np.isin(outcome, (TP, FP))
    count = np.bincount(tenth[judged], minlength=BINS)
    right = np.bincount(tenth[outcome == TP], minlength=BINS)
    sums = np.bincount(tenth[judged], weights=scores[judged], minlength=BINS)
    return [
        [at / BINS, (at + 1) / BINS, int(count[at]), float(sums[at] / count[at]), float(right[at] / count[at])]
        for at in np.flatnonzero(count).tolist()
    ]
