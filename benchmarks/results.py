"""What the runs of a suite gave, as plain data, and how far the tools' numbers are apart."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measure import Cost, median
from suite import DataSet, Numbers


@dataclass(frozen=True)
class Outcome:
    """All runs of one tool on one data set."""

    tool: str
    version: str
    costs: tuple[Cost, ...]
    numbers: tuple[Numbers, ...]

    @property
    def cost(self) -> Cost:
        return median(self.costs)


@dataclass(frozen=True)
class SetResult:
    """All tools on one data set."""

    data: DataSet
    outcomes: tuple[Outcome, ...]
    reference: str | None
    tolerance: float
    absent: tuple[str, ...]  # Why tools were not run, a sentence each.
    failures: Mapping[str, str]  # Why tools have no outcome although they were run, by tool.

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.absent, *(f"{tool} failed: {reason}" for tool, reason in self.failures.items()))

    def outcome(self, tool: str) -> Outcome | None:
        return next((outcome for outcome in self.outcomes if outcome.tool == tool), None)

    def difference(self, outcome: Outcome) -> float | None:
        """The largest difference from the reference's numbers, over all measures and runs."""
        reference = self.outcome(self.reference) if self.reference else None
        if reference is None:
            return None
        return max(largest_difference(numbers, reference.numbers[0]) for numbers in outcome.numbers)

    def agrees(self, outcome: Outcome) -> bool:
        difference = self.difference(outcome)
        return difference is None or difference <= self.tolerance


def largest_difference(found: Numbers, expected: Numbers) -> float:
    """The largest absolute difference; a number that only one side has, or has defined, is infinitely far."""
    if found.keys() != expected.keys():
        return math.inf
    return max((_apart(found[name], expected[name]) for name in expected), default=0.0)


def _apart(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return 0.0 if math.isnan(a) and math.isnan(b) else math.inf
    return abs(a - b)


def machine() -> str:
    """The machine in one line."""
    model = _cpu_model() or platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)


def as_json(header: Mapping[str, str], suites: Mapping[str, Sequence[SetResult]]) -> dict[str, Any]:
    """Everything that was measured, fit for strict JSON."""
    return {
        **header,
        "suites": {name: {result.data.name: _set_as_json(result) for result in found} for name, found in suites.items()},
    }


def _set_as_json(result: SetResult) -> dict[str, Any]:
    return {
        "title": result.data.title,
        "items": result.data.items,
        "reference": result.reference,
        "tolerance": result.tolerance,
        "notes": list(result.notes),
        "tools": {outcome.tool: _outcome_as_json(result, outcome) for outcome in result.outcomes},
    }


def _outcome_as_json(result: SetResult, outcome: Outcome) -> dict[str, Any]:
    difference = result.difference(outcome)
    return {
        "version": outcome.version,
        "median": asdict(outcome.cost),
        "runs": [asdict(cost) for cost in outcome.costs],
        "numbers": {name: None if math.isnan(value) else value for name, value in outcome.numbers[0].items()},
        "max_difference": None if difference is None or math.isinf(difference) else difference,
        "agrees": result.agrees(outcome),
    }
