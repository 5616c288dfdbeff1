"""Plain metrics: the values of a result, from the sums of all documents with weight 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from calque.base.columns import Array, Floats, Ints
from calque.corpus.boxes import distinct_names
from calque.evaluation.ledger import Ledger, Piece
from calque.evaluation.measures import ExactSum, Mean, Undefined, number, weighted_mean
from calque.evaluation.metrics.filling import class_weights, document_means, document_names, entry_of, fill
from calque.evaluation.metrics.formulas import Count, Metric
from calque.evaluation.metrics.tally import Column, Tally
from calque.evaluation.metrics.tree import Block, Each, MeanOfClasses, MeanOfDocuments, Total


class _ExactMean:
    """The mean of values that come in parts, rounded only once."""

    def __init__(self) -> None:
        self._count = 0
        self._sum = ExactSum()

    def add(self, values: Floats) -> None:
        """Add some values; NaN is not a value."""
        known = values[~np.isnan(values)]
        self._count += len(known)
        self._sum.add(known)

    def join(self, other: _ExactMean) -> _ExactMean:
        """Add the values of another mean."""
        self._count += other._count
        self._sum.join(other._sum)
        return self

    def value(self, reason: str) -> float | Undefined:
        """Return the mean, or why there is none."""
        return self._sum.value() / self._count if self._count else Undefined(reason)


class PlainSums:
    """The sums of all documents with weight 1; the sums of parts of a ledger can be joined."""

    def __init__(self, block: Block, task: Any, tally: Tally, places: Array) -> None:
        self._columns = {name: Column(each.size, each.scale, each.exact) for name, each in tally.columns.items()}
        self._by_class = {name: column.by_class() for name, column in tally.columns.items()}
        self._exact: dict[str, ExactSum] = {}
        for name, column in tally.columns.items():
            if column.exact:
                self._exact[name] = ExactSum()
                for _, _, values in column.rows:
                    self._exact[name].add(values)  # type: ignore[arg-type]  # fractions always have values
        self._means: dict[str, Mean | _ExactMean] = {}
        self._by_document: list[tuple[Array, dict[str, Ints]]] = []
        wanted = document_names(block, task)
        means = dict(document_means(block, task))
        if wanted or means:
            names = {*wanted, *(name for _, metric in means.values() for name in metric.counts)}
            sums = {name: tally.columns[name].by_document(tally.documents) for name in sorted(names)}
            view = {name: self._columns[name].joined(each) for name, each in sums.items()}
            for path, (over, metric) in means.items():
                self._means[path] = _ExactMean() if over.exact else Mean()
                self._means[path].add(metric.of(view))
            if wanted:
                self._by_document.append((places, {name: sums[name] for name in wanted}))

    def join(self, other: PlainSums) -> PlainSums:
        """Add the sums of other documents."""
        for name, sums in other._by_class.items():
            self._by_class[name] = self._by_class[name] + sums
        for name, exact in other._exact.items():
            self._exact[name].join(exact)
        for path, mean in other._means.items():
            self._means[path].join(mean)  # type: ignore[arg-type]  # both are of the same class
        self._by_document += other._by_document
        return self

    def total(self, name: str) -> Array:
        """Return a sum over all documents and classes."""
        if name in self._exact:
            return np.array([self._exact[name].value()])
        column = self._columns[name]
        return np.atleast_1d(column.joined(self._by_class[name].sum(axis=-1, keepdims=True)))

    def whole(self, name: str) -> int:
        """Return a count over all documents and classes."""
        return int(self.total(name)[0])

    def by_class(self, name: str) -> Array:
        """Return a sum for each class."""
        return self._columns[name].joined(self._by_class[name])

    def by_document(self, name: str, documents: int) -> Array:
        """Return a sum for each document."""
        made = np.zeros((documents,) if self._columns[name].scale is None else (2, documents), np.int64)
        for places, sums in self._by_document:
            made[..., places] = sums[name]
        return self._columns[name].joined(made)

    def mean(self, path: str, reason: str) -> float | Undefined:
        """Return the mean over documents of the metric at this place of the result."""
        return self._means[path].value(reason)


def add_up(block: Block, rows: Callable[[Any, Ledger], Tally], task: Any, ledger: Ledger) -> PlainSums:
    """Add up the counts of a ledger, part by part."""
    return ledger.fold(_Part(block, rows, task))


@dataclass(frozen=True, eq=False)
class _Part:
    """The sums of one part of a ledger; a class, because a cluster has to send it to its workers."""

    block: Block
    rows: Callable[[Any, Ledger], Tally]
    task: Any

    def __call__(self, piece: Piece) -> PlainSums:
        return PlainSums(self.block, self.task, self.rows(self.task, piece.ledger), piece.places)


def _reason(metric: Metric, block: Block) -> str:
    return metric.undefined if isinstance(block.over, Total) else block.over.undefined or metric.undefined


def _number(metric: Metric, value: Any, reason: str) -> int | float | Undefined:
    return int(value) if isinstance(metric.value, Count) else number(float(value), reason)


@dataclass(frozen=True, eq=False)
class PlainMetrics:
    """The metrics of a block, computed from the sums of all documents."""

    block: Block
    task: Any
    ledger: Ledger
    sums: PlainSums

    def tree(self, supplied: Mapping[str, Any]) -> dict[str, Any]:
        """Return the block as the JSON shows it; ``supplied`` has the values without a formula."""
        return fill(self.block, self.task, self._leaf, self._entries, supplied)

    def _leaf(self, metric: Metric, block: Block, path: str) -> int | float | Undefined:
        reason = _reason(metric, block)
        if isinstance(block.over, MeanOfDocuments):
            return self.sums.mean(path, reason)
        if isinstance(block.over, MeanOfClasses):
            return self._mean_of_classes(metric, block.over, reason)
        return _number(metric, metric.of({name: self.sums.total(name) for name in metric.counts})[0], reason)

    def _mean_of_classes(self, metric: Metric, over: MeanOfClasses, reason: str) -> float | Undefined:
        codes, weights = class_weights(over, self.task, self.ledger.names[over.of])
        values = metric.of({name: self.sums.by_class(name) for name in metric.counts})[codes].tolist()
        if over.weight is not None:
            weights = weights * over.weight.of({name: self.sums.by_class(name) for name in over.weight.names})[codes]
        return weighted_mean([number(value, "") for value in values], weights.tolist(), reason)

    def _entries(self, each: Each) -> dict[str, dict[str, Any]]:
        """Return one block per class or document."""
        inner = entry_of(each)
        keys: Sequence[Any] = self.ledger.names.get(each.over, ())
        sums: Callable[[str], Array] = self.sums.by_class
        if each.over == "document":
            keys = self.ledger.units if each.ids else distinct_names(self.ledger.units)
            sums = partial(self.sums.by_document, documents=len(keys))
        shown = [row for row, key in enumerate(keys) if each.shown is None or each.shown(self.task, key)]
        if each.present is not None:
            there = each.present.of({name: sums(name) for name in each.present.names})
            shown = [row for row in shown if there[row]]
        columns = {}
        for key, metric in inner.computed(self.task).items():
            values = metric.of({name: sums(name) for name in metric.counts})[shown].tolist()
            columns[key] = [_number(metric, value, metric.undefined) for value in values]
        blocks = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        return dict(zip([keys[row] for row in shown], blocks, strict=True))
