"""Formulas of metrics: counts, sums of counts and ratios of sums, and the description of a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from calque.base.columns import Array
from calque.evaluation.document_sums import share
from calque.evaluation.measures import Measure
from calque.evaluation.presentation.result_schema import COUNT, MEASURE, SHARE, Schema

Sums: TypeAlias = Mapping[str, Array]
"""The sum of each count, by its name: one value per replicate, with one row per class or document in front."""


class Count:
    """A count, or a sum of counts with whole factors.

    The name says which rows of a `Tally` are added up.

    >>> tp, fp, fn = Count("tp"), Count("fp"), Count("fn")
    >>> 2 * tp + fp + fn
    2·tp + fp + fn
    """

    def __init__(self, name: str, factor: int = 1) -> None:
        self.terms: dict[str, int] = {name: factor}

    @classmethod
    def _of(cls, terms: Iterable[tuple[str, int]]) -> Count:
        made = cls.__new__(cls)
        made.terms = {}
        for name, factor in terms:
            made.terms[name] = made.terms.get(name, 0) + factor
        return made

    def __add__(self, other: Count) -> Count:
        return Count._of([*self.terms.items(), *other.terms.items()])

    def __rmul__(self, factor: int) -> Count:
        return Count._of((name, factor * each) for name, each in self.terms.items())

    def __truediv__(self, other: Count) -> Ratio:
        return Ratio(self, other)

    def __repr__(self) -> str:
        return " + ".join(name if factor == 1 else f"{factor}·{name}" for name, factor in self.terms.items())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the counts."""
        return tuple(self.terms)

    def of(self, sums: Sums) -> Array:
        """Return the value for these sums."""
        parts = [sums[name] if factor == 1 else factor * sums[name] for name, factor in self.terms.items()]
        return parts[0] if len(parts) == 1 else np.sum(parts, axis=0)


@dataclass(frozen=True, slots=True)
class Ratio:
    """One count divided by another, or 1 minus that; it has no value if the denominator is 0.

    >>> import numpy as np
    >>> right, wrong = Count("right"), Count("wrong")
    >>> sums = {"right": np.array([3, 0]), "wrong": np.array([1, 0])}
    >>> (right / (right + wrong)).of(sums).tolist()
    [0.75, nan]
    >>> (1 - right / (right + wrong)).of(sums).tolist()
    [0.25, nan]
    """

    above: Count
    below: Count
    rest: bool = False
    """Whether the value is 1 minus the quotient."""

    def __rsub__(self, one: int) -> Ratio:
        if one != 1 or self.rest:
            return NotImplemented
        return Ratio(self.above, self.below, rest=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the counts."""
        return (*self.above.names, *self.below.names)

    def of(self, sums: Sums) -> Array:
        """Return the value for these sums; NaN if the denominator is 0."""
        quotient = share(self.above.of(sums), self.below.of(sums))
        return 1 - quotient if self.rest else quotient


@dataclass(frozen=True, slots=True)
class Formula:
    """Any other function of sums; it returns NaN where there is no value."""

    function: Callable[[Sums], Array]
    names: tuple[str, ...]
    """The names of the counts that the function uses."""

    def of(self, sums: Sums) -> Array:
        """Return the value for these sums."""
        return self.function(sums)


DIRECTIONS = {"higher": 1, "lower": -1, "neither": 0}


@dataclass(frozen=True)
class Metric(Measure):
    """A metric: its name, its description for ``calque explain``, and its formula.

    A metric without a definition has a name, but ``calque explain`` does not list it.
    """

    title: str = ""
    definition: str = ""
    formula: str = ""
    source: str = ""
    undefined: str = ""
    """When it has no value: the reason in the result."""
    value: Count | Ratio | Formula | None = None
    """How to compute it from counts; ``None`` if the task computes it in another way."""
    better: Literal["higher", "lower", "neither"] = "higher"
    """Which values are better: gates and comparisons need to know."""
    support: Count | None = None
    """The documents that the metric depends on: those that add to this count. By default those that add to the denominator,
    and all documents if there is none."""
    on_request: bool = False
    """Whether intervals and comparisons include it only if the user names it."""
    asked: Callable[[Any], bool] | None = None
    """Whether the settings of a task ask for the metric; by default every result has it."""
    aliases: tuple[str, ...] = ()
    """Other names that a user may write, besides the title."""
    kind: Schema | None = None
    """The JSON Schema of the value, if it is not a count or a fraction."""

    @property
    def counts(self) -> tuple[str, ...]:
        """The names of the counts in the formula."""
        return () if self.value is None else self.value.names

    def of(self, sums: Sums) -> Array:
        """Return the value for these sums; NaN where there is none."""
        if self.value is None:
            raise TypeError(f"the metric {self.name!r} has no formula")
        return self.value.of(sums)

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the value."""
        if self.kind is not None:
            return self.kind
        return COUNT if isinstance(self.value, Count) else SHARE if isinstance(self.value, Ratio) else MEASURE

    @property
    def supported_by(self) -> Count | None:
        """The count that the documents of the metric add to; ``None`` for all documents."""
        if self.support is None and isinstance(self.value, Ratio):
            return self.value.below
        return self.support
