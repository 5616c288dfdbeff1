"""Columns: NumPy arrays and packed strings, and tables made of them."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from calque.base.arguments import check_type
from calque.base.errors import MissingExtra
from calque.base.short_repr import one_line

if TYPE_CHECKING:
    import numpy.typing as npt  # a millisecond that only type checkers need
    import pandas
    import polars

Floats: TypeAlias = "npt.NDArray[np.float64]"
Ints: TypeAlias = "npt.NDArray[np.int64]"
Codes: TypeAlias = "npt.NDArray[np.int32]"
Flags: TypeAlias = "npt.NDArray[np.bool_]"
Bytes: TypeAlias = "npt.NDArray[np.uint8]"
Array: TypeAlias = "npt.NDArray[Any]"


def where_else(flags: Flags, column: Array, otherwise: int) -> Array:
    """The column where the flags say so, and a number elsewhere; the column itself, uncopied, where they all do.

    >>> where_else(np.array([True, False]), np.array([3, 4]), -1).tolist()
    [3, -1]
    """
    if flags.all():
        return column
    copy = column.copy()
    np.copyto(copy, otherwise, where=~flags)
    return copy


def distinct(values: Array) -> tuple[Array, Ints]:
    """The values that occur, in order, and for each value its place among them.

    `np.unique` says the same, and imports NumPy's masked arrays to do so: a tenth of a short command's time.

    >>> [each.tolist() for each in distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.ones(len(values), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    places = np.empty(len(values), dtype=np.int64)
    places[order] = np.cumsum(first) - 1
    return ordered[first], places


def numbered(*columns: Iterable[str]) -> tuple[list[str], list[Codes]]:
    """The different texts in some columns, in the order in which they come, and for each column the numbers of its texts.

    >>> texts, codes = numbered(["a", "b", "a"], ["c", "b"])
    >>> texts, [each.tolist() for each in codes]
    (['a', 'b', 'c'], [[0, 1, 0], [2, 1]])
    """
    listed = [column.tolist() if isinstance(column, Strings) else list(column) for column in columns]
    texts = list(dict.fromkeys(chain.from_iterable(listed)))
    number = {text: code for code, text in enumerate(texts)}.__getitem__
    return texts, [np.array(list(map(number, each)), dtype=np.int32) for each in listed]


def rows_by_code(codes: Array, size: int) -> tuple[Ints, Ints]:
    """Return the rows by code, from 0 to below ``size``, and where each code begins. Rows of one code stay in their order.

    >>> [each.tolist() for each in rows_by_code(np.array([2, 0, 2]), 3)]
    [[1, 0, 2], [0, 1, 1, 3]]
    """
    # NumPy sorts 16-bit numbers by counting.
    order = np.argsort(codes.astype(np.uint16) if size <= 1 << 16 else codes, kind="stable").astype(np.int64, copy=False)
    return order, np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=size))])


def grouped_rows(codes: Array, size: int) -> Iterator[tuple[int, Ints]]:
    """Yield each code that occurs, and its rows."""
    order, bounds = rows_by_code(codes, size)
    for code, (start, end) in enumerate(pairwise(bounds.tolist())):
        if start < end:
            yield code, order[start:end]


BEYOND_ASCII = 0x80
"""The least byte of characters that are not ASCII."""
TOGETHER = 4096
"""How many packed strings are unpacked in one go."""


@dataclass(frozen=True, eq=False)
class Strings(Sequence[str]):
    """Many strings in two arrays: UTF-8 bytes, and where each string starts.

    >>> names = Strings.pack(["Figure", "Tabelle", ""])
    >>> names[1], len(names), names.take([2, 0]).tolist()
    ('Tabelle', 3, ['', 'Figure'])
    """

    data: Bytes
    offsets: Ints

    @classmethod
    def pack(cls, strings: Iterable[str]) -> Strings:
        """The column that holds these strings."""
        # Lone surrogates are legal in JSON; they survive the round trip instead of failing here.
        listed = list(strings)
        whole = "".join(listed)
        data = whole.encode("utf-8", "surrogatepass")
        offsets = np.zeros(len(listed) + 1, dtype=np.int64)
        # In ASCII a text has as many bytes as characters.
        lengths = (
            map(len, listed) if len(data) == len(whole) else (len(text.encode("utf-8", "surrogatepass")) for text in listed)
        )
        np.cumsum(list(lengths), out=offsets[1:])
        return cls(np.frombuffer(data, dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:  # type: ignore[override]  # `cut` has slices
        position = range(len(self))[index]
        return self._decode(int(self.offsets[position]), int(self.offsets[position + 1]))

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._some(first) for first in range(0, len(self), TOGETHER))

    def _some(self, first: int) -> list[str]:
        """Some strings on end, unpacked in one go."""
        bounds = self.offsets[first : first + TOGETHER + 1]
        data = self.data[bounds[0] : bounds[-1]].tobytes()
        if not data:
            return [""] * (len(bounds) - 1)
        places = pairwise((bounds - bounds[0]).tolist())
        if data.isascii():
            text = data.decode()
            return [text[start:end] for start, end in places]
        return [data[start:end].decode("utf-8", "surrogatepass") for start, end in places]

    def _decode(self, start: int, end: int) -> str:
        return self.data[start:end].tobytes().decode("utf-8", "surrogatepass")

    def is_ascii(self) -> bool:
        """Whether each byte is a character."""
        return not len(self.data) or int(self.data.max()) < BEYOND_ASCII

    def lowered(self) -> Strings:
        """Those in lower case of which `is_ascii` holds."""
        capital = (self.data >= ord("A")) & (self.data <= ord("Z"))
        return Strings(self.data + capital * np.uint8(ord("a") - ord("A")), self.offsets)

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return self.data.nbytes + self.offsets.nbytes

    def tolist(self) -> list[str]:
        """All strings, as Python objects."""
        return list(self)

    def take(self, rows: Sequence[int] | Array) -> Strings:
        """The strings of these rows, in this order."""
        chosen = np.asarray(rows, dtype=np.int64)
        starts, lengths = self.offsets[chosen], self.offsets[chosen + 1] - self.offsets[chosen]
        offsets = np.zeros(len(chosen) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        data, shifts = np.empty(offsets[-1], dtype=np.uint8), starts - offsets[:-1]
        # Some rows at a time: a number for every byte would be eight times as many bytes.
        for first in range(0, len(chosen), TOGETHER):
            here = slice(first, first + TOGETHER)
            begin, end = offsets[first], offsets[min(first + TOGETHER, len(chosen))]
            np.take(self.data, np.repeat(shifts[here], lengths[here]) + np.arange(begin, end), out=data[begin:end], mode="clip")
        return Strings(data, offsets)

    def cut(self, start: int, stop: int) -> Strings:
        """The strings of some rows on end; their bytes are shared."""
        first, last = self.offsets[start], self.offsets[stop]
        return Strings(self.data[first:last], self.offsets[start : stop + 1] - first)

    @staticmethod
    def concat(parts: Sequence[Strings]) -> Strings:
        """One column of all parts, one after the other."""
        shifts = np.cumsum([0, *(len(part.data) for part in parts)])
        bodies = [part.offsets[1:] + shift for part, shift in zip(parts, shifts, strict=False)]
        first = np.zeros(1, dtype=np.int64)
        return Strings(np.concatenate([part.data for part in parts]), np.concatenate([first, *bodies]))


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """A ring for each row, or none where the row is its box: all vertices, and where those of each row start.

    >>> shapes = Outlines.pack([[0, 0, 4, 0, 0, 3], []])
    >>> len(shapes), shapes.ring(0), shapes.take([1, 0]).offsets.tolist()
    (2, [0.0, 0.0, 4.0, 0.0, 0.0, 3.0], [0, 0, 3])
    """

    points: Floats
    """Two numbers a vertex."""
    offsets: Ints

    @classmethod
    def pack(cls, rings: Iterable[Sequence[float]]) -> Outlines:
        """The column of rings x, y, x, y, ..."""
        listed = list(rings)
        offsets = np.zeros(len(listed) + 1, dtype=np.int64)
        np.cumsum([len(ring) // 2 for ring in listed], out=offsets[1:])
        flat = [value for ring in listed for value in ring]
        return cls(np.array(flat, dtype=np.float64).reshape(-1, 2), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def drawn(self) -> Flags:
        """For each row whether it has a ring."""
        return np.asarray(np.diff(self.offsets) > 0)

    def corners(self) -> Ints:
        """For each row how many different points its ring has."""
        return np.array([len(set(map(tuple, ring))) for ring in np.split(self.points, self.offsets[1:-1])][: len(self)])

    def ring(self, row: int) -> list[float]:
        """The ring of a row as x, y, x, y, ..."""
        return list(self.points[self.offsets[row] : self.offsets[row + 1]].reshape(-1).tolist())

    def rows(self) -> Ints:
        """For each vertex its row."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))

    def scaled(self, scale: Floats) -> Outlines:
        """The rings, each times the two numbers of its row."""
        with np.errstate(over="ignore", invalid="ignore"):
            return Outlines(self.points * scale[self.rows()], self.offsets)

    def take(self, rows: Sequence[int] | Array) -> Outlines:
        """The rings of these rows, in this order."""
        chosen = np.asarray(rows, dtype=np.int64)
        lengths = self.offsets[chosen + 1] - self.offsets[chosen]
        offsets = np.zeros(len(chosen) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        source = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1], dtype=np.int64)
        return Outlines(self.points[source], offsets)

    def without(self, rows: Flags) -> Outlines:
        """The column with no ring in some rows."""
        kept = np.where(rows, 0, np.diff(self.offsets))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        return Outlines(self.points[~rows[self.rows()]], offsets)


Column: TypeAlias = "Array | Strings"
SHOWN_ROWS = 10
"""How many rows of a table a notebook shows."""


def take(column: Column, rows: Array) -> Column:
    """The rows of a column, in the order given."""
    return column[rows] if isinstance(column, np.ndarray) else column.take(rows)


def concat(parts: Sequence[Column]) -> Column:
    """Columns one after the other; when some hold strings, the others are spelt out.

    >>> concat([np.array([7]), Strings.pack(["a"])]).tolist()
    ['7', 'a']
    """
    if any(isinstance(part, Strings) for part in parts):
        return Strings.concat([part if isinstance(part, Strings) else Strings.pack(map(str, part.tolist())) for part in parts])
    return np.concatenate([np.asarray(part) for part in parts])


@dataclass(frozen=True, slots=True, eq=False)
class Table(Mapping[str, Column]):
    """Named columns of equal length; a mapping by column name, an iterator by `rows`.

    >>> table = Table({"label": Strings.pack(["Figure", "Table"]), "iou": np.array([0.75, np.nan])})
    >>> list(table.rows())
    [{'label': 'Figure', 'iou': 0.75}, {'label': 'Table', 'iou': None}]
    >>> table
    <Table: 2 rows of label, iou>
    """

    columns: Mapping[str, Column]

    def __post_init__(self) -> None:
        check_type("Table", "columns", self.columns, Mapping, "a mapping of names to columns")
        for name, column in self.columns.items():
            check_type("Table", f"columns[{name!r}]", column, Sized, "a column")
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of one table differ in length: {lengths}")

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        columns = ", ".join(self.columns) or "nothing"
        return one_line(f"<Table: {self.height:,} row{'' if self.height == 1 else 's'} of {columns}>")

    def _repr_html_(self) -> str:
        """A small table for notebooks: the first rows, and how many there are."""
        from html import escape  # only notebooks need it

        from calque.base.style import table_line, to_notebook

        texts = [isinstance(column, Strings) or column.dtype == np.bool_ for column in self.columns.values()]
        head = table_line(texts, "th", map(escape, self.columns))
        first = self.cut(0, min(self.height, SHOWN_ROWS)).rows()
        rows = [table_line(texts, "td", (escape(_cell(value)) for value in row.values())) for row in first]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = f"<caption>the first {SHOWN_ROWS} of {self.height:,} rows</caption>" if self.height > SHOWN_ROWS else ""
        return to_notebook(f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

    @property
    def height(self) -> int:
        """The number of rows."""
        return next((len(column) for column in self.columns.values()), 0)

    def array(self, name: str) -> Array:
        """A numeric column."""
        column = self.columns[name]
        if isinstance(column, Strings):
            raise TypeError(f"column {name!r} holds strings")
        return column

    def take(self, rows: Array) -> Table:
        """The rows given, in this order."""
        return Table({name: take(column, rows) for name, column in self.columns.items()})

    def cut(self, start: int, stop: int) -> Table:
        """Some rows on end, without a copy."""
        return Table({
            name: column.cut(start, stop) if isinstance(column, Strings) else column[start:stop]
            for name, column in self.columns.items()
        })  # fmt: skip

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dictionary for each row; a number that is not finite is ``None``, and so is a box with one."""
        names = list(self.columns)
        values = [_python_values(column) for column in self.columns.values()]
        return (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas frame."""
        return _frame_maker("pandas")(self._plain())  # type: ignore[no-any-return]  # the maker is looked up by name

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars frame."""
        return _frame_maker("polars")(self._plain())  # type: ignore[no-any-return]  # the maker is looked up by name

    def _plain(self) -> dict[str, Any]:
        return {
            name: column.tolist() if isinstance(column, Strings) or column.ndim > 1 else column
            for name, column in self.columns.items()
        }


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def _frame_maker(package: str) -> Callable[..., Any]:
    try:
        return importlib.import_module(package).DataFrame  # type: ignore[no-any-return]  # both name it DataFrame
    except ImportError as error:
        raise MissingExtra(package, "frames", f"a {package} frame") from error


def _python_values(column: Column) -> list[Any]:
    if isinstance(column, Strings):
        return column.tolist()
    values: list[Any] = column.tolist()
    if column.dtype.kind != "f":
        return values
    if column.ndim > 1:
        missing = np.atleast_1d(~np.isfinite(column).all(axis=tuple(range(1, column.ndim))))
        return [None if gone else value for value, gone in zip(values, missing, strict=True)]
    return [value if math.isfinite(value) else None for value in values]
