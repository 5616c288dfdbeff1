"""Both accountings' outcome rows on columns: what `accounting.complete` and `accounting.paired` tell of each document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from calque.base.columns import Array, Flags, Floats, Ints
from calque.corpus.boxes import UnitId
from calque.corpus.records import RecordCorpus
from calque.fields.columns.accounting import Leaves, Lists, leftover, matches
from calque.fields.columns.comparison import Judged
from calque.fields.columns.outcome_table import (
    ABSENT,
    APART,
    BELOW,
    MADE_UP,
    MISSED,
    NO_TEXT,
    OutcomeTable,
    ShownSide,
    Told,
    WholeValues,
    reasons,
)  # fmt: skip
from calque.fields.columns.reading import EMPTY_LIST, LIST, NOTHING, LeafColumn, ListColumn
from calque.fields.columns.sheet import ONLY_FOUND, ONLY_TRUTH, PAIRS, overlaps, place
from calque.fields.schemas.plan import FieldPlan, Kind

Known: TypeAlias = tuple[Sequence[Any], Sequence[Any]]
"""The values of a leaf on both sides, by their numbers."""
Cells: TypeAlias = tuple[LeafColumn, Array, LeafColumn, Array]
"""Columns of both sides, and rows of each."""


@dataclass(frozen=True, slots=True, eq=False)
class _List:
    """A list or an object while its rows are written: where it stands, and the numbers of its paths."""

    field: int
    plan: FieldPlan
    items: int
    """The path of its first item; those of the others follow."""
    leaves: tuple[int, ...]
    """For each field of items its path in the first item."""


class _Rows:
    """What both have in common. The place of an item comes before those of its fields."""

    def __init__(self, units: Sequence[UnitId], truth: RecordCorpus, found: RecordCorpus) -> None:
        self.table = OutcomeTable()
        self.everyone = np.arange(len(units))
        self._whole = WholeValues(truth, units), WholeValues(found, units)

    def paths(self, field: int, plan: FieldPlan, longest: int) -> _List:
        """The paths in a list of at most so many items."""
        assert plan.record is not None  # noqa: S101  # a list of objects has a plan for them
        items = [plan.key] if plan.kind is Kind.OBJECT else [f"{plan.key}[{item}]" for item in range(longest)]
        leaves = (self.table.texts([f"{item}.{leaf.key}" for item in items]) for leaf in plan.record.fields)
        return _List(field, plan, self.table.texts(items), tuple(leaves))

    def sides(
        self, paths: tuple[Array | int, Array | int], cells: Cells, values: tuple[int, int]
    ) -> tuple[ShownSide, ShownSide]:
        """Values of both sides."""
        truth, rows, found, others = cells
        return self.table.cells(paths[0], truth, values[0], rows), self.table.cells(paths[1], found, values[1], others)

    def whole(self, side: int, documents: Array, key: str, paths: Array | int, items: Array | None = None) -> ShownSide:
        """Items or lists of one side, as they stand in the JSON."""
        first = self.table.texts(self._whole[side].texts(documents, key, items))
        return self.table.whole(paths, first + np.arange(len(documents)), len(documents))

    def numbers(self, known: Known) -> tuple[int, int]:
        """Where the texts of values begin."""
        return self.table.values(known[0]), self.table.values(known[1])


class CompleteRows(_Rows):
    """A row for each value, and one for people of each pair of items that are not the same."""

    def leaf(self, field: int, leaf: Leaves, known: Known) -> None:
        """A value at the root."""
        plan, judged, truth, found = leaf
        every, path = self.everyone, self.table.texts([plan.key])
        cells = truth, every, found, every
        sides = self.sides((path, path), cells, self.numbers(known))
        told = _told(judged, judged.right, _ious(cells), found.confidences)
        self.table.add(place(every, field), every, *sides, told)

    def items(self, field: int, listed: Lists, known: Sequence[Known]) -> None:
        """A list of objects, or an object."""
        plan, pairs, truth, found = listed
        numbers = [self.numbers(each) for each in known]
        at = self.paths(field, plan, _longest(truth, found))
        self._neither(at, self.everyone[(truth.states != LIST) & (found.states != LIST)])
        documents, same = pairs.documents, pairs.matched
        index, partner = pairs.truth - truth.offsets[documents], pairs.found - found.offsets[documents]
        for number, (judged, a, b) in enumerate(zip(pairs.leaves, truth.leaves, found.leaves, strict=True)):
            path, cells = at.leaves[number], (a, pairs.truth, b, pairs.found)
            sides = self.sides((path + index, path + partner), cells, numbers[number])
            iou = np.where(same, _ious(cells), np.nan)
            told = _told(judged, judged.right, iou, b.confidences[pairs.found])
            self.table.add(place(documents, field, PAIRS, index, number + 1), documents, *sides, told)
            self._alone(at, number, (judged.plan, a, numbers[number][0]), leftover(truth, pairs.truth), missed=True)
            self._alone(at, number, (judged.plan, b, numbers[number][1]), leftover(found, pairs.found), missed=False)
        apart = np.flatnonzero(~same)
        documents, index, partner = documents[apart], index[apart], partner[apart]
        one = self.whole(0, documents, plan.key, at.items + index, index)
        other = self.whole(1, documents, plan.key, at.items + partner, partner)
        told = Told(match=False, score=pairs.alike[apart], threshold=plan.match_threshold, reason=APART, counted=False)
        self.table.add(place(documents, field, PAIRS, index), documents, one, other, told)

    def _neither(self, at: _List, documents: Ints) -> None:
        """Where both sides have nothing."""
        plan, path = at.plan, self.table.texts([at.plan.key])
        nothing = self.table.whole(path, NO_TEXT, len(documents))
        match = plan.kind is Kind.OBJECT or plan.threshold <= 1.0
        told = Told(match=match, score=1.0, threshold=plan.threshold, reason=ABSENT)
        self.table.add(place(documents, at.field), documents, nothing, nothing, told)

    def _alone(
        self, at: _List, number: int, leaf: tuple[FieldPlan, LeafColumn, int], left: tuple[Ints, Ints, Ints], *, missed: bool
    ) -> None:
        """The values of items without partner."""
        (plan, column, values), (documents, items, index) = leaf, left
        lone = column.take(items)
        boxed = lone.boxed()
        there = np.flatnonzero((lone.codes >= 0) | boxed | ~np.isnan(lone.confidences))
        documents, items, index, boxed = documents[there], items[there], index[there], boxed[there]
        here = self.table.cells(at.leaves[number] + index, column, values, items)
        nothing = self.table.whole(NO_TEXT, NO_TEXT, len(documents))
        told = Told(
            match=False,
            score=0.0,
            threshold=plan.threshold,
            reason=MISSED if missed else MADE_UP,
            iou=np.where(boxed, 0.0, np.nan),
            confidence=np.nan if missed else column.confidences[items],
        )
        places = place(documents, at.field, ONLY_TRUTH if missed else ONLY_FOUND, index, number + 1)
        self.table.add(places, documents, *((here, nothing) if missed else (nothing, here)), told)


class PairedRows(_Rows):
    """Row for row what stickler 1.0.0 walks through."""

    def leaf(self, field: int, leaf: Leaves, known: Known) -> None:
        """A value at the root."""
        plan, judged, truth, found = leaf
        every, path = self.everyone, self.table.texts([plan.key])
        self._values(place(every, field), every, judged, judged.raw, (path, path), (truth, every, found, every), known)

    def items(self, field: int, listed: Lists, known: Sequence[Known]) -> None:
        """A list of objects, or an object."""
        plan, pairs, truth, found = listed
        at = self.paths(field, plan, _longest(truth, found))
        is_list = (truth.states == EMPTY_LIST) | (found.states == EMPTY_LIST)
        is_list |= (truth.states == LIST) & (found.states == LIST)
        self._not_lists(at, np.flatnonzero(~is_list), truth, found)
        index, partner = pairs.truth - truth.offsets[pairs.documents], pairs.found - found.offsets[pairs.documents]
        same = np.flatnonzero(pairs.matched)
        for number, (judged, a, b) in enumerate(zip(pairs.leaves, truth.leaves, found.leaves, strict=True)):
            path, documents = at.leaves[number], pairs.documents[same]
            places = place(documents, field, PAIRS, index[same], number + 1)
            score = judged.raw if plan.kind is Kind.OBJECT else judged.applied
            paths = path + index[same], path + partner[same]
            cells = a, pairs.truth[same], b, pairs.found[same]
            self._values(places, documents, judged.take(same), score[same], paths, cells, known[number])
        apart = np.flatnonzero(~pairs.matched)
        documents, index, partner = pairs.documents[apart], index[apart], partner[apart]
        one = self.whole(0, documents, plan.key, at.items + index, index)
        other = self.whole(1, documents, plan.key, at.items + partner, partner)
        told = Told(match=False, score=pairs.alike[apart], threshold=plan.match_threshold, reason=BELOW)
        self.table.add(place(documents, field, PAIRS, index), documents, one, other, told)
        self._alone(at, leftover(truth, pairs.truth), is_list, missed=True)
        self._alone(at, leftover(found, pairs.found), is_list, missed=False)

    def _values(
        self,
        places: Ints,
        documents: Array,
        judged: Judged,
        score: Floats,
        paths: tuple[Array | int, Array | int],
        cells: Cells,
        known: Known,
    ) -> None:
        """Values of both sides; where one of them says nothing at all, that is why."""
        truth, rows, found, others = cells
        one, other = truth.codes[rows], found.codes[others]
        match, gone = matches(score >= judged.plan.threshold, one, other), (one == NOTHING) != (other == NOTHING)
        why = np.where(gone, np.where(one == NOTHING, MADE_UP, MISSED), reasons(judged.outcome, judged.raw))
        told = Told(
            match=match,
            score=np.where(gone, 0.0, score),
            threshold=judged.plan.threshold,
            reason=why,
            iou=_ious(cells),
            confidence=found.confidences[others],
        )
        self.table.add(places, documents, *self.sides(paths, cells, self.numbers(known)), told)

    def _not_lists(self, at: _List, documents: Ints, truth: ListColumn, found: ListColumn) -> None:
        """What one side or both do not have, told in one row."""
        plan, path = at.plan, self.table.texts([at.plan.key])
        in_truth, in_found = truth.states[documents] == LIST, found.states[documents] == LIST
        for has_truth, has_found, reason in ((True, False, MISSED), (False, True, MADE_UP), (False, False, ABSENT)):
            mine = documents[(in_truth == has_truth) & (in_found == has_found)]
            nothing = self.table.whole(path, NO_TEXT, len(mine))
            one = self.whole(0, mine, plan.key, path) if has_truth else nothing
            other = self.whole(1, mine, plan.key, path) if has_found else nothing
            score = 0.0 if has_truth or has_found else 1.0
            match = not has_truth and not has_found and score >= plan.threshold
            self.table.add(place(mine, at.field), mine, one, other, Told(match, score, plan.threshold, reason))

    def _alone(self, at: _List, left: tuple[Ints, Ints, Ints], is_list: Array, *, missed: bool) -> None:
        """Items without partner, each as a whole."""
        documents, _, index = left
        kept = is_list[documents]
        documents, index = documents[kept], index[kept]
        here = self.whole(0 if missed else 1, documents, at.plan.key, at.items + index, index)
        told = Told(match=False, score=0.0, threshold=at.plan.match_threshold, reason=MISSED if missed else MADE_UP)
        if missed:
            sides = here, self.table.whole(NO_TEXT, NO_TEXT, len(documents))
        else:
            sides = self.table.whole(self.table.texts([f"{at.plan.key}[]"]), NO_TEXT, len(documents)), here
        places = place(documents, at.field, ONLY_TRUTH if missed else ONLY_FOUND, index)
        self.table.add(places, documents, *sides, told)


def _told(judged: Judged, match: Flags, iou: Floats, confidence: Floats) -> Told:
    """What is said of values that were compared."""
    return Told(
        match=match,
        score=judged.raw,
        threshold=judged.plan.threshold,
        reason=reasons(judged.outcome, judged.raw),
        iou=iou,
        confidence=confidence,
    )


def _ious(cells: Cells) -> Floats:
    """How much boxes share; NaN where neither side has one."""
    truth, found = cells[0].take(cells[1]), cells[2].take(cells[3])
    has_truth, has_found = truth.boxed(), found.boxed()
    alone = np.where(has_truth | has_found, 0.0, np.nan)
    return np.where(has_truth & has_found, overlaps(found, truth), alone)


def _longest(truth: ListColumn, found: ListColumn) -> int:
    """The length of the longest list."""
    return max(int(np.diff(side.offsets).max(initial=0)) for side in (truth, found))
