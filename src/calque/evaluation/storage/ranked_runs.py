"""Rows by class and score, however many parts they come in: one part is ordered here, several are merged from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from calque.base.columns import Array, Codes, Floats, Ints
from calque.evaluation.ledger import Joining
from calque.kernels import kernels
from calque.kernels.structs import ScoreOrder

if TYPE_CHECKING:
    # Few evaluations are so long that they need a file.
    from calque.evaluation.storage.merged_runs import MergedRuns


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Rows of which none ranks among those of another stretch."""

    order: ScoreOrder
    scores: Floats
    columns: tuple[Array, ...]
    in_place: bool = True
    """Whether scores and columns lie in the order of the ranks."""
    last: bool = True
    """Whether nothing comes after it."""

    def classes(self) -> Codes:
        """The class of each row, by rank."""
        return np.repeat(np.arange(len(self.order.class_offsets) - 1, dtype=np.int32), np.diff(self.order.class_offsets))


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of one part as they are given: rows of one document stand in their order."""

    labels: Codes
    """The class of each; what is below 0 has no rank."""
    scores: Floats
    columns: tuple[Array, ...]
    """What goes along."""
    ties: Callable[[], Ints]
    """By what rows of equal scores are ordered, rising from row to row; only several parts have to know."""


class Ranked(Protocol):
    """Rows by class and score, wherever they are."""

    def folded(self, hits: Callable[[Stretch], Ints], draw: Callable[[Stretch, Ints | None], Joining]) -> Joining:
        """What is drawn of each stretch, joined. ``draw`` is told what ``hits`` counts in all stretches before.

        It is told nothing where there is only one.
        """


class RankedRuns:
    """The rows of any number of parts, to be gone through from the best of the first class on.

    Those of one part stay in memory as they are; of several, each is sorted and waits in a file. Ties in score go by the
    tie-breaker, then as rows stand.
    """

    def __init__(self, classes: int, jobs: int = 1) -> None:
        self._classes = classes
        self._jobs = jobs
        self._held: Rows | None = None
        self._merged: MergedRuns | None = None

    def add(self, rows: Rows) -> None:
        """Take in the rows of a part; each tie-breaker comes in one part only."""
        if self._held is None and self._merged is None:
            self._held = rows
            return
        if self._merged is None:
            from calque.evaluation.storage.merged_runs import MergedRuns

            self._merged = MergedRuns(self._classes, self._jobs)
        if self._held is not None:
            held, self._held = self._held, None
            self._merged.write(held)
        self._merged.write(rows)

    def folded(self, hits: Callable[[Stretch], Ints], draw: Callable[[Stretch, Ints | None], Joining]) -> Joining:
        """What is drawn of each stretch, joined."""
        drawn: Joining | None = None
        before: Ints | None = None
        for stretch in self.stretches():
            if stretch.last and drawn is None:
                return draw(stretch, None)
            counted = hits(stretch)
            before = np.zeros_like(counted) if before is None else before
            part = draw(stretch, before)
            drawn = part if drawn is None else drawn.join(part)
            before = before + counted
        if drawn is None:
            raise ValueError("no rows were added")
        return drawn

    def stretches(self, only: int | None = None) -> Iterator[Stretch]:
        """All rows by rank, classes one after the other; ``only`` is a class whose rows are wanted, perhaps among others."""
        if self._held is not None:
            order = ScoreOrder(*kernels().score_order(self._held.labels, self._held.scores, self._classes, self._jobs))
            yield Stretch(order, self._held.scores, self._held.columns, in_place=False)
        elif self._merged is not None:
            yield from self._merged.stretches(only)
