"""Parquet within bounds: the sizes that a file claims, looked at before anything believes them, and rows as Python values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple, NoReturn

from calque.base.errors import ContractError, MissingExtra
from calque.readers.sources.compression import ALWAYS_FINE, MOST_TIMES

MAGIC = b"PAR1"
DAMAGED = "it may be cut off: copy or make it again"
DEEPEST = 64
"""How deep structures of the footer may lie in each other, and lists of the columns."""
PAGE_HEAD = 512
"""How many bytes nearly all page headers fit in; those with long statistics are read again with more."""
LONGEST_PAGE_HEAD = 16 << 20

WIDTHS = {0: 1, 1: 4, 2: 8, 3: 8, 4: 4, 5: 8, 6: 8}
"""How many bytes an entry of each physical type takes in memory; texts beside their letters."""
TEXT, FIXED = 6, 7
REPEATED, OPTIONAL = 2, 1


class Leaf(NamedTuple):
    """A column as it is stored: the names on the way to it, and how it may repeat or be missing."""

    path: tuple[str, ...]
    kind: int
    width: int
    most_repeated: int
    most_defined: int


class Chunk(NamedTuple):
    """A column in one row group, as the footer states it."""

    leaf: Leaf
    values: int
    begin: int
    has_dictionary: bool


class RowGroup(NamedTuple):
    """Some rows, column by column."""

    rows: int
    chunks: tuple[Chunk, ...]
    unpacked: int = 0
    """How many bytes the pages of the columns unpack to."""


class _Refused(Exception):
    """What is wrong, in words."""


def row_groups(file: IO[bytes], path: str, wanted: Callable[[str], bool]) -> list[RowGroup]:
    """The row groups of a file, with those columns that will be read; `ContractError` when their sizes cannot be true.

    Whoever unpacks a page makes room for what its header says. So nothing is unpacked before the pages and the footer are
    known to agree, and to stay within what files of this size hold.
    """
    size = os.fstat(file.fileno()).st_size
    limit = max(ALWAYS_FINE, MOST_TIMES * size)
    try:
        groups = [_group(node, leaves, size, wanted) for leaves, node in _stated(_footer(file, size))]
        total = sum(chunk.values * chunk.leaf.width for group in groups for chunk in group.chunks)
        read: list[RowGroup] = []
        for group in groups:
            if total <= limit:
                read.append(group._replace(unpacked=sum(_unpacked(file, chunk, size) for chunk in group.chunks)))
                total += read[-1].unpacked
    except _Refused as refused:
        unreadable(path, str(refused))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        unreadable(path, "its footer is damaged")
    if total > limit:
        text = f"unfolds to more than {limit:,} bytes, far more than pages of its packed size do"
        raise ContractError.single("unpacks-too-large", text, file=path, help="give it in parts if you trust it")
    return read


def unreadable(path: str, reason: str) -> NoReturn:
    """Refuse a file."""
    raise ContractError.single("not-parquet", f"cannot be read as Parquet: {reason}", file=path, help=DAMAGED)


def _footer(file: IO[bytes], size: int) -> dict[int, Any]:
    """The footer, which ends the file together with its own length."""
    file.seek(max(0, size - 8))
    tail = file.read(8)
    if size < 12 or tail[4:] != MAGIC:
        raise _Refused("it does not end as Parquet files do")
    length = int.from_bytes(tail[:4], "little")
    if length > size - 12:
        raise _Refused(f"its footer is said to have {length:,} bytes, and the file has {size:,}")
    file.seek(size - 8 - length)
    return _Compact(file.read(length)).struct()


def _stated(footer: dict[int, Any]) -> list[tuple[list[Leaf], dict[int, Any]]]:
    """The schema, with each row group as it is stated."""
    leaves = list(_leaves(footer[2]))
    if sum(node[3] for node in footer[4]) != footer[3]:
        raise _Refused("its row groups do not have as many rows as the file is said to have")
    return [(leaves, node) for node in footer[4]]


def _leaves(elements: list[dict[int, Any]]) -> Iterator[Leaf]:
    """The stored columns in the order of the schema, which lists a tree, each group before what it holds."""
    open_groups: list[list[Any]] = [[elements[0].get(5, 0), (), 0, 0]]
    for element in elements[1:]:
        while open_groups and not open_groups[-1][0]:
            open_groups.pop()
        if not open_groups or len(open_groups) > DEEPEST:
            raise _Refused("its schema is damaged")
        open_groups[-1][0] -= 1
        _, path, repeated, defined = open_groups[-1]
        kind = element.get(3, 0)
        inside = (*path, element[4].decode("utf-8")), repeated + (kind == REPEATED), defined + (kind in (REPEATED, OPTIONAL))
        children = element.get(5, 0)
        if children < 0 or children > len(elements) or (1 not in element and not children):
            raise _Refused("its schema is damaged")
        if children:
            open_groups.append([children, *inside])
        else:
            width = element.get(2, 0) if element[1] == FIXED else WIDTHS[element[1]]
            yield Leaf(inside[0], element[1], width, inside[1], inside[2])
    if any(left for left, *_ in open_groups):
        raise _Refused("its schema is damaged")


def _group(node: dict[int, Any], leaves: list[Leaf], size: int, wanted: Callable[[str], bool]) -> RowGroup:
    rows, columns = node[3], node[1]
    if len(columns) != len(leaves) or rows < 0:
        raise _Refused("a row group does not have the columns of the schema")
    chunks = (_chunk(column, leaf, rows, size) for column, leaf in zip(columns, leaves, strict=True))
    return RowGroup(rows, tuple(chunk for chunk in chunks if wanted(chunk.leaf.path[0])))


def _chunk(node: dict[int, Any], leaf: Leaf, rows: int, size: int) -> Chunk:
    name = ".".join(leaf.path)
    if node.get(1):
        raise _Refused(f"column {name} is in another file, which is not read")
    if 3 not in node:
        raise _Refused(f"column {name} is encrypted")
    about = node[3]
    values, packed = about[5], about[7]
    begin = min(about[9], about.get(11) or about[9])
    if min(values, packed) < 0 or (values and (begin < len(MAGIC) or begin + packed > size - 8)):
        raise _Refused(f"column {name} is said to be where the file is not")
    if values < rows or (values > rows and not leaf.most_repeated):
        raise _Refused(f"column {name} is said to have {values:,} entries for {rows:,} rows")
    counted = about.get(16, {})
    for histogram, most in ((counted.get(2), leaf.most_repeated), (counted.get(3), leaf.most_defined)):
        if histogram and len(histogram) != most + 1:  # pyarrow ends the process over it
            raise _Refused(f"the size statistics of column {name} do not fit its type")
    return Chunk(leaf, values, begin, 11 in about)


def _unpacked(file: IO[bytes], chunk: Chunk, size: int) -> int:
    """How many bytes the pages of a column unpack to, by their headers."""
    name = ".".join(chunk.leaf.path)
    at, values, unpacked = chunk.begin, 0, 0
    while values < chunk.values:
        header, length = _page_header(file, at, size)
        about = header.get(5) or header.get(8) or {1: 0}
        if min(header[2], header[3], about[1]) < 0:
            raise _Refused(f"a page of column {name} is said to have less than nothing")
        values += about[1]
        unpacked += header[2]
        at += length + header[3]
    if values != chunk.values or at > size:
        raise _Refused(f"the pages of column {name} hold more than the footer says")
    return unpacked


def _page_header(file: IO[bytes], at: int, end: int) -> tuple[dict[int, Any], int]:
    """The header of a page, and how long it is."""
    room = PAGE_HEAD
    while True:
        file.seek(at)
        data = file.read(min(room, end - at))
        compact = _Compact(data)
        try:
            return compact.struct(), compact.at
        except (IndexError, ValueError):
            if room >= min(LONGEST_PAGE_HEAD, end - at):
                raise _Refused("the header of a page is damaged") from None
            room *= 16


class _Compact:
    """Thrift's compact protocol, as far as Parquet uses it: structures become mappings from field numbers to values."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The structure that begins here."""
        if depth > DEEPEST:
            raise ValueError
        fields: dict[int, Any] = {}
        number = 0
        data = self._data
        while head := data[self.at]:
            self.at += 1
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind == 1 if kind < 3 else self._value(kind, depth)
        self.at += 1
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 8:
            return self._bytes(self._unsigned())
        if kind == 12:
            return self.struct(depth + 1)
        if kind in (9, 10):
            return self._list(depth + 1)
        if kind in (3, 7, 13):
            return self._bytes({3: 1, 7: 8, 13: 16}[kind])
        raise ValueError

    def _list(self, depth: int) -> list[Any]:
        if depth > DEEPEST:
            raise ValueError
        head = self._data[self.at]
        self.at += 1
        count = head >> 4 if head >> 4 < 15 else self._unsigned()
        kind = head & 15
        if count > len(self._data) - self.at:  # each entry takes a byte at least
            raise ValueError
        if kind in (1, 2):
            return list(self._bytes(count))
        return [self._value(kind, depth) for _ in range(count)]

    def _bytes(self, count: int) -> bytes:
        begin, self.at = self.at, self.at + count
        if self.at > len(self._data):
            raise IndexError
        return self._data[begin : self.at]

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def _unsigned(self) -> int:
        data = self._data
        byte = data[self.at]
        self.at += 1
        if byte < 128:
            return byte
        number, shift = byte & 127, 7
        while byte >= 128:
            byte = data[self.at]
            self.at += 1
            number |= (byte & 127) << shift
            shift += 7
            if shift > 70:
                raise ValueError
        return number


AT_ONCE = 16_384
"""How many rows are Python objects at a time."""


def parquet_rows(path: str, columns: Sequence[str], needed: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """The rows of a file with those of the columns that it has; `ContractError` when it cannot be read."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "parquet", "reading Parquet") from error
    try:
        with open(path, "rb", buffering=0) as bare:
            groups = row_groups(bare, path, columns.__contains__)  # before anything believes what it says
        texts = {".".join(chunk.leaf.path) for group in groups for chunk in group.chunks if chunk.leaf.kind == TEXT}
        with parquet.ParquetFile(path, read_dictionary=sorted(texts)) as file:
            known = [name for name in columns if name in file.schema_arrow.names]
            if missing := [name for name in needed if name not in known]:
                raise ContractError.single("no-column", f"has no column {', '.join(missing)}", file=path)
            # Each row group has dictionaries of its own, and pyarrow cannot join those of lists.
            for number in range(len(groups)):
                for batch in file.iter_batches(AT_ONCE, row_groups=[number], columns=known, use_threads=False):
                    yield from _rows(known, batch)
    except (ArrowException, OSError, TypeError, ValueError, OverflowError) as error:
        unreadable(path, str(error).splitlines()[0] if str(error) else type(error).__name__)


def _rows(names: Sequence[str], batch: Any) -> list[dict[str, Any]]:
    columns = [_values(batch.column(name)) for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _values(array: Any) -> list[Any]:
    """The values of a column; equal texts are one object."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        known = array.dictionary.to_pylist()
        return [None if code is None else known[code] for code in array.indices.to_pylist()]
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        inside = iter(_values(array.flatten()))
        return [
            None if length is None else [next(inside) for _ in range(length)] for length in array.value_lengths().to_pylist()
        ]
    values: list[Any] = array.to_pylist()
    return values
