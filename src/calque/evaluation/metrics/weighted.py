"""Metrics for any weights of the documents: bootstrap replicates are made of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from calque.base.columns import Array, Codes, Flags, Floats
from calque.evaluation.document_sums import DocumentTallies, Replicates, Support, WeightedMetrics, mean_over_rows, share
from calque.evaluation.measures import MeasureName
from calque.evaluation.metrics.filling import (
    Entries,
    Leaf,
    blocks_of,
    class_weights,
    document_means,
    entry_of,
    fill,
    maps_of,
)
from calque.evaluation.metrics.formulas import Count, Metric
from calque.evaluation.metrics.tally import Tally
from calque.evaluation.metrics.tree import Block, Each, MeanOfClasses, MeanOfDocuments, Total, named


class WeightedBlock(WeightedMetrics):
    """The metrics of a block for any weights of the documents."""

    def __init__(self, block: Block, task: Any, tally: Tally, name: MeasureName) -> None:
        self._block, self._task, self._tally, self._name = block, task, tally, name
        self._tallies = DocumentTallies()
        self._there: dict[str, Flags] = {}
        self._document_values: dict[str, Floats] = {}
        self._tally_counts()
        self._tally_document_means()
        self._supports_by_name: dict[str, Support] = dict(self._named(self._support, self._supports))

    def measures(self) -> Mapping[str, Support]:
        """The names of the metrics, and the documents that each depends on."""
        return self._supports_by_name

    def replicates(self, weights: Codes, names: Collection[str], jobs: int = 1) -> Replicates:  # noqa: ARG002  # one product
        """All metrics: those that are not asked for cost next to nothing."""
        values = _Weighted(self, self._tallies.sums(weights))
        return dict(self._named(values.leaf, values.entries))

    def _named(self, leaf: Leaf, entries: Entries) -> Iterator[tuple[str, Any]]:
        tree = fill(self._block, self._task, leaf, lambda each: entries(each) if _is_weighted(each) else {}, {})
        return named(self._block, tree, self._name, unlisted=True)

    def _tally_counts(self) -> None:
        for name in dict.fromkeys(self._needed()):
            column = self._tally.columns[name]
            nothing = np.zeros(0, np.int64)
            unit = np.concatenate([nothing, *(unit for unit, _, _ in column.rows)])
            groups = [np.zeros(len(unit), np.int64) if group is None else group for unit, group, _ in column.rows]
            group = np.concatenate([nothing, *groups])
            if column.scale is not None:
                values = np.concatenate([np.zeros(0), *(values for _, _, values in column.rows if values is not None)])
                self._tallies.fractions(name, values, unit, group, column.size, column.scale)
                continue
            added = [np.ones(len(unit), np.int64) if values is None else values for unit, _, values in column.rows]
            self._tallies.count(name, unit, group, column.size, np.concatenate([nothing, *added]))

    def _needed(self) -> Iterator[str]:
        """Yield the counts of all metrics that are sums."""
        for _, block in blocks_of(self._block, self._task):
            if not isinstance(block.over, MeanOfDocuments):
                yield from (name for metric in block.computed(self._task).values() for name in metric.counts)
            if isinstance(block.over, MeanOfClasses) and block.over.weight is not None:
                yield from block.over.weight.names
        for each in maps_of(self._block, self._task):
            if _is_weighted(each):
                yield from (name for metric in entry_of(each).computed(self._task).values() for name in metric.counts)
                yield from () if each.present is None else each.present.names

    def _tally_document_means(self) -> None:
        """The value of each document, and how many documents have one."""
        means = dict(document_means(self._block, self._task))
        for path, (over, metric) in means.items():
            values = self._tally.document_values(metric)
            known = np.flatnonzero(~np.isnan(values))
            together = np.zeros(len(known), np.int64)
            scale = over.scale
            if scale is None:
                scale = 2.0 ** -int(np.ceil(np.log2(np.abs(values[known]).max(initial=1.0))))
            self._tallies.fractions(f"mean {path}", values[known], known, together, 1, scale)
            self._tallies.count(f"number {path}", known, together, 1)
            self._document_values[path] = values

    # The documents that each metric depends on.

    def _documents(self, count: Count | None, code: int | None = None) -> Flags:
        """Return whether each document adds to a count, perhaps in one class only."""
        if count is None:
            return np.ones(self._tally.documents, np.bool_)
        flags = np.zeros(self._tally.documents, np.bool_)
        for name in count.names:
            there = self._table(name)
            flags |= there.any(axis=1) if code is None else there[:, code]
        return flags

    def _table(self, name: str) -> Flags:
        """Return whether each document (a row) adds to a count in each class (a column)."""
        if name not in self._there:
            column = self._tally.columns[name]
            table = np.zeros((self._tally.documents, column.size), np.bool_)
            for unit, group, values in column.rows:
                rows = slice(None) if values is None else np.flatnonzero(values > 0)
                table[unit[rows], 0 if group is None else group[rows]] = True
            self._there[name] = table
        return self._there[name]

    def _support(self, metric: Metric, block: Block, path: str) -> Support:
        if isinstance(block.over, MeanOfDocuments):
            return Support(~np.isnan(self._document_values[path]))
        if isinstance(block.over, MeanOfClasses):
            labels = self._tally.names[block.over.of]
            codes, _ = class_weights(block.over, self._task, labels)
            classes = {labels[code]: self._documents(metric.supported_by, code) for code in codes}
            return Support.over(classes, self._tally.documents)
        return Support(self._documents(metric.supported_by))

    def _supports(self, each: Each) -> dict[str, dict[str, Support]]:
        return {
            label: {
                key: Support(self._documents(metric.supported_by, code))
                for key, metric in entry_of(each).computed(self._task).items()
            }
            for code, label in self._shown(each)
        }

    def _shown(self, each: Each) -> list[tuple[int, str]]:
        """Return the classes of a map that the result has."""
        there = None if each.present is None else np.any([self._table(name).any(axis=0) for name in each.present.names], axis=0)
        return [
            (code, label)
            for code, label in enumerate(self._tally.names[each.over])
            if (each.shown is None or each.shown(self._task, label)) and (there is None or there[code])
        ]


class _Weighted:
    """The values of a block's metrics, one per replicate."""

    def __init__(self, whole: WeightedBlock, sums: Mapping[str, Array]) -> None:
        self._whole = whole
        self._by_class = sums
        self._total = {name: each.sum(axis=0) for name, each in sums.items()}

    def leaf(self, metric: Metric, block: Block, path: str) -> Floats:
        """Return the values of a metric."""
        if isinstance(block.over, MeanOfDocuments):
            return share(self._by_class[f"mean {path}"][0], self._by_class[f"number {path}"][0])
        if isinstance(block.over, Total):
            return np.asarray(metric.of(self._total), dtype=np.float64)
        over = block.over
        codes, weights = class_weights(over, self._whole._task, self._whole._tally.names[over.of])
        weights = weights[:, None]
        if over.weight is not None:
            weights = weights * over.weight.of(self._by_class)[codes]
        return mean_over_rows(metric.of(self._by_class)[codes], weights)

    def entries(self, each: Each) -> dict[str, dict[str, Floats]]:
        """Return the values of the metrics of each class; none in replicates that do not have the class."""
        columns = {
            key: np.asarray(metric.of(self._by_class), np.float64)
            for key, metric in entry_of(each).computed(self._whole._task).items()
        }
        if each.present is not None:
            absent = each.present.of(self._by_class) == 0
            columns = {key: np.where(absent, math.nan, values) for key, values in columns.items()}
        return {label: {key: values[code] for key, values in columns.items()} for code, label in self._whole._shown(each)}


def _is_weighted(each: Each) -> bool:
    """Whether the entries of a map have metrics for weighted documents."""
    return bool(each.by) and each.listed and each.over != "document"
