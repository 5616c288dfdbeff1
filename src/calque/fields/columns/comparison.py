"""The comparison of columns: one call for each field, and one assignment for each list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.core.columns import Array, Bytes, Codes, Flags, Floats, Ints
from calque.fields.columns.reading import LIST, LeafColumn, ListColumn
from calque.fields.comparison.cells import CONVERT, Cell, Record
from calque.fields.comparison.lists import GRID, assignment
from calque.fields.comparison.records import FAINT, SLACK, Outcome
from calque.fields.schemas.plan import FieldPlan, Kind
from calque.kernels import kernels

AT_ONCE = 1 << 16
"""So many pairs of list items are looked at together; a longer list is looked at alone."""

_AS_READ = frozenset(("str", "text", "amount", "date", "datetime", "time", "code", "any"))
"""Types of leaves whose values are compared as the JSON has them."""

Scorer = Callable[[Codes, Codes], Floats]
"""Takes the numbers of truth values and of as many found values."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a column as the schema has them."""

    values: list[Any]
    misfits: Codes
    """The numbers of values that are no such thing; documents that have them are for the reference."""


def values_of(plan: FieldPlan, column: LeafColumn) -> Values:
    """The values of a field by their numbers."""
    nobody = np.zeros(0, dtype=np.int32)
    if plan.type in _AS_READ or set(map(type, column.values)) == {plan.python_type}:
        return Values(column.values, nobody)
    convert = CONVERT[plan.type]
    made, misfits = [], []
    for number, value in enumerate(column.values):
        try:
            made.append(convert(value))
        except (ValueError, OverflowError):
            made.append(value)
            misfits.append(number)
    return Values(made, np.array(misfits, dtype=np.int32) if misfits else nobody)


def scorer_of(plan: FieldPlan, truth: Values, found: Values) -> Scorer:
    """The similarity of values by their numbers."""
    prepare = plan.comparator.prepare_all
    return plan.comparator.by_pairs(prepare(truth.values), prepare(found.values))


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The outcomes of one leaf, for records of both sides that belong together."""

    plan: FieldPlan
    outcome: Bytes
    raw: Floats
    """The similarity before any threshold."""
    applied: Floats
    """The score that counts."""

    @property
    def right(self) -> Flags:
        """Where the value is right, or rightly absent."""
        return np.asarray((self.outcome == Outcome.TP) | (self.outcome == Outcome.TN))


def judged(plan: FieldPlan, truth: Codes, found: Codes, scores: Floats) -> Judged:
    """What `compare_leaf` says of each pair of values; ``scores`` counts where both are there."""
    has_truth, has_found = truth >= 0, found >= 0
    both, same = has_truth & has_found, scores >= plan.threshold
    outcome = np.where(has_truth, Outcome.FN, np.where(has_found, Outcome.FA, Outcome.TN))
    outcome = np.where(both, np.where(same, Outcome.TP, Outcome.FD), outcome).astype(np.uint8)
    alone = np.where(has_truth | has_found, 0.0, 1.0)
    raw = np.where(both, scores, alone)
    return Judged(plan, outcome, raw, np.where(both & ~same, 0.0, raw) if plan.clip else raw)


def compare_leaves(plan: FieldPlan, truth: Codes, found: Codes, score: Scorer) -> Judged:
    """The outcomes of one field of many records."""
    return judged(plan, truth, found, _scores(truth, found, score))


def _scores(truth: Codes, found: Codes, score: Scorer) -> Floats:
    """The similarities where both sides have a value, 0 elsewhere."""
    both = (truth >= 0) & (found >= 0)
    if both.all():
        return score(truth, found)
    scores = np.zeros(len(truth))
    scores[both] = score(truth[both], found[both])
    return scores


def weighted_mean(fields: Sequence[tuple[FieldPlan, Floats]], size: int) -> Floats:
    """What `overall_score` says of as many records, from the scores of their fields."""
    total, weight = np.zeros(size), 0.0
    for plan, applied in fields:
        total = total + applied * plan.weight
        weight += plan.weight
    return total / weight if weight > 0 else np.zeros(size)


@dataclass(frozen=True, slots=True, eq=False)
class ListPairs:
    """The items of one list of many documents that were paired, by document and truth; or objects, of which each has one."""

    documents: Ints
    truth: Ints
    """Rows of the truth's items."""
    found: Ints
    matched: Flags
    leaves: tuple[Judged, ...]
    outcomes: Bytes
    """For each document the outcome of the list or the object as a whole."""
    applied: Floats
    """And its score that counts."""


def pair_lists(plan: FieldPlan, truth: ListColumn, found: ListColumn, scorers: Sequence[Scorer]) -> ListPairs:
    """The best pairs of every list that both sides have."""
    assert plan.record is not None  # noqa: S101  # a list of objects has a plan for them
    leaves = plan.record.fields
    are_objects = plan.kind is Kind.OBJECT
    compare = _objects if are_objects else _pairs
    parts = [compare(plan, truth, found, scorers, each) for each in _chunks(truth, found)]
    nobody: tuple[Array, ...] = (*(np.zeros(0, dtype=np.int64),) * 3, *(np.zeros(0),) * (1 + len(leaves)))
    columns: list[Array] = [np.concatenate(column) for column in zip(nobody, *parts, strict=True)]
    documents, first, second, alike, *scores = columns
    compared = tuple(
        judged(leaf, a.codes[first], b.codes[second], raw)
        for leaf, a, b, raw in zip(leaves, truth.leaves, found.leaves, scores, strict=True)
    )
    has_truth, has_found = truth.states == LIST, found.states == LIST
    outcomes = np.where(has_truth, Outcome.FN, np.where(has_found, Outcome.FA, Outcome.TN)).astype(np.uint8)
    outcomes[has_truth & has_found] = Outcome.TP
    applied = np.where(outcomes == Outcome.TN, 1.0, 0.0)
    if are_objects:
        same = alike >= plan.threshold
        outcomes[documents] = np.where(same, Outcome.TP, Outcome.FD)
        applied[documents] = np.where(same, alike, 0.0) if plan.clip else alike
        matched = np.ones(len(documents), dtype=np.bool_)
    else:
        by_pair = weighted_mean([(each.plan, each.applied) for each in compared], len(first))
        applied += _list_scores(documents, by_pair, truth, found)
        matched = alike >= plan.match_threshold
    return ListPairs(documents, first, second, matched, compared, outcomes, applied)


def _objects(
    plan: FieldPlan, truth: ListColumn, found: ListColumn, scorers: Sequence[Scorer], documents: Ints
) -> tuple[Array, ...]:
    """Objects are compared each with its own partner."""
    first, second = truth.offsets[documents], found.offsets[documents]
    alike, scores = _alike(plan, truth, found, scorers, first, second)
    return documents, first, second, alike, *scores


def _alike(
    plan: FieldPlan, truth: ListColumn, found: ListColumn, scorers: Sequence[Scorer], first: Ints, second: Ints
) -> tuple[Floats, list[Floats]]:
    """What `similarity` says of pairs of objects, and the similarities of their fields."""
    assert plan.record is not None  # noqa: S101  # as above
    scores = []
    total: Any = 0.0
    weight: Any = 0.0
    compared: Any = False
    for leaf, a, b, score in zip(plan.record.fields, truth.leaves, found.leaves, scorers, strict=True):
        one, other = a.codes[first], b.codes[second]
        alike = _scores(one, other, score)
        there = (one >= 0) | (other >= 0)
        total = total + alike * leaf.weight
        weight = weight + leaf.weight * there
        compared = compared | there
        scores.append(alike)
    with np.errstate(all="ignore"):
        return np.where(weight > 0, total / weight, np.where(compared, 0.0, 1.0)), scores


def _chunks(truth: ListColumn, found: ListColumn) -> Iterator[Ints]:
    """The documents with a list on both sides, some at a time, by the number of pairs of items."""
    documents = np.flatnonzero((truth.states == LIST) & (found.states == LIST))
    pairs = np.diff(truth.offsets)[documents] * np.diff(found.offsets)[documents]
    start, ends = 0, np.cumsum(pairs)
    while start < len(documents):
        before = ends[start] - pairs[start]
        stop = max(start + 1, int(np.searchsorted(ends, before + AT_ONCE, side="right")))
        yield documents[start:stop]
        start = stop


def _pairs(
    plan: FieldPlan, truth: ListColumn, found: ListColumn, scorers: Sequence[Scorer], documents: Ints
) -> tuple[Array, ...]:
    heights, widths = (np.diff(side.offsets)[documents] for side in (truth, found))
    items = _ranges(truth.offsets[documents], heights)
    across = np.repeat(widths, heights)  # for each item of the truth how many it is compared with
    begin = np.cumsum(across) - across
    first = np.repeat(items, across)
    partners_from = np.repeat(found.offsets[documents], heights)
    second = np.arange(len(first)) + np.repeat(partners_from - begin, across)
    alike, scores = _alike(plan, truth, found, scorers, first, second)
    partners = _partners(plan, truth, found, alike, documents)
    taken = partners >= 0
    places = (begin + partners)[taken]
    return (
        np.repeat(documents, heights)[taken], items[taken], (partners_from + partners)[taken],
        alike[places], *(each[places] for each in scores),
    )  # fmt: skip


def _partners(plan: FieldPlan, truth: ListColumn, found: ListColumn, alike: Floats, documents: Ints) -> Codes:
    """For each item of the truth which item of the other list it goes with, or -1."""
    heights, widths = (np.diff(side.offsets)[documents] for side in (truth, found))
    partners, settled = kernels().plain_partners(alike, heights, widths, 1 / GRID)
    rows, cells = np.cumsum(heights) - heights, np.cumsum(heights * widths) - heights * widths
    for place in np.flatnonzero(settled == 0).tolist():
        height, width, document = int(heights[place]), int(widths[place]), int(documents[place])
        matrix = alike[cells[place] : cells[place] + height * width].reshape(height, width)
        one, other = (_cells(side, document) if plan.nearest else [] for side in (truth, found))
        chosen, columns = assignment(matrix, one, other, plan.nearest)
        mine = partners[rows[place] : rows[place] + height]
        mine[:] = -1
        mine[chosen] = columns
    return partners


def _cells(side: ListColumn, document: int) -> list[Cell]:
    """The items of one list, with nothing but their boxes."""
    rows = slice(int(side.offsets[document]), int(side.offsets[document + 1]))
    by_leaf = [leaf.boxes[rows].tolist() for leaf in side.leaves]
    return [
        Cell(Record([Cell(None, None, None if box[0] != box[0] else (*box, None)) for box in boxes], 0))
        for boxes in zip(*by_leaf, strict=True)
    ]


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """Numbers on end from each start, one range after the other."""
    begin = np.cumsum(sizes) - sizes
    return np.asarray(np.arange(int(sizes.sum())) + np.repeat(starts - begin, sizes))


def _list_scores(documents: Ints, by_pair: Floats, truth: ListColumn, found: ListColumn) -> Floats:
    """What `compare_items` says of each list."""
    scores = np.zeros(len(truth.states))
    lengths = np.maximum(np.diff(truth.offsets), np.diff(found.offsets)).tolist()
    bounds = np.searchsorted(documents, np.arange(len(scores) + 1)).tolist()
    listed = by_pair.tolist()
    for document, length in enumerate(lengths):
        pairs = listed[bounds[document] : bounds[document + 1]]
        if pairs:
            # Python adds floats in its own way: so is this.
            total = sum([score for score in pairs if score >= FAINT or abs(score - FAINT) < SLACK])
            scores[document] = total / len(pairs) * (len(pairs) / length)
    return scores
