"""Limits that the measures of a result must keep."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calque.base.errors import ConfigError
from calque.evaluation.measures import MeasureName
from calque.evaluation.result import Result
from calque.evaluation.task import Task
from calque.evaluation.verdict import Condition
from calque.statistics.comparability import nearest

UNDER, OVER = "--fail-under", "--fail-over"


@dataclass(frozen=True, slots=True)
class Limit:
    """A value that a measure must reach, or must not exceed. The value itself passes."""

    measure: str
    value: float
    flag: str = UNDER

    @classmethod
    def parse(cls, text: str, flag: str = UNDER) -> Limit:
        """The limit that ``MEASURE=VALUE`` spells.

        >>> Limit.parse("recall@0.50/Table=0.9")
        Limit(measure='recall@0.5/Table', value=0.9, flag='--fail-under')
        """
        name, value = measure_and_value(text, flag)
        try:
            return cls.of(name, float(value), flag)
        except ValueError:
            raise ConfigError(f"{flag} {text}: {value!r} is not a number; write {flag} {name}=0.9") from None

    @classmethod
    def of(cls, measure: str, value: float, flag: str = UNDER) -> Limit:
        """The limit of a measure, with its name spelt as everywhere."""
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise ConfigError(f"{flag} {measure}: {value!r} is not a finite number")
        return cls(spelt(measure, flag), float(value), flag)

    def check(self, task: Task | type[Task]) -> None:
        """Refuse the wrong one of the two options, as soon as it is known that there is such a measure."""
        if task.full_name(MeasureName.parse(self.measure)).name in {measure.name for measure in task.measures()}:
            self._turned_right(task)

    def _turned_right(self, task: Task | type[Task]) -> None:
        better = direction(task, self.measure)
        if better and better != (1 if self.flag == UNDER else -1):
            other, why = (OVER, "lower") if self.flag == UNDER else (UNDER, "higher")
            raise ConfigError(f"{self.flag} {self.measure}: {why} is better there; use {other} {self.measure}={self.value:g}")

    def judged(self, result: Result) -> Condition:
        """Whether the limit is kept."""
        name = f"{self.measure} {'>=' if self.flag == UNDER else '<='} {self.value!r}"
        value, reason = value_of(result, self.measure, f"{self.flag} {self.measure}")
        self._turned_right(result.task)
        if value is None:
            return Condition(name, failures=(f"{self.measure} has no value{reason}; it must be {self._wanted()}",))
        if (value >= self.value) if self.flag == UNDER else (value <= self.value):
            return Condition(name, f"{self.measure} is {close_to(value, self.value)}, {self._wanted()}")
        beyond = "below" if self.flag == UNDER else "above"
        return Condition(name, failures=(f"{self.measure} {close_to(value, self.value)} is {beyond} {self.value!r}",))

    def _wanted(self) -> str:
        return f"at {'least' if self.flag == UNDER else 'most'} {self.value!r}"


def measure_and_value(text: str, flag: str) -> tuple[str, str]:
    """The two sides of ``MEASURE=VALUE``; classes may have an equals sign in their names."""
    name, equals, value = text.rpartition("=")
    if not equals or not name or not value:
        raise ConfigError(f"{flag} {text}: write {flag} MEASURE=VALUE, as in {flag} recall@0.5=0.9")
    return name.strip(), value.strip()


def spelt(measure: str, flag: str) -> str:
    """The name of a measure as it is spelt everywhere."""
    try:
        return str(MeasureName.parse(measure))
    except ValueError as error:
        raise ConfigError(f"{flag} {measure}: {error}") from None


def direction(task: Task | type[Task], measure: str) -> int:
    """1 where higher is better, -1 where lower is, 0 where neither is."""
    return task.direction(MeasureName.parse(measure))


def value_of(result: Result, measure: str, asked: str) -> tuple[float | None, str]:
    """The value of a measure, or none and the reason; `ConfigError` that names the three nearest where it is unknown."""
    name = str(result.task.full_name(MeasureName.parse(measure)))
    try:
        value = result[name]
    except KeyError:
        if result.unevaluated is not None:
            return None, " (nothing was evaluated)"  # which is said first, and is why nothing is known
        raise ConfigError(
            f"{asked}: no measure of this result is called so; {nearest(name, result.task.names(result.numbers))}"
        ) from None
    if isinstance(value, bool | str):
        raise ConfigError(f"{asked}: this is no number; {nearest(measure, result.task.names(result.numbers))}")
    reason = result.why_undefined(name)
    return value, f" ({reason})" if reason else ""


def close_to(value: float, limit: float) -> str:
    """A value with as many digits as tell it from a limit.

    >>> close_to(0.9412, 0.95), close_to(0.949999, 0.95), close_to(0.95, 0.95), close_to(3, 2.0)
    ('0.9412', '0.949999', '0.95', '3')
    """
    if value == limit or isinstance(value, int):
        return repr(value)
    digits = 4
    while digits < 17 and float(f"{value:.{digits}f}") == limit:
        digits += 1
    return f"{value:.{digits}f}"
