"""Measures: pure functions from a ledger to numbers, their names, and what an undefined number is."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from calque.base.columns import Array, Floats, Ints
from calque.kernels import kernels


@dataclass(frozen=True, slots=True)
class Undefined:
    """A number that does not exist, and why. It becomes ``None`` (printed ``–``), never 0, -1 or NaN."""

    reason: str


_NAME = (
    r"(?:(?P<scope>[a-z_]+)\.)?(?P<name>[A-Za-zΔ][A-Za-z0-9_]*(?:[ -][A-Za-z0-9_]+)*)"
    r"(?:@(?P<threshold>[0-9.]+(?:e-?[0-9]+)?))?(?:/(?P<label>(?s:.*)))?"
)


@dataclass(frozen=True, slots=True)
class MeasureName:
    """``[SCOPE.]NAME[@THRESHOLD][/CLASS]``; no scope means micro.

    >>> MeasureName.parse("macro_documents.recall@0.5")
    MeasureName(name='recall', scope='macro_documents', threshold=0.5, label=None)
    >>> str(MeasureName.parse("recall@0.50/Table"))
    'recall@0.5/Table'
    """

    name: str
    scope: str = ""
    threshold: float | None = None
    label: str | None = None

    @classmethod
    @functools.lru_cache(maxsize=4096)  # names are asked for again and again, of each result and by each gate
    def parse(cls, text: str) -> MeasureName:
        """The name that the text spells; `ValueError` if it spells none."""
        match = re.fullmatch(_NAME, text)
        if match is None:
            raise ValueError(f"{text!r} is not a measure name; write [SCOPE.]NAME[@THRESHOLD][/CLASS], as in recall@0.5/Table")
        threshold = match["threshold"]
        try:
            value = None if threshold is None else float(threshold)
        except ValueError:
            raise ValueError(f"{threshold!r} in {text!r} is not a number") from None
        return cls(match["name"], match["scope"] or "", value, match["label"])

    def __str__(self) -> str:
        scope = f"{self.scope}." if self.scope else ""
        threshold = "" if self.threshold is None else f"@{self.threshold!r}"
        return f"{scope}{self.name}{threshold}{'' if self.label is None else f'/{self.label}'}"


@dataclass(frozen=True)
class Measure:
    """A measure as a person reads about it; `calque explain` prints this."""

    name: str
    title: str
    definition: str
    formula: str
    source: str
    undefined: str
    """When it has no value."""


_HALF = float(1 << 27)
"""How many times smaller the second part of a fraction is than the first, and the first than one."""

TallyT = TypeVar("TallyT")


@dataclass(frozen=True)
class Ratio(Measure, Generic[TallyT]):
    """A measure that divides one count by another, for many groups at once."""

    numerator: Callable[[TallyT], Array]
    denominator: Callable[[TallyT], Array]

    def values(self, tally: TallyT) -> Floats:
        """The ratio for each group of the tally; NaN where it is undefined."""
        above, below = self.numerator(tally), self.denominator(tally)
        return np.asarray(np.divide(above, below, out=np.full(np.shape(below), np.nan), where=np.asarray(below) != 0))

    def numbers(self, tally: TallyT) -> list[float | Undefined]:
        """The ratio for each group of the tally, as numbers for people."""
        return [number(value, self.undefined) for value in np.atleast_1d(self.values(tally))]


def number(value: float, reason: str) -> float | Undefined:
    """The value, or why there is none when it is NaN."""
    return Undefined(reason) if math.isnan(value) else float(value)


def weighted_mean(values: Sequence[float | Undefined], weights: Sequence[float], reason: str) -> float | Undefined:
    """The mean of what is defined, the same for any order; undefined when nothing is or nothing weighs.

    >>> weighted_mean([0.5, Undefined("no predictions"), 1.0], [1.0, 1.0, 3.0], "no class has a value")
    0.875
    """
    kept = [(value, weight) for value, weight in zip(values, weights, strict=True) if not isinstance(value, Undefined)]
    total = math.fsum(weight for _, weight in kept)
    return math.fsum(value * weight for value, weight in kept) / total if total > 0 else Undefined(reason)


def counts(groups: Array, size: int) -> Ints:
    """How many rows each group has."""
    return np.bincount(groups, minlength=size).astype(np.int64, copy=False)


def reached(values: Floats, edges: Sequence[float]) -> Array:
    """How many of a few rising edges each value reaches; `np.searchsorted` says the same, and takes seven times as long.

    >>> reached(np.array([0.1, 0.5, 0.9]), (0.5, 0.75)).tolist()
    [0, 1, 2]
    """
    met = np.zeros(len(values), np.uint16)
    for edge in edges:
        met += values >= edge
    return met


def fraction_sums(values: Floats, groups: Array, size: int, scale: float = 1.0) -> Floats:
    """The sum of values in [0, 1] for each group, to the same bits in any order and split; negative groups are left out.

    ``scale``, a power of two, brings values to that range first.

    >>> fraction_sums(np.array([0.75, 0.5, 0.3]), np.array([0, 0, 1]), 2).tolist()
    [1.25, 0.3]
    """
    return joined_fractions(fraction_parts(values, groups, size, scale))


def fraction_parts(values: Floats, groups: Array, size: int, scale: float = 1.0) -> Ints:
    """`fraction_sums` as whole numbers, so that the sums of some rows can be added to those of others."""
    return kernels().fraction_parts(np.ascontiguousarray(values), groups.astype(np.int32, copy=False), size, scale)


def joined_fractions(parts: Ints) -> Floats:
    """The sums whose parts these are."""
    return np.asarray(parts[0] / _HALF + parts[1] / (_HALF * _HALF))


def fraction_mean(values: Floats) -> float:
    """The mean of values in [0, 1], the same for any order; there must be some."""
    return float(fraction_sums(values, np.zeros(len(values), np.int32), 1)[0] / len(values))


class Mean:
    """The mean of values in [0, 1] that come in parts, the same for any order and split; NaN is no value."""

    def __init__(self) -> None:
        self._count = 0
        self._parts = np.zeros((2, 1), np.int64)

    def add(self, values: Floats) -> None:
        """Add some values."""
        defined = values[~np.isnan(values)]
        self._count += len(defined)
        self._parts += fraction_parts(defined, np.zeros(len(defined), np.int32), 1)

    def join(self, other: Mean) -> Mean:
        """With the values of another."""
        self._count += other._count
        self._parts += other._parts
        return self

    def value(self, reason: str) -> float | Undefined:
        """The mean, or why there is none."""
        return float(joined_fractions(self._parts)[0] / self._count) if self._count else Undefined(reason)


MOST_PARTS = 1 << 12
"""How many numbers are kept before their sum is made of fewer."""


MOST_SUMMED = 2.0**900
"""No sum of values up to this one overflows."""


def exact_parts(values: list[float]) -> list[float]:
    """Return a few numbers with exactly the same sum, the largest first.

    >>> exact_parts([1e16, 1.0, 1.0, 1e-3])
    [1.0000000000000002e+16, 0.001]
    """
    if not all(abs(value) <= MOST_SUMMED for value in values):
        raise ValueError("a value is too great to be summed, or none")
    parts: list[float] = []
    while rest := math.fsum([*values, *(-part for part in parts)]):
        parts.append(rest)
    return parts


class ExactSum:
    """A sum of numbers that come in parts, rounded once at the end: the same bits for any order and split.

    >>> total = ExactSum()
    >>> for part in ([1e16, 1.0], [-1e16]):
    ...     total.add(part)
    >>> total.value()
    1.0
    """

    def __init__(self) -> None:
        self._parts: list[float] = []

    def add(self, values: Floats | Iterable[float]) -> None:
        """Add some numbers; those of an array, or many, are kept as the few that have the same sum."""
        self._parts += exact_parts(values.tolist()) if isinstance(values, np.ndarray) else values
        if len(self._parts) > MOST_PARTS:
            self._parts = exact_parts(self._parts)

    def join(self, other: ExactSum) -> ExactSum:
        """Add the numbers of another sum."""
        self.add(other._parts)
        return self

    def value(self) -> float:
        """The sum."""
        return math.fsum(self._parts)


def settle(tree: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The tree with ``None`` for every undefined number, and the reasons by dotted path.

    >>> settle({"micro": {"precision": Undefined("no predictions"), "tp": 0}})
    ({'micro': {'precision': None, 'tp': 0}}, {'micro.precision': 'no predictions'})
    """
    reasons: dict[str, str] = {}
    plain = (float, int)

    def visit(node: Any, path: str) -> Any:
        if isinstance(node, Undefined):
            reasons[path] = node.reason
            return None
        if type(node) is dict or isinstance(node, Mapping):
            # Nearly all of a result are numbers, which need no visit and no path.
            return {
                key: value if type(value) in plain else visit(value, f"{path}.{key}" if path else str(key))
                for key, value in node.items()
            }
        return node

    return visit(tree, ""), reasons
