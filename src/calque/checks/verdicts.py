"""Pass, partial or fail: limits are inclusive, and float noise cannot flip a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

SLACK = 1e-9
"""How far a number may lie on the wrong side of a limit and still count as reaching it."""


class Verdict(StrEnum):
    """What a check says of a case."""

    PASS = "pass"  # noqa: S105  # not a password
    PARTIAL = "partial"
    FAIL = "fail"


def reaches(score: float, limit: float) -> bool:
    """Whether a score is at or above a limit.

    >>> reaches(0.1 + 0.2, 0.3), reaches(0.3, 0.1 + 0.2), reaches(0.299, 0.3)
    (True, True, False)
    """
    return score >= limit - SLACK


def within(distance: float, limit: float) -> bool:
    """Whether a distance is at or below a limit; far from zero, where doubles are coarser than the slack, by their steps.

    >>> within(10.0, 10.0), within(10.0 + 1e-8, 10.0), within(math.nextafter(1e12, math.inf), 1e12)
    (True, False, True)
    """
    return distance <= limit + max(SLACK, 4 * math.ulp(limit))


@dataclass(frozen=True, slots=True)
class Ranges:
    """What a score is worth where no threshold is set.

    >>> [str(Ranges().verdict(score)) for score in (0.8, 0.5, 0.49)]
    ['pass', 'partial', 'fail']
    """

    pass_from: float = 0.8
    partial_from: float = 0.5

    def verdict(self, score: float) -> Verdict:
        """The verdict on a score."""
        if reaches(score, self.pass_from):
            return Verdict.PASS
        return Verdict.PARTIAL if reaches(score, self.partial_from) else Verdict.FAIL
