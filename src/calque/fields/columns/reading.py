"""From JSON to columns: for each field its values by number, its boxes and confidences as arrays, lists as offsets."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.columns import Bytes, Codes, Flags, Floats, Ints, Strings
from calque.fields.columns.layout import Layout
from calque.fields.comparison.cells import MOST_ITEMS, boxes_in, class_of
from calque.fields.schemas.plan import FieldPlan, Kind
from calque.geometry.rectangles import Rectangle, rectangle

NOTHING, EMPTY = -1, -2
"""The codes of a value that is not there (or null), and of an empty text."""
NO_LIST, EMPTY_LIST, LIST = 0, 1, 2
"""What a document has of a list."""
FINE = 1 << 25
"""Whole numbers up to here have exact areas as floats; boxes beyond are for arithmetic without end."""

_NUMBERS = frozenset((int, float))
_SCALARS = frozenset((str, int, float, bool))
_MARKS = ("_value", "_bbox", "_confidence")


class OddDocument(Exception):
    """The document holds something that has no place in columns."""


@dataclass(frozen=True, slots=True, eq=False)
class LeafColumn:
    """One field of many records."""

    codes: Codes
    """For each record the number of its value, or `NOTHING` or `EMPTY`."""
    values: Sequence[Any]
    """The values by number; an `array` where all are floats, `Strings` where all are texts."""
    confidences: Floats
    """NaN where there is none."""
    boxes: Floats
    """Left, top, right, bottom; NaN where there is none."""
    pages: Floats
    ranks: Codes
    """Which key of its object it was, for lists of what an object holds."""
    kinds: frozenset[type]
    """The types of all values."""

    def take(self, rows: Ints) -> LeafColumn:
        """These records; values stay as they are."""
        return LeafColumn(
            self.codes.take(rows),
            self.values,
            self.confidences.take(rows),
            self.boxes.take(rows, axis=0),  # half the time of an index
            self.pages.take(rows),
            self.ranks.take(rows),
            self.kinds,
        )

    def boxed(self) -> Flags:
        """For each record whether it has a box."""
        return np.asarray(~np.isnan(self.boxes[:, 0]))


@dataclass(frozen=True, slots=True, eq=False)
class ListColumn:
    """One list of objects of many documents; an object is a list of one."""

    states: Bytes
    offsets: Ints
    leaves: tuple[LeafColumn, ...]

    def take(self, documents: Ints) -> ListColumn:
        """The lists of these documents."""
        sizes = np.diff(self.offsets)[documents]
        rows = ranges(self.offsets[documents], sizes)
        leaves = tuple(leaf.take(rows) for leaf in self.leaves)
        return ListColumn(self.states[documents], np.concatenate([[0], np.cumsum(sizes)]), leaves)


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """Numbers on end from each start, one range after the other."""
    begin = np.cumsum(sizes) - sizes
    return np.asarray(np.arange(int(sizes.sum())) + np.repeat(starts - begin, sizes))


@dataclass(frozen=True, slots=True, eq=False)
class SideColumns:
    """One side of many documents."""

    fields: tuple[LeafColumn | ListColumn, ...]
    boxes: Codes
    """For each document how many boxes it has in fields that are compared."""
    ignored_boxes: Codes
    unknown: Codes
    """How many keys of the document itself the schema does not know."""
    outside: list[Counter[str] | None]
    """Everything that the schema does not know, by class."""

    def take(self, documents: Ints) -> SideColumns:
        """These documents."""
        return SideColumns(
            tuple(field.take(documents) for field in self.fields),
            self.boxes[documents],
            self.ignored_boxes[documents],
            self.unknown[documents],
            [self.outside[document] for document in documents.tolist()],
        )


class _Leaves:
    """A column that grows."""

    def __init__(self) -> None:
        self.codes = array("i")
        self.values: list[Any] = []
        self.numbers: dict[str, int] = {}
        self.confidences = array("d")
        self.boxes = array("d")
        self.pages = array("d")
        self.ranks = array("i")

    def add(self, value: Any, confidence: float, box: Rectangle | None, rank: int) -> None:
        self.codes.append(self._code(value))
        self.confidences.append(confidence)
        self.ranks.append(rank)
        if box is None:
            self.boxes.extend((math.nan,) * 4)
            self.pages.append(math.nan)
        else:
            self.boxes.extend(box[:4])
            self.pages.append(math.nan if box[4] is None else float(box[4]))

    def _code(self, value: Any) -> int:
        if type(value) is str:
            if value == "":
                return EMPTY
            code = self.numbers.setdefault(value, len(self.values))
            if code < len(self.values):
                return code
        elif value is None:
            return NOTHING
        self.values.append(value)
        return len(self.values) - 1

    def cut(self, records: int) -> None:
        del self.codes[records:], self.confidences[records:], self.pages[records:], self.ranks[records:]
        del self.boxes[4 * records :]

    def column(self) -> LeafColumn:
        kinds = frozenset(map(type, self.values))
        values: Sequence[Any] = self.values
        if kinds == {float}:
            values = array("d", values)
        elif kinds == {str}:
            values = Strings.pack(values)
        return LeafColumn(
            np.frombuffer(self.codes, dtype=np.int32),
            values,
            np.frombuffer(self.confidences, dtype=np.float64),
            np.frombuffer(self.boxes, dtype=np.float64).reshape(-1, 4),
            np.frombuffer(self.pages, dtype=np.float64),
            np.frombuffer(self.ranks, dtype=np.int32),
            kinds,
        )


class _Lists:
    """A list that grows."""

    def __init__(self, plan: FieldPlan) -> None:
        assert plan.record is not None  # noqa: S101  # a list of objects has a plan for them
        self.states = array("B")
        self.offsets = array("q", [0])
        self.leaves = [(each.key, _Leaves()) for each in plan.record.fields]

    def cut(self, documents: int) -> None:
        del self.states[documents:]
        del self.offsets[documents + 1 :]
        for _, leaves in self.leaves:
            leaves.cut(self.offsets[-1])

    def column(self) -> ListColumn:
        leaves = tuple(each.column() for _, each in self.leaves)
        return ListColumn(np.frombuffer(self.states, dtype=np.uint8), np.frombuffer(self.offsets, dtype=np.int64), leaves)


class TreeReader:
    """Reads documents that are Python values, one after the other; the clear twin of the compiled reader of lines."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._fields: list[_Leaves | _Lists] = [_Leaves() if each.is_leaf else _Lists(each) for each in layout.fields]
        self._boxes, self._ignored, self._unknown = array("i"), array("i"), array("i")
        self._outside: list[Counter[str] | None] = []
        self._boxes_here = self._ignored_here = 0
        self._outside_here: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._boxes)

    def add(self, record: Any) -> bool:
        """Take a document in if it is plain; says whether it is."""
        if record is not None and type(record) is not dict:
            return False
        try:
            self._add(record or {})
        except OddDocument:
            self.cut(len(self))
            return False
        return True

    def cut(self, documents: int) -> None:
        """Keep only so many documents."""
        for each in self._fields:
            each.cut(documents)
        del self._boxes[documents:], self._ignored[documents:], self._unknown[documents:], self._outside[documents:]

    def _add(self, record: dict[str, Any]) -> None:
        if any(mark in record for mark in _MARKS):
            raise OddDocument  # perhaps a value with metadata
        self._boxes_here, self._ignored_here, self._outside_here = 0, 0, Counter()
        for plan, column in zip(self._layout.fields, self._fields, strict=True):
            raw = record.get(plan.key)
            if isinstance(column, _Leaves):
                self._leaf(raw, 0, column)
            elif plan.kind is Kind.OBJECT:
                self._items(raw if raw is None else [raw], column, plan)
            elif raw is None or type(raw) is list:
                self._items(raw, column, plan)
            else:
                raise OddDocument
        self._unknown.append(self._rest(record))
        self._ignored.append(self._ignored_here)
        self._outside.append(self._outside_here or None)
        self._boxes.append(self._boxes_here)

    def _items(self, raw: list[Any] | None, column: _Lists, plan: FieldPlan) -> None:
        if raw is not None and len(raw) > MOST_ITEMS:
            raise OddDocument
        for item in raw or ():
            self._item(item, column, plan)
        column.states.append(NO_LIST if raw is None else LIST if raw else EMPTY_LIST)
        column.offsets.append(column.offsets[-1] + len(raw or ()))

    def _item(self, item: Any, column: _Lists, plan: FieldPlan) -> None:
        if type(item) is not dict or any(mark in item for mark in _MARKS):
            raise OddDocument
        ranks = {key: rank for rank, key in enumerate(item)}
        there = something = 0
        for key, leaves in column.leaves:
            rank = ranks.get(key, -1)
            self._leaf(item[key] if rank >= 0 else None, rank, leaves)
            there += rank >= 0
            something += leaves.codes[-1] >= 0
        if not something:
            raise OddDocument  # an item that says nothing
        if there < len(item):
            self._strange_in_item(item, plan)

    def _strange_in_item(self, item: dict[str, Any], plan: FieldPlan) -> None:
        assert plan.record is not None  # noqa: S101  # as above
        inside = f"{plan.key}." if plan.kind is Kind.OBJECT else f"{plan.key}[]."
        for key, raw in item.items():
            if key not in plan.record.keys:
                if self._layout.paired and plan.kind is Kind.OBJECT:
                    raise OddDocument  # stickler counts them
                self._strange(inside + str(key), raw)

    def _leaf(self, raw: Any, rank: int, column: _Leaves) -> None:
        value, confidence, box = raw, math.nan, None
        if type(raw) is dict:
            if "_value" not in raw or "_alternatives" in raw:
                raise OddDocument
            value = raw["_value"]
            if (sure := raw.get("_confidence")) is not None:
                if type(sure) not in _NUMBERS or not 0 <= sure <= 1:
                    raise OddDocument
                confidence = float(sure)
            if "_bbox" in raw:
                box = self._box(raw)
                self._boxes_here += 1
        if value is not None and type(value) not in _SCALARS:
            raise OddDocument
        column.add(value, confidence, box, rank)

    def _box(self, wrapper: dict[str, Any]) -> Rectangle:
        page = wrapper.get("_page")
        if page is not None and not (type(page) in _NUMBERS and abs(page) <= FINE):
            raise OddDocument
        box = rectangle(wrapper["_bbox"], self._layout.form, page)
        if box is None or any(type(edge) is int and abs(edge) > FINE for edge in box):
            raise OddDocument
        return box

    def _rest(self, record: dict[str, Any]) -> int:
        """What is not compared; returns how many keys the schema does not know."""
        keys = self._layout.plan.keys
        for each in self._layout.ignored:
            self._ignored_here += boxes_in(record.get(each.key))
        strange = [key for key in record if key not in keys]
        for key in strange:
            self._strange(str(key), record[key])
        return len(strange)

    def _strange(self, path: str, raw: Any) -> None:
        """Something that the schema does not know."""
        if self._layout.paired and isinstance(raw, dict | list):
            raise OddDocument  # its boxes are observed
        self._outside_here[class_of(path)] += 1
        self._ignored_here += boxes_in(raw)

    def columns(self) -> SideColumns:
        """What was taken in."""
        boxes, ignored, unknown = (np.frombuffer(each, dtype=np.int32) for each in (self._boxes, self._ignored, self._unknown))
        return SideColumns(tuple(each.column() for each in self._fields), boxes, ignored, unknown, self._outside)
