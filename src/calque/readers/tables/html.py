"""Tables in HTML: rows and cells as a browser finds them, with every repair counted."""

from __future__ import annotations

from collections import Counter
from html import unescape

from calque.base.text_normalization import squeezed
from calque.corpus.tables import CellTable
from calque.readers.tables.placing import RawCell, placed, span_of
from calque.readers.tables.tags import RAW, Tag, attributes_of, tags

_BLOCKS = (
    "address article aside blockquote br caption center dd details dialog dir div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol option p pre section summary table tbody td tfoot th thead tr ul"
)
BLOCKS = frozenset(_BLOCKS.split())
"""Elements that separate the texts before, in and after them."""
CELLS, SECTIONS = ("td", "th"), ("thead", "tbody", "tfoot")


def tables_of(text: str) -> list[CellTable]:
    """Every outermost table of an HTML text, in order; never fails.

    >>> [table.text for table in tables_of("<table><tr><td>10<sup>3</sup><td>a<br>b</table>")]
    [('103', 'a b')]
    """
    reading = _Reading(text)
    for tag in tags(text):
        reading.take(tag)
    return reading.finished()


def text_of(markup: str) -> str:
    """The text of a piece of HTML, markup dropped: what a cell that holds it would say."""
    if "<" not in markup and "&" not in markup:
        return squeezed(markup)
    pieces = []
    for tag in tags(markup):
        pieces += [tag.text, " " if tag.name in BLOCKS else ""]
    return squeezed(unescape("".join(pieces)))


class _Reading:
    """What is open while the tags go by."""

    def __init__(self, text: str) -> None:
        self._source = text
        self._tables: list[CellTable] = []
        self._open = False
        self._nested = 0
        """How many tables are open inside of the cell."""
        self._structure = {
            **dict.fromkeys(CELLS, self._cell_tag),
            **dict.fromkeys(SECTIONS, self._section_tag),
            "tr": self._row_tag,
            "caption": self._caption_tag,
        }
        self._begin(0)

    def _begin(self, start: int) -> None:
        self._start = start
        self._rows: list[list[RawCell]] = []
        self._row: list[RawCell] | None = None
        self._cell: tuple[str, str] | None = None
        """The name and the attributes of the cell that is open."""
        self._pieces: list[str] = []
        self._section = ""
        self._captioned = False
        self._repairs: Counter[str] = Counter()

    def take(self, tag: Tag) -> None:
        """The text before a tag, and the tag."""
        if not self._open:
            if tag.name == "table" and not tag.closing:
                self._open = True
                self._begin(tag.start)
            return
        text, closing, name = tag[:3]
        if self._cell is not None:
            if not (closing and name in RAW):  # a script is no text
                self._pieces.append(text)
        elif text and not self._captioned and not text.isspace():
            self._repairs["stray-text"] += 1
        handle = None if self._nested else self._structure.get(name)
        if handle is not None:
            handle(tag)
        elif name == "table":
            self._table(tag)
        else:
            self._separate(name)

    def _cell_tag(self, tag: Tag) -> None:
        self._end_cell(supplied=not tag.closing)
        if not tag.closing:
            self._begin_cell(tag)

    def _row_tag(self, tag: Tag) -> None:
        self._end_row(supplied=not tag.closing)
        self._captioned = False
        if not tag.closing:
            self._row = []

    def _section_tag(self, tag: Tag) -> None:
        self._end_row(supplied=True)
        self._section, self._captioned = "" if tag.closing else tag.name, False

    def _caption_tag(self, tag: Tag) -> None:
        if self._cell is None:
            self._captioned = not tag.closing
        else:
            self._separate(tag.name)

    def _separate(self, name: str) -> None:
        if name in BLOCKS:
            self._pieces.append(" ")

    def _table(self, tag: Tag) -> None:
        self._separate("table")
        if self._cell is not None and not tag.closing:
            self._nested += 1
            self._repairs["nested-table"] += 1
        elif self._nested:
            self._nested -= 1
        else:
            self._end_table(tag.start if not tag.closing else tag.end, supplied=not tag.closing)
            if not tag.closing:  # a table in a table, but in none of its cells, ends it
                self._open = True
                self._begin(tag.start)

    def _begin_cell(self, tag: Tag) -> None:
        self._captioned = False
        if self._row is None:
            self._row = []
            self._repairs["loose-cell"] += 1
        self._cell = tag.name, tag.attributes
        self._pieces = []

    def _end_cell(self, *, supplied: bool) -> None:
        if self._cell is None or self._row is None:
            return
        name, written = self._cell
        text = "".join(self._pieces)
        rowspan, colspan = self._spans(written) if written else (1, 1)
        header = name == "th" or self._section == "thead"
        self._row.append(RawCell(rowspan, colspan, squeezed(unescape(text) if "&" in text else text), header))
        self._cell = None
        if supplied:
            self._repairs["unclosed-tag"] += 1

    def _spans(self, written: str) -> tuple[int, int]:
        attributes = attributes_of(written)
        rowspan = span_of(attributes.get("rowspan"), self._repairs, least=0)
        return rowspan, span_of(attributes.get("colspan"), self._repairs, least=1)

    def _end_row(self, *, supplied: bool) -> None:
        self._end_cell(supplied=True)
        if self._row is not None:
            self._rows.append(self._row)
            self._row = None
            self._repairs["unclosed-tag"] += supplied

    def _end_table(self, end: int, *, supplied: bool) -> None:
        self._end_row(supplied=True)
        self._repairs["unclosed-tag"] += supplied
        markup = self._source[self._start : end]
        self._tables.append(placed(self._rows, self._repairs, markup=markup, span=(self._start, end)))
        self._open = False

    def finished(self) -> list[CellTable]:
        """The tables, the last one closed where its text ends."""
        if self._open:
            self._repairs["unclosed-tag"] += self._nested
            self._nested = 0
            self._end_table(len(self._source), supplied=True)
        return self._tables
