"""The metric table of a task: the one declaration that all output follows from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from calque.evaluation.document_sums import WeightedMetrics
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import MeasureName
from calque.evaluation.metrics.formulas import DIRECTIONS, Metric
from calque.evaluation.metrics.plain import PlainMetrics, PlainSums, add_up
from calque.evaluation.metrics.tally import Tally
from calque.evaluation.metrics.tree import Block, CsvRows, Path, Place, address, named, places_of, schema_of, scopes_of
from calque.evaluation.metrics.weighted import WeightedBlock
from calque.evaluation.presentation.result_schema import Schema, result_of

Rows = Callable[[Any, Ledger], Tally]
"""Tells which rows of a ledger add to which count, under the settings of a task."""
NO_NAME = MeasureName("")


@dataclass(frozen=True, eq=False)
class MetricTable:
    """The metrics of a task, declared once.

    From it follow the values of a result, its JSON Schema, the CSV, the names of metrics and their addresses, the texts of
    ``calque explain``, the direction of gates, and bootstrap replicates.
    """

    task: str
    metrics: tuple[Metric, ...]
    """The metrics in the order in which ``calque explain`` lists them."""
    result: Block
    """The tree of the result."""
    rows: Rows | None = None
    """Which rows add to which count; ``None`` if the task computes all values itself."""
    supplied: Callable[[Any, Ledger, PlainSums], Mapping[str, Any]] | None = None
    """The values of the tree that are not metrics with a formula."""
    csv: Sequence[CsvRows | Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]] = ()
    """The rows of the CSV; by default one row per metric."""

    # Values.

    def compute(self, task: Any, ledger: Ledger) -> dict[str, Any]:
        """Return the values of a ledger as the tree of the JSON."""
        if self.rows is None:
            raise TypeError(f"the metric table of {self.task} does not say which rows to count")
        sums = add_up(self.result, self.rows, task, ledger)
        supplied = {} if self.supplied is None else self.supplied(task, ledger, sums)
        return PlainMetrics(self.result, task, ledger, sums).tree(supplied)

    def weighted(self, task: Any, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
        """Return the metrics with a formula for any weights of the documents: bootstrap replicates are made of them."""
        return () if self.rows is None else (WeightedBlock(self.result, task, self.rows(task, ledger), NO_NAME),)

    # Names.

    def names(self, tree: Mapping[str, Any], *, requested: bool = True) -> list[str]:
        """Return the names of the metrics of a result; without ``requested`` only those that comparisons include by default."""
        return [name for name, _ in named(self.result, tree, NO_NAME, requested=requested)]

    def address(self, name: MeasureName, task: Any) -> Path:
        """Return the keys that lead to a metric in the JSON."""
        return address(self._places, name, task)

    @cached_property
    def _places(self) -> tuple[Place, ...]:
        return tuple(places_of(self.result))

    def direction(self, name: str) -> int:
        """Return 1 if higher values of a metric are better, -1 if lower ones are, 0 if neither."""
        return next((DIRECTIONS[metric.better] for metric in self.metrics if metric.name == name), 1)

    # Output.

    def schema(self) -> Schema:
        """Return the JSON Schema of a result."""
        parts = ({key: schema_of(node) for key, node in part.items()} for part in (self.result.fields, self.result.optional))
        return result_of(self.task, *parts)

    def csv_rows(self, tree: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the rows of the CSV."""
        if not self.csv:
            return [{"measure": name, "value": value} for name, value in named(self.result, tree, NO_NAME)]
        return [row for each in self.csv for row in (each.rows(tree) if isinstance(each, CsvRows) else each(tree))]

    def explained(self) -> tuple[Metric, ...]:
        """Return the metrics that ``calque explain`` describes."""
        return tuple(metric for metric in self.metrics if metric.definition)

    def scopes(self, metric: str) -> dict[str, str]:
        """Return the scopes of a metric and what they mean, the usual one first."""
        return scopes_of(self.result, metric)


def one_sided_documents(ledger: Ledger) -> dict[str, list[Any]]:
    """Return the documents that only the ground truth has, and those that only the predictions have."""
    only_truth: list[int] = []
    only_predictions: list[int] = []
    for rows in ledger.chunks("documents", "in_truth", "in_found"):
        unit, in_truth, in_predictions = (rows.array(name) for name in (UNIT, "in_truth", "in_found"))
        only_truth += unit[in_truth & ~in_predictions].tolist()
        only_predictions += unit[in_predictions & ~in_truth].tolist()
    return {
        "only_truth": [ledger.units[unit] for unit in sorted(only_truth)],
        "only_predictions": [ledger.units[unit] for unit in sorted(only_predictions)],
    }
