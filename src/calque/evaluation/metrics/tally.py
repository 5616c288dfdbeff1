"""Rows that documents add to counts, and the metrics of their sums: plain, and for weighted documents (the bootstrap)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from calque.base.columns import Array, Codes, Flags, Floats, Ints, Table
from calque.corpus.boxes import distinct_names
from calque.evaluation.document_sums import DocumentTallies, Replicates, Support, WeightedMetrics, mean_over_rows, share
from calque.evaluation.ledger import UNIT, Ledger, Piece
from calque.evaluation.measures import (
    ExactSum,
    Mean,
    MeasureName,
    Undefined,
    fraction_parts,
    joined_fractions,
    number,
    weighted_mean,
)
from calque.evaluation.metrics.formulas import Count, Metric, Sums
from calque.evaluation.metrics.tree import Block, Each, MeanOfClasses, MeanOfDocuments, Node, Total, is_asked, named


@dataclass(slots=True, eq=False)
class Column:
    """The rows that add to one count."""

    size: int = 1
    """The number of classes."""
    scale: float | None = None
    """A power of two that brings fractions to the range from 0 to 1; ``None`` for whole numbers."""
    exact: bool = False
    """Whether the plain sum of fractions is rounded only once."""
    rows: list[tuple[Array, Array | None, Array | None]] = field(default_factory=list)
    """The documents of the rows, perhaps their classes, and perhaps their values."""

    def by_class(self) -> Ints:
        """Add up the rows of each class; fractions as two whole numbers each."""
        return self._added(self.size, lambda _unit, group: group)

    def by_document(self, documents: int) -> Ints:
        """Add up the rows of each document; fractions as two whole numbers each."""
        return self._added(documents, lambda unit, _group: unit)

    def _added(self, size: int, chosen: Callable[[Array, Array | None], Array | None]) -> Ints:
        total = np.zeros(size if self.scale is None else (2, size), np.int64)
        for unit, group, values in self.rows:
            key = chosen(unit, group)
            if self.scale is not None and values is not None:
                total += fraction_parts(values, np.zeros(len(unit), np.int32) if key is None else key, size, self.scale)
            elif key is None:
                total += len(unit) if values is None else values.sum(dtype=np.int64)
            elif values is None:
                total += np.bincount(key, minlength=size)
            else:
                np.add.at(total, key, values.astype(np.int64))
        return total

    def joined(self, sums: Ints) -> Array:
        """Return sums of fractions as numbers; whole numbers as they are."""
        return sums if self.scale is None else joined_fractions(sums) / self.scale


class Tally:
    """The rows of a ledger that add to each count.

    >>> from calque.base.columns import Table
    >>> rows = Table({"unit": np.array([0, 0, 1]), "label": np.array([0, 1, 1])})
    >>> tally = Tally(Ledger(units=("a", "b"), tables={"rows": rows}, names={"label": ("text", "image")}))
    >>> tally.count("blocks", rows, by="label")
    >>> tally.columns["blocks"].by_class().tolist(), tally.columns["blocks"].by_document(2).tolist()
    ([1, 2], [2, 1])
    """

    def __init__(self, ledger: Ledger) -> None:
        self.documents = len(ledger.units)
        self.names = ledger.names
        self.columns: dict[str, Column] = {}

    def count(
        self,
        name: str,
        table: Table,
        rows: Array | None = None,
        *,
        by: str | Array | None = None,
        size: int = 1,
        values: Array | None = None,
    ) -> None:
        """Add rows of a table to a count.

        Args:
            name: The name of the count. Rows of several tables may add to the same count.
            table: The table.
            rows: The rows that count, as flags or positions; all by default.
            by: The column with the class of each row, or the classes themselves.
            size: The number of classes, if ``by`` is not a column.
            values: The whole number that each row of the table adds; 1 by default.
        """
        size = len(self.names[by]) if isinstance(by, str) else size
        self._add(self.columns.setdefault(name, Column(size)), table, rows, by, values)

    def add(
        self,
        name: str,
        table: Table,
        values: Array,
        rows: Array | None = None,
        *,
        by: str | Array | None = None,
        size: int = 1,
        scale: float = 1.0,
        exact: bool = False,
    ) -> None:
        """Add fractions to a sum; ``scale``, a power of two, brings them to the range from 0 to 1."""
        size = len(self.names[by]) if isinstance(by, str) else size
        self._add(self.columns.setdefault(name, Column(size, scale, exact)), table, rows, by, values)

    @staticmethod
    def _add(column: Column, table: Table, rows: Array | slice | None, by: str | Array | None, values: Array | None) -> None:
        group = table.array(by) if isinstance(by, str) else by
        if rows is None:
            rows = slice(None)
        column.rows.append((
            table.array(UNIT)[rows],
            None if group is None else group[rows],
            None if values is None else values[rows],
        ))  # fmt: skip

    def document_values(self, metric: Metric) -> Array:
        """Return the value of a metric for each document by itself; NaN where it has none."""
        columns = {name: self.columns[name] for name in _names(metric)}
        return _value(metric, {name: column.joined(column.by_document(self.documents)) for name, column in columns.items()})


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
            names = {*wanted, *(name for _, metric in means.values() for name in _names(metric))}
            sums = {name: tally.columns[name].by_document(tally.documents) for name in sorted(names)}
            view = {name: self._columns[name].joined(each) for name, each in sums.items()}
            for path, (over, metric) in means.items():
                self._means[path] = _ExactMean() if over.exact else Mean()
                self._means[path].add(_value(metric, view))
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


# Which counts a block needs.


def _names(metric: Metric) -> tuple[str, ...]:
    return () if metric.value is None else metric.value.names


def _value(metric: Metric, sums: Sums) -> Array:
    if metric.value is None:
        raise TypeError(f"the metric {metric.name!r} has no formula")
    return metric.value.of(sums)


def _blocks(node: Node, task: Any, path: str = "") -> Iterator[tuple[str, Block]]:
    """Yield the blocks that the settings ask for and that are not inside of maps, and where they are."""
    if isinstance(node, Block) and is_asked(node, task):
        yield path, node
        for key, child in node.children.items():
            yield from _blocks(child, task, f"{path}.{key}" if path else key)


def _maps(block: Block, task: Any) -> Iterator[Each]:
    for _, each in _blocks(block, task):
        yield from (child for child in each.children.values() if isinstance(child, Each) and child.over)


def document_names(block: Block, task: Any) -> list[str]:
    """Return the counts that are needed for each document by itself."""
    names: dict[str, None] = {}
    for each in _maps(block, task):
        if each.over == "document" and isinstance(each.inner, Block):
            names |= dict.fromkeys(name for metric in each.inner.computed(task).values() for name in _names(metric))
            names |= dict.fromkeys(() if each.present is None else each.present.names)
    return list(names)


def document_means(block: Block, task: Any) -> Iterator[tuple[str, tuple[MeanOfDocuments, Metric]]]:
    """Yield the metrics that are means over documents, by their place in the result."""
    for path, each in _blocks(block, task):
        if isinstance(each.over, MeanOfDocuments):
            for key, metric in each.computed(task).items():
                yield f"{path}.{key}" if path else key, (each.over, metric)


def is_computed(node: Node) -> bool:
    """Whether a node has metrics with a formula."""
    if isinstance(node, Metric):
        return node.value is not None
    if isinstance(node, Each):
        return bool(node.over)
    return isinstance(node, Block) and any(map(is_computed, node.children.values()))


# The values of a result.

Leaf = Callable[[Metric, Block, str], Any]
"""Returns the value of a metric of a block, given its place in the result."""
Entries = Callable[[Each], Mapping[str, Any]]
"""Returns the entries of a map."""


def fill(block: Block, task: Any, leaf: Leaf, entries: Entries, supplied: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return a block with every value: computed from sums, or supplied by the task.

    The task may supply any value, also that of a metric. To the entries of a computed map it may add keys.
    """
    made: dict[str, Any] = {}
    computed = block.computed(task)
    for key, child in block.children.items():
        here, given = f"{path}.{key}" if path else key, supplied.get(key)
        if isinstance(child, Block) and is_computed(child) and not _is_complete(child, task, given):
            if is_asked(child, task):
                made[key] = fill(child, task, leaf, entries, given or {}, here)
        elif isinstance(child, Each) and child.over:
            made[key] = {name: {**entry, **(given or {}).get(name, {})} for name, entry in entries(child).items()}
        elif key in supplied:
            made[key] = given
        elif key in computed:
            made[key] = leaf(computed[key], block, here)
    return made


def _is_complete(block: Block, task: Any, given: Any) -> bool:
    """Whether a task supplies all values of a block; they keep their order then."""
    if not isinstance(given, Mapping) or not block.computed(task).keys() <= given.keys():
        return False
    nested = {key: child for key, child in block.children.items() if not isinstance(child, Metric) and is_computed(child)}
    return all(isinstance(child, Block) and _is_complete(child, task, given.get(key)) for key, child in nested.items())


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
        return _number(metric, _value(metric, {name: self.sums.total(name) for name in _names(metric)})[0], reason)

    def _mean_of_classes(self, metric: Metric, over: MeanOfClasses, reason: str) -> float | Undefined:
        codes, weights = class_weights(over, self.task, self.ledger.names[over.of])
        values = _value(metric, {name: self.sums.by_class(name) for name in _names(metric)})[codes].tolist()
        if over.weight is not None:
            weights = weights * over.weight.of({name: self.sums.by_class(name) for name in over.weight.names})[codes]
        return weighted_mean([number(value, "") for value in values], weights.tolist(), reason)

    def _entries(self, each: Each) -> dict[str, dict[str, Any]]:
        """Return one block per class or document."""
        inner = each.inner
        if not isinstance(inner, Block):
            raise TypeError("the entries of a computed map must be blocks")
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
            values = _value(metric, {name: sums(name) for name in _names(metric)})[shown].tolist()
            columns[key] = [_number(metric, value, metric.undefined) for value in values]
        blocks = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        return dict(zip([keys[row] for row in shown], blocks, strict=True))


def class_weights(over: MeanOfClasses, task: Any, labels: tuple[str, ...]) -> tuple[list[int], Floats]:
    """Return the classes that are part of a mean, and their weights."""
    weights = [1.0 if over.weights is None else over.weights(task, label) for label in labels]
    codes = [code for code, weight in enumerate(weights) if weight is not None]
    return codes, np.array([weights[code] for code in codes], dtype=np.float64)


# Weighted documents.


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
        for _, block in _blocks(self._block, self._task):
            if not isinstance(block.over, MeanOfDocuments):
                yield from (name for metric in block.computed(self._task).values() for name in _names(metric))
            if isinstance(block.over, MeanOfClasses) and block.over.weight is not None:
                yield from block.over.weight.names
        for each in _maps(self._block, self._task):
            if _is_weighted(each):
                yield from (name for metric in _inner(each).computed(self._task).values() for name in _names(metric))
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
                for key, metric in _inner(each).computed(self._task).items()
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
            return np.asarray(_value(metric, self._total), dtype=np.float64)
        over = block.over
        codes, weights = class_weights(over, self._whole._task, self._whole._tally.names[over.of])
        weights = weights[:, None]
        if over.weight is not None:
            weights = weights * over.weight.of(self._by_class)[codes]
        return mean_over_rows(_value(metric, self._by_class)[codes], weights)

    def entries(self, each: Each) -> dict[str, dict[str, Floats]]:
        """Return the values of the metrics of each class; none in replicates that do not have the class."""
        columns = {
            key: np.asarray(_value(metric, self._by_class), np.float64)
            for key, metric in _inner(each).computed(self._whole._task).items()
        }
        if each.present is not None:
            absent = each.present.of(self._by_class) == 0
            columns = {key: np.where(absent, math.nan, values) for key, values in columns.items()}
        return {label: {key: values[code] for key, values in columns.items()} for code, label in self._whole._shown(each)}


def _is_weighted(each: Each) -> bool:
    """Whether the entries of a map have metrics for weighted documents."""
    return bool(each.by) and each.listed and each.over != "document"


def _inner(each: Each) -> Block:
    if not isinstance(each.inner, Block):
        raise TypeError("the entries of a computed map must be blocks")
    return each.inner
