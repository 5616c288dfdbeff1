"""Bounds of JSON Schema assertions: steps and seconds for one case; and numbers as JSON Schema compares them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from calque.base.errors import did_you_mean
from calque.checks.evaluators.patterns import Pattern, PatternClock

SECONDS = 1.0
"""How long a pattern may take for one text."""
MOST_STEPS = 2_000_000
"""Steps of work on one case: subschemas that are applied, keys and items that are compared."""
HINTS = 20
"""Keys that are not allowed for which a similar allowed key is looked up."""


class TooDeep(Exception):
    """References lead in circles, or values are nested too deeply."""


class TooMuchWork(Exception):
    """The schema needs more steps on this value than a case may take."""


class Work:
    """The work that was done on one case, and its bound."""

    def __init__(self) -> None:
        self.steps = MOST_STEPS
        self.clock = PatternClock(SECONDS)
        self.hints = HINTS
        self.depths: Counter[int] = Counter()
        """How often each node is being applied right now, by its identity."""

    def spend(self, steps: int) -> None:
        """Count steps; `TooMuchWork` when there were too many."""
        self.steps -= steps
        if self.steps < 0:
            raise TooMuchWork(f"the schema needs more than {MOST_STEPS:,} steps on this value")

    def fits(self, pattern: Pattern, text: str) -> bool:
        """Whether a part of the text fits the pattern; `TimeoutError` when patterns take too long."""
        self.spend(1)
        return self.clock.fits(pattern, text, full=False, ignore_case=False)

    def similar(self, key: str, known: frozenset[str]) -> str:
        """The allowed key that was probably meant, for the first few keys that are not allowed."""
        self.hints -= 1
        return did_you_mean(key, known) if self.hints >= 0 else ""


def is_number(value: Any) -> bool:
    """Whether a value is a number; a truth value is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Whether a value is a number that JSON can write; a whole number of any length is."""
    return is_number(value) and (isinstance(value, int) or math.isfinite(value))


def is_count(value: Any) -> bool:
    """Whether a value is a whole number, 0 or more."""
    return is_finite(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def exact(value: float) -> Fraction:
    """Return the number as it is written: 0.1 is one tenth."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def size_of(value: Any) -> int:
    """Return how many values a value is made of."""
    if isinstance(value, Mapping):
        return 1 + sum(map(size_of, value.values()))
    return 1 + sum(map(size_of, value)) if isinstance(value, list | tuple) else 1
