"""What a report draws of a ledger: a JSON head and plain columns, and how boxes become columns that need little room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calque.base.columns import Array, Floats, Ints, Strings, Table
from calque.evaluation.boxes.overlay import NORMALIZED, SIZED
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation.sections import printable

OUTCOMES = ("tp", "fn", "fp", "wrong", "ignored", "excluded", "invalid")
"""The one language of outcomes; a column of outcomes holds places in this list."""
TP, FN, FP, WRONG, IGNORED, EXCLUDED, INVALID = range(7)
NOWHERE = 65535
"""All four numbers of a box that cannot be drawn."""
TALL = 2**0.5
"""Height over width of a page whose size nobody knows."""


@dataclass(frozen=True, slots=True, eq=False)
class ReportData:
    """A ledger as a report shows it."""

    head: Mapping[str, Any]
    """Plain JSON: names, numbers, texts."""
    columns: Mapping[str, Array]
    """Plain columns by name."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at, and the filters that lead to exactly those objects."""

    mark: str
    """An outcome, or ``cut``, ``score`` or ``class``: what stands in front of it."""
    text: str
    address: Mapping[str, str]
    """The part of the report's address that shows them."""
    objects: int | None = None
    """How many they are, where it says so."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A number inside a sentence: the measure, how it is spelt there, and whether it is good or bad news."""

    measure: str
    text: str
    tone: str = ""
    """``good``, ``bad`` or nothing."""
    run: int | None = None
    """Whose number it is, where there are several runs."""


Sentence = Sequence[str | Phrase]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar that shows everything to scale: its outcome, how much it is, and what people call it."""

    mark: str
    value: int
    text: str
    measure: str = ""
    """The measure that it is, if it is one."""


@dataclass(frozen=True, slots=True)
class Number:
    """One of the few numbers that stand out."""

    title: str
    measure: str
    value: float | None
    note: str = ""
    outcome: str = ""
    """The outcomes whose objects a count leads to, with commas; of a count that leads nowhere ``-``, of a share nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Breakdown:
    """The numbers of each class, field or evaluator: one row each, in columns that are measures."""

    title: str
    of: str
    """What a row is: a class, a field."""
    columns: Sequence[tuple[str, str, str]]
    """Heading, measure and outcome of each column; the outcome as for a `Number`."""
    marks: Sequence[tuple[int, str]]
    """Which columns the bar of a row is made of, and their outcomes."""
    rows: Sequence[tuple[str, Sequence[Any]]]
    total: Sequence[Any]
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """The first view of a report: everything at a glance."""

    line: Sequence[str]
    parts: Sequence[Part]
    numbers: Sequence[Number]
    breakdown: Breakdown | None = None
    at: Mapping[str, str] = field(default_factory=dict)
    """What the address of every count has beside its outcome."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, as lists: there may be a thousand classes."""
        table = self.breakdown
        return {
            "line": [printable(part) for part in self.line],
            "at": dict(self.at),
            "parts": [[part.mark, part.value, part.text, part.measure] for part in self.parts],
            "numbers": [[one.title, one.measure, one.value, one.note, one.outcome] for one in self.numbers],
            "table": table
            and {
                "title": table.title,
                "of": table.of,
                "note": table.note,
                "columns": [list(column) for column in table.columns],
                "marks": [list(mark) for mark in table.marks],
                "rows": [[name, *values] for name, values in table.rows],
                "total": list(table.total),
            },
        }


def spoken(sentence: Sentence) -> str:
    """The sentence as plain text.

    >>> spoken(["Finds ", Phrase("recall@0.5", "94 %"), " of them."])
    'Finds 94 % of them.'
    """
    return "".join(part if isinstance(part, str) else part.text for part in sentence)


def narrow(values: Array) -> Array:
    """The same whole numbers in the smallest unsigned type that holds them; -1 becomes the type's highest value.

    >>> narrow(np.array([0, 3, -1])).tolist(), narrow(np.array([300])).dtype
    ([0, 3, 255], dtype('uint16'))
    """
    highest = int(values.max(initial=0))
    kind = next(kind for kind in (np.uint8, np.uint16, np.uint32) if highest < np.iinfo(kind).max)
    return np.asarray(np.where(values < 0, np.iinfo(kind).max, values).astype(kind))


def page_rows(ledger: Ledger, side: str) -> Ints:
    """For each row of a side the row of its page."""
    table = ledger.table(side)
    return ledger.absolute("pages", table.array(UNIT), table.array("page"))


def page_columns(ledger: Ledger) -> dict[str, Array]:
    """Where each page is and how large; a size that nobody knows is 0."""
    pages = ledger.table("pages")
    sizes = {name: np.nan_to_num(pages.array(name)) for name in ("width", "height")}
    return {
        "page.document": narrow(pages.array(UNIT)),
        "page.index": pages.array("page_index").astype(np.int32),
        **{f"page.{name}": size.astype(np.float32) for name, size in sizes.items()},
    }


def box_columns(ledger: Ledger, side: str, letter: str) -> dict[str, Array]:
    """The boxes of a side as shares of their pages, where each page's begin, their labels and ids."""
    table = ledger.table(side)
    page = page_rows(ledger, side)
    starts = np.searchsorted(page, np.arange(ledger.table("pages").height + 1))
    return {
        f"{letter}.start": starts.astype(np.uint32),
        f"{letter}.box": packed(shares(ledger, side, page)),
        f"{letter}.label": narrow(table.array("label")),
        **id_columns(table, letter),
    }


def id_columns(table: Table, letter: str) -> dict[str, Array]:
    """The objects' own ids: whole numbers as steps, which need little room, texts as bytes and lengths."""
    ids = table.get("id")
    if ids is None:
        return {}
    if isinstance(ids, Strings):
        return text_columns(f"{letter}.id", ids)
    steps = np.diff(ids, prepend=ids.dtype.type(0))
    return {f"{letter}.id_step": steps.astype(np.float64 if np.abs(steps).max(initial=0) >= 2**31 else np.int32)}


def text_columns(name: str, texts: Any) -> dict[str, Array]:
    """A column of texts as bytes and lengths."""
    return {name: np.asarray(texts.data, dtype=np.uint8), f"{name}_size": narrow(np.diff(texts.offsets))}


def corners_of(ledger: Ledger, side: str, page: Ints) -> Floats:
    """The boxes of a side as two corners, in the units of their file."""
    boxes = np.array(ledger.table(side).array("box"), dtype=np.float64)
    spelling = ledger.table("pages").array("spelling")[page]
    sized = (spelling & SIZED) != 0
    boxes[sized, 2:] += boxes[sized, :2]
    return boxes


def shares(ledger: Ledger, side: str, page: Ints) -> Floats:
    """The boxes of a side as two corners, in shares of their pages; NaN where a box is none."""
    boxes = corners_of(ledger, side, page)
    scale = page_scale(ledger)[page]
    with np.errstate(invalid="ignore", over="ignore"):
        placed: Floats = boxes / scale[:, [0, 1, 0, 1]]
    placed[~np.isfinite(placed).all(axis=1)] = np.nan
    return placed


def page_scale(ledger: Ledger) -> Floats:
    """What stands for the width and height of each page: 1 in shares, its size, or a page around all its boxes."""
    pages = ledger.table("pages")
    scale = np.column_stack([pages.array("width"), pages.array("height")])
    scale[~(scale > 0).all(axis=1)] = np.nan
    scale[(pages.array("spelling") & NORMALIZED) != 0] = 1.0
    unknown = np.isnan(scale[:, 0])
    if unknown.any():
        shared = "reach_x" in pages
        reach = np.column_stack([pages.array("reach_x"), pages.array("reach_y")]) if shared else page_reach(ledger)
        width = np.maximum(reach[:, 0], reach[:, 1] / TALL)
        width[~(width > 0)] = 1.0
        scale[unknown] = np.column_stack([width, width * TALL])[unknown]
    return scale


def page_reach(ledger: Ledger) -> Floats:
    """How far right and down the boxes of both sides reach on each page."""
    reach = np.zeros((ledger.table("pages").height, 2))
    for side in ("truth", "found"):
        page = page_rows(ledger, side)
        boxes = corners_of(ledger, side, page)
        fine = np.isfinite(boxes).all(axis=1)
        np.maximum.at(reach, page[fine], boxes[fine, 2:])
    return reach


def packed(boxes: Floats) -> Array:
    """Shares of a page from -0.25 to 1.25 on 16 bits: a fiftieth of a pixel on a page of a thousand.

    >>> packed(np.array([[0.0, 0.5, 1.0, 9.0], [np.nan, 0, 0, 0]])).tolist()
    [10922, 32768, 54612, 65534, 65535, 65535, 65535, 65535]
    """
    nowhere = np.isnan(boxes).any(axis=1)
    codes = np.clip(np.rint((np.nan_to_num(boxes) + 0.25) / 1.5 * NOWHERE), 0, NOWHERE - 1).astype(np.uint16)
    codes[nowhere] = NOWHERE
    return codes.reshape(-1)


def on_page(ledger: Ledger, side: str, other: str, relative: Array) -> Array:
    """Rows of the other side that rows of a side point at, counted from the first of their page, in a narrow type."""
    table = ledger.table(side)
    page = page_rows(ledger, side)
    first = np.searchsorted(page_rows(ledger, other), np.arange(ledger.table("pages").height))
    absolute = ledger.absolute(other, table.array(UNIT), relative)
    return narrow(np.where(relative >= 0, absolute - first[page], -1))


def share_code(values: Floats) -> Array:
    """A share on 16 bits, for what is shown with three decimals; what is none is the highest code.

    >>> share_code(np.array([0.0, 1.0, np.nan])).tolist()
    [0, 65534, 65535]
    """
    codes = np.rint(np.clip(np.nan_to_num(values), 0, 1) * (NOWHERE - 1)).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(NOWHERE), codes)
