"""Ledgers as bytes: a JSON header, aligned raw columns and a checksum. A state is data: calque executes nothing in it.

The columns are raw little-endian arrays, one after the other. Each one starts at a multiple of 64 bytes, so that a state file
can be read with ``np.memmap``.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Protocol, TypeAlias

import numpy as np
from xxhash import xxh3_128

from calque.base.columns import Array, Column, Strings, Table
from calque.base.errors import CalqueError, ContractError
from calque.base.files import FileStamp, file_stamp, open_entry
from calque.evaluation.ledger import UNIT, Ledger

FAMILY = b"calque state "
MAGIC = FAMILY + b"6\n"
ALIGNMENT = 64
UNUSED_NAMES = 1 << 15
"""How many more names (of labels, say) than rows a state may have: calque computes metrics for every name."""
DTYPES = frozenset(("<f8", "<i8", "<i4", "<u2", "|u1", "|b1"))
"""The types that a column may have."""
MAPPED_BYTES = 1 << 20
"""State files of at least so many bytes are mapped when they are opened; shorter ones are read into memory."""
_LENGTH = 8
_DIGEST = 16

TableLayout: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""The type and the shape of each column of a table, by name. A column of strings has two arrays: ``offsets`` and ``data``."""


def describe(tables: Mapping[str, Table]) -> tuple[Mapping[str, TableLayout], list[Array]]:
    """Return the layout of tables and their arrays, contiguous and little-endian, in the order of the layout."""
    arrays: list[Array] = []

    def described(array: Array) -> dict[str, Any]:
        array = np.ascontiguousarray(array)
        arrays.append(array.astype(array.dtype.newbyteorder("<"), copy=False))
        return {"dtype": arrays[-1].dtype.str, "shape": list(array.shape)}

    def column_layout(column: Column) -> dict[str, Any]:
        if isinstance(column, Strings):
            return {"offsets": described(column.offsets), "data": described(column.data)}
        return described(column)

    layout = {
        name: {key: column_layout(column) for key, column in table.columns.items()} for name, table in tables.items()
    }  # fmt: skip
    return layout, arrays


def rebuild(layout: Mapping[str, TableLayout], arrays: Iterable[Array]) -> dict[str, Table]:
    """Return the tables of a layout from their arrays."""
    following = iter(arrays)

    def column(note: Mapping[str, Any]) -> Column:
        first = next(following)
        return Strings(next(following), first) if "offsets" in note else first

    return {name: Table({key: column(note) for key, note in columns.items()}) for name, columns in layout.items()}


def _array_notes(layout: Mapping[str, TableLayout]) -> Iterator[Mapping[str, Any]]:
    """Yield the type and the shape of each array of a layout, in order."""
    for columns in layout.values():
        for note in columns.values():
            yield from (note["offsets"], note["data"]) if "offsets" in note else (note,)


def _aligned(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT


# Bytes of a state.


class Packed:
    """The bytes of a state in pieces, so that a long state is never in memory as a whole."""

    def __init__(self, header: Mapping[str, Any], ledger: Ledger) -> None:
        self.layout, self._arrays = describe(ledger.tables)
        described = {
            "units": list(ledger.units),
            "names": {key: list(values) for key, values in ledger.names.items()},
            "details": sorted(ledger.details),
            "tables": self.layout,
        }
        text = json.dumps({**header, "ledger": described}, ensure_ascii=True).encode("ascii")
        length = _aligned(len(MAGIC) + _LENGTH + len(text)) - len(MAGIC) - _LENGTH
        self.head = MAGIC + length.to_bytes(_LENGTH, "little") + text.ljust(length)
        """Everything before the columns."""
        self.size = len(self.head) + sum(_aligned(array.nbytes) for array in self._arrays) + _DIGEST

    def __iter__(self) -> Iterator[bytes | memoryview]:
        checksum = xxh3_128(self.head)
        yield self.head
        for piece in _padded(self._arrays):
            checksum.update(piece)
            yield piece
        yield checksum.digest()


def _padded(arrays: Iterable[Array]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of arrays, each followed by zeros up to the next aligned position."""
    for array in arrays:
        yield array.reshape(-1).view(np.uint8).data
        yield bytes(_aligned(array.nbytes) - array.nbytes)


def pack(header: Mapping[str, Any], ledger: Ledger) -> bytes:
    """Return the bytes of a state with the caller's header and the ledger."""
    return b"".join(Packed(header, ledger))


def unpack(data: bytes | mmap.mmap, file: str) -> tuple[dict[str, Any], Ledger]:
    """Return the header and the ledger of a state. The columns are views of the data.

    Raises:
        ContractError: The data are not a state of this version, or are damaged.
    """
    if data[: len(MAGIC)] != MAGIC:
        if data[: len(FAMILY)] == FAMILY:
            text = "this state has a version that this calque does not know"
            raise ContractError.single(
                "state-version", text, file=file, help="use the calque that made it, or make it again with --save"
            )
        raise ContractError.single(
            "not-a-state", "this is not a calque state", file=file, help="give a file made with --save or Evaluator.save"
        )
    body = memoryview(data)[:-_DIGEST]
    if len(data) < len(MAGIC) + _LENGTH + _DIGEST or xxh3_128(body).digest() != data[-_DIGEST:]:
        raise ContractError.single(
            "state-damaged",
            f"the state is cut off or damaged ({len(data):,} bytes)",
            file=file,
            help="make it again with --save",
        )
    with well_formed(file):
        return _parsed(body, file)


@contextmanager
def well_formed(file: str) -> Iterator[None]:
    """Turn any exception that a forged state causes into an error that names the file."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # a forged state with a valid checksum can cause any exception
        if isinstance(error, CalqueError) and file in str(error):
            raise
        reason = error if isinstance(error, CalqueError) else f"{type(error).__name__}: {error}"
        text = f"the state does not hold what it should ({reason})"
        raise ContractError.single("state-damaged", text, file=file, help="make it again with --save") from error


def _parsed(body: memoryview, file: str) -> tuple[dict[str, Any], Ledger]:
    end = _header_end(body)
    if end % ALIGNMENT:
        raise ValueError(f"the columns start at byte {end:,}, which is not aligned")
    header = json.loads(bytes(body[len(MAGIC) + _LENGTH : end]))
    described = header.pop("ledger")
    layout = described["tables"]
    for note in _array_notes(layout):
        _check_array(note, file)
    arrays, end = _views(body, end, layout)
    if end != len(body):
        raise ValueError(f"the columns end at byte {end:,}, and the state has {len(body):,}")
    tables = rebuild(layout, arrays)
    names = {key: tuple(values) for key, values in described["names"].items()}
    units = tuple(described["units"])
    if not all(isinstance(name, str) for values in names.values() for name in values):
        raise TypeError("a name is not a text")
    if not all(type(unit) in (str, int) for unit in units):
        raise TypeError("a document id is neither a text nor a whole number")
    _check_columns(tables, names)
    rows = sum(table.height for table in tables.values())
    for key, values in names.items():
        if len(values) > rows + UNUSED_NAMES:
            text = f"the state has {len(values):,} names for {key!r}, and only {rows:,} rows"
            raise ContractError.single("state-too-large", text, file=file, help="make it again with --save")
    details = frozenset((table, column) for table, column in described["details"])
    return header, Ledger(units=units, tables=tables, names=names, details=details)


def _header_end(data: memoryview | mmap.mmap) -> int:
    start = len(MAGIC) + _LENGTH
    return start + int.from_bytes(data[len(MAGIC) : start], "little")


def _check_array(note: Mapping[str, Any], file: str) -> None:
    """Refuse types and shapes that no column has."""
    if note["dtype"] not in DTYPES:
        text = f"a column of type {note['dtype']!r} does not belong in a state"
        raise ContractError.single("state-dtype", text, file=file, help="make it again with --save")
    shape = note["shape"]
    if not shape or not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"{shape} is not the shape of a column")


def _check_columns(tables: Mapping[str, Table], names: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse strings with wrong offsets and codes without a meaning: metrics use both as positions."""
    for table in tables.values():
        if table.array(UNIT).dtype != np.int32 or table.array(UNIT).ndim != 1:
            raise TypeError("the documents of rows are not codes")
        for column in table.columns.values():
            if isinstance(column, Strings):
                _check_strings(column)
        for key in table:
            if key not in names or not len(codes := table.array(key)):
                continue
            if codes.dtype.kind not in "iu" or int(codes.min()) < -1 or int(codes.max()) >= len(names[key]):
                raise ValueError(f"column {key!r} has a code without a name")


def _check_strings(column: Strings) -> None:
    offsets, data = column.offsets, column.data
    if offsets.dtype != np.int64 or data.dtype != np.uint8 or offsets.ndim != 1 or data.ndim != 1:
        raise TypeError("strings must be bytes with their offsets")
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(data) or np.any(np.diff(offsets) < 0):
        raise ValueError("the offsets of strings must rise from 0 to the length of their bytes")


def _views(data: mmap.mmap | memoryview, start: int, layout: Mapping[str, TableLayout]) -> tuple[list[Array], int]:
    """Return the arrays of a layout as views of data from a position on, and the position after the last one."""
    views: list[Array] = []
    for note in _array_notes(layout):
        dtype, shape = np.dtype(note["dtype"]), tuple(note["shape"])
        size = math.prod(shape) * dtype.itemsize
        if start + size > len(data):
            raise ValueError("a column is longer than the state")
        views.append(np.ndarray(shape, dtype, buffer=data, offset=start))
        start += _aligned(size)
    return views, start


# Columns in files.


class ColumnFile(Protocol):
    """A file with columns."""

    def map(self, start: int, size: int) -> mmap.mmap:
        """Map a range of the file into memory. The mapping ends with its last user."""


@dataclass(frozen=True, slots=True)
class StateFile:
    """A state that this process has written or checked. Each use opens it, because a checkpoint may have thousands."""

    path: str
    stamp: FileStamp
    """The stamp of the file when it was checked: a changed file is refused."""

    def map(self, start: int, size: int) -> mmap.mmap:
        """Map a range of the file."""
        try:
            with open_entry(self.path) as file:
                if file_stamp(os.fstat(file.fileno())) == self.stamp:
                    return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ, offset=start)
        except FileNotFoundError:
            pass
        raise CalqueError(f"{self.path}: was changed or removed while it was in use; give the same command again")


class TemporaryFile:
    """A file without a name in the temporary folder. The system removes it with its last user or with the process."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._end = 0
        self._lock = threading.Lock()

    def append(self, tables: Mapping[str, Table]) -> StoredTables:
        """Write tables at the end of the file."""
        layout, arrays = describe(tables)
        with self._lock:
            start = self._end
            try:
                if self._file is None:
                    self._file = tempfile.TemporaryFile(prefix="calque-")  # noqa: SIM115  # closed by the finalizer
                    weakref.finalize(self, self._file.close)
                self._file.seek(start)
                self._file.writelines(_padded(arrays))
                self._file.flush()
            except OSError as error:
                raise CalqueError(
                    f"{tempfile.gettempdir()}: {(error.strerror or str(error)).lower()}; numbers that do not fit in memory "
                    "are kept there: make room, or name another folder in the environment variable TMPDIR"
                ) from error
            self._end = start + sum(_aligned(array.nbytes) for array in arrays)
        return StoredTables(self, start, layout)

    def map(self, start: int, size: int) -> mmap.mmap:
        """Map a range of the file."""
        assert self._file is not None  # noqa: S101  # the range was written
        return mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ, offset=start)


@dataclass(frozen=True, slots=True, eq=False)
class StoredTables:
    """Tables whose columns are in a file."""

    file: ColumnFile
    start: int
    """The position of the first column."""
    layout: Mapping[str, TableLayout]

    def load(self) -> dict[str, Table]:
        """Return the tables. Their columns are mapped: the system reads what is used."""
        sizes = (_aligned(math.prod(note["shape"]) * np.dtype(note["dtype"]).itemsize) for note in _array_notes(self.layout))
        size = sum(sizes)
        if not size:
            return rebuild(self.layout, _views(memoryview(b""), 0, self.layout)[0])
        first = self.start - self.start % mmap.ALLOCATIONGRANULARITY
        mapped = self.file.map(first, self.start - first + size)
        return rebuild(self.layout, _views(mapped, self.start - first, self.layout)[0])


def open_state(path: str) -> tuple[dict[str, Any], Ledger, StoredTables | None]:
    """Read and check a state file. Return its header, its ledger and, if the file was mapped, its tables in the file.

    The file is mapped as long as the ledger is used.
    """
    with open_entry(path) as file:
        status = os.fstat(file.fileno())
        if status.st_size < MAPPED_BYTES:
            return *unpack(file.read(), path), None
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header, ledger = unpack(data, path)
    return header, ledger, StoredTables(StateFile(path, file_stamp(status)), _header_end(data), describe(ledger.tables)[0])
