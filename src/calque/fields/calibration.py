"""What confidences are worth: discrimination, calibration, review budgets, and from where on to accept without review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from calque.core.columns import Array, Codes, Ints, Table
from calque.core.ledger import UNIT, Ledger
from calque.core.measures import Undefined, counts, fraction_parts, joined_fractions
from calque.fields.book import class_of
from calque.fields.curves import Curve, Sweep
from calque.fields.ranking import Ranked, Ranking, grouped

BINS = 10
EDGES = tuple((index + 1) / BINS for index in range(BINS))
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
            seen, at = np.unique(key, return_index=True)
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
        cell = key * BINS + np.minimum(np.searchsorted(EDGES, confidence, side="right"), BINS - 1)
        self.in_bin += counts(cell, size * BINS).reshape(size, BINS)
        self.right_in_bin += counts(cell[match], size * BINS).reshape(size, BINS)
        self.bin_sums += fraction_parts(confidence, cell, size * BINS).reshape(2, size, BINS)


class Ratings:
    """All rated fields of a ledger, ranked from the least confident on, and what they say, by key and by class.

    Equal confidences stand by key in the order of its first row, then by document and row.
    """

    def __init__(self, ledger: Ledger, target: float = 1.0) -> None:
        self._target = target
        self._keys = ledger.names["key"]
        self._together = Groups(("everything",), np.zeros(len(self._keys), np.int32))
        self._totals = totals = KeyTotals(ledger)

        def chunks() -> Iterator[Ranked]:
            return (_ratings(rows, totals.place, len(ledger.units)) for rows in ledger.chunks("ratings"))

        self._ranking = Ranking(chunks, int(totals.rows.sum()))

    def confidence_metrics(self, fields_total: int) -> dict[str, Any]:
        """``confidence_metrics``: everything together and each key by itself, and how many fields have a confidence."""
        rated = int(self._totals.rows.sum())
        curves = self._curves(Groups(self._keys, np.arange(len(self._keys), dtype=np.int32)))
        return {
            "overall": self._metrics(self._whole, slice(None)),
            "fields": {
                name: self._metrics(curve, slice(code, code + 1))
                for code, (name, curve) in enumerate(zip(self._keys, curves, strict=True))
                if curve.rows
            },
            "coverage": {
                "fields_with_confidence": rated,
                "fields_total": fields_total,
                "ratio": rated / fields_total if fields_total else 0.0,
            },
        }

    def acceptance(self) -> dict[str, Any]:
        """From where on to accept without review, for everything together and for each class of fields by itself."""
        classes = Groups.named([class_of(key) for key in self._keys])
        curves = self._curves(classes)
        everything, sweeps = Sweep(self._whole, SWEEP_POINTS), [Sweep(curve, CLASS_SWEEP_POINTS) for curve in curves]
        self._rank(self._together, [everything])
        self._rank(classes, sweeps)
        return {
            "target_precision": self._target,
            **self._whole.acceptance(),
            "sweep": everything.points(),
            "fields": {
                name: {**curve.acceptance(), "sweep": sweep.points()}
                for name, curve, sweep in zip(classes.names, curves, sweeps, strict=True)
                if curve.rows
            },
        }

    @cached_property
    def _whole(self) -> Curve:
        return self._curves(self._together)[0]

    def _curves(self, groups: Groups) -> list[Curve]:
        rows, right = (groups.sums(column).tolist() for column in (self._totals.rows, self._totals.right))
        curves = [Curve(*sizes, self._target) for sizes in zip(rows, right, strict=True)]
        self._rank(groups, curves)
        return curves

    def _rank(self, groups: Groups, collectors: Sequence[Curve] | Sequence[Sweep]) -> None:
        """Show every collector the rows of its group, by rank."""
        for rows in self._ranking:
            match, key = rows.values
            for group, members in groups.members(key):
                collectors[group].add(match[members], rows.number[members])
        for collector in collectors:
            collector.finish()

    def _metrics(self, curve: Curve, keys: slice) -> dict[str, Any]:
        totals = self._totals
        return {
            "auroc": {"value": curve.auroc()},
            "brier_score": {"value": brier(totals.squares[:, keys].sum(axis=1), curve.rows)},
            "ece": calibration_error(
                totals.in_bin[keys].sum(axis=0), totals.right_in_bin[keys].sum(axis=0), totals.bin_sums[:, keys].sum(axis=1)
            ),
            "error_capture_at_budget": curve.error_capture(),
        }


def _ratings(rows: Table, place: Ints, units: int) -> Ranked:
    """Rated fields by rising confidence: whether each is right, and its key."""
    key = rows.array("key")
    return Ranked(rows.array("confidence"), place[key] * units + rows.array(UNIT), (rows.array("match"), key))


class Groups(NamedTuple):
    """Keys under some names."""

    names: Sequence[str]
    of_key: Codes
    """For each key its place among the names."""

    @classmethod
    def named(cls, name_of_key: Sequence[str]) -> Groups:
        """Keys that have the same name together, in the order of the alphabet."""
        names, of_key = np.unique(name_of_key, return_inverse=True)
        return cls(names.tolist(), of_key.astype(np.int32))

    def sums(self, column: Ints) -> Ints:
        """A column of the keys, summed by group."""
        sums = np.zeros(len(self.names), np.int64)
        np.add.at(sums, self.of_key, column)
        return sums

    def members(self, key: Array) -> Iterator[tuple[int, slice | Ints]]:
        """Each group that has some of these rows, and which."""
        if len(self.names) == 1:
            yield 0, slice(None)
            return
        yield from grouped(self.of_key[key], len(self.names))


def brier(squares: Ints, rows: int) -> float | Undefined:
    """The mean squared difference between confidence and outcome."""
    return float(joined_fractions(squares)) / rows if rows else Undefined("no confidences")


def calibration_error(sizes: Ints, rights: Ints, sums: Ints) -> dict[str, Any]:
    """The mean distance between confidence and accuracy over equal bins, and the bins: the reliability curve."""
    rows = int(sizes.sum())
    if not rows:
        return {"value": Undefined("no confidences"), "bins": []}
    bins = []
    total = 0.0
    for index, (count, right, summed) in enumerate(
        zip(sizes.tolist(), rights.tolist(), joined_fractions(sums).tolist(), strict=True)
    ):
        accuracy, mean = (right / count, summed / count) if count else (0.0, 0.0)
        total += count / rows * abs(accuracy - mean)
        bins.append({"range": [index / BINS, EDGES[index]], "count": count, "accuracy": accuracy, "mean_confidence": mean})
    return {"value": total, "bins": bins}
