"""Which reader makes columns of a side: the compiled one of lines, or the one of Python values."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Codes, Flags, Floats, Strings
from calque.corpus.boxes import UnitId
from calque.corpus.records import RecordCorpus
from calque.fields.columns.layout import Layout
from calque.fields.columns.reading import LeafColumn, ListColumn, SideColumns, TreeReader
from calque.fields.comparison.cells import class_of
from calque.kernels import chosen
from calque.readers.line_records import LineRecords, Taker

if TYPE_CHECKING:
    from calque.kernels._native import LineReader


def side_columns(layout: Layout, corpus: RecordCorpus, units: Sequence[UnitId]) -> tuple[SideColumns, Flags]:
    """The columns of the plain ones among some documents, and which those are; one that the side lacks is an empty record."""
    at = {unit: place for place, unit in enumerate(corpus.documents)}
    places = [at.get(unit, -1) for unit in units]
    records = corpus.records
    if isinstance(records, LineRecords) and corpus.rows is None and _is_compiled(layout):
        made = [each.columns for each in records.made if isinstance(each, Made) and each.layout is layout]
        if len(made) == 1 and places == list(range(len(made[0].boxes))):
            return made[0], np.ones(len(places), dtype=np.bool_)
        return _of_lines(layout, records, places)
    reader = TreeReader(layout)
    plain = [reader.add(None if place < 0 else corpus.record(place)) for place in places]
    return reader.columns(), np.array(plain, dtype=np.bool_)


def _is_compiled(layout: Layout) -> bool:
    """Whether the compiled reader knows such columns."""
    return layout.form != "polygon" and chosen() == "native" and _can_be_spelt(layout)


def taker(layout: Layout | None, size: int) -> LineTaker | None:
    """What makes columns of lines while they are found; nothing where there is no compiled reader."""
    return LineTaker(layout, size) if layout is not None and _is_compiled(layout) else None


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """The columns of some records on end."""

    layout: Layout
    columns: SideColumns


class LineTaker(Taker):
    """Makes columns of as many lines as are compared at once, one piece after the other."""

    def __init__(self, layout: Layout, size: int) -> None:
        self.size = size
        self._layout = layout
        self._reader = _line_reader(layout)
        self._made: list[Made] = []

    def take(self, text: bytes, id_key: str) -> tuple[list[tuple[int, int, int, str | int | None]], int] | None:
        """The lines of a text, all of them taken in; nothing when one of them is not plain."""
        lines: list[tuple[int, int, int, str | int | None]] = []
        number = place = 0
        while place < len(text):
            if len(self._reader) == self.size:
                self._finish()
            found = self._reader.take(text, place, number, self.size - len(self._reader), id_key)
            if found is None:
                return None
            some, number, place = found
            lines += some
        return lines, number

    def made(self) -> list[Made]:
        """The columns, piece by piece."""
        self._finish()
        return self._made

    def _finish(self) -> None:
        self._made.append(Made(self._layout, _columns(self._reader)))
        self._reader = _line_reader(self._layout)


def _of_lines(layout: Layout, records: LineRecords, places: Sequence[int]) -> tuple[SideColumns, Flags]:
    reader, key = _line_reader(layout), records.id_key or ""
    plain = [np.zeros(0, dtype=np.uint8)]
    for text, starts, lengths in records.blocks(places):
        plain.append(reader.add(text, np.array(starts, dtype=np.int64), np.array(lengths, dtype=np.int64), key))
    return _columns(reader), np.concatenate(plain).astype(np.bool_)


def _can_be_spelt(layout: Layout) -> bool:
    """Whether all keys are text: one with half of a character, as escapes of JSON can spell it, is for Python alone."""
    plans = (*layout.fields, *layout.ignored)
    keys = [plan.key for plan in plans] + [each.key for plan in plans if plan.record is not None for each in plan.record.fields]
    try:
        "\n".join(keys).encode()
    except UnicodeEncodeError:
        return False
    return True


def _line_reader(layout: Layout) -> LineReader:
    from calque.kernels._native import LineReader

    fields: list[tuple[str, str, list[str]]] = []
    for plan in layout.fields:
        keys = [] if plan.record is None else [each.key for each in plan.record.fields]
        fields.append((plan.key, plan.kind.value, keys))
    fields += [(plan.key, "ignored", []) for plan in layout.ignored]
    return LineReader(fields, layout.paired, layout.form == "xywh")


def _columns(reader: LineReader) -> SideColumns:
    fields, boxes, ignored, unknown, strange = reader.columns()
    outside: list[Counter[str] | None] = [None] * len(boxes)
    for document, key in strange:
        if (names := outside[document]) is None:
            names = outside[document] = Counter()
        names[class_of(key)] += 1
    return SideColumns(tuple(map(_field, fields)), boxes, ignored, unknown, outside)


def _field(made: tuple[Any, ...]) -> LeafColumn | ListColumn:
    if len(made) == 3:
        states, offsets, leaves = made
        return ListColumn(states, offsets, tuple(_leaf(*leaf) for leaf in leaves))
    return _leaf(*made)


def _leaf(
    codes: Codes, values: Any, confidences: Any, boxes: Floats, pages: Any, ranks: Codes, kinds: frozenset[type]
) -> LeafColumn:
    if isinstance(values, tuple):
        values = Strings(*values)
    elif isinstance(values, np.ndarray):
        values = array("d", values.tobytes())  # whoever takes one out gets a float of Python's
    nowhere = np.broadcast_to(np.nan, len(codes))
    sure, on = (nowhere if column is None else column for column in (confidences, pages))
    return LeafColumn(codes, values, sure, boxes, on, ranks, kinds)
