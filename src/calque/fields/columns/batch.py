"""A batch of documents by columns: read, compared, accounted for; what is odd is left to the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Flags, Floats
from calque.corpus.boxes import UnitId
from calque.corpus.records import RecordCorpus
from calque.evaluation.ledger import Ledger
from calque.fields.columns.accounting import Complete, Paired
from calque.fields.columns.comparison import Values, compare_leaves, pair_lists, scorer_of, values_of, weighted_mean
from calque.fields.columns.corpora import side_columns
from calque.fields.columns.layout import Layout
from calque.fields.columns.reading import LeafColumn, ListColumn, SideColumns
from calque.fields.columns.sheet import Sheet, left_out
from calque.fields.columns.wrong import WrongValues
from calque.fields.schemas.plan import FieldPlan, Kind

if TYPE_CHECKING:
    from calque.fields.columns.outcome_rows import CompleteRows, PairedRows

LONG_LISTS = 1 << 18
"""Lists with more pairs of items are for the reference, which looks at them by and by."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Plain documents of both sides."""

    units: tuple[UnitId, ...]
    truth: SideColumns
    found: SideColumns
    in_truth: Flags
    in_found: Flags
    named: bool
    corpora: tuple[RecordCorpus, RecordCorpus] | None
    """Both sides once more, for the whole items that an outcome list shows; nothing where none is wanted."""


def plain_ledger(
    layout: Layout, units: Sequence[UnitId], truth: RecordCorpus, found: RecordCorpus, *, outcomes: bool = False
) -> Ledger:
    """The ledger of the plain ones among some documents, of which each side may lack some; with an outcome list, if wanted."""
    plain = units
    # Without those that turned out to be odd, others may: what is odd of a pair of items is seen when all values fit.
    while not isinstance(made := compare(layout, read(layout, plain, truth, found, outcomes)), Ledger):
        odd = made
        plain = [unit for unit in plain if unit not in odd]
    return made


def read(layout: Layout, units: Sequence[UnitId], truth: RecordCorpus, found: RecordCorpus, outcomes: bool) -> Batch:
    """The columns of plain documents."""
    first, is_plain = side_columns(layout, truth, units)
    plain = list(compress(units, is_plain.tolist()))
    second, is_plain = side_columns(layout, found, plain)
    if not is_plain.all():
        first, plain = first.take(np.flatnonzero(is_plain)), list(compress(plain, is_plain.tolist()))
    known = set(truth.documents), set(found.documents)
    in_truth, in_found = (np.array([unit in side for unit in plain], dtype=np.bool_) for side in known)
    return Batch(tuple(plain), first, second, in_truth, in_found, truth.named, (truth, found) if outcomes else None)


def compare(layout: Layout, batch: Batch) -> Ledger | frozenset[UnitId]:
    """The ledger of a batch; or those of its documents that turn out to be odd, without which it has one."""
    comparison = _Comparison(layout, batch)
    for number, (plan, truth, found) in enumerate(zip(layout.fields, batch.truth.fields, batch.found.fields, strict=True)):
        if isinstance(truth, LeafColumn) and isinstance(found, LeafColumn):
            comparison.leaf(number, plan, truth, found)
        elif isinstance(truth, ListColumn) and isinstance(found, ListColumn):
            comparison.items(number, plan, truth, found)
    odd = comparison.odd
    odd[list(comparison.wrong.beyond)] = True
    if odd.any():
        return frozenset(unit for unit, is_odd in zip(batch.units, odd.tolist(), strict=True) if is_odd)
    return _ledger(layout, batch, comparison)


class _Comparison:
    """A batch while it is compared, field by field."""

    def __init__(self, layout: Layout, batch: Batch) -> None:
        size = len(batch.units)
        self.sheet, self.wrong = Sheet(layout, size), WrongValues()
        self.odd = np.zeros(size, dtype=np.bool_)
        self.scores: list[tuple[FieldPlan, Floats]] = []
        self._accounting = (Paired if layout.paired else Complete)(self.sheet)
        self.rows = None if batch.corpora is None else _outcome_rows(layout, batch.units, *batch.corpora)

    def leaf(self, number: int, plan: FieldPlan, truth: LeafColumn, found: LeafColumn) -> None:
        """A value at the root."""
        values = values_of(plan, truth), values_of(plan, found)
        for side, column in zip(values, (truth, found), strict=True):
            if len(side.misfits):
                self.odd |= np.isin(column.codes, side.misfits)
        if self.odd.any():
            return
        judged = compare_leaves(plan, truth.codes, found.codes, scorer_of(plan, *values))
        self._accounting.leaf(number, (plan, judged, truth, found))
        known = values[0].values, values[1].values
        self.wrong.leaf(number, (plan, judged, truth, found), known)
        if self.rows is not None:
            self.rows.leaf(number, (plan, judged, truth, found), known)
        self.scores.append((plan, judged.applied))

    def items(self, number: int, plan: FieldPlan, truth: ListColumn, found: ListColumn) -> None:
        """A list of objects, or an object."""
        assert plan.record is not None  # noqa: S101  # a list of objects has a plan for them
        leaves = plan.record.fields
        values = [
            (self._values(leaf, truth, a), self._values(leaf, found, b))
            for leaf, a, b in zip(leaves, truth.leaves, found.leaves, strict=True)
        ]
        self.odd |= np.diff(truth.offsets) * np.diff(found.offsets) > LONG_LISTS
        if self.odd.any():
            return
        scorers = [scorer_of(leaf, *sides) for leaf, sides in zip(leaves, values, strict=True)]
        pairs = pair_lists(plan, truth, found, scorers)
        self._accounting.items(number, (plan, pairs, truth, found))
        known = [(a.values, b.values) for a, b in values]
        self.wrong.items(number, (plan, pairs, truth, found), known)
        if self.rows is not None:
            self.rows.items(number, (plan, pairs, truth, found), known)
        self.scores.append((plan, pairs.applied))

    def _values(self, leaf: FieldPlan, lists: ListColumn, column: LeafColumn) -> Values:
        """The values of a field of items; documents with values that are none of the schema's are odd."""
        values = values_of(leaf, column)
        if len(values.misfits):
            items = np.flatnonzero(np.isin(column.codes, values.misfits))
            self.odd[np.searchsorted(lists.offsets, items, side="right") - 1] = True
        return values


def _outcome_rows(
    layout: Layout, units: tuple[UnitId, ...], truth: RecordCorpus, found: RecordCorpus
) -> CompleteRows | PairedRows:
    from calque.fields.columns import outcome_rows  # most runs only count

    rows = outcome_rows.PairedRows if layout.paired else outcome_rows.CompleteRows
    return rows(units, truth, found)


def _ledger(layout: Layout, batch: Batch, comparison: _Comparison) -> Ledger:
    truth, found, size = batch.truth, batch.found, len(batch.units)
    wrong = comparison.wrong
    about = {
        "in_truth": batch.in_truth,
        "in_found": batch.in_found,
        "named": batch.named,
        "score": weighted_mean(comparison.scores, size),
        "unknown": found.unknown if layout.paired else np.zeros(size, dtype=np.int32),
        "truth_boxes": truth.boxes,
        "found_boxes": found.boxes,
        "ignored_boxes": truth.ignored_boxes + found.ignored_boxes,
        "wrong": wrong.counts(size),
        **({"outside": [], "names_outside": {}} if layout.paired else left_out(truth, found)),
    }
    names = _paired_names(layout) if layout.paired else _labels(layout)
    rows = (lambda empty: empty) if comparison.rows is None else comparison.rows.table.table
    return comparison.sheet.ledger(batch.units, about, wrong.table(), names, rows)


def _labels(layout: Layout) -> Callable[[int], str]:
    labels = [each.label for each in layout.plan.walk()]
    return lambda number: labels[number >> 40]


def _paired_names(layout: Layout) -> Callable[[int], str]:
    def name(number: int) -> str:
        plan: FieldPlan = layout.fields[number >> 40]
        leaf = (number >> 24 & 0xFFFF) - 1
        if leaf < 0 or plan.record is None:
            return plan.key
        inside = "" if plan.kind is Kind.OBJECT else f"[{number & 0xFFFFFF}]"
        return f"{plan.key}{inside}.{plan.record.fields[leaf].key}"

    return name
