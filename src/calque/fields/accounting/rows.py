"""The rows that a batch of documents becomes, and the ledger they make."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from calque.base.columns import Codes, Strings, Table
from calque.corpus.boxes import UnitId
from calque.evaluation.ledger import UNIT, Ledger
from calque.fields.comparison.cells import ABSENT, Accepted, Cell, Record, Unfit, unwrapped
from calque.fields.comparison.records import Compared, Outcome, Pair, Pairs
from calque.fields.schemas.plan import FieldPlan, Kind, RecordPlan
from calque.geometry.rectangles import iou

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


class Row(NamedTuple):
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
    counted: bool = True
    """Whether it is an occurrence of its own, and not only told to people."""


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
        self.wrong: list[tuple[Any, ...]] = []
        self.outside: list[tuple[int, int, int]] = []
        self.names_outside: dict[str, int] = {}
        self.start()

    def start(self) -> None:
        """Begin a document."""
        self.unit += 1
        self.tally = [0] * (OUTCOMES * len(self.all_fields))
        self.score_sums = [0.0] * len(self.all_fields)
        self.score_counts = [0] * len(self.all_fields)
        self.unknown = 0
        self.long_lists: list[tuple[str, str]] = []
        """Lists whose items may not be paired optimally, and how much of the total similarity they may lack."""
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
            about["truth_boxes"] + about["found_boxes"] - self.seen_boxes, about["wrong"],
        ))  # fmt: skip
        self.start()

    def left_out(self, truth: Counter[str], found: Counter[str]) -> None:
        """Fields that the schema does not know: how often a document has each, on the side that has it more often."""
        for name in {**truth, **found}:
            code = self.names_outside.setdefault(name, len(self.names_outside))
            self.outside.append((self.unit, code, max(truth[name], found[name])))

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

    def apart(
        self,
        label: str,
        truth_path: str,
        found_path: str,
        truth: Cell,
        found: Cell,
        match: bool,
        told: tuple[float, float, float, str],
    ) -> None:
        """A value of two items that are partners and yet not the same: it is judged by itself, its boxes meet nothing."""
        self.total += 1
        self.rated += 1
        if found.confidence is not None:
            self.ratings.append((self.unit, self.keys.setdefault(label, len(self.keys)), match, found.confidence))
        if truth.box is not None:
            self.with_box += 1
            self.box(label, truth, ABSENT, False)
        if found.box is not None:
            self.box(label, ABSENT, found, False)
        self._tell(label, (truth_path, found_path), truth, found, match, told, counted=True)

    def tell(
        self,
        label: str,
        truth_path: str,
        found_path: str,
        truth: Cell,
        found: Cell,
        match: bool,
        told: tuple[float, float, float, str],
    ) -> None:
        """A row for people, of which no number is made; ``told`` is the score, the threshold, the weight and the reason."""
        self._tell(label, (truth_path, found_path), truth, found, match, told, counted=False)

    def _tell(
        self,
        label: str,
        paths: tuple[str, str],
        truth: Cell,
        found: Cell,
        match: bool,
        told: tuple[float, float, float, str],
        *,
        counted: bool,
    ) -> None:
        if self.keep_outcomes:
            score, threshold, weight, reason = told
            values = (paths[0], paths[1], truth, found, match, score, threshold, weight, reason, None, counted)
            self.rows.append((self.unit, Row(label, label, *values)))

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
            if everywhere and not plan.is_leaf:
                self._alone(plan, each.truth, Outcome.FN)
                self._alone(plan, each.found, Outcome.FA)
        elif plan.kind is Kind.OBJECT:
            self.tally[at + each.outcome] += 1
            self.count(each.parts, everywhere=everywhere, scored=scored)
        else:
            self._count_list(each, everywhere, scored)

    def _count_list(self, each: Compared, everywhere: bool, scored: bool) -> None:
        plan, pairs = each.plan, each.parts
        at = plan.code * OUTCOMES
        matched = [pair for pair in pairs.pairs if pair.matched]
        if pairs.shortfall:
            total = sum(pair.similarity for pair in pairs.pairs)
            self.long_lists.append((plan.path, f"{pairs.shortfall:.4g} of {total + pairs.shortfall:.4g}"))
        self.tally[at + Outcome.TP] += len(matched)
        self.tally[at + Outcome.FD] += len(pairs.pairs) - len(matched)
        self.tally[at + Outcome.FN] += len(pairs.only_truth)
        self.tally[at + Outcome.FA] += len(pairs.only_found)
        if not everywhere:
            self._count_matched(matched, scored)
        elif plan.record is not None:
            self._count_items(plan, pairs, each.truth.value, each.found.value, scored)

    def _count_matched(self, matched: Sequence[Pair], scored: bool) -> None:
        """The fields of pairs that match, as the original counts them: it scores only objects and lists, by the first pair."""
        for position, pair in enumerate(matched):
            for each in pair.fields:
                if not each.plan.ignored:
                    if each.plan.kind is Kind.LEAF:
                        self.tally[each.plan.code * OUTCOMES + blank_is_absent(each)] += 1
                    else:
                        self._count(each, False, False)
                    if scored and position == 0 and each.plan.record is not None:
                        self.score_sums[each.plan.code], self.score_counts[each.plan.code] = each.applied, 1

    def _count_items(self, plan: FieldPlan, pairs: Pairs, truths: Sequence[Cell], founds: Sequence[Cell], scored: bool) -> None:
        """The fields of all items: of partners as they compare, of the others as missed or made up."""
        for pair in pairs.pairs:
            if pair.fields:
                self.count(pair.fields, everywhere=True, scored=scored)
            else:
                self._alone(plan, truths[pair.truth], Outcome.FN, item=True)
                self._alone(plan, founds[pair.found], Outcome.FA, item=True)
        for index in pairs.only_truth:
            self._alone(plan, truths[index], Outcome.FN, item=True)
        for index in pairs.only_found:
            self._alone(plan, founds[index], Outcome.FA, item=True)

    def _alone(self, plan: FieldPlan, cell: Cell, outcome: Outcome, *, item: bool = False) -> None:
        """The fields below an object, a list or an item that has no partner: each value is missed, or made up."""
        value = cell.value
        if type(value) is list and not item:
            for each in value if plan.record is not None else ():
                self._alone(plan, each, outcome, item=True)
        elif type(value) is Record and plan.record is not None:
            for field, part in zip(plan.record.fields, value.cells, strict=True):
                if part.value is not None and not field.ignored:
                    self.tally[field.code * OUTCOMES + outcome] += len(part.value) if type(part.value) is list else 1
                    self.score_counts[field.code] += 1
                    self._alone(field, part, outcome)

    # The ledger

    def ledger(self, units: tuple[UnitId, ...]) -> Ledger:
        """Everything written so far, for documents in canonical order."""
        # Names in the order of the alphabet: which document came first must not show.
        labels, label = alphabetical(self.labels)
        keys, key = alphabetical(self.keys)
        outside, name = alphabetical(self.names_outside)
        tables = {
            "documents": _table(self.documents, DOCUMENT_COLUMNS),
            "counts": _table(self.counts, COUNT_COLUMNS),
            "boxes": _recoded(_table(self.boxes, BOX_COLUMNS), "label", label),
            "ratings": _recoded(_table(self.ratings, RATING_COLUMNS), "key", key),
            "outside": _recoded(_table(self.outside, OUTSIDE_COLUMNS), "name", name),
            "wrong": self._wrong_table(),
            "rows": self._outcome_table(),
        }
        return Ledger(
            units=units,
            tables=tables,
            names={
                "field": tuple(each.path for each in self.all_fields),
                "label": labels,
                "key": keys,
                "name": outside,
                "reason": REASONS,
            },
            details=frozenset(("rows", name) for name in tables["rows"] if name != UNIT),
        )

    def _wrong_table(self) -> Table:
        columns = list(zip(*self.wrong, strict=True)) or [()] * len(WRONG_COLUMNS)
        return Table({
            name: Strings.pack(column) if kind is str else np.array(column, dtype=kind)
            for (name, kind), column in zip(WRONG_COLUMNS, columns, strict=True)
        })  # fmt: skip

    def _outcome_table(self) -> Table:
        rows = [row for _, row in self.rows]
        return Table({
            UNIT: np.array([unit for unit, _ in self.rows], dtype=np.int32),
            "truth_path": Strings.pack(row.truth_path or "" for row in rows),
            "found_path": Strings.pack(row.found_path or "" for row in rows),
            "truth_value": Strings.pack(spelled(row.truth) for row in rows),
            "found_value": Strings.pack(spelled(row.found) for row in rows),
            "outcome": np.array([outcome_of(row) for row in rows], dtype=np.uint8),
            "match": np.array([row.match for row in rows], dtype=np.bool_),
            "counted": np.array([row.counted for row in rows], dtype=np.bool_),
            "score": np.array([row.score for row in rows], dtype=np.float64),
            "threshold": np.array([row.threshold for row in rows], dtype=np.float64),
            "reason": np.array([REASONS.index(row.reason) for row in rows], dtype=np.uint8),
            "confidence": np.array([np.nan if (c := row.found.confidence) is None else c for row in rows], dtype=np.float64),
            "iou": np.array([np.nan if row.iou is None else row.iou for row in rows], dtype=np.float64),
            "truth_box": _box_column([row.truth for row in rows]),
            "found_box": _box_column([row.found for row in rows]),
            "truth_page": _page_column([row.truth for row in rows]),
            "found_page": _page_column([row.found for row in rows]),
        })  # fmt: skip


DOCUMENT_COLUMNS = (
    (UNIT, np.int32), ("in_truth", np.bool_), ("in_found", np.bool_), ("named", np.bool_), ("counted", np.bool_),
    ("score", np.float64), ("unknown", np.int32), ("total", np.int32), ("with_box", np.int32), ("rated", np.int32),
    ("truth_boxes", np.int32), ("found_boxes", np.int32), ("ignored_boxes", np.int32), ("unaccounted", np.int32),
    ("wrong", np.int32),
)  # fmt: skip
COUNT_COLUMNS = (
    (UNIT, np.int32), ("field", np.int32), *((name, np.int32) for name in OUTCOME_NAMES),
    ("score", np.float64), ("scored", np.int32),
)  # fmt: skip
BOX_COLUMNS = (
    (UNIT, np.int32), ("label", np.int32), ("has_truth", np.bool_), ("has_found", np.bool_), ("iou", np.float64),
    ("confidence", np.float64), ("match", np.bool_),
)  # fmt: skip
WRONG_COLUMNS: tuple[tuple[str, Any], ...] = (
    (UNIT, np.int32), ("field", np.int32), ("outcome", np.uint8), ("close", np.bool_), ("truth_path", str), ("found_path", str),
    ("truth", str), ("found", str),
)  # fmt: skip
OUTSIDE_COLUMNS = ((UNIT, np.int32), ("name", np.int32), ("count", np.int32))
RATING_COLUMNS = ((UNIT, np.int32), ("key", np.int32), ("match", np.bool_), ("confidence", np.float64))


def _table(rows: Sequence[tuple[Any, ...]], columns: Sequence[tuple[str, Any]]) -> Table:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    return Table({name: np.array(column, dtype=kind) for (name, kind), column in zip(columns, values, strict=True)})


def alphabetical(codes: dict[str, int]) -> tuple[tuple[str, ...], Codes]:
    """The names sorted, and for each old code the new one."""
    names = tuple(sorted(codes))
    new = np.zeros(len(names), dtype=np.int32)
    new[[codes[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    return names, new


def _recoded(table: Table, column: str, new: Codes) -> Table:
    return Table({name: new[table.array(name)] if name == column else values for name, values in table.columns.items()})


def _page_column(cells: Sequence[Cell]) -> Strings:
    """The page of each value, by number or name; empty where none is known."""
    return Strings.pack("" if cell.box is None or cell.box[4] is None else page_name(cell.box[4]) for cell in cells)


def page_name(page: float | str) -> str:
    """A page by number or name: 2.0 is page 2."""
    return str(int(page) if isinstance(page, float) and page.is_integer() else page)


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


def outcome_of(row: Row) -> Outcome:
    """What happened to a row, in one word: a value that is absent on both sides was rightly left out."""
    truth, found = row.truth.value is not None, row.found.value is not None
    if not truth and not found:  # boxes without values
        truth, found = row.truth_path is not None, row.found_path is not None
        truth, found = (False, False) if row.match else (truth, found)
    if not truth:
        return Outcome.FA if found else Outcome.TN
    if not found:
        return Outcome.FN
    return Outcome.TP if row.match else Outcome.FD


spell = json.JSONEncoder(ensure_ascii=False, default=str).encode
"""A value as JSON text."""
_spell_lines = json.JSONEncoder(ensure_ascii=False, default=str, separators=("\n", ": ")).encode


def spelled(cell: Cell) -> str:
    """A cell's value as JSON text, empty when there is none."""
    return "" if cell.value is None else spell(told_value(cell))


def spelled_values(values: list[Any]) -> list[str]:
    """The values of leaves as `spell` has them, in one go: JSON texts hold no line break, so each has a line of its own."""
    return _spell_lines(values)[1:-1].split("\n") if values else []


def told_value(cell: Cell) -> Any:
    """A cell's value as people know it from the JSON, without wrappers."""
    if type(cell.value) in (Record, list, Unfit) and cell.raw is not None:
        return unwrapped(cell.raw)
    return plain(cell.value)


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
