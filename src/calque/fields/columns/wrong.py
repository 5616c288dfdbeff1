"""The values of a batch that are not right, in the order in which `accounting.wrong` lists them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.columns import Array, Codes, Flags, Ints, Strings, Table
from calque.comparators.text import LevenshteinComparator
from calque.fields.accounting.rows import WRONG_COLUMNS
from calque.fields.accounting.wrong import CLOSE, LONGEST, shown
from calque.fields.columns.accounting import Leaves, Lists, leftover
from calque.fields.columns.reading import LeafColumn
from calque.fields.columns.sheet import ONLY_FOUND, ONLY_TRUTH, PAIRS, place
from calque.fields.comparison.cells import Cell
from calque.fields.comparison.records import Outcome
from calque.fields.schemas.plan import FieldPlan, Kind

_EDITS = LevenshteinComparator(normalize=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Wrong values of one field."""

    places: Ints
    documents: Ints
    code: int
    outcomes: Array
    truth_paths: Strings
    found_paths: Strings
    truths: Strings
    founds: Strings


class WrongValues:
    """Grows field by field; documents whose rows need more than columns hold are named."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self.beyond: set[int] = set()
        """Documents with a pair of items that is wrong as a whole, and in no value."""

    def leaf(self, field: int, leaf: Leaves, values: tuple[Sequence[Any], Sequence[Any]]) -> None:
        """A value at the root."""
        plan, judged, truth, found = leaf
        rows = np.flatnonzero(~judged.right)
        texts = _texts(truth.codes[rows], values[0]), _texts(found.codes[rows], values[1])
        paths = Strings.pack([plan.key]).take(np.zeros(len(rows), dtype=np.int64))
        self._parts.append(_Part(place(rows, field), rows, plan.code, judged.outcome[rows], paths, paths, *texts))

    def items(self, field: int, listed: Lists, values: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> None:
        """A list of objects, or an object."""
        plan, pairs, truth, found = listed
        fine: Flags = np.ones(len(pairs.documents), dtype=np.bool_)
        lone = leftover(truth, pairs.truth), leftover(found, pairs.found)
        for number, (judged, a, b) in enumerate(zip(pairs.leaves, truth.leaves, found.leaves, strict=True)):
            fine &= judged.right
            rows = np.flatnonzero(~judged.right)
            documents, one, other = pairs.documents[rows], pairs.truth[rows], pairs.found[rows]
            index, partner = one - truth.offsets[documents], other - found.offsets[documents]
            texts = _texts(a.codes[one], values[number][0]), _texts(b.codes[other], values[number][1])
            mine, theirs = _paths(plan, judged.plan, index), _paths(plan, judged.plan, partner)
            places = place(documents, field, PAIRS, index, number)
            self._parts.append(_Part(places, documents, judged.plan.code, judged.outcome[rows], mine, theirs, *texts))
            for missed, column, known, left in zip((True, False), (a, b), values[number], lone, strict=True):
                self._alone(field, number, (plan, judged.plan), (column, known), left, missed=missed)
        self.beyond.update(pairs.documents[fine & ~pairs.matched].tolist())

    def _alone(
        self,
        field: int,
        number: int,
        plans: tuple[FieldPlan, FieldPlan],
        side: tuple[LeafColumn, Sequence[Any]],
        left: tuple[Ints, Ints, Ints],
        *,
        missed: bool,
    ) -> None:
        """The values of items without partner."""
        (column, values), (owners, items, positions) = side, left
        if not len(items):
            return
        there = column.codes[items] >= 0
        documents, items, positions = owners[there], items[there], positions[there]
        places = place(documents, field, ONLY_TRUTH if missed else ONLY_FOUND, positions, number)
        paths = _paths(*plans, positions)
        texts, nothing = _texts(column.codes[items], values), Strings.pack([""] * len(items))
        outcomes = np.full(len(items), Outcome.FN if missed else Outcome.FA)
        columns = (paths, nothing, texts, nothing) if missed else (nothing, paths, nothing, texts)
        self._parts.append(_Part(places, documents, plans[1].code, outcomes, *columns))

    def table(self) -> Table:
        """All of them, in order."""
        places, documents, outcomes = (
            np.concatenate([getattr(part, name) for part in self._parts]) if self._parts else np.zeros(0, dtype=np.int64)
            for name in ("places", "documents", "outcomes")
        )
        codes = np.concatenate([np.full(len(part.places), part.code) for part in self._parts]) if self._parts else places
        order = np.argsort(places, kind="stable")
        truth_path, found_path, truth, found = (
            Strings.concat([Strings.pack(()), *(getattr(part, name) for part in self._parts)]).take(order)
            for name in ("truth_paths", "found_paths", "truths", "founds")
        )
        outcomes = outcomes[order]
        columns: tuple[Any, ...] = (
            documents[order], codes[order], outcomes, _close(outcomes, truth, found), truth_path, found_path,
            _beginnings(truth), _beginnings(found),
        )  # fmt: skip
        return Table({
            name: column if kind is str else column.astype(kind)
            for (name, kind), column in zip(WRONG_COLUMNS, columns, strict=True)
        })  # fmt: skip

    def counts(self, documents: int) -> Ints:
        """For each document how many it has."""
        return sum(
            (np.bincount(part.documents, minlength=documents) for part in self._parts), np.zeros(documents, dtype=np.int64)
        )


def _paths(plan: FieldPlan, leaf: FieldPlan, items: Ints) -> Strings:
    """Where a field of items stands in the JSON."""
    if plan.kind is Kind.OBJECT:
        return Strings.pack([f"{plan.key}.{leaf.key}"]).take(np.zeros(len(items), dtype=np.int64))
    longest = int(items.max(initial=-1)) + 1
    return Strings.pack(f"{plan.key}[{item}].{leaf.key}" for item in range(longest)).take(items)


def _texts(codes: Codes, values: Sequence[Any]) -> Strings:
    """The values as people read them; empty where there is none."""
    if isinstance(values, Strings):
        with_empty = Strings(values.data, np.append(values.offsets, values.offsets[-1]))
        return with_empty.take(np.where(codes < 0, len(values), codes))
    if isinstance(values, array) and (codes >= 0).all():
        return Strings.pack(map(repr, np.frombuffer(values)[codes].tolist()))
    chosen = [None if code < 0 else values[code] for code in codes.tolist()]
    return Strings.pack(
        each if type(each) is str else repr(each) if type(each) is float else shown(Cell(each)) for each in chosen
    )


def _beginnings(texts: Strings) -> Strings:
    """Texts of which long ones end early."""
    is_short = (np.diff(texts.offsets) <= LONGEST).all()
    return texts if is_short else Strings.pack(text[:LONGEST] for text in texts)


def _close(outcomes: Array, truths: Strings, founds: Strings) -> Flags:
    """Where a wrong value is close to the true one: what `accounting.wrong` says, for all in one call."""
    close: Flags = np.zeros(len(truths), dtype=np.bool_)
    first, second = map(_lengths, (truths, founds))
    alike = CLOSE * np.maximum(first, second) <= np.minimum(first, second)  # those of other lengths cannot be close
    rows = np.flatnonzero((outcomes == Outcome.FD) & alike)
    if len(rows):
        texts = (_folded(_beginnings(side.take(rows))) for side in (truths, founds))
        each = np.arange(len(rows), dtype=np.int32)
        close[rows] = _EDITS.by_pairs(*texts)(each, each) >= CLOSE
    return close


def _lengths(texts: Strings) -> Ints:
    return np.diff(texts.offsets) if texts.is_ascii() else np.array(list(map(len, texts)), dtype=np.int64)


def _folded(texts: Strings) -> Sequence[str]:
    """Texts whose case does not count."""
    return texts.lowered() if texts.is_ascii() else [text.casefold() for text in texts]
