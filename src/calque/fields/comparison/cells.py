"""From JSON to cells: every field's value, confidence and box, with wrappers taken off and oddities written down."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from calque.fields.schemas.plan import FieldPlan, Kind, RecordPlan, spelled
from calque.geometry.rectangles import Rectangle, rectangle

ODD_BOX: Rectangle = (math.nan, math.nan, math.nan, math.nan, None)
"""A box that is there and cannot be read: it overlaps nothing."""

MOST_ITEMS = 100_000
"""Longer lists are not compared: no document has them, and memory has an end."""

Note: TypeAlias = Callable[[str, str, str], None]
"""Takes a code, a path and a message."""


class Cell(NamedTuple):
    """One place of a document. An absent one has the value ``None``."""

    value: Any
    """A leaf's value, a `Record`, a list of cells, `Accepted` values, or `Unfit` for what the schema does not expect."""
    confidence: float | None = None
    box: Rectangle | None = None
    raw: Any = None
    """The JSON it was read from."""


class Accepted(tuple[Any, ...]):
    """Several values of which any is right."""

    __slots__ = ()


class Unfit:
    """Something is there, and it is not what the schema says."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw


class Loose(NamedTuple):
    """A box or a confidence at a place that the schema does not know."""

    path: str
    box: Rectangle | None
    confidence: float | None


class Record:
    """An object: one cell for each field of its plan, and how many keys the plan does not know."""

    __slots__ = ("cells", "unknown")

    def __init__(self, cells: list[Cell], unknown: int) -> None:
        self.cells = cells
        self.unknown = unknown


ABSENT = Cell(None)

METADATA = frozenset(("_value", "_confidence", "_bbox", "_page", "_alternatives"))
"""The keys of a value with metadata that mean something here."""
WHOLE = "(document)"
"""The path of what stands on the document itself."""

_NUMBERS = frozenset((int, float))
_NESTED = (list, dict)
_new_cell = tuple.__new__
"""Cells are made by the million; this is twice as fast as calling the class."""


class RecordSide:
    """One side of one document: its cells, its loose boxes, and the number of all its boxes.

    ``empty_object`` is what ``{}`` stands for where an object is expected: nothing, or an object without values.
    ``only_declared`` leaves out what the schema does not know, with its boxes, and counts it by name.
    """

    def __init__(
        self,
        plan: RecordPlan,
        data: Any,
        note: Note,
        *,
        form: str = "xyxy",
        empty_object: type[Record] | None = None,
        only_declared: bool = True,
    ) -> None:
        self.boxes = 0
        self.ignored_boxes = 0
        """Boxes of fields that the schema says to ignore, or does not know; they are not among ``boxes``."""
        self.outside: Counter[str] = Counter()
        """Fields that the schema does not know, by class."""
        self.loose: list[Loose] = []
        self._only_declared = only_declared
        self._note = note
        self._form = form
        self._empty_object = empty_object
        data = self._inner(data, WHOLE) if is_wrapper(data) else data
        if data is not None and not isinstance(data, dict):
            note("not-a-record", "", f"an object is expected here, not {type(data).__name__}")
            self.loose += self._loose(data, WHOLE)
            data = None
        self.record = self._record(plan, data or {}, "")

    def _record(self, plan: RecordPlan, data: dict[str, Any], prefix: str) -> Record:
        cells = []
        present = 0
        for field in plan.fields:
            raw = data.get(field.key, ABSENT)
            if raw is ABSENT and field.name != field.key:
                raw = data.get(field.name, ABSENT)  # by its name in the schema, where the name in the JSON is not there
            if raw is ABSENT:
                cells.append(ABSENT if field.default is None else self._cell(field, field.default, prefix))
                continue
            present += 1
            if field.ignored:
                self.ignored_boxes += boxes_in(raw)
                cells.append(ABSENT)
            else:
                cells.append(self._cell(field, raw, prefix))
        unknown = len(data) - present
        if unknown:
            for key, raw in data.items():
                if key not in plan.keys and not (key in plan.names and plan.names[key] not in data):
                    self._outside(raw, prefix + spelled(str(key)))
        return Record(cells, unknown)

    def _outside(self, raw: Any, path: str) -> None:
        """What the schema does not know."""
        if self._only_declared:
            self.outside[class_of(path)] += 1
            self.ignored_boxes += boxes_in(raw)
        else:
            self.loose += self._loose(raw, path)

    def _cell(self, plan: FieldPlan, raw: Any, prefix: str) -> Cell:
        # The millions of values that are as they should be pass here; what is odd goes to methods of its own.
        value, confidence, box = raw, None, None
        if isinstance(raw, dict) and ("_value" in raw or is_wrapper(raw)):
            value, confidence, spelled = raw.get("_value"), raw.get("_confidence"), raw.get("_bbox")
            if confidence is not None and not (type(confidence) in _NUMBERS and 0 <= confidence <= 1):
                confidence = self._odd_confidence(confidence, prefix + plan.step)
            if spelled is not None:
                self.boxes += 1
                box = rectangle(spelled, self._form) if "_page" not in raw else None
                if box is None:
                    box = self._box(spelled, raw, prefix + plan.step)
            if isinstance(value, dict) and is_wrapper(value):
                value = self._inner(value, prefix + plan.step)
        if plan.is_leaf and type(value) is plan.python_type:
            read = value if value != "" else None
        else:
            read = self._value(plan, value, prefix + plan.step)
        if value is not raw and plan.is_leaf and "_alternatives" in raw and read is not None:
            read = self._accepted(plan, read, raw["_alternatives"], prefix + plan.step)
        return _new_cell(Cell, (read, confidence, box, raw))

    def _accepted(self, plan: FieldPlan, value: Any, others: Any, path: str) -> Any:
        if not isinstance(others, list):
            return value
        return Accepted([value, *(self._leaf(plan, other, path) for other in others if other is not None)])

    def _inner(self, raw: dict[str, Any], path: str) -> Any:
        """The value in a wrapper in a wrapper; what the inner one says of place and confidence is loose."""
        value: Any = raw
        while is_wrapper(value):
            confidence, box = self._meta(value, path)
            if box is not None or confidence is not None:
                self.loose.append(Loose(path, box, confidence))
            value = value.get("_value")
        return value

    def _meta(self, raw: dict[str, Any], path: str) -> tuple[float | None, Rectangle | None]:
        confidence, spelled = raw.get("_confidence"), raw.get("_bbox")
        if confidence is not None and not (type(confidence) in _NUMBERS and 0 <= confidence <= 1):
            confidence = self._odd_confidence(confidence, path)
        if spelled is None:
            return confidence, None
        self.boxes += 1
        return confidence, self._box(spelled, raw, path)

    def _box(self, spelled: Any, wrapper: dict[str, Any], path: str) -> Rectangle:
        page = wrapper.get("_page")
        if page is not None:
            page = self._page(page, path)
        box = rectangle(spelled, self._form, page)
        return self._odd_box(spelled, path) if box is None else box

    def _page(self, page: Any, path: str) -> float | str | None:
        """A page by number or name; the text "3" is the number 3."""
        if type(page) in _NUMBERS and abs(page) <= sys.float_info.max:
            return page  # type: ignore[no-any-return]  # a number
        if type(page) is str:
            return int(page) if page.isdecimal() and len(page) < 10 else page
        self._note("odd-page", path, f"a page is a number or a name, not {str(page)[:60]}; the box has none")
        return None

    def _odd_confidence(self, confidence: Any, path: str) -> float | None:
        shown = str(confidence)[:60]
        self._note("odd-confidence", path, f"a confidence is a number from 0 to 1, not {shown}; it ranks as if absent")
        return None

    def _odd_box(self, spelled: Any, path: str) -> Rectangle:
        self._note("odd-box", path, f"not a box: {str(spelled)[:60]}; it counts as there and overlaps nothing")
        return ODD_BOX

    def _value(self, plan: FieldPlan, raw: Any, path: str) -> Any:
        """What a cell holds, given what the JSON has once the wrapper is off."""
        if raw is None or raw in ("", [], {}):
            return self._nothing(plan, raw)
        if plan.is_leaf:
            unfit = isinstance(raw, _NESTED) and plan.type != "any"
            return self._unfit(raw, path, plan) if unfit else self._leaf(plan, raw, path)
        if plan.kind is Kind.OBJECT:
            record = plan.record
            return self._record(record, raw, path + ".") if isinstance(raw, dict) and record else self._unfit(raw, path, plan)
        if not isinstance(raw, list):
            return self._unfit(raw, path, plan)
        if len(raw) > MOST_ITEMS:
            return self._too_long(raw, path)
        return [self._item(plan, item, f"{path}[{index}]") for index, item in enumerate(raw)]

    def _nothing(self, plan: FieldPlan, raw: Any) -> Record | None:
        if raw == {} and plan.record is not None and plan.kind is Kind.OBJECT and self._empty_object is not None:
            return self._empty_object([ABSENT] * len(plan.record.fields), 0)
        return None

    def _item(self, plan: FieldPlan, raw: Any, path: str) -> Cell:
        value, confidence, box = raw, None, None
        if is_wrapper(raw):
            value, (confidence, box) = raw.get("_value"), self._meta(raw, path)
            value = self._inner(value, path) if is_wrapper(value) else value
        if plan.record is not None:
            if isinstance(value, dict):
                return Cell(self._record(plan.record, value, path + "."), confidence, box, raw)
            if value is not None:
                return Cell(self._unfit(value, path, plan), confidence, box, raw)
            return Cell(Record([ABSENT] * len(plan.record.fields), 0), confidence, box, raw)
        if isinstance(value, _NESTED) and plan.type != "any":
            return Cell(self._unfit(value, path, plan), confidence, box, raw)
        return Cell(None if value is None else self._leaf(plan, value, path), confidence, box, raw)

    def _leaf(self, plan: FieldPlan, raw: Any, path: str) -> Any:
        if plan.type == "any":
            if isinstance(raw, _NESTED):
                self.loose += self._loose(raw, path)
            return raw
        convert = CONVERT[plan.type]
        try:
            return convert(raw)
        except (ValueError, OverflowError):
            self._note("wrong-type", path, f"{plan.type} is expected here, not {str(raw)[:60]!r}; compared as it is")
            return raw

    def _unfit(self, raw: Any, path: str, plan: FieldPlan) -> Unfit:
        self._note("wrong-type", path, f"{plan.kind} is expected here, not {type(raw).__name__}; it counts as wrong")
        self.loose += self._loose(raw, path)
        return Unfit(raw)

    def _too_long(self, raw: list[Any], path: str) -> Unfit:
        self._note(
            "list-too-long", path, f"{len(raw):,} items; lists of up to {MOST_ITEMS:,} are compared, this one counts as wrong"
        )
        self.loose += self._loose(raw, path)
        return Unfit(raw)

    def _loose(self, raw: Any, path: str) -> Iterator[Loose]:
        """Everything boxed or rated in a part of the document that the schema does not know."""
        for place, wrapper in wrappers(raw, path):
            confidence, box = self._meta(wrapper, place)
            if box is not None or confidence is not None:
                yield Loose(place, box, confidence)


_INDEX = re.compile(r"\[\d+\]")


def class_of(path: str) -> str:
    """The class of a path: list positions do not count.

    >>> class_of("line_items[12].amount")
    'line_items[].amount'
    """
    return _INDEX.sub("[]", path) if "[" in path else path


def boxes_in(raw: Any) -> int:
    """How many boxes stand on values in a tree."""
    return sum(wrapper.get("_bbox") is not None for _, wrapper in wrappers(raw, ""))


def unwrapped(raw: Any) -> Any:
    """JSON without any wrapper in it. Not for trees deeper than documents may be."""
    while is_wrapper(raw):
        raw = raw.get("_value")
    if isinstance(raw, dict):
        return {key: unwrapped(value) if isinstance(value, _NESTED) else value for key, value in raw.items()}
    return [unwrapped(item) for item in raw] if isinstance(raw, list) else raw


def bare(cell: Cell) -> Any:
    """The JSON of a cell without its wrapper."""
    raw = cell.raw
    while is_wrapper(raw):
        raw = raw.get("_value")
    return raw


def is_wrapper(raw: Any) -> bool:
    """Whether JSON is a value with metadata: it has ``_value``, or nothing but metadata (a signature, a logo)."""
    if not isinstance(raw, dict):
        return False
    return "_value" in raw or (("_bbox" in raw or "_confidence" in raw) and all(str(key)[:1] == "_" for key in raw))


def wrappers(raw: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All wrappers in a tree with their paths, in the order of the text. Not recursive: trees may be deep."""
    stack = [(path, raw)]
    while stack:
        place, node = stack.pop()
        if isinstance(node, dict):
            if is_wrapper(node):
                yield place, node
                stack.append((place, node.get("_value")))
            else:
                stack += [(f"{place}.{key}" if place else str(key), child) for key, child in reversed(node.items())]
        elif isinstance(node, list):
            stack += [(f"{place}[{index}]", child) for index, child in reversed(list(enumerate(node)))]


def _to_float(raw: Any) -> float:
    if type(raw) is bool:
        raise ValueError("not a number")
    return raw if type(raw) is float else float(raw)


def _to_int(raw: Any) -> int:
    if type(raw) is bool:
        raise ValueError("not a number")
    if type(raw) is float:
        if not raw.is_integer():
            raise ValueError("not a whole number")
        return int(raw)
    return int(raw)


_TRUE, _FALSE = {"true", "yes", "1", "on", "y", "t"}, {"false", "no", "0", "off", "n", "f"}


def _to_bool(raw: Any) -> bool:
    text = str(raw).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if raw in (0.0, 1.0):
        return bool(raw)
    raise ValueError("not a truth value")


CONVERT: dict[str, Callable[[Any], Any]] = {
    "float": _to_float,
    "int": _to_int,
    "bool": _to_bool,
    # A number where text is expected is compared by its text: comparators do that.
    **dict.fromkeys(("str", "text", "amount", "date", "datetime", "time", "code"), lambda raw: raw),
}
