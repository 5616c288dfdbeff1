"""NDJSON: one page a line, scanned ahead by the compiled scanner; lines that are unusual are read here, exactly."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from itertools import chain
from typing import Any

import numpy as np

from calque.base.columns import Column, Floats, Strings
from calque.base.errors import ContractError, did_you_mean
from calque.corpus.boxes import UnitId
from calque.engines import Prefetch
from calque.kernels.scanning import scan_pages
from calque.readers.page_rows.corpus import PageReader
from calque.readers.page_rows.files import COLUMNS, HEADER, LISTS, NEEDED, PAGES, header
from calque.readers.page_rows.rows import Rows, told_apart
from calque.readers.sources import json_tree
from calque.readers.sources.json_tree import RepeatedKeys, shown


def scanned(columns: Mapping[str, Any], first: int, reader: PageReader) -> Rows | None:
    """The pages of lines that begin with number ``first``; ``None`` where there is something to say or to keep of them."""
    if (columns["lacks_scores"] and reader.needs_scores) or (columns["has_others"] and reader.rules.metadata):
        return None
    number, boxes, ids = columns["line"] + first, columns["boxes"], _scanned_ids(columns)
    if len(boxes):
        if reader.disagrees_on_ids(given=ids is not None):
            return None
        reader.check_ids(first, given=ids is not None)
    return Rows(
        number=number,
        document=_documents(columns["document"]),
        index=columns["page_index"],
        sizes=columns["sizes"],
        counts=columns["counts"],
        boxes=boxes,
        label=reader.labels.codes(columns["labels"]["values"])[columns["labels"]["codes"]],
        scores=columns["scores"],
        ids=ids,
        crowd=columns["crowd"],
        areas=columns["area"],
    )


def _documents(column: Mapping[str, Any]) -> list[UnitId]:
    if "ints" in column:
        integers: list[UnitId] = column["ints"].tolist()
        return integers
    return list(map(column["values"].__getitem__, column["codes"].tolist()))


def _scanned_ids(columns: Mapping[str, Any]) -> Column | None:
    text = columns["text_ids"]
    integers: Column | None = columns["integer_ids"]
    return integers if text is None else Strings(text["data"], text["offsets"])


LONGEST_LINE = 256 << 20
"""The most bytes that one page may take: what is longer is not one page a line."""
PART = 1 << 19
"""About how many bytes are scanned at a time; one line that is unusual has so many read in Python."""
SMALLEST_OBJECT = 16
"""How many bytes an object takes at least, or nearly so."""
AHEAD = 4 << 20
"""How many bytes of lines are scanned before they are asked for."""

_KEYS = {column.encode() for column in COLUMNS}
_QUOTED = [b'"%b"' % key for key in _KEYS]
_NUMBER = {int, float}
_NUMBER_OR_NULL = {int, float, type(None)}
_LARGEST_INTEGER = 2**63


@dataclass(frozen=True)
class _Part:
    """Some whole lines, and what the compiled scanner read of them: nothing where one of them is unusual."""

    first: int
    lines: bytes
    columns: dict[str, Any] | None
    header: Mapping[str, Any] | None = None
    """What the file states of its boxes, with the first part."""

    def hides_scores(self) -> bool:
        """Whether a score that is spelled NaN may be there, which in the scanner's columns looks like none."""
        scores = None if self.columns is None else self.columns["scores"]
        return scores is not None and bool(np.isnan(scores).any()) and b"NaN" in self.lines


class Opened:
    """A file whose lines are on their way: scanning begins at once, in a thread of its own."""

    def __init__(self, file: BufferedReader, size: int, length: int = 0) -> None:
        """At most about as many pages as have ``size`` objects are scanned at a time; ``length``: the file's, if known."""
        self._length = length
        self._read = 0
        self._ahead = Prefetch(_parts(file, size), weight=lambda part: len(part.lines), limit=AHEAD)

    def share(self) -> float:
        """Which part of the file was read; 0 when its length is not known."""
        return self._read / self._length if self._length else 0.0

    def blocks(self, reader: PageReader) -> Iterator[Rows]:
        """The pages, some at a time."""
        with self._ahead as parts:
            for part in parts:
                self._read += len(part.lines)
                if part.header is not None:
                    reader.hear(part.header, reader.at(1))
                rows = None if part.columns is None or part.hides_scores() else scanned(part.columns, part.first, reader)
                if rows is None:
                    rows = _exactly(part, reader)
                if len(rows.number):
                    yield rows


def _parts(file: BufferedReader, size: int) -> Iterator[_Part]:
    first = 1
    with file:
        for part in _whole_lines(file, min(PART, size * SMALLEST_OBJECT)):
            said = header(part.partition(b"\n")[0].removeprefix(BOM_UTF8)) if first == 1 else None
            # A header becomes a blank line: the others keep their numbers.
            lines = part if said is None else b"\n" * (b"\n" in part) + part.partition(b"\n")[2]
            yield _Part(first, lines, scan_pages(lines) if len(lines) <= LONGEST_LINE else None, said)
            first += lines.count(b"\n")


def _whole_lines(file: BufferedReader, room: int) -> Iterator[bytes]:
    """The lines of a file, about ``room`` bytes at a time; those before an error come before it."""
    waiting: list[bytes] = []
    load = 0
    try:
        while piece := file.read1(room):
            load += len(piece)
            end = piece.rfind(b"\n") + 1
            if load > LONGEST_LINE + room and not end:
                end = len(piece)  # enough of a line that is refused
            if load >= room and end:
                yield b"".join([*waiting, memoryview(piece)[:end]])
                waiting, load = [], len(piece) - end
                piece = piece[end:]
            waiting.append(piece)
    except ContractError:
        yield b"".join(waiting).rpartition(b"\n")[0]
        raise
    yield b"".join(waiting)


def _exactly(part: _Part, reader: PageReader) -> Rows:
    """The pages of some lines, with a word about everything that is wrong in them."""
    block = _Block(reader)
    for number, line in enumerate(BytesIO(part.lines), start=part.first):
        if len(line) > LONGEST_LINE:
            text = f"a line is longer than {LONGEST_LINE:,} bytes"
            raise ContractError.single("line-too-long", text, file=reader.log.file, help="write one page a line")
        node = _parsed(line.removeprefix(BOM_UTF8) if number == 1 else line, number, reader)
        if node is not None:
            block.add(number, node)
    return block.rows()


def _parsed(line: bytes, number: int, reader: PageReader) -> Mapping[str, Any] | None:
    """The object on a line; ``None`` for a blank line, and for one that is broken."""
    if line.isspace():
        return None
    try:
        # Where a key may occur twice, the quick parser would say nothing.
        odd = any(line.count(key) > 1 for key in _QUOTED)
        node = json_tree.ODD if odd else json_tree.quickly(line)
        if not isinstance(node, dict):
            node = json_tree.parse_line(line, reader.log.file, number)
    except ContractError as error:
        (issue,) = error.issues
        reader.fault_at(issue.code, issue.pointer, issue.message, help=issue.help)
        return None
    if not isinstance(node, dict):
        text = f"expected an object with doc_id, boxes and labels, not {shown(node)}"
        reader.fault("wrong-type", number, text, help="write one page a line")
        return None
    return node


class _Block:
    """Pages as they are read, on their way to columns."""

    def __init__(self, reader: PageReader) -> None:
        self.reader = reader
        self.number: list[int] = []
        self.document: list[UnitId] = []
        self.index: list[int] = []
        self.sizes: list[tuple[Any, Any]] = []
        self.counts: list[int] = []
        self.boxes: list[Any] = []
        self.labels: list[str] = []
        self.optional: dict[str, list[Any]] = {name: [] for name in ("scores", "ids", "crowd", "area")}
        self.metadata: dict[str, list[Any]] = {}

    def add(self, number: int, node: Mapping[str, Any]) -> None:
        """Take a page in, or write down all that is wrong with it."""
        reader = self.reader
        if node.get(HEADER) == PAGES and "doc_id" not in node:
            text = "states what boxes are, which only the first line can do for all"
            reader.log.add("header-misplaced", reader.at(number), text, help="keep one file for each such line")
            return
        before = reader.faults
        self._check_keys(number, node)
        document, index = self._document(number, node), self._index(number, node)
        sizes = self._side(number, node, "width"), self._side(number, node, "height")
        lists = {name: self._list(number, node, name) for name in LISTS}
        for name, values in lists.items():
            self._check_values(number, name, values)
        self._check_lengths(number, node, lists)
        if reader.faults > before or document is None:
            return
        count = len(lists["boxes"])
        if count:
            reader.check_ids(number, given=node.get("ids") is not None)
        self._add_metadata(number, node)
        self.number.append(number)
        self.document.append(document)
        self.index.append(index)
        self.sizes.append(sizes)
        self.counts.append(count)
        self.boxes.extend(chain.from_iterable(lists["boxes"]))
        self.labels.extend(lists["labels"])
        for name, column in self.optional.items():
            column.extend(lists[name] or [None] * count)

    def rows(self) -> Rows:
        """The pages as columns."""
        sides = _floats([side for pair in self.sizes for side in pair])
        metadata = {name: values + [None] * (len(self.number) - len(values)) for name, values in self.metadata.items()}
        return Rows(
            number=np.array(self.number, dtype=np.int64),
            document=self.document,
            index=np.array(self.index, dtype=np.int64),
            sizes=sides.reshape(-1, 2),
            counts=np.array(self.counts, dtype=np.int64),
            boxes=_floats(self.boxes).reshape(-1, 4),
            label=self.reader.labels.codes(self.labels),
            scores=self._scores(),
            ids=_ids(self.optional["ids"]) if _any(self.optional["ids"]) else None,
            crowd=np.array(list(map(bool, self.optional["crowd"])), dtype=np.uint8) if _any(self.optional["crowd"]) else None,
            areas=_floats(self.optional["area"]) if _any(self.optional["area"]) else None,
            metadata=metadata,
        )

    def _scores(self) -> Floats | None:
        values = self.optional["scores"]
        there = np.array([value is not None for value in values], dtype=np.bool_)
        return told_apart(_floats(values), there) if there.any() else None

    # One page.

    def _fault(self, code: str, number: int, message: str, *steps: object, help: str = "") -> None:
        self.reader.fault(code, number, message, *steps, help=help)

    def _check_keys(self, number: int, node: Mapping[str, Any]) -> None:
        for key in node.repeated if isinstance(node, RepeatedKeys) else ():
            self._fault("duplicate-key", number, "the key occurs more than once", key, help="keep one of them")
        for key in NEEDED:
            if key not in node:
                help = did_you_mean(key, [other for other in node if other not in COLUMNS])
                self._fault("missing-key", number, f"the key {key!r} is missing", help=help)

    def _document(self, number: int, node: Mapping[str, Any]) -> UnitId | None:
        value = node.get("doc_id")
        if isinstance(value, int | str) and not isinstance(value, bool):
            return value
        if "doc_id" in node:
            self._fault("wrong-type", number, f"expected a string or an integer, not {shown(value)}", "doc_id")
        return None

    def _index(self, number: int, node: Mapping[str, Any]) -> int:
        value = node.get("page_index")
        if value is None:
            return 0
        if type(value) in _NUMBER and 0 <= value < _LARGEST_INTEGER and value % 1 == 0:
            return int(value)
        self._fault("wrong-type", number, f"expected an integer from 0, not {shown(value)}", "page_index")
        return 0

    def _side(self, number: int, node: Mapping[str, Any], key: str) -> float | None:
        value = node.get(key)
        if value is not None and not (type(value) in _NUMBER and 0 < value < np.inf):
            self._fault("page-size", number, f"expected a number above 0, not {shown(value)}", key)
        return value

    def _list(self, number: int, node: Mapping[str, Any], key: str) -> list[Any]:
        """The list under a key; a page without objects may say null."""
        value = node.get(key)
        if value is None or isinstance(value, list):
            return value or []
        self._fault("wrong-type", number, f"expected a list with an entry for each box, not {shown(value)}", key)
        return []

    def _check_lengths(self, number: int, node: Mapping[str, Any], lists: Mapping[str, list[Any]]) -> None:
        count = len(lists["boxes"])
        for name in LISTS[1:]:
            given = isinstance(node.get(name), list) or (name == "labels" and name in node)
            if given and len(lists[name]) != count:
                text = f"{len(lists[name]):,} {name} for {count:,} boxes"
                self._fault("length-differs", number, text, name, help="each box needs one")
        if self.reader.needs_scores and count and node.get("scores") is None:
            help = did_you_mean("scores", [key for key in node if key not in COLUMNS])
            self.reader.lacks_scores(number, help=help)

    def _check_values(self, number: int, name: str, values: list[Any]) -> None:
        """Each entry of a list has the type that its column asks for."""
        if name == "boxes":
            self._check_boxes(number, values)
            return
        allowed, expected = _ENTRIES[name]
        if set(map(type, values)) <= allowed:
            return
        for position, value in enumerate(values):
            if type(value) not in allowed:
                self._fault("wrong-type", number, f"expected {expected}, not {shown(value)}", name, position)

    def _check_boxes(self, number: int, boxes: list[Any]) -> None:
        shaped = set(map(type, boxes)) <= {list} and set(map(len, boxes)) <= {4}
        if shaped and set(map(type, chain.from_iterable(boxes))) <= _NUMBER_OR_NULL:
            return
        for position, box in enumerate(boxes):
            if not isinstance(box, list) or len(box) != 4:
                self._fault("box-shape", number, f"expected four numbers, not {shown(box)}", "boxes", position)
                continue
            for axis, value in enumerate(box):
                if type(value) not in _NUMBER_OR_NULL:
                    self._fault("wrong-type", number, f"expected a number, not {shown(value)}", "boxes", position, axis)

    def _add_metadata(self, number: int, node: Mapping[str, Any]) -> None:
        for key, value in node.items():
            if key in COLUMNS or value is None:
                continue
            if isinstance(value, list | dict):
                self.reader.unused(key, number)
            elif self.reader.rules.metadata:
                values = self.metadata.setdefault(key, [])
                values += [None] * (len(self.number) - len(values))
                values.append(value)


_ENTRIES: dict[str, tuple[set[type], str]] = {
    "labels": ({str}, "the name of a label"),
    "scores": (_NUMBER_OR_NULL, "a number or null"),
    "ids": ({int, str}, "a string or an integer"),
    "crowd": ({bool, int, type(None)}, "true or false"),
    "area": (_NUMBER_OR_NULL, "a number or null"),
}
"""For each list what its entries may be."""


def _any(values: list[Any]) -> bool:
    return values.count(None) < len(values)


def _floats(values: list[Any]) -> Any:
    """The numbers, NaN for null; an integer beyond every float is infinite."""
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        return np.array([np.inf if isinstance(v, int) and abs(v) >= 2**1024 else v for v in values], dtype=np.float64)


def _ids(values: list[Any]) -> Column:
    if all(type(value) is int and abs(value) < _LARGEST_INTEGER for value in values):
        return np.array(values, dtype=np.int64)
    return Strings.pack("" if value is None else str(value) for value in values)
