"""How alike the items of two lists are, every one with every other: field by field, in bulk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from calque.base.columns import Flags, Floats
from calque.fields.comparison.cells import Accepted, Cell, Record, Unfit
from calque.fields.comparison.records import Compared, compare_cells
from calque.fields.schemas.plan import FieldPlan, Kind, RecordPlan


class ItemSide:
    """The items of one list field by field, each field prepared once for its comparator, however often it is compared."""

    def __init__(self, items: Sequence[Record]) -> None:
        self.items = items
        self._columns: dict[int, Column] = {}

    def column(self, index: int) -> Column:
        """One field of all items."""
        if index not in self._columns:
            self._columns[index] = Column([each.cells[index] for each in self.items])
        return self._columns[index]


class Column:
    """One field of several items."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = cells
        self.there = [cell for cell in cells if cell.value is not None]
        self._prepared: Sequence[Any] | None = None

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def is_full(self) -> bool:
        """Whether every item has the field."""
        return len(self.there) == len(self.cells)

    @property
    def present(self) -> Flags:
        """For each item whether it has the field."""
        return np.array([cell.value is not None for cell in self.cells], dtype=np.bool_)

    @cached_property
    def values(self) -> list[Any]:
        """The values that are there."""
        return [cell.value for cell in self.there]

    @cached_property
    def is_plain(self) -> bool:
        """Whether values are what the schema expects, one for each item."""
        return not {*map(type, self.values)} & {Unfit, Accepted}

    def prepared(self, plan: FieldPlan) -> Sequence[Any]:
        """The values as the comparator takes them."""
        if self._prepared is None:
            self._prepared = plan.comparator.prepare_all(self.values)
        return self._prepared


def similarities(record: RecordPlan, truths: ItemSide, founds: ItemSide, leaves: dict[int, Floats]) -> Floats:
    """For every pair of records what `similarity` says of it; ``leaves`` receives the similarities of leaf fields."""

    def fields() -> Iterator[tuple[float, Floats, Flags | None]]:
        for index, plan in enumerate(record.fields):
            if plan.ignored:
                continue
            scores, there = _field_matrix(plan, truths.column(index), founds.column(index), _plain)
            if plan.is_leaf:
                leaves[index] = scores
            yield plan.weight, scores, there

    return mean_similarities(fields(), (len(truths.items), len(founds.items)))


def mean_similarities(fields: Iterable[tuple[float, Floats, Flags | None]], shape: tuple[int, int]) -> Floats:
    """The weighted mean over fields: for each its weight, its similarities, and where it is not absent on both sides."""
    total: Any = 0.0
    weight: Any = 0.0
    compared: Any = False
    for weighs, scores, there in fields:
        total = total + (scores if weighs == 1.0 else scores * weighs)
        # As long as no field is absent on both sides the weight is one number for all pairs.
        weight = weight + (weighs if there is None else weighs * there)
        compared = True if there is None or compared is True else compared | there
    if isinstance(weight, float) and weight > 0:
        return np.asarray(total / weight)
    total, weight, compared = (np.broadcast_to(part, shape) for part in (total, weight, compared))
    with np.errstate(all="ignore"):
        return np.where(weight > 0, total / weight, np.where(compared, 0.0, 1.0))


def _overall_scores(record: RecordPlan, truths: Sequence[Record], founds: Sequence[Record]) -> Floats:
    """For every pair of records what `overall_score` says of it."""
    shape = len(truths), len(founds)
    total, weight = np.zeros(shape), 0.0
    for index, plan in enumerate(record.fields):
        if plan.ignored:
            continue
        a, b = (Column([each.cells[index] for each in side]) for side in (truths, founds))
        scores, there = _field_matrix(plan, a, b, _applied)
        if plan.is_leaf and plan.clip:
            scores = np.where(scores >= plan.threshold, scores, 0.0)
        total += (scores if there is None else np.where(there, scores, 1.0)) * plan.weight
        weight += plan.weight
    return total / weight if weight > 0 else np.zeros(shape)


def _plain(each: Compared) -> float:
    return each.plain


def _applied(each: Compared) -> float:
    return each.applied


def _field_matrix(plan: FieldPlan, truths: Column, founds: Column, read: Any) -> tuple[Floats, Flags | None]:
    """The similarity of one field for every pair, 0 where one side lacks it; and where it is not absent on both sides."""
    inner = _present_matrix(plan, truths, founds, read)
    if truths.is_full and founds.is_full:
        return inner, None
    has_truth, has_found = truths.present, founds.present
    there = has_truth[:, None] | has_found[None, :]
    scores = np.zeros((len(truths), len(founds)))
    scores[np.ix_(has_truth, has_found)] = inner
    return scores, there


def _present_matrix(plan: FieldPlan, truths: Column, founds: Column, read: Any) -> Floats:
    plain = truths.is_plain and founds.is_plain
    if plan.is_leaf and plain:
        return plan.comparator.matrix(truths.prepared(plan), founds.prepared(plan))
    by_similarity = read is _plain or not plan.whole
    if plan.kind is Kind.OBJECT and plain and plan.record is not None and by_similarity:
        if read is _plain:
            return _overall_scores(plan.record, truths.values, founds.values)
        raw = similarities(plan.record, ItemSide(truths.values), ItemSide(founds.values), {})
        return np.where(raw >= plan.threshold, raw, 0.0) if plan.clip else raw
    cells = [[read(compare_cells(plan, truth, found)) for found in founds.there] for truth in truths.there]
    return np.array(cells, dtype=np.float64).reshape(len(truths.there), len(founds.there))
