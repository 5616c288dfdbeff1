"""Accumulators: what is collected beside the counts while documents are compared, each with a state of its own."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from calque.base.arguments import check_type, checked_list
from calque.base.columns import Table
from calque.base.errors import ConfigError
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import settle
from calque.evaluation.storage.partitioned import MOST_BYTES, PartCollector
from calque.evaluation.storage.state import pack, unpack, well_formed
from calque.fields.accounting.rows import BOX_COLUMNS, RATING_COLUMNS
from calque.fields.confidence.average_precision import BoxTotals, box_metrics
from calque.fields.confidence.calibration import Ratings
from calque.geometry.forms import DECIMAL_COCO_THRESHOLDS

_DOCUMENT_COLUMNS = (
    (UNIT, np.int32), ("named", np.bool_), ("total", np.int32), ("with_box", np.int32), ("rated", np.int32),
)  # fmt: skip


class PostComparisonAccumulator(ABC):
    """Sees every comparison and says something about all of them. Derive from it to collect what you need."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Where its numbers are found in ``accumulator_metrics``."""

    @abstractmethod
    def reset(self) -> None:
        """Forget everything."""

    @abstractmethod
    def accumulate(self, comparison_result: dict[str, Any], prediction_raw: dict[str, Any] | None) -> None:
        """Take in the result of ``compare_with(..., document_field_comparisons=True)`` and the prediction's JSON."""

    @abstractmethod
    def compute(self) -> dict[str, Any] | None:
        """The numbers so far."""

    @abstractmethod
    def get_state(self) -> dict[str, Any]:
        """Everything that `load_state` needs, as plain JSON values."""

    @abstractmethod
    def load_state(self, state: Mapping[str, Any]) -> None:
        """Become what `get_state` described."""

    @abstractmethod
    def merge_state(self, other_state: Mapping[str, Any]) -> None:
        """Add what another accumulator collected."""


class LedgerAccumulator(PostComparisonAccumulator):
    """An accumulator over the rows of one table of the ledger."""

    table: str
    names: str
    columns: tuple[tuple[str, Any], ...]

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._parts = PartCollector(MOST_BYTES)
        self._next = 0
        """The number of the next document that has no id."""

    def add(self, ledger: Ledger) -> None:
        """Take in the documents of a ledger."""
        documents = ledger.table("documents")
        kept = {
            "documents": Table({name: documents.array(name) for name, _ in _DOCUMENT_COLUMNS}),
            self.table: ledger.table(self.table),
        }
        self._take(Ledger(units=ledger.units, tables=kept, names={self.names: ledger.names[self.names]}))

    def _take(self, ledger: Ledger) -> None:
        self._parts.add(ledger)
        self._next = max([self._next, *(unit + 1 for unit in ledger.units if isinstance(unit, int))])

    def accumulate(self, comparison_result: dict[str, Any], prediction_raw: dict[str, Any] | None) -> None:
        """Take in one comparison; it becomes the next numbered document."""
        del prediction_raw
        rows = comparison_result.get("field_comparisons")
        if rows is None:
            raise ValueError("no field_comparisons: call compare_with(..., document_field_comparisons=True)")
        names = sorted({self._key(row) for row in rows})
        code = {name: position for position, name in enumerate(names)}
        entries = [(0, code[self._key(row)], *entry) for row in rows if (entry := self._entry(row)) is not None]
        rows = [row for row in rows if row.get("counted", True)]
        with_box = sum(row["expected_bbox"] is not None for row in rows)
        rated = sum(row["actual_key"] is not None for row in rows)
        tables = {
            "documents": _columns([(0, False, len(rows), with_box, rated)], _DOCUMENT_COLUMNS),
            self.table: _columns(entries, self.columns),
        }
        self._take(Ledger(units=(self._next,), tables=tables, names={self.names: tuple(names)}))

    @abstractmethod
    def _key(self, row: Mapping[str, Any]) -> str: ...

    @abstractmethod
    def _entry(self, row: Mapping[str, Any]) -> tuple[Any, ...] | None: ...

    @abstractmethod
    def _measure(self, ledger: Ledger) -> dict[str, Any]: ...

    def compute(self) -> dict[str, Any] | None:
        """The numbers so far; ``None`` before the first document."""
        return settle(self._measure(self._parts.ledger()))[0] if self._parts else None

    def get_state(self) -> dict[str, Any]:
        """Everything collected, as plain JSON values."""
        return {"accumulator": self.name, "rows": _to_text(self._parts.ledger()) if self._parts else ""}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Become what `get_state` described."""
        with well_formed("accumulator state"):
            ledger = _from_text(state["rows"]) if state["rows"] else None
        self.reset()
        if ledger is not None:
            self._take(ledger)

    def merge_state(self, other_state: Mapping[str, Any]) -> None:
        """Add what another accumulator collected; documents without ids are numbered on."""
        with well_formed("accumulator state"):
            other = _from_text(other_state["rows"]) if other_state["rows"] else None
        if other is not None:
            self._take(other.renumbered(self._next))


def _columns(rows: list[tuple[Any, ...]], columns: tuple[tuple[str, Any], ...]) -> Table:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    return Table({name: np.array(column, dtype=kind) for (name, kind), column in zip(columns, values, strict=True)})


def _total(ledger: Ledger, column: str) -> int:
    return sum(int(rows.array(column).sum()) for rows in ledger.chunks("documents", column))


def _to_text(ledger: Ledger) -> str:
    return base64.b64encode(pack({}, ledger)).decode("ascii")


def _from_text(text: str) -> Ledger:
    return unpack(base64.b64decode(text, validate=True), "accumulator state")[1]


class BBoxMAPAccumulator(LedgerAccumulator):
    """Collects boxes and computes their mean average precision: ``bbox_map_metrics``."""

    table = "boxes"
    names = "label"
    columns = BOX_COLUMNS

    def __init__(self, iou_thresholds: float | Iterable[float] | None = None) -> None:
        given = DECIMAL_COCO_THRESHOLDS if iou_thresholds is None else iou_thresholds
        listed = [given] if isinstance(given, int | float) else given
        listed = checked_list("BBoxMAPAccumulator", "iou_thresholds", listed, Real, "a number or several")
        self.iou_thresholds = tuple(sorted({float(value) for value in listed}))
        if not self.iou_thresholds or not all(0 < value <= 1 for value in self.iou_thresholds):
            raise ConfigError(f"IoU thresholds must be above 0 and at most 1, not {list(self.iou_thresholds)}")
        super().__init__()

    @property
    def name(self) -> str:
        """Where its numbers are found."""
        return "bbox_map_metrics"

    def _key(self, row: Mapping[str, Any]) -> str:
        return str(row["class"])

    def _entry(self, row: Mapping[str, Any]) -> tuple[Any, ...] | None:
        has_truth, has_found = row["expected_bbox"] is not None, row["actual_bbox"] is not None
        if not (has_truth or has_found):
            return None
        return has_truth, has_found, row["iou"] or 0.0, row["confidence"], row["match"] and has_truth and has_found

    def _measure(self, ledger: Ledger) -> dict[str, Any]:
        coverage = _total(ledger, "with_box"), _total(ledger, "total")
        return box_metrics(ledger, BoxTotals(ledger, self.iou_thresholds), coverage, self.iou_thresholds)


ConfidenceMeasure: TypeAlias = Callable[[Any, Any], Any]
"""Says something of confidences: whether each field is right, and its confidence, as arrays in; a number or JSON out."""


class ConfidenceAccumulator(LedgerAccumulator):
    """Collects confidences and says what they are worth: ``confidence_metrics``.

    ``measures`` are your own, by name; each is shown whether fields are right and how confident they are, as two arrays, for
    everything together and for each field.

    >>> sure = {"sure_and_wrong": lambda right, confidence: int((~right & (confidence > 0.9)).sum())}
    >>> ConfidenceAccumulator(measures=sure).name
    'confidence_metrics'
    """

    table = "ratings"
    names = "key"
    columns = RATING_COLUMNS

    def __init__(self, measures: Mapping[str, ConfidenceMeasure] | None = None) -> None:
        check_type("ConfidenceAccumulator", "measures", measures, Mapping | None, "a mapping or None")
        self.measures = dict(measures or {})
        taken = sorted({"auroc", "brier_score", "ece", "error_capture_at_budget"} & self.measures.keys())
        if taken:
            raise ConfigError(f"the measure {taken[0]!r} comes with calque; choose another name")
        super().__init__()

    @property
    def name(self) -> str:
        """Where its numbers are found."""
        return "confidence_metrics"

    def _key(self, row: Mapping[str, Any]) -> str:
        return str(row["confidence_key"])

    def _entry(self, row: Mapping[str, Any]) -> tuple[Any, ...] | None:
        rated = row["actual_key"] is not None and row["confidence"] is not None
        return (row["match"], row["confidence"]) if rated else None

    def _measure(self, ledger: Ledger) -> dict[str, Any]:
        numbers = Ratings(ledger).confidence_metrics(_total(ledger, "rated"))
        if self.measures:
            self._add_own(numbers, ledger)
        return numbers

    def _add_own(self, numbers: dict[str, Any], ledger: Ledger) -> None:
        parts = list(ledger.chunks("ratings"))
        order = np.argsort(np.concatenate([part.array(UNIT) for part in parts]), kind="stable")
        key, match, confidence = (
            np.concatenate([part.array(name) for part in parts])[order] for name in ("key", "match", "confidence")
        )
        codes = {name: code for code, name in enumerate(ledger.names["key"])}
        for block, rows in (
            (numbers["overall"], slice(None)),
            *((entry, key == codes[name]) for name, entry in numbers["fields"].items()),
        ):
            block |= {name: {"value": measure(match[rows], confidence[rows])} for name, measure in self.measures.items()}
