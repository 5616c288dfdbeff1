"""One document: the comparison of a single pair of records, with everything that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from calque.core.ledger import Ledger
from calque.core.measures import settle
from calque.fields.book import Row, plain
from calque.fields.compare import Compared
from calque.fields.numbers import measure
from calque.fields.rich import Cell, bare
from calque.fields.scoring import Scorer
from calque.fields.task import Fields


@dataclass(frozen=True)
class ComparedPair:
    """What a single comparison found."""

    task: Fields
    fields: list[Compared]
    score: float
    unknown: int
    """Predicted keys that the schema does not know."""
    rows: list[Row]
    ledger: Ledger

    @cached_property
    def numbers(self) -> dict[str, Any]:
        """The numbers of this one document, as a result shows them."""
        return settle(measure(self.task, self.ledger))[0]

    def comparisons(self) -> list[dict[str, Any]]:
        """The rows as plain dictionaries."""
        return [
            {
                "expected_key": row.truth_path,
                "expected_value": _value(row.truth),
                "actual_key": row.found_path,
                "actual_value": _value(row.found),
                "match": row.match,
                "score": row.score,
                "weighted_score": row.score * row.weight,
                "threshold": row.threshold,
                "reason": row.reason,
                "class": row.label,
                "confidence_key": row.key,
                "confidence": row.found.confidence,
                "expected_bbox": None if row.truth.box is None else list(row.truth.box[:4]),
                "actual_bbox": None if row.found.box is None else list(row.found.box[:4]),
                "iou": row.iou,
            }
            for row in self.rows
        ]


def _value(cell: Cell) -> Any:
    return bare(cell) if cell.raw is not None else plain(cell.value)


def compare_pair(schema: str, truth: Any, found: Any, **settings: Any) -> ComparedPair:
    """Compare one truth with one prediction."""
    task = Fields(schema=schema, **settings)
    scorer = Scorer(task)
    fields, score = scorer.document(0, truth, found)
    unknown = int(scorer.book.documents[-1][6])
    return ComparedPair(task, fields, score, unknown, [row for _, row in scorer.book.rows], scorer.ledger((0,)))
