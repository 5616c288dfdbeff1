"""Calibration taken apart: bins of equal mass, the parts of the Brier score, and risk by coverage."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from calque.base.columns import Floats, Ints
from calque.evaluation.measures import ExactSum, Undefined, joined_fractions

BINS = 10
NO_CONFIDENCES = Undefined("no confidences")


def brier_parts(sizes: Ints, rights: Ints, sums: Ints, brier: float | Undefined) -> dict[str, Any]:
    """The Brier score as reliability − resolution + uncertainty, over ten equal bins, and what varies within the bins.

    Reliability is the mean squared distance between confidence and accuracy (0 is best), resolution how far the bins'
    accuracies lie from the overall one (more is better), uncertainty what no confidence can change.
    """
    rows = int(sizes.sum())
    names = ("reliability", "resolution", "uncertainty", "within_bins")
    if not rows or isinstance(brier, Undefined):
        return {"value": NO_CONFIDENCES, **dict.fromkeys(names, NO_CONFIDENCES)}
    overall = int(rights.sum()) / rows
    full = np.flatnonzero(sizes)
    share, accuracy = sizes[full] / rows, rights[full] / sizes[full]
    mean = joined_fractions(sums)[full] / sizes[full]
    reliability = math.fsum((share * (mean - accuracy) ** 2).tolist())
    resolution = math.fsum((share * (accuracy - overall) ** 2).tolist())
    uncertainty = overall * (1 - overall)
    rest = brier - (reliability - resolution + uncertainty)
    return {"value": brier, **dict(zip(names, (reliability, resolution, uncertainty, rest), strict=True))}


class EqualMass:
    """Bins with as many fields each, and the area under the curve of risk by coverage, of steps that come by rank.

    Fields with one confidence stay together: they go where the middle of them belongs.
    """

    def __init__(self, rows: int, right: int) -> None:
        self._rows, self._right = rows, right
        self._count, self._rights = np.zeros(BINS, np.int64), np.zeros(BINS, np.int64)
        self._sums = [ExactSum() for _ in range(BINS)]
        self._range: list[list[float]] = [[] for _ in range(BINS)]
        self._risks = ExactSum()

    def add(self, confidence: Floats, below: Ints, right_below: Ints, through: Ints, right_through: Ints) -> None:
        """Take in the next steps: how many rows, and how many right ones, lie below each and up to its end."""
        count = through - below
        bins = np.minimum(BINS * (below + through) // (2 * max(self._rows, 1)), BINS - 1)
        np.add.at(self._count, bins, count)
        np.add.at(self._rights, bins, right_through - right_below)
        weighted = count * confidence
        for place, (start, end) in enumerate(pairwise(np.searchsorted(bins, np.arange(BINS + 1)).tolist())):
            if start < end:
                self._sums[place].add(weighted[start:end])
                known = [*self._range[place], float(confidence[start]), float(confidence[end - 1])]
                self._range[place] = [min(known), max(known)]
        risk = 1 - (self._right - right_below) / (self._rows - below)
        self._risks.add(risk * count / max(self._rows, 1))

    def bins(self) -> dict[str, Any]:
        """The bins, and the calibration error over them."""
        if not self._rows:
            return {"value": NO_CONFIDENCES, "bins": []}
        bins, distances = [], []
        for place in np.flatnonzero(self._count).tolist():
            count = int(self._count[place])
            accuracy, mean = int(self._rights[place]) / count, self._sums[place].value() / count
            distances.append(count / self._rows * abs(accuracy - mean))
            bins.append({"range": self._range[place], "count": count, "accuracy": accuracy, "mean_confidence": mean})
        return {"value": math.fsum(distances), "bins": bins}

    def area(self) -> float | Undefined:
        """The mean error rate of what is accepted, over all shares that could be."""
        return self._risks.value() if self._rows else NO_CONFIDENCES


def risk_by_coverage(points: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """The points of a sweep as risk and coverage."""
    return [{"confidence": each["confidence"], "coverage": each["accepted"], "risk": 1 - each["precision"]} for each in points]
