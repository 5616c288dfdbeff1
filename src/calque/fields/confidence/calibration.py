"""What confidences are worth: telling right from wrong, calibration, review budgets, and what to accept without review."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from calque.base.columns import Array, Codes, Flags, Ints, rows_by_code
from calque.evaluation.ledger import UNIT, Ledger, Piece
from calque.evaluation.measures import Undefined, counts, fraction_parts, joined_fractions, reached
from calque.evaluation.storage.ranking import Ranking
from calque.evaluation.storage.ranking import Rows as RankedRows
from calque.fields.comparison.cells import class_of
from calque.fields.confidence.curves import Collector, Curve, Curves, Rows, Sweep, Sweeps, TargetCurves
from calque.fields.confidence.reliability import BINS, brier_parts, risk_by_coverage

EDGES = tuple((index + 1) / BINS for index in range(BINS))
_LOWER_EDGES = tuple(index / BINS for index in range(BINS))
SWEEP_POINTS = 200
"""How many points of the sweep a result lists at most; the operating point looks at all."""
CLASS_SWEEP_POINTS = 20
"""The same for each class."""


class KeyTotals:
    """Sums over the rated fields of each key, as whole numbers: those of several keys can be added up."""

    def __init__(self, ledger: Ledger) -> None:
        size = len(ledger.names["key"])
        self.rows, self.right = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.squares = np.zeros((2, size), np.int64)
        """Squared differences between confidence and outcome."""
        self.in_bin, self.right_in_bin = np.zeros((size, BINS), np.int64), np.zeros((size, BINS), np.int64)
        self.bin_sums = np.zeros((2, size, BINS), np.int64)
        """Confidences."""
        first: dict[int, tuple[int, int]] = {}
        for rows in ledger.chunks("ratings"):
            key = rows.array("key")
            self._add(rows.array("match"), rows.array("confidence"), key)
            at = np.full(size, -1, dtype=np.int64)
            at[key[::-1]] = np.arange(len(key))[::-1]  # of several rows the last to be written counts: the first one
            seen = np.flatnonzero(at >= 0)
            at = at[seen]
            for code, unit, row in zip(seen.tolist(), rows.array(UNIT)[at].tolist(), at.tolist(), strict=True):
                first[code] = min(first.get(code, (unit, row)), (unit, row))
        self.place = np.zeros(size, np.int64)
        """The keys' order: that of their first rows."""
        self.place[sorted(first, key=first.__getitem__)] = np.arange(len(first))

    def _add(self, match: Array, confidence: Array, key: Array) -> None:
        size = len(self.rows)
        self.rows += counts(key, size)
        self.right += counts(key[match], size)
        self.squares += fraction_parts((confidence - match) ** 2, key, size)
        cell = key * BINS + reached(confidence, EDGES[:-1])
        self.in_bin += counts(cell, size * BINS).reshape(size, BINS)
        self.right_in_bin += counts(cell[match], size * BINS).reshape(size, BINS)
        self.bin_sums += fraction_parts(confidence, cell, size * BINS).reshape(2, size, BINS)

    def by_key(self) -> Sums:
        """Those of each key by itself."""
        return Sums(self.rows, self.squares, self.in_bin, self.right_in_bin, self.bin_sums)

    def together(self, keys: Flags | slice = slice(None)) -> Sums:
        """Those of some keys, or of all, added up: one group."""
        return Sums(
            self.rows[keys].sum(keepdims=True),
            self.squares[:, keys].sum(axis=1, keepdims=True),
            self.in_bin[keys].sum(axis=0, keepdims=True),
            self.right_in_bin[keys].sum(axis=0, keepdims=True),
            self.bin_sums[:, keys].sum(axis=1, keepdims=True),
        )


class Sums(NamedTuple):
    """Sums over the rated fields of groups, as `KeyTotals` has them."""

    rows: Ints
    squares: Ints
    in_bin: Ints
    right_in_bin: Ints
    bin_sums: Ints

    def briers(self) -> list[float | Undefined]:
        """The mean squared difference between confidence and outcome of each group."""
        means = joined_fractions(self.squares) / np.maximum(self.rows, 1)
        none = Undefined("no confidences")
        return [mean if rows else none for mean, rows in zip(means.tolist(), self.rows.tolist(), strict=True)]

    def calibration_errors(self) -> list[dict[str, Any]]:
        """The mean distance between confidence and accuracy over equal bins, and the bins: each group's reliability curve."""
        full, sizes = self.in_bin > 0, np.maximum(self.in_bin, 1)
        accuracy = np.where(full, self.right_in_bin / sizes, 0.0)
        mean = np.where(full, joined_fractions(self.bin_sums) / sizes, 0.0)
        distances = self.in_bin / np.maximum(self.rows, 1)[:, None] * np.abs(accuracy - mean)
        value = np.cumsum(distances, axis=1)[:, -1]  # bin after bin: another order would have other last digits
        columns = (column.tolist() for column in (self.rows, value, self.in_bin, accuracy, mean))
        return [_reliability(*of_group) for of_group in zip(*columns, strict=True)]


def _reliability(
    rows: int, value: float, sizes: Sequence[int], accuracies: Sequence[float], means: Sequence[float]
) -> dict[str, Any]:
    if not rows:
        return {"value": Undefined("no confidences"), "bins": []}
    bins = [
        {"range": [lower, upper], "count": count, "accuracy": accuracy, "mean_confidence": mean}
        for lower, upper, count, accuracy, mean in zip(_LOWER_EDGES, EDGES, sizes, accuracies, means, strict=True)
    ]
    return {"value": value, "bins": bins}


class Ratings:
    """All rated fields of a ledger, ranked from the least confident on, and what they say, by key and by class.

    Equal confidences stand by key in the order of its first row, then by document and row.
    """

    def __init__(self, ledger: Ledger, target: float = 1.0) -> None:
        self._target = target
        self._keys = ledger.names["key"]
        self._together = Groups(("everything",), np.zeros(len(self._keys), np.int32))
        self._totals = KeyTotals(ledger)
        rows = partial(_ranked_ratings, self._totals.place, len(ledger.units))
        self._ranking = Ranking(map(rows, ledger.pieces()), 1)

    def confidence_metrics(self, fields_total: int) -> dict[str, Any]:
        """``confidence_metrics``: everything together and each key by itself, and how many fields have a confidence."""
        rated = int(self._totals.rows.sum())
        curves = Curves(self._totals.rows, self._totals.right)
        self._rank(Groups(self._keys, np.arange(len(self._keys), dtype=np.int32)), curves)
        metrics = _metrics(curves.each(), self._totals.by_key())
        return {
            "overall": _metrics(self._whole.each(), self._totals.together())[0],
            "fields": {name: of_key for name, of_key, rows in zip(self._keys, metrics, curves.rows, strict=True) if rows},
            "coverage": {
                "fields_with_confidence": rated,
                "fields_total": fields_total,
                "ratio": rated / fields_total if fields_total else 0.0,
            },
        }

    def acceptance(self) -> dict[str, Any]:
        """From where on to accept without review, for everything together and for each class of fields by itself."""
        everything, sweeps = self._sweeps
        return {
            "target_precision": self._target,
            **self._whole.acceptance(0),
            "sweep": everything.points(),
            "fields": {
                name: {**self._by_class.acceptance(group), "sweep": sweeps[group].points()}
                for group, name in enumerate(self._classes.names)
                if self._by_class.rows[group]
            },
        }

    def calibration(self) -> dict[str, Any]:
        """Calibration taken apart, for everything together and for each class of fields by itself."""
        everything, sweeps = self._sweeps
        return {
            "overall": _parts(self._totals.together(), everything),
            "fields": {
                name: _parts(self._totals.together(self._classes.of_key == group), sweeps[group])
                for group, name in enumerate(self._classes.names)
                if self._by_class.rows[group]
            },
        }

    @cached_property
    def _classes(self) -> Groups:
        return Groups.named([class_of(key) for key in self._keys])

    @cached_property
    def _by_class(self) -> TargetCurves:
        return self._curves(self._classes)

    @cached_property
    def _whole(self) -> TargetCurves:
        return self._curves(self._together)

    def _curves(self, groups: Groups) -> TargetCurves:
        curves = TargetCurves(groups.sums(self._totals.rows), groups.sums(self._totals.right), self._target)
        self._rank(groups, curves)
        return curves

    @cached_property
    def _sweeps(self) -> tuple[Sweep, list[Sweep]]:
        everything = Sweeps(self._whole.each(), SWEEP_POINTS)
        by_class = Sweeps(self._by_class.each(), CLASS_SWEEP_POINTS)
        for groups, curves, sweeps in ((self._together, self._whole, everything), (self._classes, self._by_class, by_class)):
            if curves.at_once is None:
                self._rank(groups, sweeps)
            else:
                sweeps.climb(curves.at_once)
        return everything.each[0], by_class.each

    def _rank(self, groups: Groups, collector: Collector) -> None:
        """Show a collector all rows, by rank."""
        for ranked in self._ranking.ranges():
            match, key = ranked.columns
            if len(key):
                collector.add(Rows.by_group(groups.of_key[key], match, -ranked.scores, len(groups.names)))


def _metrics(curves: Sequence[Curve], sums: Sums) -> list[dict[str, Any]]:
    return [
        {
            "auroc": {"value": curve.auroc()},
            "brier_score": {"value": brier},
            "ece": error,
            "error_capture_at_budget": curve.error_capture(),
        }
        for curve, brier, error in zip(curves, sums.briers(), sums.calibration_errors(), strict=True)
    ]


def _parts(sums: Sums, sweep: Sweep) -> dict[str, Any]:
    return {
        "brier": brier_parts(sums.in_bin[0], sums.right_in_bin[0], sums.bin_sums[:, 0], sums.briers()[0]),
        "equal_mass": sweep.mass.bins(),
        "risk_coverage": {"area": sweep.mass.area(), "points": risk_by_coverage(sweep.points())},
    }


def _ranked_ratings(place: Ints, units: int, piece: Piece) -> RankedRows:
    """Return rated fields by rising confidence: whether each is right, and its key."""
    ratings = piece.ledger.table("ratings")
    # Rows are in the order of documents: sorted by key, they are in the order of their tie-breakers.
    order, _ = rows_by_code(place[ratings.array("key")], len(place))
    key, match = ratings.array("key")[order], ratings.array("match")[order]

    def ties() -> Ints:
        return place[key] * units + piece.places[ratings.array(UNIT)[order]]

    return RankedRows(np.zeros(len(key), np.int32), -ratings.array("confidence")[order], (match, key), ties)


class Groups(NamedTuple):
    """Keys under some names."""

    names: Sequence[str]
    of_key: Codes
    """For each key its place among the names."""

    @classmethod
    def named(cls, name_of_key: Sequence[str]) -> Groups:
        """Keys that have the same name together, in the order of the alphabet."""
        names = sorted(set(name_of_key))
        place = {name: number for number, name in enumerate(names)}
        return cls(names, np.array([place[name] for name in name_of_key], dtype=np.int32))

    def sums(self, column: Ints) -> Ints:
        """A column of the keys, summed by group."""
        sums = np.zeros(len(self.names), np.int64)
        np.add.at(sums, self.of_key, column)
        return sums
