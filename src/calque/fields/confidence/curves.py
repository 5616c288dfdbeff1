"""What the ranking of rated fields tells, for any number of groups in one pass: steps, AUROC, review budgets, acceptance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from calque.base.columns import Array, Flags, Floats, Ints, rows_by_code
from calque.evaluation.measures import Undefined, counts
from calque.fields.confidence.reliability import EqualMass

BUDGETS = (0.1, 0.3, 0.5)


class Rows(NamedTuple):
    """Rated fields, one group after the other, those of a group by rank."""

    group: Array
    match: Flags
    confidence: Floats

    @classmethod
    def by_group(cls, group: Array, match: Flags, confidence: Floats, groups: int) -> Rows:
        """Rows that come by rank, whatever their groups."""
        if groups == 1:
            return cls(group, match, confidence)
        order, _ = rows_by_code(group, groups)
        return cls(group[order], match[order], confidence[order])


class Steps(NamedTuple):
    """Distinct confidences of one group after the other, rising: how many rows and right ones lie below each and through it."""

    group: Array
    confidence: Array
    below: Array
    right_below: Array
    through: Array
    right_through: Array

    def take(self, steps: Array | slice) -> Steps:
        """Some of them."""
        return Steps(*(column[steps] for column in self))

    def by_group(self, groups: int) -> Iterator[tuple[int, Steps]]:
        """Each group that has some, and which."""
        for group, (start, end) in enumerate(pairwise(np.searchsorted(self.group, np.arange(groups + 1)).tolist())):
            if start < end:
                yield group, self.take(slice(start, end))


class Stairs:
    """Makes steps of rows that come some at a time; how many there are of each group is known.

    The last step of a group is open while the next rows may belong to it.
    """

    def __init__(self, expected: Ints) -> None:
        size = len(expected)
        self.rows, self.right = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._expected = expected
        self._open = np.full(size, np.nan)
        """The confidence of each group's open step; NaN where none is open."""
        self._below, self._right_below = np.zeros(size, np.int64), np.zeros(size, np.int64)
        """What lies below it."""

    def climb(self, rows: Rows) -> Steps:
        """Take in the next rows, at least one. Returns the steps that are finished now."""
        steps, heads = self._steps(rows)
        group, level, below, right_below, through, right = steps
        waiting = self._open[group[heads]]
        joined = heads[waiting == level[heads]]
        below[joined], right_below[joined] = self._below[group[joined]], self._right_below[group[joined]]
        over = self._closed(group[heads[~np.isnan(waiting) & (waiting != level[heads])]])
        last = np.append(heads[1:], len(group)) - 1
        at = group[last]
        unfinished = through[last] < self._expected[at]
        self.rows[at], self.right[at] = through[last], right[last]
        self._open[at] = np.where(unfinished, level[last], np.nan)
        self._below[at], self._right_below[at] = below[last], right_below[last]
        if unfinished.any():
            steps = steps.take(np.delete(np.arange(len(group)), last[unfinished]))
        if not len(over.group):
            return steps
        joint = Steps(*(np.concatenate(columns) for columns in zip(over, steps, strict=True)))
        return joint.take(np.argsort(joint.group, kind="stable"))

    def _steps(self, rows: Rows) -> tuple[Steps, Ints]:
        """The steps that these rows make by themselves, counted on from what was there; and where each group begins."""
        group, match, confidence = rows
        ends = np.append(np.flatnonzero((group[1:] != group[:-1]) | (confidence[1:] != confidence[:-1])), len(group) - 1)
        code = group[ends]
        heads = np.append(0, np.flatnonzero(code[1:] != code[:-1]) + 1)
        sizes = np.diff(np.append(heads, len(code)))
        rising = []
        for known, within in ((self.rows, ends + 1), (self.right, np.cumsum(match)[ends])):
            before = np.append(0, within[:-1])
            more = np.repeat(known[code[heads]] - before[heads], sizes)
            rising += [before + more, within + more]
        below, through, right_below, right_through = rising
        return Steps(code, confidence[ends], below, right_below, through, right_through), heads

    def _closed(self, groups: Array) -> Steps:
        """The open steps of these groups, which end where their rows ended."""
        columns: tuple[Array, ...] = (self._open, self._below, self._right_below, self.rows, self.right)
        return Steps(groups, *(column[groups] for column in columns))


class Collector(Protocol):
    """Is shown the rows of all groups, by rank, some at a time."""

    def add(self, rows: Rows) -> None:
        """Take in the next rows, at least one."""


class Curve(NamedTuple):
    """What the ranking of one group tells."""

    rows: int
    right: int
    levels: int
    """How many distinct confidences there are."""
    ranks: int
    """The sum of twice the mean rank of each right row, which is a whole number."""
    reviewed: tuple[int, ...]
    """For each budget how many rows are reviewed."""
    caught: tuple[int, ...]
    """How many of these are wrong."""

    def auroc(self) -> float | Undefined:
        """How often a right field has a higher confidence than a wrong one; equal ones count half."""
        right, wrong = self.right, self.rows - self.right
        if not right or not wrong:
            return Undefined(
                "no confidences" if not self.rows else f"all {self.rows:,} fields are {'right' if right else 'wrong'}"
            )
        return (self.ranks - right * (right + 1)) / (2 * right * wrong)

    def error_capture(self) -> dict[str, Any]:
        """What share of the errors a review of the least confident fields finds, against a review of random ones."""
        errors = self.rows - self.right
        if not errors:
            return {"value": Undefined("no errors" if self.rows else "no confidences"), "budgets": {}}
        budgets = {}
        for budget, reviewed, caught in zip(_BUDGET_NAMES, self.reviewed, self.caught, strict=True):
            share, random = caught / errors, reviewed / self.rows
            budgets[budget] = {
                "fields_reviewed": reviewed,
                "errors_found": caught,
                "pct_errors_caught": share,
                "pct_errors_random": random,
                "gain": share / random,
            }
        return {"value": budgets[_BUDGET_NAMES[len(BUDGETS) // 2]]["gain"], "budgets": budgets}


_BUDGET_NAMES = tuple(f"{budget:.2f}" for budget in BUDGETS)


class Curves:
    """Makes the curves of groups; the number of their rows, and how many are right, is known beforehand."""

    def __init__(self, rows: Ints, right: Ints) -> None:
        self.rows, self.right = rows, right
        self._stairs = Stairs(rows)
        self._levels, self._ranks = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
        self._reviewed = np.stack([np.maximum(1, (rows * budget).astype(np.int64)) for budget in BUDGETS])
        self._caught = np.zeros_like(self._reviewed)
        self.at_once: Steps | None = None
        """All steps, where all rows came together: whoever asks for them next need not make them again."""

    def add(self, rows: Rows) -> None:
        """Take in the next rows, at least one."""
        self._review(rows)
        steps = self._stairs.climb(rows)
        self.at_once = steps if len(rows.group) == self.rows.sum() else None
        self._climb(steps)

    def _review(self, rows: Rows) -> None:
        """Count the wrong ones among the rows that each budget reaches."""
        starts = np.searchsorted(rows.group, np.arange(len(self.rows)))
        wrong = np.flatnonzero(~rows.match)
        group = rows.group[wrong]
        position = wrong - starts[group] + self._stairs.rows[group]
        for budget, reviewed in enumerate(self._reviewed):
            self._caught[budget] += counts(group[position < reviewed[group]], len(reviewed))

    def _climb(self, steps: Steps) -> None:
        self._levels += counts(steps.group, len(self._levels))
        # Twice the mean rank of each step, so that sums stay whole numbers.
        ranks = (steps.below + steps.through + 1) * (steps.right_through - steps.right_below)
        np.add.at(self._ranks, steps.group, ranks)

    def each(self) -> list[Curve]:
        """The curve of each group, when all rows were there."""
        columns = (self.rows, self.right, self._levels, self._ranks)
        budgets = (zip(*column.tolist(), strict=True) for column in (self._reviewed, self._caught))
        return [Curve(*of_group) for of_group in zip(*(column.tolist() for column in columns), *budgets, strict=True)]


class TargetCurves(Curves):
    """The same, and from where on a target precision is kept."""

    def __init__(self, rows: Ints, right: Ints, target: float) -> None:
        super().__init__(rows, right)
        self.operating_points: list[dict[str, float] | None] = [None] * len(rows)
        """The lowest confidence of each group that keeps the target precision for all that is accepted, if one does."""
        self._target = target
        self._sought = np.ones(len(rows), np.bool_)

    def _climb(self, steps: Steps) -> None:
        super()._climb(steps)
        if not self._sought.all():
            steps = steps.take(np.flatnonzero(self._sought[steps.group]))
        accepted = accepting(steps, self.rows, self.right)
        good = np.flatnonzero(accepted["precision"] >= self._target)
        for group, first in zip(*(found.tolist() for found in np.unique(steps.group[good], return_index=True)), strict=True):
            self.operating_points[group] = {name: float(values[good[first]]) for name, values in accepted.items()}
        self._sought[steps.group[good]] = False

    def acceptance(self, group: int) -> dict[str, Any]:
        """The operating point of a group, and what it means in words."""
        if (point := self.operating_points[group]) is not None:
            return {"operating_point": point, "meaning": sentence(point)}
        reason = "no confidences" if not self.rows[group] else f"no confidence reaches a precision of {self._target:g}"
        nothing = f"nothing can be accepted unseen at {100 * self._target:.3g} % precision"
        return {"operating_point": dict.fromkeys(ACCEPTED, Undefined(reason)), "meaning": nothing}


class Sweep:
    """What accepting from each confidence of a group on would mean, at up to ``most`` of them."""

    def __init__(self, curve: Curve, most: int) -> None:
        self._rows, self._right = np.array([curve.rows]), np.array([curve.right])
        shown = np.arange(curve.levels) if curve.levels <= most else np.linspace(0, curve.levels - 1, most).astype(np.int64)
        # Points are listed from the highest confidence on; rows come from the lowest on.
        self._shown = curve.levels - 1 - shown[::-1]
        self._levels = 0
        self._points: list[dict[str, float]] = []
        self.mass = EqualMass(curve.rows, curve.right)

    def climb(self, steps: Steps) -> None:
        """Take in the next steps of the group, at least one."""
        start, self._levels = self._levels, self._levels + len(steps.confidence)
        self.mass.add(*steps[1:])
        here = self._shown[(start <= self._shown) & (self._shown < self._levels)] - start
        shown = steps.take(here)._replace(group=np.zeros(len(here), np.int64))
        accepted = {name: values.tolist() for name, values in accepting(shown, self._rows, self._right).items()}
        self._points += (dict(zip(accepted, values, strict=True)) for values in zip(*accepted.values(), strict=True))

    def points(self) -> list[dict[str, float]]:
        """The points, from the highest confidence on."""
        return self._points[::-1]


class Sweeps:
    """The sweeps of groups, once it is known how many levels each has."""

    def __init__(self, curves: Sequence[Curve], most: int) -> None:
        self._stairs = Stairs(np.array([curve.rows for curve in curves], np.int64))
        self.each = [Sweep(curve, most) for curve in curves]

    def add(self, rows: Rows) -> None:
        """Take in the next rows, at least one."""
        self.climb(self._stairs.climb(rows))

    def climb(self, steps: Steps) -> None:
        """Take in the next steps."""
        for group, own in steps.by_group(len(self.each)):
            self.each[group].climb(own)


ACCEPTED = ("confidence", "precision", "recall", "accepted")


def accepting(steps: Steps, rows: Ints, right: Ints) -> dict[str, Array]:
    """For each step: precision, recall and share of what is accepted of its group from there on."""
    rows, right = rows[steps.group], right[steps.group]
    accepted, right_accepted = rows - steps.below, right - steps.right_below
    recall = np.divide(right_accepted, right, out=np.zeros(len(right)), where=right > 0)
    return dict(zip(ACCEPTED, (steps.confidence, right_accepted / accepted, recall, accepted / rows), strict=True))


def sentence(point: Mapping[str, float]) -> str:
    """What an operating point means.

    >>> sentence({"confidence": 0.83, "precision": 0.9912, "accepted": 0.71})
    'accepting fields from a confidence of 0.83 automates 71 % at 99.1 % precision'
    """
    return (
        f"accepting fields from a confidence of {point['confidence']:.4g} automates {100 * point['accepted']:.3g} % "
        f"at {100 * point['precision']:.3g} % precision"
    )
