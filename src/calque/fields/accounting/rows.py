"""The rows that a batch of documents becomes, the ledger they make, and the outcomes that are read from it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.core.columns import Codes, Column, Strings, Table
from calque.core.corpus import UnitId, distinct_names
from calque.core.ledger import UNIT, Ledger
from calque.fields.comparison.cells import Accepted, Cell, Record, Unfit
from calque.fields.comparison.records import Compared, Outcome, Pairs
from calque.fields.schemas.plan import MOST_CELLS, FieldPlan, Kind, Matching, RecordPlan
from calque.geometry.rectangles import iou

_INDEX = re.compile(r"\[\d+\]")
OUTCOMES = len(Outcome)
OUTCOME_NAMES = tuple(outcome.name.lower() for outcome in Outcome)
REASONS = (
    "same",
    "above threshold",
    "below threshold",
    "missing in the prediction",
    "not in the truth",
    "absent on both sides",
    "wrong type",
    "paired with an item that is too different",
)


def class_of(path: str) -> str:
    """The class of a path: list positions do not count.

    >>> class_of("line_items[12].amount")
    'line_items[].amount'
    """
    return _INDEX.sub("[]", path)


@dataclass(frozen=True, slots=True)
class Row:
    """One compared occurrence of a field, as outcome lists show it."""

    label: str
    key: str
    truth_path: str | None
    found_path: str | None
    truth: Cell
    found: Cell
    match: bool
    score: float
    threshold: float
    weight: float
    reason: str
    iou: float | None


class Book:
    """Columns that grow while documents are compared. One for each batch."""

    def __init__(self, plan: RecordPlan, *, outcomes: bool) -> None:
        self.plan = plan
        self.all_fields = tuple(plan.walk())
        self.labels: dict[str, int] = {each.label: code for code, each in enumerate(self.all_fields)}
        self.keys: dict[str, int] = {}
        self.keep_outcomes = outcomes
        self.unit = -1
        self.documents: list[tuple[Any, ...]] = []
        self.counts: list[tuple[Any, ...]] = []
        self.boxes: list[tuple[Any, ...]] = []
        self.ratings: list[tuple[Any, ...]] = []
        self.rows: list[tuple[int, Row]] = []
        self.start()

    def start(self) -> None:
        """Begin a document."""
        self.unit += 1
        self.tally = [0] * (OUTCOMES * len(self.all_fields))
        self.score_sums = [0.0] * len(self.all_fields)
        self.score_counts = [0] * len(self.all_fields)
        self.unknown = 0
        self.long_lists: list[str] = []
        """Lists whose items were not paired optimally."""
        self.total = self.with_box = self.rated = self.seen_boxes = 0

    def finish(self, **about: Any) -> None:
        """End a document: what is known of it as a whole goes into the table of documents."""
        unit, tally = self.unit, self.tally
        for code in range(len(self.all_fields)):
            outcome = tally[code * OUTCOMES : code * OUTCOMES + OUTCOMES]
            if any(outcome) or self.score_counts[code]:
                self.counts.append((unit, code, *outcome, self.score_sums[code], self.score_counts[code]))
        self.documents.append((
            unit, about["in_truth"], about["in_found"], about["named"], about["counted"], about["score"], self.unknown,
            self.total, self.with_box, self.rated, about["truth_boxes"], about["found_boxes"], about["ignored_boxes"],
            about["truth_boxes"] + about["found_boxes"] - self.seen_boxes,
        ))  # fmt: skip
        self.start()

    # What accountings write

    def row(
        self,
        label: str,
        truth_path: str | None,
        found_path: str | None,
        truth: Cell,
        found: Cell,
        match: bool,
        score: float,
        threshold: float,
        weight: float,
        reason: str,
        key: str | None = None,
    ) -> None:
        """One compared occurrence, with its boxes and its confidence."""
        key = label if key is None else key
        overlap = self.observe(label, key, truth, found, match, found_path is not None)
        if self.keep_outcomes:
            values = (truth_path, found_path, truth, found, match, score, threshold, weight, reason, overlap)
            self.rows.append((self.unit, Row(label, key, *values)))

    def observe(self, label: str, key: str, truth: Cell, found: Cell, match: bool, predicted: bool) -> float | None:
        """The boxes and the confidence of an occurrence, all that numbers need of it. Returns the IoU of its boxes."""
        self.total += 1
        _, _, truth_box, _ = truth
        _, confidence, found_box, _ = found
        if predicted:
            self.rated += 1
            if confidence is not None:
                self.ratings.append((self.unit, self.keys.setdefault(key, len(self.keys)), match, confidence))
        if truth_box is not None:
            self.with_box += 1
        elif found_box is None:
            return None
        return self.box(label, truth, found, match)

    def box(self, label: str, truth: Cell, found: Cell, match: bool) -> float:
        """One observation: a truth box, a predicted box or both. Returns their IoU."""
        code = self.labels.get(label)
        if code is None:
            code = self.labels[label] = len(self.labels)
        _, _, truth_box, _ = truth
        _, confidence, found_box, _ = found
        if truth_box is None or found_box is None:
            self.seen_boxes += 1
            self.boxes.append((self.unit, code, truth_box is not None, found_box is not None, 0.0, confidence, False))
            return 0.0
        self.seen_boxes += 2
        overlap = iou(found_box, truth_box)
        self.boxes.append((self.unit, code, True, True, overlap, confidence, match))
        return overlap

    # Counts, the same for both accountings but for what list items add

    def count(self, fields: Sequence[Compared], *, everywhere: bool, scored: bool = True) -> None:
        """Add up outcomes; ``everywhere`` also scores fields of list items, each occurrence once."""
        for each in fields:
            if not each.plan.ignored:
                self._count(each, everywhere, scored)

    def _count(self, each: Compared, everywhere: bool, scored: bool) -> None:
        plan, at = each.plan, each.plan.code * OUTCOMES
        if scored:
            self.score_sums[plan.code] += each.applied
            self.score_counts[plan.code] += 1
        if each.parts is None:
            self.tally[at + each.outcome] += 1 if plan.is_leaf else _items(each)
        elif plan.kind is Kind.OBJECT:
            self.tally[at + each.outcome] += 1
            self.count(each.parts, everywhere=everywhere, scored=scored)
        else:
            self._count_list(plan, each.parts, everywhere, scored)

    def _count_list(self, plan: FieldPlan, pairs: Pairs, everywhere: bool, scored: bool) -> None:
        at = plan.code * OUTCOMES
        matched = [pair for pair in pairs.pairs if pair.matched]
        truths, founds = len(pairs.pairs) + len(pairs.only_truth), len(pairs.pairs) + len(pairs.only_found)
        if truths * founds > MOST_CELLS and plan.matching is Matching.OPTIMAL:
            self.long_lists.append(plan.path)
        self.tally[at + Outcome.TP] += len(matched)
        self.tally[at + Outcome.FD] += len(pairs.pairs) - len(matched)
        self.tally[at + Outcome.FN] += len(pairs.only_truth)
        self.tally[at + Outcome.FA] += len(pairs.only_found)
        for position, pair in enumerate(matched):
            if everywhere:
                self.count(pair.fields, everywhere=True, scored=scored)
                continue
            for each in pair.fields:
                if not each.plan.ignored:
                    # The original scores only objects and lists in items, and those by the first pair.
                    if each.plan.kind is Kind.LEAF:
                        self.tally[each.plan.code * OUTCOMES + blank_is_absent(each)] += 1
                    else:
                        self._count(each, everywhere, False)
                    if scored and position == 0 and each.plan.record is not None:
                        self.score_sums[each.plan.code], self.score_counts[each.plan.code] = each.applied, 1

    # The ledger

    def ledger(self, units: tuple[UnitId, ...]) -> Ledger:
        """Everything written so far, for documents in canonical order."""
        # Names in the order of the alphabet: which document came first must not show.
        labels, label = _alphabetical(self.labels)
        keys, key = _alphabetical(self.keys)
        tables = {
            "documents": _table(self.documents, DOCUMENT_COLUMNS),
            "counts": _table(self.counts, COUNT_COLUMNS),
            "boxes": _recoded(_table(self.boxes, BOX_COLUMNS), "label", label),
            "ratings": _recoded(_table(self.ratings, RATING_COLUMNS), "key", key),
            "rows": self._outcome_table(),
        }
        return Ledger(
            units=units,
            tables=tables,
            names={
                "field": tuple(each.path for each in self.all_fields),
                "label": labels,
                "key": keys,
                "reason": REASONS,
            },
            details=frozenset(("rows", name) for name in tables["rows"] if name != UNIT),
        )

    def _outcome_table(self) -> Table:
        rows = [row for _, row in self.rows]
        return Table({
            UNIT: np.array([unit for unit, _ in self.rows], dtype=np.int32),
            "truth_path": Strings.pack(row.truth_path or "" for row in rows),
            "found_path": Strings.pack(row.found_path or "" for row in rows),
            "truth_value": Strings.pack(spelled(row.truth.value) for row in rows),
            "found_value": Strings.pack(spelled(row.found.value) for row in rows),
            "match": np.array([row.match for row in rows], dtype=np.bool_),
            "score": np.array([row.score for row in rows], dtype=np.float64),
            "threshold": np.array([row.threshold for row in rows], dtype=np.float64),
            "reason": np.array([REASONS.index(row.reason) for row in rows], dtype=np.uint8),
            "confidence": np.array([np.nan if (c := row.found.confidence) is None else c for row in rows], dtype=np.float64),
            "iou": np.array([np.nan if row.iou is None else row.iou for row in rows], dtype=np.float64),
            "truth_box": _box_column([row.truth for row in rows]),
            "found_box": _box_column([row.found for row in rows]),
        })  # fmt: skip


DOCUMENT_COLUMNS = (
    (UNIT, np.int32), ("in_truth", np.bool_), ("in_found", np.bool_), ("named", np.bool_), ("counted", np.bool_),
    ("score", np.float64), ("unknown", np.int32), ("total", np.int32), ("with_box", np.int32), ("rated", np.int32),
    ("truth_boxes", np.int32), ("found_boxes", np.int32), ("ignored_boxes", np.int32), ("unaccounted", np.int32),
)  # fmt: skip
COUNT_COLUMNS = (
    (UNIT, np.int32), ("field", np.int32), *((name, np.int32) for name in OUTCOME_NAMES),
    ("score", np.float64), ("scored", np.int32),
)  # fmt: skip
BOX_COLUMNS = (
    (UNIT, np.int32), ("label", np.int32), ("has_truth", np.bool_), ("has_found", np.bool_), ("iou", np.float64),
    ("confidence", np.float64), ("match", np.bool_),
)  # fmt: skip
RATING_COLUMNS = ((UNIT, np.int32), ("key", np.int32), ("match", np.bool_), ("confidence", np.float64))


def _table(rows: Sequence[tuple[Any, ...]], columns: Sequence[tuple[str, Any]]) -> Table:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    return Table({name: np.array(column, dtype=kind) for (name, kind), column in zip(columns, values, strict=True)})


def _alphabetical(codes: dict[str, int]) -> tuple[tuple[str, ...], Codes]:
    """The names sorted, and for each old code the new one."""
    names = tuple(sorted(codes))
    new = np.zeros(len(names), dtype=np.int32)
    new[[codes[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    return names, new


def _recoded(table: Table, column: str, new: Codes) -> Table:
    return Table({name: new[table.array(name)] if name == column else values for name, values in table.columns.items()})


def _box_column(cells: Sequence[Cell]) -> Any:
    boxes = [(np.nan,) * 4 if cell.box is None else cell.box[:4] for cell in cells]
    return np.array(boxes, dtype=np.float64).reshape(len(cells), 4)


def _items(each: Compared) -> int:
    """How many outcomes a field stands for that was not compared part by part: a list has one for each item."""
    for cell in (each.truth, each.found):
        if type(cell.value) is list:
            return len(cell.value)
    return 1


def blank_is_absent(each: Compared) -> Outcome:
    """The outcome of a leaf of a list item as the original counts it: there, text of blanks only is no value."""
    truth, found = _absent(each.truth.value), _absent(each.found.value)
    if truth or found:
        return Outcome.TN if truth and found else Outcome.FA if truth else Outcome.FN
    return each.outcome


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def spelled(value: Any) -> str:
    """A cell's value as JSON text, empty when there is none."""
    return "" if value is None else json.dumps(plain(value), ensure_ascii=False, default=str)


def plain(value: Any) -> Any:
    """A cell's value as plain JSON values."""
    if type(value) is Record:
        return [plain(cell.value) for cell in value.cells]
    if type(value) is list:
        return [plain(cell.value if type(cell) is Cell else cell) for cell in value]
    if type(value) is Unfit:
        return value.raw
    return plain(value[0]) if type(value) is Accepted else value


def reason_of(each: Compared) -> str:
    """Why a field has the outcome that it has."""
    if each.outcome is Outcome.TP:
        return "same" if each.raw == 1.0 else "above threshold"
    if each.outcome is Outcome.FD:
        unfit = type(each.truth.value) is Unfit or type(each.found.value) is Unfit
        return "wrong type" if unfit else "below threshold"
    return {Outcome.FN: "missing in the prediction", Outcome.FA: "not in the truth"}.get(each.outcome, "absent on both sides")


def outcomes(ledger: Ledger) -> Table:
    """The outcome list; empty when outcomes were not kept."""
    rows = ledger.table("rows")
    if "reason" not in rows:
        return Table({})
    truth_path, found_path = _texts(rows["truth_path"]), _texts(rows["found_path"])
    names = distinct_names(ledger.units)
    columns: dict[str, Column] = {
        "document": Strings.pack(names[unit] for unit in rows.array(UNIT).tolist()),
        "path": Strings.pack(truth or found for truth, found in zip(truth_path, found_path, strict=True)),
        "found_path": rows["found_path"],
        "truth": rows["truth_value"],
        "prediction": rows["found_value"],
        "match": rows.array("match"),
        "score": rows.array("score"),
        "threshold": rows.array("threshold"),
        "reason": Strings.pack(REASONS[code] for code in rows.array("reason").tolist()),
        "confidence": rows.array("confidence"),
        "iou": rows.array("iou"),
        "truth_box": np.asarray(rows.array("truth_box")),
        "found_box": np.asarray(rows.array("found_box")),
    }
    return Table(columns)


def _texts(column: Any) -> list[str]:
    return list(column)
