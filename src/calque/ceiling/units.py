"""The units of a ledger at one level: which systems have each, what they find of each class, what they could pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Codes, Flags, Ints, distinct
from calque.base.errors import Issue, Severity
from calque.detection.scoring import Status
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.nothing_evaluated import DocumentCoverage, box_coverage
from calque.kernels import kernels

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

EDGES = ("any", "recombine", "average")
"""Rungs that are about where a box ends: the best box of any system, the best of all their edges, their best mean."""
HELP = "check that all are of the same documents and use the same names"


class Level:
    """Everything that the ladder is made of, at one IoU threshold or for values."""

    def __init__(self, task: Ceiling, ledger: Ledger, level: int) -> None:
        self.task, self.ledger, self.level = task, ledger, level
        self.systems = len(task.systems)
        cells = ledger.table("cells")
        block = slice(level * self.systems, (level + 1) * self.systems)
        self.cell_document: Codes = cells.array(UNIT)
        self.cell_class: Codes = cells.array("label")
        self.cell_truths: Array = cells.array("truths").astype(np.int64)
        self.right: Ints = cells.array("right")[:, block].astype(np.int64)
        """For each cell and system what is right."""
        self.found: Ints = cells.array("found")[:, block].astype(np.int64)
        self.rows = counted_units(ledger)
        truth = ledger.table("truth")
        self.document: Codes = truth.array(UNIT)[self.rows]
        self.hits: Array = truth.array("hits")[self.rows, level]
        """For each unit the systems that have it right, as a mask."""
        self.masks: Array = truth.array("masks")[self.rows, level]
        """For each unit the systems with which it has an edge."""

    @property
    def truths(self) -> int:
        """How many units there are."""
        return len(self.rows)

    @cached_property
    def _contested(self) -> tuple[Codes, Codes, Array]:
        """The edges of units that share a box: unit, box, and the mask of its system."""
        if "edges" not in self.ledger.tables:
            nothing = np.zeros(0, np.int32)
            return nothing, nothing, nothing.astype(np.uint16)
        edges = self.ledger.table("edges")
        kept = np.flatnonzero(edges.array("level") == self.level)
        unit = edges.array(UNIT)[kept]
        truth = self.ledger.absolute("truth", unit, edges.array("truth")[kept])
        box = self.ledger.absolute("found", unit, edges.array("box")[kept])
        place = np.full(self.ledger.table("truth").height, -1, np.int32)
        place[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        number: Codes = distinct(box)[1].astype(np.int32)
        return place[truth], number, (1 << edges.array("system")[kept].astype(np.uint16)).astype(np.uint16)

    def reached(self, chosen: Sequence[int]) -> Array:
        """For each unit in which of these sets of systems (masks, up to 16) a largest pairing has it, as a mask of sets."""
        truth, box, system = self._contested
        alone = np.ones(len(self.rows), np.bool_)
        alone[truth] = False
        reached = np.zeros(len(self.rows), np.uint16)
        problems = np.zeros(len(truth), np.uint16)
        for bit, mask in enumerate(chosen):
            reached |= ((self.masks & np.uint16(mask)) > 0).astype(np.uint16) << bit
            problems |= ((system & np.uint16(mask)) > 0).astype(np.uint16) << bit
        if len(truth):
            founds = int(box.max()) + 1
            paired = kernels().match_most(truth, box, problems, len(self.rows), founds)
            reached = np.where(alone, reached, paired)
        return reached

    def matches(self, chosen: Sequence[int]) -> list[int]:
        """How many units a largest pairing has, for each of these sets of systems."""
        found: list[int] = []
        for start in range(0, len(chosen), 16):
            part = chosen[start : start + 16]
            reached = self.reached(part)
            found += [int(np.count_nonzero(reached >> bit & 1)) for bit in range(len(part))]
        return found

    @property
    def everyone(self) -> int:
        """The mask of all systems."""
        return (1 << self.systems) - 1

    @cached_property
    def selected(self) -> Flags:
        """For each unit whether a largest pairing with the boxes of all systems has it."""
        return np.asarray(self.reached([self.everyone]) > 0)

    def sums(self, cells: Array, size: int) -> tuple[Ints, Ints]:
        """What is right and what is found, by these cells and by system."""
        return tuple(  # type: ignore[return-value]  # two of them
            np.stack([np.bincount(cells, column, size) for column in values.T], axis=1).astype(np.int64)
            for values in (self.right, self.found)
        )


def levels_of(task: Ceiling, ledger: Ledger) -> Iterator[Level]:
    """The levels of a ledger one after the other."""
    return (Level(task, ledger, level) for level in range(len(task.levels)))


def counted_units(ledger: Ledger) -> Ints:
    """The rows of units that count."""
    return np.flatnonzero(ledger.table("truth").array("status") == Status.COUNTED)


def in_play(ledger: Ledger) -> Ints:
    """The documents that count."""
    return np.flatnonzero(ledger.table("documents").array("in_play"))


def coverage(task: Ceiling, ledger: Ledger) -> DocumentCoverage | None:
    """What boxes are about; of records only which documents there are."""
    if task.kind == "fields":
        return None
    return box_coverage(ledger, lambda truth: truth.array("status") == Status.COUNTED, "objects")


def remarks(task: Ceiling, ledger: Ledger) -> tuple[Issue, ...]:
    """A note on systems without any document of the truth, and on those without any of its labels."""
    documents, labels = ledger.table("documents"), set(ledger.table("truth").array("label").tolist())
    known, in_truth = documents.array("known"), documents.array("in_truth")
    strangers, nameless = [], []
    for place, name in enumerate(task.systems):
        own = (known >> place & 1).astype(np.bool_)
        if in_truth.any() and not (own & in_truth).any():
            strangers.append(name)
        elif labels and not _labels(task, ledger, place) & labels:
            nameless.append(name)
    notes = []
    if strangers:
        text = f"{_have(strangers)} no document of the truth"
        notes.append(Issue("system-without-documents", text, help=HELP, severity=Severity.NOTE))
    if nameless:
        text = f"{_have(nameless)} none of the {'fields' if task.kind == 'fields' else 'labels'} of the truth"
        notes.append(Issue("system-without-labels", text, help=HELP, severity=Severity.NOTE))
    return tuple(notes)


def _have(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'has' if len(names) == 1 else 'have'}"


def _labels(task: Ceiling, ledger: Ledger, system: int) -> set[int]:
    """The labels that a system uses; of records the fields of which it has a value."""
    if task.kind == "fields":
        cells = ledger.table("cells")
        return set(cells.array("label")[cells.array("found")[:, system] > 0].tolist())
    found = ledger.table("found")
    return set(found.array("label")[found.array("system") == system].tolist())
