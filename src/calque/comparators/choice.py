"""Comparators that are about the truth: several accepted values, or no comparison at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from calque.comparators.base import BaseComparator
from calque.comparators.text import LevenshteinComparator


@dataclass(frozen=True)
class OneOfComparator(BaseComparator):
    """The best similarity with any of several accepted values: the truth is a list of them.

    >>> OneOfComparator().compare(["New York", "NYC"], "nyc")
    1.0
    """

    name: ClassVar[str] = "one_of"

    inner: BaseComparator = field(default_factory=LevenshteinComparator)
    """What compares with each of them."""

    def _compare(self, truth: Any, found: Any) -> float:
        accepted = truth if isinstance(truth, list | tuple) else (truth,)
        return max((self.inner.compare(value, found) for value in accepted), default=0.0)

    def params(self) -> dict[str, Any]:
        """The comparator inside, by name."""
        from calque.comparators.base import describe

        return {} if self.inner == LevenshteinComparator() else {"inner": describe(self.inner)}


@dataclass(frozen=True)
class IgnoreComparator(BaseComparator):
    """Marks a field that is not compared: it counts nowhere, and neither do its boxes."""

    name: ClassVar[str] = "ignore"

    def _compare(self, truth: Any, found: Any) -> float:  # noqa: ARG002  # whatever they are
        return 1.0
