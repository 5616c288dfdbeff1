"""Parquet: one row a page, read some pages at a time, ahead of whoever asks for them, straight from Arrow's buffers."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from calque.base.columns import Array, Codes, Column, Flags, Floats, Ints, Strings
from calque.base.errors import MissingExtra, did_you_mean
from calque.corpus.boxes import UnitId
from calque.engines import Prefetch
from calque.readers.boxes.conventions import FORM_KEY, UNITS_KEY, Rules
from calque.readers.page_rows.corpus import PageReader
from calque.readers.page_rows.files import COLUMNS, HEADER, LISTS, NEEDED
from calque.readers.page_rows.rows import Rows, told_apart
from calque.readers.sources.parquet_files import TEXT, RowGroup, row_groups, unreadable

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
NUMBERS = (*INTEGERS, *FLOATS)
TEXTS = {"string": np.int32, "large_string": np.int64}
"""Arrow's names of text types, and what their offsets are."""


def valid(array: Any) -> Flags | None:
    """Which entries are not null; ``None`` when all are there."""
    if array.null_count == 0:
        return None
    bits = array.buffers()[0]
    if bits is None:  # an array of the type null
        return np.zeros(len(array), dtype=np.bool_)
    return _bits(bits, array.offset, len(array))


def _bits(buffer: Any, offset: int, length: int) -> Flags:
    flags = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), bitorder="little")
    return flags[offset : offset + length].astype(np.bool_)


def values(array: Any) -> Array:
    """The numbers or flags of an array, as its own NumPy type; what is null has no meaning."""
    name = str(array.type)
    if not len(array) or name == "null":
        return np.zeros(len(array), dtype=FLOATS.get(name, name if name in INTEGERS else "float64"))
    data = array.buffers()[1]
    if name == "bool":
        return _bits(data, array.offset, len(array))
    return np.frombuffer(data, dtype=FLOATS.get(name, name))[array.offset : array.offset + len(array)]


def floats(array: Any) -> Floats:
    """The numbers of an array, NaN where it is null."""
    with np.errstate(invalid="ignore"):  # of what is no number there are kinds that make themselves heard
        numbers = values(array).astype(np.float64, copy=False)
    there = valid(array)
    return numbers if there is None else np.where(there, numbers, np.nan)


def texts(array: Any) -> list[str | None]:
    """The strings of an array, ``None`` where it is null."""
    name = str(array.type)
    if name.startswith("dictionary"):
        return _looked_up(array)
    if name not in TEXTS:
        return list(array.to_pylist())
    if not len(array):
        return []
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, dtype=TEXTS[name])[array.offset : array.offset + len(array) + 1].tolist()
    raw = b"" if data is None else memoryview(data)
    found = [str(raw[start:end], "utf-8", "backslashreplace") for start, end in pairwise(bounds)]
    there = valid(array)
    return list(found) if there is None else [text if is_there else None for text, is_there in zip(found, there, strict=True)]


def _looked_up(array: Any) -> list[str | None]:
    """The strings of an array of codes; each is made once, however often it stands there."""
    names = texts(array.dictionary)
    there = valid(array)
    if there is not None and not there.all():
        names.append(None)
    return [names[code] for code in codes(array, there).tolist()]


def codes(array: Any, there: Flags | None = None) -> Ints:
    """Which entry of its dictionary each value of an array is, -1 where it is null; what points beyond it is damage."""
    given = values(array.indices)
    if there is not None:
        given = np.where(there, given, -1)
    if len(given) and not -1 <= int(given.min()) <= int(given.max()) < len(array.dictionary):
        raise Damaged("an entry points beyond the dictionary of its column")
    return given


class Damaged(Exception):
    """The content of pages cannot be what was written."""


def lists(array: Any) -> tuple[Ints, Any, Flags | None]:
    """How many entries each list has, all entries one after the other, and which lists are not null."""
    there = valid(array)
    if not len(array):
        return np.zeros(0, dtype=np.int64), array.values.slice(0, 0), None
    if str(array.type).startswith("fixed_size_list"):
        width = array.type.list_size
        counts = np.full(len(array), width, dtype=np.int64)
        entries = array.values.slice(array.offset * width, len(array) * width)
    else:
        kind = np.int64 if str(array.type).startswith("large_") else np.int32
        offsets = np.frombuffer(array.buffers()[1], dtype=kind)[array.offset : array.offset + len(array) + 1].astype(np.int64)
        counts = np.diff(offsets)
        entries = array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    if there is None:
        return counts, entries, None
    # A null list may still have a place in the buffer below it; `flatten` leaves that out.
    return np.where(there, counts, 0), array.flatten(), there


AHEAD = 8 << 20
"""How many bytes of columns are read before they are asked for."""
ROOM = 128 << 20
"""About how many bytes of columns come at a time, however long their texts are."""

_SCALARS = {
    "doc_id": ((*INTEGERS, *TEXTS), "a string or an integer"),
    "page_index": (NUMBERS, "an integer"),
    "width": (NUMBERS, "a number"),
    "height": (NUMBERS, "a number"),
}
"""For each column with one value a page the Arrow types that it may have."""
_ENTRIES = {
    "boxes": (NUMBERS, "lists of boxes of four numbers"),
    "labels": (tuple(TEXTS), "lists of strings"),
    "scores": (NUMBERS, "lists of numbers"),
    "ids": ((*INTEGERS, *TEXTS), "lists of strings or integers"),
    "crowd": (("bool", *INTEGERS), "lists of booleans"),
    "area": (NUMBERS, "lists of numbers"),
}
"""For each list the Arrow types that its entries may have."""


class Opened:
    """A Parquet file whose pages are on their way: reading begins at once, in a thread of its own."""

    def __init__(self, path: str, size: int, whole: int, rules: Rules) -> None:
        """``size`` objects are read at a time, or all of a row group when the file has no more than ``whole``."""
        self._path = path
        self._rows = self._read = 0
        self._ahead = Prefetch(_parts(path, size, whole, rules), weight=_weight, limit=AHEAD)

    def share(self) -> float:
        """Which part of the file was read."""
        return self._read / self._rows if self._rows else 0.0

    def blocks(self, reader: PageReader) -> Iterator[Rows]:
        """The pages, some at a time; nothing comes when a column is missing or of a wrong type, and the log says so."""
        number = 1
        with self._ahead as reading:
            parts = iter(reading)
            schema, self._rows = next(parts)
            reader.hear(_statement(schema), "metadata")
            columns = _Columns(schema, reader)
            if not columns.fit:
                return
            for batch in parts:
                numbers = np.arange(number, number + batch.num_rows, dtype=np.int64)
                try:
                    rows = _Pages(batch, numbers, reader).rows()
                except Damaged as damage:
                    unreadable(self._path, str(damage))
                if len(rows) and not columns.scores_fit():
                    return
                self._read += batch.num_rows
                yield rows
                number += batch.num_rows


def _statement(schema: Any) -> dict[str, str]:
    """What the file's metadata state of its boxes."""
    given = {key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, value in (schema.metadata or {}).items()}
    return {key: given[f"{HEADER}.{key}"] for key in (FORM_KEY, UNITS_KEY) if f"{HEADER}.{key}" in given}


def _weight(part: Any) -> int:
    return int(getattr(part, "nbytes", 0))


def _parts(path: str, size: int, whole: int, rules: Rules) -> Iterator[Any]:
    """The schema of a file, then its rows as record batches; other scalars only if wanted."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "parquet", "reading Parquet files") from None
    try:
        with open(path, "rb", buffering=0) as bare, pa.OSFile(path, "rb") as source:
            groups = row_groups(bare, path, lambda name: name in COLUMNS or rules.metadata)
            plain = pq.ParquetFile(source)
            schema, about = plain.schema_arrow, plain.metadata
            yield schema, about.num_rows
            names = [field.name for field in schema if field.name in COLUMNS or (rules.metadata and _is_scalar(field.type))]
            # Each row group has dictionaries of its own, and pyarrow cannot join those of lists: they are read one by one.
            file = pq.ParquetFile(source, metadata=about, read_dictionary=_repeated_texts(groups))
            counts = [_objects(group) for group in groups]
            most = whole if sum(counts) <= whole else size
            for number, (group, objects) in enumerate(zip(groups, counts, strict=True)):
                rows = max(1, min(most * group.rows // max(objects, 1), ROOM * group.rows // max(group.unpacked, 1)))
                yield from file.iter_batches(rows, row_groups=[number], columns=names, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        unreadable(path, str(error).splitlines()[0])


def _objects(group: RowGroup) -> int:
    """How many objects a row group has, or pages if those are more."""
    return max([group.rows, *(chunk.values for chunk in group.chunks if chunk.leaf.path[0] == "labels")])


def _repeated_texts(groups: list[RowGroup]) -> list[str]:
    """The columns of texts that come as codes into a dictionary, as labels always do, and others where the file has them so.

    A text that stands in a million rows is in the file once, and then in memory, too.
    """
    texts = (chunk for group in groups for chunk in group.chunks if chunk.leaf.kind == TEXT)
    return list({".".join(chunk.leaf.path): None for chunk in texts if chunk.has_dictionary or chunk.leaf.path[0] == "labels"})


def _is_scalar(type: Any) -> bool:
    """Whether a column of this type can say something of a document."""
    plain = type.value_type if str(type).startswith("dictionary") else type
    return str(plain) in (*NUMBERS, *TEXTS, "bool") or str(plain).startswith(("date", "timestamp"))


def _entry(type: Any) -> Any:
    """The type of the entries of a list; ``None`` when it is not a list."""
    is_list = str(type).startswith(("list<", "large_list<", "fixed_size_list<"))
    return type.value_type if is_list else None


class _Columns:
    """The columns of a file, and whether they fit."""

    def __init__(self, schema: Any, reader: PageReader) -> None:
        self._reader = reader
        self._types = {field.name: field.type for field in schema}
        before = reader.log.errors
        self._check_names(schema.names)
        for name, type in self._types.items():
            self._check_type(name, type)
        self.fit = reader.log.errors == before

    def _check_names(self, names: list[str]) -> None:
        log = self._reader.log
        for name in sorted(name for name, count in Counter(names).items() if count > 1):
            log.add("duplicate-key", f"column {name}", "the column occurs more than once", help="keep one of them")
        strange = [name for name in names if name not in COLUMNS]
        for name in NEEDED:
            if name not in names:
                log.add("missing-key", f"column {name}", "the column is missing", help=did_you_mean(name, strange))

    def scores_fit(self) -> bool:
        """Whether objects have the scores that they need; where there are none, the log says so."""
        if not self._reader.needs_scores or "scores" in self._types:
            return True
        strange = [name for name in self._types if name not in COLUMNS]
        help = did_you_mean("scores", strange) or "pass --allow-missing-scores for a model without scores"
        self._reader.log.add("score-missing", "column scores", "the column is missing", help=help)
        return False

    def _check_type(self, name: str, type: Any) -> None:
        if name in _SCALARS:
            allowed, expected = _SCALARS[name]
            plain = type
        elif name in LISTS:
            allowed, expected = _ENTRIES[name]
            plain = _entry(type)
            if name == "boxes" and plain is not None and str(plain) != "null":
                plain = _entry(plain)
        else:
            if not _is_scalar(type):
                self._reader.unused(name, 1)
            return
        if plain is not None and str(plain).startswith("dictionary"):
            plain = plain.value_type
        if plain is None or str(plain) not in (*allowed, "null"):
            text = f"expected {expected}, not {type}"
            self._reader.log.add("wrong-type", f"column {name}", text)


class _Pages:
    """A record batch on its way to rows; ``number`` says where each page stands in the file."""

    def __init__(self, batch: Any, number: Ints, reader: PageReader) -> None:
        self._batch = batch
        self._columns = {name: batch.column(position) for position, name in enumerate(batch.schema.names)}
        self._count = batch.num_rows
        self._number = number
        self._reader = reader
        self._bad = np.zeros(batch.num_rows, dtype=np.bool_)

    def rows(self) -> Rows:
        """The pages that can be read; the log has the others."""
        document, index = self._documents(), self._index()
        sizes = np.stack([self._side("width"), self._side("height")], axis=1)
        counts, boxes = self._boxes()
        labels, ids = self._labels(counts), self._ids(counts)
        scores, crowd, areas = (self._list(name, counts) for name in ("scores", "crowd", "area"))
        metadata = self._metadata()
        if self._bad.any():
            return self._good().rows()
        self._check_given(counts)
        return Rows(
            number=self._number,
            document=document,
            index=index,
            sizes=sizes,
            counts=counts,
            boxes=boxes,
            label=self._codes(labels),
            scores=scores,
            ids=ids,
            crowd=None if crowd is None else (np.nan_to_num(crowd) != 0).astype(np.uint8),
            areas=areas,
            metadata=metadata,
        )

    def _good(self) -> _Pages:
        rows = np.flatnonzero(~self._bad)
        return _Pages(self._batch.take(rows), self._number[rows], self._reader)

    def _refuse(self, wrong: Flags, code: str, column: str, message: str) -> None:
        """Write down each page where something is wrong."""
        self._bad |= wrong
        for number in self._number[wrong].tolist():
            self._reader.fault(code, number, message, column)

    # Columns with one value a page.

    def _documents(self) -> list[UnitId]:
        column = self._columns["doc_id"]
        there = valid(column)
        if there is not None:
            self._refuse(~there, "wrong-type", "doc_id", "expected a string or an integer, not null")
        if str(column.type) in INTEGERS:
            return list(values(column).tolist())
        return [text or "" for text in texts(column)]

    def _index(self) -> Ints:
        if "page_index" not in self._columns:
            return np.zeros(self._count, dtype=np.int64)
        column = self._columns["page_index"]
        there = valid(column)
        given = values(column) if there is None else np.where(there, values(column), 0)
        fits = (given >= 0) & (given < 2.0**63)
        fits &= np.where(fits, given, 0.5) % 1 == 0
        self._refuse(~fits, "wrong-type", "page_index", "expected an integer from 0")
        return np.where(fits, given, 0).astype(np.int64)

    def _side(self, name: str) -> Floats:
        if name not in self._columns:
            return np.full(self._count, np.nan)
        sides = floats(self._columns[name])
        self._refuse((sides <= 0) | np.isinf(sides), "page-size", name, "expected a number above 0")
        return sides

    def _metadata(self) -> dict[str, list[Any]]:
        return {name: self._scalars(name, column) for name, column in self._columns.items() if name not in COLUMNS}

    def _scalars(self, name: str, column: Any) -> list[Any]:
        """The values of a further column as Python has them; days and times as text."""
        if str(column.type) in TEXTS or str(column.type).startswith("dictionary<values=string"):
            return list(texts(column))
        try:
            values = column.to_pylist()
        except IndexError:
            raise Damaged(f"an entry points beyond the dictionary of column {name}") from None
        except (OverflowError, ValueError):
            values = [_day(value) for value in column]
            wrong = np.array([value is NO_DAY for value in values], dtype=np.bool_)
            self._refuse(wrong, "wrong-type", name, "expected a day or a time that calendars have")
        return [value.isoformat() if isinstance(value, datetime.date) else value for value in values]

    # Columns with a list a page.

    def _boxes(self) -> tuple[Ints, Floats]:
        counts, boxes, _ = lists(self._columns["boxes"])
        if not len(boxes):
            return counts, np.zeros((0, 4))
        if str(boxes.type) == "null":
            self._refuse(counts > 0, "box-shape", "boxes", "expected four numbers, not null")
            return counts, np.zeros((len(boxes), 4))
        sides, coordinates, _ = lists(boxes)
        wrong = sides != 4
        if wrong.any():
            page = np.repeat(np.arange(self._count), counts)
            self._refuse(_marked(page[wrong], self._count), "box-shape", "boxes", "a box does not have four numbers")
            return counts, np.zeros((len(boxes), 4))
        return counts, floats(coordinates).reshape(-1, 4)

    def _check_lengths(self, name: str, given: Ints, counts: Ints, there: Flags | None) -> bool:
        wrong = given != counts if there is None else there & (given != counts)
        self._bad |= wrong
        for row in np.flatnonzero(wrong).tolist():
            text = f"{given[row]:,} {name} for {counts[row]:,} boxes"
            self._reader.fault("length-differs", int(self._number[row]), text, name, help="each box needs one")
        return not wrong.any()

    def _labels(self, counts: Ints) -> Any:
        """The labels of all objects, as codes into a dictionary."""
        given, entries, _ = lists(self._columns["labels"])
        if not str(entries.type).startswith("dictionary"):
            entries = entries.dictionary_encode()
        there = valid(entries)
        if self._check_lengths("labels", given, counts, None) and there is not None:
            self._refuse_pages_of(~there, counts, "labels", "expected the name of a label, not null")
        return entries

    def _refuse_pages_of(self, wrong: Flags, counts: Ints, column: str, message: str) -> None:
        """Write down each page that has one of these objects."""
        page = np.repeat(np.arange(self._count), counts)
        self._refuse(_marked(page[wrong], self._count), "wrong-type", column, message)

    def _codes(self, entries: Any) -> Codes:
        """What the labels are in the table of the file."""
        if not len(entries):
            return np.zeros(0, dtype=np.int32)
        given = codes(entries)
        names = texts(entries.dictionary)
        # A dictionary may name labels that no object has.
        used = np.flatnonzero(np.bincount(given, minlength=len(names)))
        table = np.zeros(len(names), dtype=np.int32)
        table[used] = self._reader.labels.codes([names[code] or "" for code in used.tolist()])
        return np.take(table, given)

    def _list(self, name: str, counts: Ints) -> Floats | None:
        """The numbers of an optional list; NaN for the objects of pages that do not give it."""
        if name not in self._columns:
            return None
        given, entries, there = lists(self._columns[name])
        if not self._check_lengths(name, given, counts, there):
            return None
        numbers = told_apart(floats(entries), valid(entries)) if name == "scores" else floats(entries)
        if there is None:
            return numbers
        spread = np.full(int(counts.sum()), np.nan)
        spread[np.repeat(there, counts)] = numbers
        return spread

    def _gives(self, name: str) -> Flags:
        """Which pages have a list in an optional column."""
        there = valid(self._columns[name]) if name in self._columns else np.zeros(self._count, dtype=np.bool_)
        return np.ones(self._count, dtype=np.bool_) if there is None else there

    def _check_given(self, counts: Ints) -> None:
        """What all pages with objects must have, or none."""
        rows = np.flatnonzero(counts > 0)
        if self._reader.needs_scores and "scores" in self._columns:
            for row in rows[~self._gives("scores")[rows]].tolist():
                self._reader.lacks_scores(int(self._number[row]))
        given = self._gives("ids")[rows]
        odd = np.flatnonzero(given != given[:1])
        for position in (*range(min(len(rows), 1)), *odd.tolist()):
            self._reader.check_ids(int(self._number[rows[position]]), given=bool(given[position]))

    def _ids(self, counts: Ints) -> Column | None:
        if "ids" not in self._columns:
            return None
        given, entries, there = lists(self._columns["ids"])
        if not self._check_lengths("ids", given, counts, there) or len(entries) < counts.sum() or not len(entries):
            return None  # pages with ids and pages without are refused together
        missing = valid(entries)
        if missing is not None:
            self._refuse_pages_of(~missing, counts, "ids", "expected a string or an integer, not null")
            return None
        if str(entries.type) not in INTEGERS:
            return Strings.pack(text or "" for text in texts(entries))
        numbers = values(entries)
        if str(entries.type) == "uint64" and numbers.max() >= 2**63:
            return Strings.pack(map(str, numbers.tolist()))
        return numbers.astype(np.int64, copy=False)


def _marked(pages: Ints, count: int) -> Flags:
    flags = np.zeros(count, dtype=np.bool_)
    flags[pages] = True
    return flags


NO_DAY = object()


def _day(value: Any) -> Any:
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return NO_DAY
