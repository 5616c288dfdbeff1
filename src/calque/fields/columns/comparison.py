"""The comparison of columns: one call for each field, and one assignment for each list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints
from calque.comparators.base import PairScores
from calque.fields.columns.reading import LIST, LeafColumn, ListColumn, ranges
from calque.fields.comparison.cells import CONVERT, Cell, Record
from calque.fields.comparison.lists import GRID, assignment, closeness, is_short, levels_of, worth_of
from calque.fields.comparison.records import FAINT, SLACK, Outcome
from calque.fields.schemas.plan import FieldPlan, Kind
from calque.kernels import kernels
from calque.kernels.structs import ItemLeaf, ItemRows

AT_ONCE = 1 << 16
"""So many pairs of list items are looked at together; a longer list is looked at alone."""

_AS_READ = frozenset(("str", "text", "amount", "date", "datetime", "time", "code", "any"))
"""Types of leaves whose values are compared as the JSON has them."""

Scorer = Callable[[Codes, Codes], Floats]
"""Takes the numbers of truth values and of as many found values; kernels know what `PairScores` holds."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a column as the schema has them."""

    values: Sequence[Any]
    misfits: Codes
    """The numbers of values that are no such thing; documents that have them are for the reference."""


def values_of(plan: FieldPlan, column: LeafColumn) -> Values:
    """The values of a field by their numbers."""
    nobody = np.zeros(0, dtype=np.int32)
    if plan.type in _AS_READ or column.kinds == {plan.python_type}:
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

    def take(self, rows: Ints) -> Judged:
        """The outcomes of some of them."""
        return Judged(self.plan, self.outcome[rows], self.raw[rows], self.applied[rows])


def judged(plan: FieldPlan, truth: Codes, found: Codes, scores: Floats) -> Judged:
    """What `compare_leaf` says of each pair of values; ``scores`` counts where both are there."""
    has_truth, has_found = truth >= 0, found >= 0
    both, same = has_truth & has_found, scores >= plan.threshold
    if both.all():
        outcome = np.where(same, np.uint8(Outcome.TP), np.uint8(Outcome.FD))
        return Judged(plan, outcome, scores, np.where(same, scores, 0.0) if plan.clip else scores)
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
    alike: Floats
    """The similarity of the two."""
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
        same = np.logical_and.reduce([each.right for each in compared]) if plan.whole else alike >= plan.threshold
        outcomes[documents] = np.where(same, Outcome.TP, Outcome.FD)
        applied[documents] = np.where(same, alike, 0.0) if plan.clip else alike
        matched = np.ones(len(documents), dtype=np.bool_)
    else:
        by_pair = weighted_mean([(each.plan, each.applied) for each in compared], len(first))
        applied += _list_scores(documents, by_pair, truth, found)
        matched = alike >= plan.match_threshold
    return ListPairs(documents, first, second, alike, matched, compared, outcomes, applied)


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
    """The items of lists with their partners: the kernel settles most lists, the others are assigned one by one."""
    heights, widths = (np.diff(side.offsets)[documents] for side in (truth, found))
    lists = ItemRows(truth.offsets[documents], heights, found.offsets[documents], widths)
    partners, settled = kernels().item_partners(_item_leaves(plan, truth, found, scorers, lists), lists, 1 / GRID)
    contended = np.flatnonzero(settled == 0)
    if len(contended):
        _assign(plan, truth, found, scorers, documents[contended], (np.cumsum(heights) - heights)[contended], partners)
    taken = partners >= 0
    first = ranges(lists.truth, heights)[taken]
    second = (np.repeat(lists.found, heights) + partners)[taken]
    alike, scores = _alike(plan, truth, found, scorers, first, second)
    return np.repeat(documents, heights)[taken], first, second, alike, *scores


def _item_leaves(
    plan: FieldPlan, truth: ListColumn, found: ListColumn, scorers: Sequence[Scorer], lists: ItemRows
) -> list[ItemLeaf]:
    """The fields of items as the kernel takes them: where it does not know the comparator, with a score for every pair."""
    assert plan.record is not None  # noqa: S101  # a list of objects has a plan for them
    made = []
    for leaf, a, b, score in zip(plan.record.fields, truth.leaves, found.leaves, scorers, strict=True):
        if isinstance(score, PairScores):
            mine, theirs = score.keys or (None, None)
            made.append(ItemLeaf(a.codes, b.codes, leaf.weight, mine, theirs, score.texts, score.truth_texts))
        else:
            first, second = _all_pairs(lists)
            made.append(ItemLeaf(a.codes, b.codes, leaf.weight, scores=_scores(a.codes[first], b.codes[second], score)))
    return made


def _all_pairs(lists: ItemRows) -> tuple[Ints, Ints]:
    """The rows of every pair of items, list by list."""
    items = ranges(lists.truth, lists.heights)
    across = np.repeat(lists.widths, lists.heights)  # for each item of the truth how many it is compared with
    return np.repeat(items, across), ranges(np.repeat(lists.found, lists.heights), across)


def _assign(
    plan: FieldPlan,
    truth: ListColumn,
    found: ListColumn,
    scorers: Sequence[Scorer],
    documents: Ints,
    begin: Ints,
    partners: Codes,
) -> None:
    """Write down the best partners, or -1, in lists where several items want the same or boxes have to decide."""
    heights, widths = (np.diff(side.offsets)[documents] for side in (truth, found))
    lists = ItemRows(truth.offsets[documents], heights, found.offsets[documents], widths)
    alike, _ = _alike(plan, truth, found, scorers, *_all_pairs(lists))
    cells = np.cumsum(heights * widths) - heights * widths
    short: list[tuple[Codes, Ints]] = []
    for document, start, cell, height, width in zip(
        *(column.tolist() for column in (documents, begin, cells, heights, widths)), strict=True
    ):
        matrix = alike[cell : cell + height * width].reshape(height, width)
        one, other = (_cells(side, document) if plan.nearest else [] for side in (truth, found))
        mine = partners[start : start + height]
        mine[:] = -1
        if is_short(height, width):
            short.append((mine, worth_of(levels_of(matrix), closeness(one, other))))
        else:
            chosen, columns = assignment(matrix, one, other, plan.nearest)
            mine[chosen] = columns
    _assign_short(short)


def _assign_short(lists: Sequence[tuple[Codes, Ints]]) -> None:
    """Write down the partners of short lists, all of them assigned in one call, each seen from its shorter side."""
    turned = [worth.T if worth.shape[0] > worth.shape[1] else worth for _, worth in lists]
    heights, widths = np.array([worth.shape for worth in turned], dtype=np.int64).reshape(-1, 2).T
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *(worth.ravel() for worth in turned)])
    columns = kernels().best_partners(flat, np.ascontiguousarray(heights), np.ascontiguousarray(widths))
    ends = np.cumsum(heights).tolist()
    for (mine, worth), end, height in zip(lists, ends, heights.tolist(), strict=True):
        found = columns[end - height : end]
        if worth.shape[0] > worth.shape[1]:
            mine[found] = np.arange(height)
        else:
            mine[:] = found


def _cells(side: ListColumn, document: int) -> list[Cell]:
    """The items of one list, with nothing but their boxes."""
    rows = slice(int(side.offsets[document]), int(side.offsets[document + 1]))
    by_leaf = [leaf.boxes[rows].tolist() for leaf in side.leaves]
    return [
        Cell(Record([Cell(None, None, None if box[0] != box[0] else (*box, None)) for box in boxes], 0))
        for boxes in zip(*by_leaf, strict=True)
    ]


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
