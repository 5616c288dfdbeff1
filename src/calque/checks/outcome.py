"""What one evaluator says of one case."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from calque.checks.verdicts import Verdict

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "hits", list(self.hits))
        object.__setattr__(self, "misses", list(self.misses))

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


def unusable(misses: Sequence[str], reasoning: str, metadata: Mapping[str, Any], *, status: Status) -> Outcome:
    """The outcome for data that cannot be compared; written to the log, never raised."""
    LOGGER.error("%s", reasoning)
    return Outcome(0.0, Verdict.FAIL, (), tuple(misses), reasoning, metadata, status)
