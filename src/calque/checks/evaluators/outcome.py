"""What one evaluator says of one case: a score, a verdict that float noise cannot flip, and the reasons."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from calque.base.arguments import checked_list
from calque.base.short_repr import short_repr

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


LOGGER = logging.getLogger("calque")


class Status(StrEnum):
    """Whether a case could be judged at all."""

    OK = "ok"
    ERROR = "error"
    """The case itself is wrong (its expected value), or an evaluator broke: the verdict says nothing about the model."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Score, verdict, and why. `metadata` holds plain JSON values."""

    score: float
    verdict: Verdict
    hits: Sequence[str] = ()
    """Any sequence, kept as a list: results are compared with what JSON holds."""
    misses: Sequence[str] = ()
    reasoning: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    status: Status = Status.OK

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ("hits", "misses"):
            object.__setattr__(self, name, checked_list("Outcome", name, getattr(self, name), object, "a list"))

    @property
    def failed(self) -> bool:
        """Whether someone has to look at it."""
        return self.verdict is Verdict.FAIL or self.status is Status.ERROR

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "score": self.score,
            "verdict": str(self.verdict),
            "hits": list(self.hits),
            "misses": list(self.misses),
            "reasoning": self.reasoning,
            "metadata": dict(self.metadata),
            "status": str(self.status),
        }


def is_failure(row: Mapping[str, Any]) -> bool:
    """Whether someone has to look at a result in its JSON form: it failed, in part or wholly, or could not be had.

    >>> is_failure({"verdict": "partial", "status": "ok"}), is_failure({"verdict": "partial", "status": "ok", "failed": True})
    (False, True)
    """
    return row["verdict"] == Verdict.FAIL or row["status"] == Status.ERROR or row.get("failed") is True


def unusable(misses: Sequence[str], reasoning: str, metadata: Mapping[str, Any], *, status: Status) -> Outcome:
    """The outcome for data that cannot be compared; written to the log, never raised."""
    LOGGER.error("%s", reasoning)
    return Outcome(0.0, Verdict.FAIL, (), tuple(misses), reasoning, metadata, status)
