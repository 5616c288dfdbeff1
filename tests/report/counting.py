"""The task of the contributors' page: does a model see as many figures in a document as there are?"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calque import Corpus, Table, Task
from calque.corpus.boxes import UnitId, canonical
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import Undefined
from calque.evaluation.task import setting


@dataclass(frozen=True)
class Counts(Corpus):
    """How many figures each document has."""

    figures: Mapping[UnitId, int]

    def units(self) -> tuple[UnitId, ...]:
        return tuple(self.figures)

    def select(self, units: Iterable[UnitId]) -> "Counts":
        return Counts({unit: self.figures[unit] for unit in units if unit in self.figures})


@dataclass(frozen=True, kw_only=True)
class Counting(Task):
    """Compares two counts for each document. A document that one side does not know has no figures there."""

    name: ClassVar[str] = "counting"

    slack: int = setting(0, kind="number", key="slack", always=True, help="By how much a count may be off.")

    def batches(self, expected: Any, found: Any, *, jobs: int = 1) -> Iterator[tuple[Counts, Counts]]:
        yield Counts(expected), Counts(found)

    def score(self, expected: Counts, found: Counts, *, jobs: int = 1) -> Ledger:
        units = tuple(sorted({*expected.units(), *found.units()}, key=canonical))
        rows = {
            UNIT: np.arange(len(units), dtype=np.int32),
            "expected": np.array([expected.figures.get(unit, 0) for unit in units], dtype=np.int64),
            "found": np.array([found.figures.get(unit, 0) for unit in units], dtype=np.int64),
        }
        return Ledger(units=units, tables={"counts": Table(rows)})

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:
        rows = ledger.table("counts")
        off = np.abs(rows.array("found") - rows.array("expected"))
        right = int((off <= self.slack).sum())
        accuracy = right / len(off) if len(off) else Undefined("no documents")
        return {"documents": len(off), "right": right, "accuracy": accuracy}
