"""Which reader makes columns of a side: the compiled one of lines, or the one of Python values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from calque.core.corpora.records import RecordCorpus
from calque.core.corpus import UnitId
from calque.fields.columns.layout import Layout
from calque.fields.columns.reading import LeafColumn, ListColumn, SideColumns, TreeReader
from calque.fields.comparison.cells import class_of
from calque.kernels import chosen
from calque.readers.records import LineRecords

if TYPE_CHECKING:
    from calque.kernels._native import LineReader


class CorpusReader:
    """Reads documents of one side by their ids; one that the side does not have is an empty record."""

    def __init__(self, layout: Layout, corpus: RecordCorpus) -> None:
        self._corpus = corpus
        self._places = {unit: place for place, unit in enumerate(corpus.documents)}
        records = corpus.records
        by_lines = (
            isinstance(records, LineRecords)
            and corpus.rows is None
            and layout.form != "polygon"
            and chosen() == "native"
            and _can_be_spelt(layout)
        )
        self._lines = records if by_lines and isinstance(records, LineRecords) else None
        self._reader: LineReader | TreeReader = TreeReader(layout) if self._lines is None else _line_reader(layout)

    def __contains__(self, unit: UnitId) -> bool:
        return unit in self._places

    def add(self, unit: UnitId) -> bool:
        """Take a document in if it is plain; says whether it is."""
        place = self._places.get(unit)
        if isinstance(self._reader, TreeReader):
            return self._reader.add(None if place is None else self._corpus.record(place))
        if place is None or self._lines is None:
            return self._reader.add(b"{}", "")
        return self._reader.add(self._lines.line(place), self._lines.id_key or "")

    def cut(self, documents: int) -> None:
        """Keep only so many documents."""
        self._reader.cut(documents)

    def columns(self) -> SideColumns:
        """What was taken in."""
        return self._reader.columns() if isinstance(self._reader, TreeReader) else _columns(self._reader)


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
        return ListColumn(states, offsets, tuple(LeafColumn(*leaf) for leaf in leaves))
    return LeafColumn(*made)
