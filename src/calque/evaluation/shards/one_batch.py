"""One batch of documents, scored by several processes: for tasks whose scoring is mostly Python's own work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calque.corpus.boxes import Corpus, UnitId, in_canonical_order
from calque.engines import is_portable, process_engine

if TYPE_CHECKING:
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.task import Task

SHARES = 4
"""Into how many pieces for each worker the documents are cut: some take longer than others."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scores a pair of corpora, in whatever process."""

    task: Task

    def __call__(self, pair: tuple[Any, Any]) -> Ledger:
        """The outcomes."""
        return self.task.score(*pair)


def shared(task: Task, truth: Corpus, found: Corpus, jobs: int, least: int) -> Iterator[Ledger]:
    """The ledgers of a batch, some documents each; fewer than ``least`` are scored here, and so is what cannot be sent."""
    units = in_canonical_order({*truth.units(), *found.units()})
    if len(units) < least or not is_portable(task):
        yield task.score(truth, found, jobs=jobs)
        return
    size = max(1, -(-len(units) // (SHARES * jobs)))
    pieces = (units[start : start + size] for start in range(0, len(units), size))
    yield from process_engine(jobs).map(Scoring(task), (_part(truth, found, piece) for piece in pieces))


def _part(truth: Corpus, found: Corpus, units: list[UnitId]) -> tuple[Corpus, Corpus]:
    return truth.select(units), found.select(units)
