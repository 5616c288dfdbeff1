"""What confidences are worth: telling right from wrong, calibration, review budgets, and what to accept without review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from calque.core.columns import Array, Codes, Flags, Floats, Ints, Table
from calque.core.ledger import UNIT, Ledger
from calque.core.measures import Undefined, counts, fraction_parts, joined_fractions
from calque.fields.comparison.cells import class_of
from calque.fields.confidence.ranking import Ranked, Ranking, grouped
from calque.fields.confidence.reliability import BINS, EqualMass, brier_parts, risk_by_coverage

BUDGETS = (0.1, 0.3, 0.5)


class Steps(NamedTuple):
    """Distinct confidences, rising: how many rows, and how many right ones, lie below each and up to its end."""

    confidence: Floats
    below: Ints
    right_below: Ints
    through: Ints
    right_through: Ints


class Stairs:
    """Makes steps of a known number of rows that come some at a time. A step is open while the next rows may belong to it."""

    def __init__(self, expected: int) -> None:
        self.rows = self.right = 0
        self._expected = expected
        self._closed = 0, 0
        """How many rows, and how many right ones, the finished steps have."""
        self._open: tuple[float, int, int] | None = None
        """The confidence of the open step, and what lies up to its end so far."""

    def climb(self, match: Flags, confidence: Floats) -> Steps:
        """Take in the next rows, at least one. Returns the steps that are finished now."""
        last = np.concatenate([np.flatnonzero(confidence[1:] != confidence[:-1]), [len(confidence) - 1]])
        level, through = confidence[last], self.rows + last + 1
        right = self.right + np.cumsum(match)[last]
        self.rows, self.right = int(through[-1]), int(right[-1])
        if self._open is not None and self._open[0] != level[0]:
            level, through, right = (
                np.insert(rest, 0, first) for first, rest in zip(self._open, (level, through, right), strict=True)
            )
        self._open = float(level[-1]), self.rows, self.right
        done = len(level) if self.rows == self._expected else len(level) - 1
        below, right_below = (
            np.concatenate([[first], rest])[:done] for first, rest in zip(self._closed, (through, right), strict=True)
        )
        if done:
            self._closed = int(through[done - 1]), int(right[done - 1])
        return Steps(level[:done], below, right_below, through[:done], right[:done])


class Curve:
    """What the ranking of some fields tells; their number, and how many are right, is known beforehand."""

    def __init__(self, rows: int, right: int) -> None:
        self.rows = rows
        self.right = right
        self.levels = 0
        """How many distinct confidences there are."""
        self._stairs = Stairs(rows)
        self._ranks = 0
        self._reviews = {budget: max(1, int(rows * budget)) for budget in BUDGETS}
        self._caught: dict[float, int] = {}

    def add(self, match: Flags, confidence: Floats) -> None:
        """Take in the next rows, at least one."""
        before = self._stairs.rows
        errors_before = before - self._stairs.right
        for budget, reviewed in self._reviews.items():
            if before < reviewed <= before + len(match):
                self._caught[budget] = errors_before + int((~match[: reviewed - before]).sum())
        self._climb(self._stairs.climb(match, confidence))

    def _climb(self, steps: Steps) -> None:
        self.levels += len(steps.confidence)
        # Twice the mean rank of each step, so that sums stay whole numbers.
        self._ranks += int(((steps.below + steps.through + 1) * (steps.right_through - steps.right_below)).sum())

    def auroc(self) -> float | Undefined:
        """How often a right field has a higher confidence than a wrong one; equal ones count half."""
        right, wrong = self.right, self.rows - self.right
        if not right or not wrong:
            return Undefined(
                "no confidences" if not self.rows else f"all {self.rows:,} fields are {'right' if right else 'wrong'}"
            )
        return (self._ranks - right * (right + 1)) / (2 * right * wrong)

    def error_capture(self) -> dict[str, Any]:
        """What share of the errors a review of the least confident fields finds, against a review of random ones."""
        errors = self.rows - self.right
        if not errors:
            return {"value": Undefined("no errors" if self.rows else "no confidences"), "budgets": {}}
        budgets = {}
        for budget, reviewed in self._reviews.items():
            share, random = self._caught[budget] / errors, reviewed / self.rows
            budgets[f"{budget:.2f}"] = {
                "fields_reviewed": reviewed,
                "errors_found": self._caught[budget],
                "pct_errors_caught": share,
                "pct_errors_random": random,
                "gain": share / random,
            }
        return {"value": budgets[f"{BUDGETS[len(BUDGETS) // 2]:.2f}"]["gain"], "budgets": budgets}


class TargetCurve(Curve):
    """The same, and from where on a target precision is kept."""

    def __init__(self, rows: int, right: int, target: float) -> None:
        super().__init__(rows, right)
        self.operating_point: dict[str, float] | None = None
        """The lowest confidence that keeps the target precision for all that is accepted, if one does."""
        self._target = target

    def _climb(self, steps: Steps) -> None:
        super()._climb(steps)
        if self.operating_point is None:
            accepted = accepting(steps, self.rows, self.right)
            good = np.flatnonzero(accepted["precision"] >= self._target)
            if len(good):
                self.operating_point = {name: float(values[good[0]]) for name, values in accepted.items()}

    def acceptance(self) -> dict[str, Any]:
        """The operating point, and what it means in words."""
        if self.operating_point is not None:
            return {"operating_point": self.operating_point, "meaning": sentence(self.operating_point)}
        reason = "no confidences" if not self.rows else f"no confidence reaches a precision of {self._target:g}"
        nothing = f"nothing can be accepted unseen at {100 * self._target:.3g} % precision"
        return {"operating_point": dict.fromkeys(ACCEPTED, Undefined(reason)), "meaning": nothing}


class Sweep:
    """What accepting from each confidence on would mean, at up to ``most`` of them, once it is known how many there are."""

    def __init__(self, curve: Curve, most: int) -> None:
        self._rows, self._right = curve.rows, curve.right
        shown = np.arange(curve.levels) if curve.levels <= most else np.linspace(0, curve.levels - 1, most).astype(np.int64)
        # Points are listed from the highest confidence on; rows come from the lowest on.
        self._shown = curve.levels - 1 - shown[::-1]
        self._stairs = Stairs(curve.rows)
        self._levels = 0
        self._points: list[dict[str, float]] = []
        self.mass = EqualMass(curve.rows, curve.right)

    def add(self, match: Flags, confidence: Floats) -> None:
        """Take in the next rows, at least one."""
        self._climb(self._stairs.climb(match, confidence))

    def _climb(self, steps: Steps) -> None:
        start, self._levels = self._levels, self._levels + len(steps.confidence)
        if len(steps.confidence):
            self.mass.add(*steps)
        here = self._shown[(start <= self._shown) & (self._shown < self._levels)] - start
        accepted = {name: values[here].tolist() for name, values in accepting(steps, self._rows, self._right).items()}
        self._points += (dict(zip(accepted, values, strict=True)) for values in zip(*accepted.values(), strict=True))

    def points(self) -> list[dict[str, float]]:
        """The points, from the highest confidence on."""
        return self._points[::-1]


ACCEPTED = ("confidence", "precision", "recall", "accepted")


def accepting(steps: Steps, rows: int, right: int) -> dict[str, Array]:
    """For each step: precision, recall and share of what is accepted from there on."""
    accepted, right_accepted = rows - steps.below, right - steps.right_below
    recall = right_accepted / right if right else np.zeros(len(accepted))
    return dict(zip(ACCEPTED, (steps.confidence, right_accepted / accepted, recall, accepted / max(rows, 1)), strict=True))


def sentence(point: Mapping[str, float]) -> str:
    """What an operating point means.

    >>> sentence({"confidence": 0.83, "precision": 0.9912, "accepted": 0.71})
    'accepting fields from a confidence of 0.83 automates 71 % at 99.1 % precision'
    """
    return (
        f"accepting fields from a confidence of {point['confidence']:.4g} automates {100 * point['accepted']:.3g} % "
        f"at {100 * point['precision']:.3g} % precision"
    )


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
        cell = key * BINS + np.minimum(np.searchsorted(EDGES, confidence, side="right"), BINS - 1)
        self.in_bin += counts(cell, size * BINS).reshape(size, BINS)
        self.right_in_bin += counts(cell[match], size * BINS).reshape(size, BINS)
        self.bin_sums += fraction_parts(confidence, cell, size * BINS).reshape(2, size, BINS)

    def of_key(self, code: int) -> tuple[Ints, Ints, Ints, Ints]:
        """The squares, and by bin the rows, the right ones and the confidences, of one key."""
        return self.squares[:, code], self.in_bin[code], self.right_in_bin[code], self.bin_sums[:, code]

    def of_all(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The same of all keys together."""
        return self.squares.sum(axis=1), self.in_bin.sum(axis=0), self.right_in_bin.sum(axis=0), self.bin_sums.sum(axis=1)


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
        curves = [
            Curve(rows, right) for rows, right in zip(self._totals.rows.tolist(), self._totals.right.tolist(), strict=True)
        ]
        self._rank(Groups(self._keys, np.arange(len(self._keys), dtype=np.int32)), curves)
        return {
            "overall": _metrics(self._whole, *self._totals.of_all()),
            "fields": {
                name: _metrics(curve, *self._totals.of_key(code))
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
        everything, sweeps = self._sweeps
        return {
            "target_precision": self._target,
            **self._whole.acceptance(),
            "sweep": everything.points(),
            "fields": {
                name: {**curve.acceptance(), "sweep": sweep.points()}
                for name, curve, sweep in zip(self._classes.names, self._class_curves, sweeps, strict=True)
                if curve.rows
            },
        }

    def calibration(self) -> dict[str, Any]:
        """Calibration taken apart, for everything together and for each class of fields by itself."""
        everything, sweeps = self._sweeps
        return {
            "overall": self._parts(self._together, 0, self._whole, everything),
            "fields": {
                name: self._parts(self._classes, place, curve, sweep)
                for place, (name, curve, sweep) in enumerate(zip(self._classes.names, self._class_curves, sweeps, strict=True))
                if curve.rows
            },
        }

    def _parts(self, groups: Groups, place: int, curve: Curve, sweep: Sweep) -> dict[str, Any]:
        totals, keys = self._totals, groups.of_key == place
        sizes, rights = totals.in_bin[keys].sum(axis=0), totals.right_in_bin[keys].sum(axis=0)
        value = brier(totals.squares[:, keys].sum(axis=1), curve.rows)
        return {
            "brier": brier_parts(sizes, rights, totals.bin_sums[:, keys].sum(axis=1), value),
            "equal_mass": sweep.mass.bins(),
            "risk_coverage": {"area": sweep.mass.area(), "points": risk_by_coverage(sweep.points())},
        }

    @cached_property
    def _classes(self) -> Groups:
        return Groups.named([class_of(key) for key in self._keys])

    @cached_property
    def _class_curves(self) -> list[TargetCurve]:
        return self._curves(self._classes)

    @cached_property
    def _sweeps(self) -> tuple[Sweep, list[Sweep]]:
        everything = Sweep(self._whole, SWEEP_POINTS)
        sweeps = [Sweep(curve, CLASS_SWEEP_POINTS) for curve in self._class_curves]
        self._rank(self._together, [everything])
        self._rank(self._classes, sweeps)
        return everything, sweeps

    @cached_property
    def _whole(self) -> TargetCurve:
        return self._curves(self._together)[0]

    def _curves(self, groups: Groups) -> list[TargetCurve]:
        rows, right = (groups.sums(column).tolist() for column in (self._totals.rows, self._totals.right))
        curves = [TargetCurve(*sizes, self._target) for sizes in zip(rows, right, strict=True)]
        self._rank(groups, curves)
        return curves

    def _rank(self, groups: Groups, collectors: Sequence[Curve] | Sequence[Sweep]) -> None:
        """Show every collector the rows of its group, by rank."""
        for rows in self._ranking:
            match, key = rows.values
            for group, members in groups.members(key):
                collectors[group].add(match[members], rows.number[members])


def _metrics(curve: Curve, squares: Ints, in_bin: Ints, right_in_bin: Ints, bin_sums: Ints) -> dict[str, Any]:
    return {
        "auroc": {"value": curve.auroc()},
        "brier_score": {"value": brier(squares, curve.rows)},
        "ece": calibration_error(in_bin, right_in_bin, bin_sums),
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
        names = sorted(set(name_of_key))
        place = {name: number for number, name in enumerate(names)}
        return cls(names, np.array([place[name] for name in name_of_key], dtype=np.int32))

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
