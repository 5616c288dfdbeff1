"""Comparators that are about the truth: several accepted values, or no comparison at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from calque.base.errors import ConfigError
from calque.comparators.base import BaseComparator
from calque.comparators.text import LevenshteinComparator


@dataclass(frozen=True)
class OneOfComparator(BaseComparator):
    """The best similarity with any of several accepted values: the truth is a list of them.

    >>> OneOfComparator().compare(["New York", "NYC"], "nyc")
    1.0
    """

    name: ClassVar[str] = "one_of"

    inner: BaseComparator = LevenshteinComparator()
    """What compares with each of them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.inner, BaseComparator):
            raise ConfigError(f"one_of: inner must be a comparator, not {self.inner!r}")
        if isinstance(self.inner, IgnoreComparator):
            raise ConfigError("one_of: inner compares; with ignore any value would be one of them")
        if self.inner.threshold is not None:
            raise ConfigError("one_of: the threshold of inner decides nothing; give it to one_of")

    def _compare(self, truth: Any, found: Any) -> float:
        accepted = truth if isinstance(truth, list | tuple | set | frozenset) else (truth,)
        return max((self.inner.compare(value, found) for value in accepted), default=0.0)

    def params(self) -> dict[str, Any]:
        """The comparator inside, by name."""
        from calque.comparators.base import describe

        return {} if self.inner == LevenshteinComparator() else {"inner": describe(self.inner)}


@dataclass(frozen=True)
class IgnoreComparator(BaseComparator):
    """Marks a field that is not compared: it counts nowhere, and neither do its boxes."""

    name: ClassVar[str] = "ignore"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold is not None:
            raise ConfigError("ignore: what is not compared has no threshold")

    def _compare(self, truth: Any, found: Any) -> float:  # noqa: ARG002  # whatever they are
        return 1.0
