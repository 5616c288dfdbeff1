"""Metric names: from any spelling of a name to its place among the numbers of a result.

A task declares its metrics with three methods. `Task.names` lists the names among its numbers, `Task.full_name` replaces an
alias or the header of a table by a name, and `Task.address` returns the keys that lead to the number. Indexing a result,
comparisons, gates and the bootstrap find metrics with the functions here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calque.base.errors import ConfigError, did_you_mean, nearest
from calque.base.wording import some
from calque.evaluation.measures import MeasureName

if TYPE_CHECKING:
    from calque.evaluation.result import Result
    from calque.evaluation.task import Task

LISTED_KEYS = 12
"""How many keys an error message lists before it only counts."""


def metric_path(task: Task, name: MeasureName) -> tuple[str, ...]:
    """Return the keys that lead to a metric.

    Raises:
        KeyError: The name has a threshold or a class, and the metric does not depend on it.
    """
    full = task.full_name(name)
    path = task.address(full)
    # The keys of a metric with a threshold or a class depend on it, so another one leads to other keys.
    if full.threshold is not None and task.address(replace(full, threshold=-1.0)) == path:
        raise KeyError(f"{full.name} has no thresholds")
    if full.label is not None and task.address(replace(full, label=f"{full.label}?")) == path:
        raise KeyError(f"{full.name} has no single classes")
    return path


def metric_value(task: Task, numbers: Mapping[str, Any], name: MeasureName) -> Any:
    """Return the value of a metric among the numbers of a task.

    Raises:
        KeyError: There is no such metric; the message suggests the closest name.
    """
    try:
        path = metric_path(task, name)
    except KeyError as error:
        raise KeyError(_no_metric(task, numbers, name, error.args[0])) from None
    node: Any = numbers
    for step in path:
        if not isinstance(node, Mapping) or step not in node:
            known = some(node, LISTED_KEYS) if isinstance(node, Mapping) else "nothing"
            raise KeyError(_no_metric(task, numbers, name, f"there is no {step!r} among {known}"))
        node = node[step]
    if isinstance(node, Mapping | list):
        raise KeyError(f"{name} is a table, not a number")
    return node


def _no_metric(task: Task, numbers: Mapping[str, Any], name: MeasureName, reason: str) -> str:
    hint = did_you_mean(str(name), task.names(numbers))
    return f"no metric {name}: {reason}{hint and f'; {hint}'}"


def value_or_none(result: Result, name: str) -> float | None:
    """Return the value of a metric; ``None`` if it has no value, or if the result does not have the metric."""
    try:
        return result[name]
    except KeyError:
        return None


def direction(task: Task | type[Task], metric: str) -> int:
    """Return 1 if higher values of a metric are better, -1 if lower values are, and 0 if neither are."""
    name = task.full_name(MeasureName.parse(metric)).name
    table = task.metric_table()
    if table is not None:
        return table.direction(name)
    return 0 if name in task.neutral else -1 if name in task.lower_is_better else 1


class MetricNames:
    """The names of all metrics of some results of one task. A class may occur in only one of the results."""

    def __init__(self, *results: Result) -> None:
        self._task = results[0].task
        self._names = dict.fromkeys(name for result in results for name in result.task.names(result.numbers))
        self._by_path: dict[tuple[str, ...], str] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def resolve(self, text: str, option: str = "") -> str:
        """Return the name that a text means: ``f1`` is ``f1@0.5`` if 0.5 is the lowest threshold.

        Args:
            text: The name, perhaps an alias or without its threshold.
            option: The option with its value, for the error message.

        Raises:
            ConfigError: There is no such metric; the message names the three closest.
        """
        if text in self._names:
            return text
        if not self._by_path:
            for name in self._names:
                self._by_path.setdefault(self._task.address(MeasureName.parse(name)), name)
        try:
            return self._by_path[metric_path(self._task, MeasureName.parse(text))]
        except ValueError as error:
            raise ConfigError(f"{error}; {nearest(text, self._names)}") from None
        except KeyError:
            wrong = f"{option}: no measure of this result is called so" if option else f"there is no measure {text!r}"
            raise ConfigError(f"{wrong}; {nearest(text, self._names)}") from None
