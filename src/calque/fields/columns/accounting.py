"""Both accountings on columns: what `accounting.complete` and `accounting.paired` say of documents one by one."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from calque.base.columns import BEYOND_ASCII, Bytes, Codes, Flags, Ints, Strings
from calque.fields.columns.comparison import Judged, ListPairs
from calque.fields.columns.reading import EMPTY_LIST, LIST, LeafColumn, ListColumn
from calque.fields.columns.sheet import ONLY_FOUND, ONLY_TRUTH, PAIRS, Sheet, key_of, overlaps, place
from calque.fields.comparison.records import Outcome
from calque.fields.schemas.plan import FieldPlan, Kind

Leaves: TypeAlias = tuple[FieldPlan, Judged, LeafColumn, LeafColumn]
Lists: TypeAlias = tuple[FieldPlan, ListPairs, ListColumn, ListColumn]


def leftover(column: ListColumn, taken: Ints) -> tuple[Ints, Ints, Ints]:
    """Items without partner: their documents, their rows, and their positions in their lists."""
    free = np.ones(int(column.offsets[-1]), dtype=np.bool_)
    free[taken] = False
    rows = np.flatnonzero(free)
    documents = np.searchsorted(column.offsets, rows, side="right") - 1
    return documents, rows, rows - column.offsets[documents]


class _Accounting:
    """What both have in common."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.everyone = np.arange(sheet.size)

    def observe(
        self, plan: FieldPlan, documents: Ints, places: Ints, keys: Ints, sides: tuple[LeafColumn, LeafColumn], match: Flags
    ) -> None:
        """Occurrences that both sides may have, with their boxes and confidences."""
        sheet, (truth, found) = self.sheet, sides
        has_truth, has_found = truth.boxed(), found.boxed()
        sheet.several(documents, rated=True)
        sheet.rate(documents, places, keys, match, found.confidences)
        sheet.with_box += np.bincount(documents[has_truth], minlength=sheet.size)
        iou = np.where(has_truth & has_found, overlaps(found, truth), 0.0)
        sheet.box(plan.code, documents, places, has_truth, has_found, iou, found.confidences, match)

    def count_list(self, plan: FieldPlan, pairs: ListPairs, truth: ListColumn, found: ListColumn) -> None:
        """The outcomes of items, and the list's score."""
        sheet = self.sheet
        sheet.score(plan.code, self.everyone, pairs.applied)
        if plan.kind is Kind.OBJECT:
            sheet.count(plan.code, self.everyone, pairs.outcomes)
            return
        alone = pairs.outcomes != Outcome.TP
        lengths = np.maximum(np.maximum(np.diff(truth.offsets), np.diff(found.offsets)), 1)
        sheet.count(plan.code, self.everyone[alone], pairs.outcomes[alone], lengths[alone])
        sheet.count(plan.code, pairs.documents, np.where(pairs.matched, Outcome.TP, Outcome.FD))
        for column, taken, outcome in ((truth, pairs.truth, Outcome.FN), (found, pairs.found, Outcome.FA)):
            documents, _, _ = leftover(column, taken)
            documents = documents[~alone[documents]]
            sheet.count(plan.code, documents, outcome)


class Complete(_Accounting):
    """Every box of either side is observed exactly once."""

    def leaf(self, field: int, leaf: Leaves) -> None:
        """A value at the root."""
        plan, judged, truth, found = leaf
        every = self.everyone
        self.sheet.count(plan.code, every, judged.outcome)
        self.sheet.score(plan.code, every, judged.applied)
        self.observe(plan, every, place(every, field), key_of(plan.code), (truth, found), judged.right)

    def items(self, field: int, listed: Lists) -> None:
        """A list of objects, or an object."""
        plan, pairs, truth, found = listed
        self.count_list(plan, pairs, truth, found)
        neither = (truth.states != LIST) & (found.states != LIST)
        self.sheet.several(self.everyone[neither], rated=True)
        index = pairs.truth - truth.offsets[pairs.documents]
        same = pairs.matched
        for number, (judged, a, b) in enumerate(zip(pairs.leaves, truth.leaves, found.leaves, strict=True)):
            leaf, documents = judged.plan, pairs.documents
            self.sheet.count(leaf.code, documents, judged.outcome)
            self.sheet.score(leaf.code, documents, judged.applied)
            places, key = place(documents, field, PAIRS, index, number), key_of(leaf.code)
            sides = a.take(pairs.truth[same]), b.take(pairs.found[same])
            self.observe(leaf, documents[same], places[same], key, sides, judged.right[same])
            sides = a.take(pairs.truth[~same]), b.take(pairs.found[~same])
            self._apart(leaf, documents[~same], places[~same], sides, judged.right[~same])
        self._alone(field, truth, pairs.truth, pairs, missed=True)
        self._alone(field, found, pairs.found, pairs, missed=False)

    def _apart(
        self, plan: FieldPlan, documents: Ints, places: Ints, sides: tuple[LeafColumn, LeafColumn], match: Flags
    ) -> None:
        """Values of partners that are not the same item: judged by themselves, their boxes meet nothing."""
        sheet, (truth, found) = self.sheet, sides
        has_truth, has_found = truth.boxed(), found.boxed()
        nobody, confidences = np.zeros(len(documents), dtype=np.bool_), found.confidences
        sheet.several(documents, rated=True)
        sheet.rate(documents, places, key_of(plan.code), match, confidences)
        sheet.with_box += np.bincount(documents[has_truth], minlength=sheet.size)
        none = np.zeros(len(documents))
        sheet.box(plan.code, documents, places, has_truth, nobody, none, np.full(len(documents), np.nan), nobody)
        sheet.box(plan.code, documents, places + 1, nobody, has_found, none, confidences, nobody)

    def _alone(self, field: int, column: ListColumn, taken: Ints, pairs: ListPairs, *, missed: bool) -> None:
        """The values of items without partner: missed, or made up."""
        sheet = self.sheet
        owners, items, index = leftover(column, taken)
        for number, (judged, leaf) in enumerate(zip(pairs.leaves, column.leaves, strict=True)):
            plan, lone = judged.plan, leaf.take(items)
            valued = lone.codes >= 0
            sheet.count(plan.code, owners[valued], Outcome.FN if missed else Outcome.FA)
            sheet.scored(plan.code, owners[valued])
            boxed, confidences = lone.boxed(), lone.confidences
            told = valued | boxed | ~np.isnan(confidences)
            documents, boxed, confidences = owners[told], boxed[told], confidences[told]
            nobody, none = np.zeros(len(documents), dtype=np.bool_), np.zeros(len(documents))
            places = place(documents, field, ONLY_TRUTH if missed else ONLY_FOUND, index[told], number)
            sheet.several(documents, rated=not missed)
            if missed:
                sheet.with_box += np.bincount(documents[boxed], minlength=sheet.size)
                sheet.box(plan.code, documents, places, boxed, nobody, none, np.full(len(documents), np.nan), nobody)
            else:
                sheet.rate(documents, places, key_of(plan.code), nobody, confidences)
                sheet.box(plan.code, documents, places, nobody, boxed, none, confidences, nobody)


class Paired(_Accounting):
    """Box for box what stickler 1.0.0 counts."""

    def leaf(self, field: int, leaf: Leaves) -> None:
        """A value at the root."""
        plan, judged, truth, found = leaf
        every = self.everyone
        self.sheet.count(plan.code, every, judged.outcome)
        self.sheet.score(plan.code, every, judged.applied)
        match = matches(judged.raw >= plan.threshold, truth.codes, found.codes)
        self.observe(plan, every, place(every, field), key_of(field), (truth, found), match)

    def items(self, field: int, listed: Lists) -> None:
        """A list of objects, or an object."""
        plan, pairs, truth, found = listed
        self.count_list(plan, pairs, truth, found)
        is_list = (truth.states == EMPTY_LIST) | (found.states == EMPTY_LIST)
        is_list |= (truth.states == LIST) & (found.states == LIST)
        self.sheet.several(self.everyone[~is_list], rated=True)
        same = pairs.matched
        self.sheet.several(pairs.documents[~same], rated=True)
        documents, rows, others = pairs.documents[same], pairs.truth[same], pairs.found[same]
        index, partner = rows - truth.offsets[documents], others - found.offsets[documents]
        for number, (judged, a, b) in enumerate(zip(pairs.leaves, truth.leaves, found.leaves, strict=True)):
            leaf, mine, theirs = judged.plan, a.take(rows), b.take(others)
            if plan.kind is Kind.OBJECT:
                self.sheet.count(leaf.code, documents, judged.outcome)
                self.sheet.score(leaf.code, documents, judged.applied)
            else:
                self.sheet.count(leaf.code, documents, self._outcomes(judged.outcome[same], mine, theirs))
            match = matches(judged.applied[same] >= leaf.threshold, mine.codes, theirs.codes)
            places, keys = place(documents, field, PAIRS, index, number), key_of(field, number, partner)
            self.observe(leaf, documents, places, keys, (mine, theirs), match)
        self._only_truth(field, pairs, truth, is_list)
        lone, _, _ = leftover(found, pairs.found)
        self.sheet.several(lone[is_list[lone]], rated=True)

    def _outcomes(self, outcomes: Bytes, truth: LeafColumn, found: LeafColumn) -> Bytes:
        """As the original counts list items: text of blanks only is no value."""
        absent_truth, absent_found = (_is_blank(column)[column.codes] for column in (truth, found))
        if not absent_truth.any() and not absent_found.any():
            return outcomes
        one = np.where(absent_truth, np.where(absent_found, Outcome.TN, Outcome.FA), Outcome.FN)
        return np.where(absent_truth | absent_found, one, outcomes).astype(np.uint8)

    def _only_truth(self, field: int, pairs: ListPairs, truth: ListColumn, is_list: Flags) -> None:
        """Items of the truth without partner: a box for each of theirs, in the order of the JSON."""
        sheet = self.sheet
        documents, items, index = leftover(truth, pairs.truth)
        kept = is_list[documents]
        documents, items, index = documents[kept], items[kept], index[kept]
        boxes = np.zeros(len(items), dtype=np.int64)
        for judged, column in zip(pairs.leaves, truth.leaves, strict=True):
            lone = column.take(items)
            boxed = lone.boxed()
            boxes += boxed
            places = place(documents, field, ONLY_TRUTH, index, lone.ranks)
            nobody, none = np.zeros(len(documents), dtype=np.bool_), np.zeros(len(documents))
            sheet.box(judged.plan.code, documents, places, boxed, nobody, none, np.full(len(documents), np.nan), nobody)
        sheet.several(documents, rated=False, times=np.maximum(boxes, 1))
        sheet.with_box += np.bincount(documents, boxes, sheet.size).astype(np.int64)


def matches(match: Flags, truth: Codes, found: Codes) -> Flags:
    """Where the score says so, unless one side says nothing at all."""
    return np.asarray(match & ((truth == -1) == (found == -1)))


def _is_blank(column: LeafColumn) -> Flags:
    """For each value whether it is text of blanks; the last two entries stand for values that are not there."""
    blank = np.zeros(len(column.values) + 2, dtype=np.bool_)
    blank[-2:] = True
    if isinstance(column.values, Strings):
        texts = column.values
        first = texts.data[texts.offsets[:-1]]  # an empty text is no value
        maybe = np.flatnonzero((first <= ord(" ")) | (first >= BEYOND_ASCII))
        blank[maybe] = list(map(str.isspace, texts.take(maybe)))
    elif str in column.kinds:
        blank[:-2] = [type(value) is str and value.isspace() for value in column.values]
    return blank
