"""Rated fields as they come by, from the least confident on: how well confidence tells right from wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from calque.core.columns import Array, Flags, Floats, Ints
from calque.core.measures import Undefined

BUDGETS = (0.1, 0.3, 0.5)


class Steps(NamedTuple):
    """Distinct confidences, rising: how many rows, and how many right ones, lie below each and up to its end."""

    confidence: Floats
    below: Ints
    right_below: Ints
    through: Ints
    right_through: Ints


class Stairs:
    """Makes steps of rows that come some at a time. The last step stays open: the next rows may belong to it."""

    def __init__(self) -> None:
        self.rows = self.right = 0
        self._closed = 0, 0
        """How many rows, and how many right ones, the finished steps have."""
        self._open: tuple[float, int, int] | None = None
        """The confidence of the open step, and what lies up to its end so far."""

    def climb(self, match: Flags, confidence: Floats) -> Steps:
        """Take in the next rows, at least one. Returns the steps that are finished now."""
        last = np.flatnonzero(np.append(confidence[1:] != confidence[:-1], True))
        level, through = confidence[last], self.rows + last + 1
        right = self.right + np.cumsum(match)[last]
        self.rows, self.right = int(through[-1]), int(right[-1])
        if self._open is not None and self._open[0] != level[0]:
            level, through, right = (
                np.insert(rest, 0, first) for first, rest in zip(self._open, (level, through, right), strict=True)
            )
        self._open = float(level[-1]), self.rows, self.right
        steps = self._steps(level[:-1], through[:-1], right[:-1])
        if len(level) > 1:
            self._closed = int(through[-2]), int(right[-2])
        return steps

    def top(self) -> Steps:
        """The last step, when no more rows come; none if there were no rows."""
        level, through, right = ([value] for value in self._open) if self._open is not None else ([], [], [])
        return self._steps(
            np.array(level, dtype=np.float64), np.array(through, dtype=np.int64), np.array(right, dtype=np.int64)
        )

    def _steps(self, level: Floats, through: Ints, right: Ints) -> Steps:
        below, right_below = (
            np.concatenate([[first], rest[:-1]]).astype(np.int64)[: len(level)]
            for first, rest in zip(self._closed, (through, right), strict=True)
        )
        return Steps(level, below, right_below, through, right)


class Curve:
    """What the ranking of some fields tells; their number, and how many are right, is known beforehand."""

    def __init__(self, rows: int, right: int, target: float) -> None:
        self.rows = rows
        self.right = right
        self.levels = 0
        """How many distinct confidences there are."""
        self.operating_point: dict[str, float] | None = None
        """The lowest confidence that keeps the target precision for all that is accepted, if one does."""
        self._target = target
        self._stairs = Stairs()
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

    def finish(self) -> None:
        """No more rows come."""
        self._climb(self._stairs.top())

    def _climb(self, steps: Steps) -> None:
        self.levels += len(steps.confidence)
        # Twice the mean rank of each step, so that sums stay whole numbers.
        self._ranks += int(((steps.below + steps.through + 1) * (steps.right_through - steps.right_below)).sum())
        if self.operating_point is None:
            accepted = accepting(steps, self.rows, self.right)
            good = np.flatnonzero(accepted["precision"] >= self._target)
            if len(good):
                self.operating_point = {name: float(values[good[0]]) for name, values in accepted.items()}

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

    def acceptance(self) -> dict[str, Any]:
        """The operating point, and what it means in words."""
        if self.operating_point is not None:
            return {"operating_point": self.operating_point, "meaning": sentence(self.operating_point)}
        reason = "no confidences" if not self.rows else f"no confidence reaches a precision of {self._target:g}"
        nothing = f"no field can be accepted unseen at {100 * self._target:.3g} % precision"
        return {"operating_point": dict.fromkeys(ACCEPTED, Undefined(reason)), "meaning": nothing}


class Sweep:
    """What accepting from each confidence on would mean, at up to ``most`` of them, once it is known how many there are."""

    def __init__(self, curve: Curve, most: int) -> None:
        self._rows, self._right = curve.rows, curve.right
        shown = np.arange(curve.levels) if curve.levels <= most else np.linspace(0, curve.levels - 1, most).astype(np.int64)
        # Points are listed from the highest confidence on; rows come from the lowest on.
        self._shown = curve.levels - 1 - shown[::-1]
        self._stairs = Stairs()
        self._levels = 0
        self._points: list[dict[str, float]] = []

    def add(self, match: Flags, confidence: Floats) -> None:
        """Take in the next rows, at least one."""
        self._climb(self._stairs.climb(match, confidence))

    def finish(self) -> None:
        """No more rows come."""
        self._climb(self._stairs.top())

    def _climb(self, steps: Steps) -> None:
        start, self._levels = self._levels, self._levels + len(steps.confidence)
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
