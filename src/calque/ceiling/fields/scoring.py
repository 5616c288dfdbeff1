"""From a truth and several systems of records to the ledger: units, what each system has of them, and how they vote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Column, Ints, Strings, Table
from calque.base.errors import Issue, Severity, by_place, summarize
from calque.ceiling.fields.leaves import Leaf, Met, Place, groups, leaves, met
from calque.ceiling.fields.votes import ListVotes, Unranked
from calque.corpus.boxes import UnitId, in_canonical_order
from calque.corpus.records import RecordCorpus
from calque.detection.scoring import STATUS_NAMES, Status
from calque.engines import current_progress
from calque.evaluation.ledger import Ledger
from calque.fields.comparison.cells import Record, RecordSide
from calque.fields.comparison.records import compare_records
from calque.fields.schemas.plan import FieldPlan, RecordPlan
from calque.fields.scoring import HELP, LOSSES

if TYPE_CHECKING:
    from calque.ceiling.systems import Systems
    from calque.ceiling.task import Ceiling

KINDS = ("value", "agreed", "unfound")
"""Of suspects, in the order in which they are listed."""


def side_of(plan: RecordPlan, data: Any, note: Any = lambda *_: None) -> Record:
    """A record as cells."""
    return RecordSide(plan, data, note).record


def score(task: Ceiling, truth: RecordCorpus, found: Systems) -> Ledger:
    """The ledger: tables ``documents``, ``truth``, ``cells``, ``leaves``, ``lists``, ``tied`` and ``suspects``."""
    units = tuple(in_canonical_order({*truth.documents, *found.units()}))
    sides = [{unit: place for place, unit in enumerate(side.documents)} for side in (truth, *found.parts)]
    book = _Book(task, len(units), named=truth.named)
    current_progress().expect(len(units))
    for row, unit in enumerate(units):
        there = [unit in at for at in sides]
        records = [side.record(at[unit]) if unit in at else None for at, side in zip(sides, (truth, *found.parts), strict=True)]
        book.document(row, unit, there, records, (truth, *found.parts))
        current_progress().advance(1)
    return book.ledger(units)


class _Book:
    """Writes down one document after the other."""

    def __init__(self, task: Ceiling, size: int, *, named: bool) -> None:
        self.task, self.plan = task, task.fields().plan()
        self._named = named
        self.roots = [field for field in self.plan.fields if not field.ignored]
        self._root = {field.key: code for code, field in enumerate(self.roots)}
        self._systems = len(task.systems)
        self._documents = np.zeros((size, 3), np.int64)
        self._truth: list[tuple[int, int, int, str]] = []
        self._cells: list[tuple[int, int, int, list[int], list[int]]] = []
        self._leaves: list[tuple[int, int, list[int]]] = []
        self._lists: list[tuple[int, list[int], list[int]]] = []
        self._tied: list[tuple[int, int, str]] = []
        self._suspects: list[tuple[int, int, int, str]] = []
        self._issues: list[Issue] = []

    def document(
        self, row: int, unit: UnitId, there: Sequence[bool], records: Sequence[Any], corpora: Sequence[RecordCorpus]
    ) -> None:
        """One document."""
        known = sum(has << place for place, has in enumerate(there[1:]))
        counted = all(there) or self.task.missing == "penalize"
        self._documents[row] = there[0], known, counted
        if not counted:
            return
        cells = [
            side_of(self.plan, data, self._noter(unit, corpus.source)) for data, corpus in zip(records, corpora, strict=True)
        ]
        truth, systems = cells[0], cells[1:]
        meetings = [list(met(compare_records(self.plan, truth, system))) for system in systems]
        self._units(row, list(leaves(self.plan, truth)), meetings, systems)
        self._outside(row, meetings)
        self._vote(row, truth, systems, records)

    def _noter(self, unit: UnitId, source: str) -> Any:
        def note(code: str, path: str, message: str) -> None:
            severity = Severity.LOSS if code in LOSSES else Severity.NOTE
            self._issues.append(Issue(code, message, source, f"document {unit}: {path}", HELP.get(code, ""), severity))

        return note

    def _units(self, row: int, units: list[Leaf], meetings: Sequence[list[Met]], systems: Sequence[Record]) -> None:
        """The units of the truth: who has them right, and on which wrong value of an unfound one systems agree."""
        hits: dict[Place, int] = {}
        values: dict[Place, list[Any]] = {}
        for system, meeting in enumerate(meetings):
            for each in meeting:
                if each.truth is not None:
                    hits[each.place] = hits.get(each.place, 0) | each.right << system
                    values.setdefault(each.place, []).append(each.found)
        truths = [0] * len(self.roots)
        right = np.zeros((len(self.roots), self._systems), np.int64)
        bits = np.arange(self._systems)
        for leaf in units:
            code, mask = self._root[str(leaf.place[0])], hits.get(leaf.place, 0)
            truths[code] += 1
            right[code] += mask >> bits & 1
            self._truth.append((row, code, mask, leaf.path))
            if not mask:
                agreeing = most_alike(leaf.plan, values.get(leaf.place, []))
                kind = "value" if agreeing >= 2 else "unfound"
                self._suspects.append((row, KINDS.index(kind), agreeing if agreeing >= 2 else 0, leaf.path))
        self._count(row, truths, right, systems)

    def _count(self, row: int, truths: Sequence[int], right: Ints, systems: Sequence[Record]) -> None:
        """What systems have of each root field."""
        found = np.zeros_like(right)
        for system, record in enumerate(systems):
            for leaf in leaves(self.plan, record):
                found[self._root[str(leaf.place[0])], system] += 1
        for code in range(len(self.roots)):
            if truths[code] or found[code].any():
                self._cells.append((row, code, truths[code], right[code].tolist(), found[code].tolist()))

    def _outside(self, row: int, meetings: Sequence[list[Met]]) -> None:
        """Leaves outside of lists, on which systems vote; and values that they agree on where the truth has none."""
        places: dict[Place, tuple[FieldPlan, Any]] = {}
        found: list[dict[Place, Met]] = []
        for meeting in meetings:
            found.append({each.place: each for each in meeting})
            for each in meeting:
                places.setdefault(each.place, (each.plan, each.truth))
        for place, (plan, truth) in places.items():
            values = [own[place].found if place in own else None for own in found]
            numbers = groups(plan, values)
            if truth is None and (agreeing := most_alike(plan, values)) >= 2:
                self._suspects.append((row, KINDS.index("agreed"), agreeing, plan.label))
            if any(isinstance(step, int) for step in place):
                continue
            hits = sum(own[place].right << system for system, own in enumerate(found) if place in own and truth is not None)
            if any(numbers):
                self._leaves.append((row, hits, numbers))

    def _vote(self, row: int, truth: Record, systems: Sequence[Record], records: Sequence[Any]) -> None:
        voting = ListVotes(self.plan, truth, systems, None)
        right, found = [0] * self._systems, [0] * self._systems
        for base in range(self._systems):
            try:
                right[base], found[base] = voting.counted(base)
            except Unranked:
                self._tied.append((row, base, json.dumps(list(records), ensure_ascii=False)))
        self._lists.append((row, right, found))

    def ledger(self, units: tuple[UnitId, ...]) -> Ledger:
        """What was written."""
        in_truth, known, in_play = self._documents.T
        documents: dict[str, Column] = {
            "unit": np.arange(len(units), dtype=np.int32), "in_truth": in_truth > 0, "in_found": known > 0,
            "known": known.astype(np.uint16), "in_play": in_play > 0, "named": np.full(len(units), self._named),
        }  # fmt: skip
        masks = _numbers(self._truth, 2, np.uint16).reshape(-1, 1)
        shape = -1, self._systems
        return Ledger(
            units=units,
            names={"label": tuple(field.name for field in self.roots), "status": STATUS_NAMES},
            issues=summarize(by_place(self._issues)),
            tables={
                "documents": Table(documents),
                "truth": Table({
                    "unit": _numbers(self._truth, 0), "label": _numbers(self._truth, 1),
                    "status": np.full(len(self._truth), Status.COUNTED, np.uint8),
                    "hits": masks, "masks": masks, "path": Strings.pack(path for *_, path in self._truth),
                }),
                "cells": Table({
                    "unit": _numbers(self._cells, 0), "label": _numbers(self._cells, 1), "truths": _numbers(self._cells, 2),
                    "right": _numbers(self._cells, 3).reshape(shape), "found": _numbers(self._cells, 4).reshape(shape),
                }),
                "leaves": Table({
                    "unit": _numbers(self._leaves, 0), "hits": _numbers(self._leaves, 1, np.uint16),
                    "groups": _numbers(self._leaves, 2, np.uint8).reshape(shape),
                }),
                "lists": Table({
                    "unit": _numbers(self._lists, 0),
                    "right": _numbers(self._lists, 1).reshape(shape), "found": _numbers(self._lists, 2).reshape(shape),
                }),
                "tied": Table({
                    "unit": _numbers(self._tied, 0), "base": _numbers(self._tied, 1),
                    "records": Strings.pack(text for *_, text in self._tied),
                }),
                "suspects": Table({
                    "unit": _numbers(self._suspects, 0), "kind": _numbers(self._suspects, 1, np.uint8),
                    "systems": _numbers(self._suspects, 2), "path": Strings.pack(path for *_, path in self._suspects),
                }),
            },
        )  # fmt: skip


def _numbers(rows: Sequence[tuple[Any, ...]], column: int, kind: Any = np.int32) -> Any:
    return np.array([row[column] for row in rows], dtype=kind)


def most_alike(plan: FieldPlan, values: Sequence[Any]) -> int:
    """How many values, at most, are the same; nothing is no value."""
    numbers = [number for number in groups(plan, values) if number]
    return max((numbers.count(number) for number in numbers), default=0)
