"""A ledger as bytes: a JSON header, then raw columns, then a checksum. Data only: nothing in it is ever run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from calque.base.columns import Array, Column, Strings, Table
from calque.base.errors import CalqueError, ContractError
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.storage.forms import DTYPES, WIDEST, Form

FAMILY = b"calque state "
MAGIC = FAMILY + b"5\n"
_LENGTH = 8
_DIGEST = 16
LARGEST_RATIO = 64
"""How many times as long as its file the columns of a state may be; states of real corpora stay below 10."""
SMALLEST_BOUND = 1 << 26
"""Columns of so many bytes are always accepted."""
UNUSED_NAMES = 1 << 15
"""How many more names (of labels, say) than rows a state may have: metrics are made for every name."""
_PIECE = 1 << 22
"""So many bytes are counted, and written, at a time: seldom enough that others who run Python need not be waited for."""


class Packed:
    """The bytes of a state, piece by piece: no more than one column is copied at a time."""

    def __init__(self, header: Mapping[str, Any], ledger: Ledger) -> None:
        self._arrays: list[Array] = []
        self.forms: list[Form] = []
        """Of the columns, in their order."""
        tables = {
            name: {key: self._described(key, column) for key, column in table.columns.items()}
            for name, table in ledger.tables.items()
        }
        layout = {
            "units": list(ledger.units),
            "names": {key: list(values) for key, values in ledger.names.items()},
            "details": sorted(ledger.details),
            "tables": tables,
        }
        text = json.dumps({**header, "ledger": layout}, ensure_ascii=True).encode("ascii")
        self.head = b"".join([MAGIC, len(text).to_bytes(_LENGTH, "little"), text])
        """All that comes before the columns."""
        self.size = len(self.head) + sum(form.size for form in self.forms) + _DIGEST

    def _described(self, key: str, column: Column) -> dict[str, Any]:
        if isinstance(column, Strings):
            return {"offsets": self._noted(column.offsets, Form.narrowest), "data": self._noted(column.data, Form.plain)}
        # How many rows there are is told by one column that has a value for each.
        return self._noted(column, Form.narrowest if key == UNIT else Form.shortest)

    def _noted(self, array: Array, form: Callable[[Array], Form]) -> dict[str, Any]:
        array = np.ascontiguousarray(array)
        self._arrays.append(array)
        self.forms.append(form(array))
        return self.forms[-1].note()

    def __iter__(self) -> Iterator[bytes | memoryview]:
        checksum = _Checksum()
        yield from checksum.taken(memoryview(self.head))
        for form, array in zip(self.forms, self._arrays, strict=True):
            yield from checksum.taken(form.data(array))
        yield checksum.digest()


def pack(header: Mapping[str, Any], ledger: Ledger) -> bytes:
    """The bytes of a state: the caller's header and the ledger."""
    return b"".join(Packed(header, ledger))


class _Checksum:
    """Of bytes that come piece by piece."""

    def __init__(self) -> None:
        from xxhash import xxh3_128  # only states need it

        self._sum = xxh3_128()

    def taken(self, data: memoryview) -> Iterator[memoryview]:
        """The same bytes, each piece when it was counted: whoever writes it finds it near at hand."""
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            self._sum.update(piece)
            yield piece

    def digest(self) -> bytes:
        """The checksum of all that came."""
        return self._sum.digest()


def _digest(body: bytes | memoryview) -> bytes:
    checksum = _Checksum()
    for _ in checksum.taken(memoryview(body)):
        pass
    return checksum.digest()


def unpack(data: bytes, file: str) -> tuple[dict[str, Any], Ledger]:
    """The header and the ledger of a state; `ContractError` when the bytes are not one."""
    header, ledger, _ = unpack_with_forms(data, file)
    return header, ledger


def unpack_with_forms(data: bytes, file: str) -> tuple[dict[str, Any], Ledger, list[Form]]:
    """The same, and the forms of all columns in their order."""
    if data.startswith(FAMILY) and not data.startswith(MAGIC):
        text = "this state has a version that this calque does not know"
        raise ContractError.single(
            "state-version", text, file=file, help="use the calque that made it, or make it again with --save"
        )
    if not data.startswith(MAGIC):
        raise ContractError.single(
            "not-a-state", "this is not a calque state", file=file, help="give a file made with --save or Evaluator.save"
        )
    body = memoryview(data)[:-_DIGEST]
    if len(data) < len(MAGIC) + _LENGTH + _DIGEST or _digest(body) != data[-_DIGEST:]:
        raise ContractError.single(
            "state-damaged",
            f"the state is cut off or damaged ({len(data):,} bytes)",
            file=file,
            help="make it again with --save",
        )
    with well_formed(file):
        return _parsed(body, file)


def columns_start(data: bytes) -> int:
    """Where the first column of a state begins."""
    start = len(MAGIC) + _LENGTH
    return start + int.from_bytes(data[len(MAGIC) : start], "little")


@contextmanager
def well_formed(file: str) -> Iterator[None]:
    """Whatever a state that was changed by hand makes Python stumble over becomes an error that names the file."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # a forged state with a true checksum can make anything stumble
        if isinstance(error, CalqueError) and file in str(error):
            raise
        raise _damaged(file, error) from error


def _damaged(file: str, error: Exception) -> ContractError:
    """What is said of a state with a true checksum that cannot be worked with."""
    told = error if isinstance(error, CalqueError) else f"{type(error).__name__}: {error}"
    text = f"the state does not hold what it should ({told})"
    return ContractError.single("state-damaged", text, file=file, help="make it again with --save")


def _parsed(body: memoryview, file: str) -> tuple[dict[str, Any], Ledger, list[Form]]:
    start = columns_start(bytes(body[: len(MAGIC) + _LENGTH]))
    header = json.loads(bytes(body[len(MAGIC) + _LENGTH : start]))
    layout = header.pop("ledger")
    _check_unpacked(layout["tables"], len(body), file)
    reader = _Columns(body[start:], file)
    tables = {name: reader.table(columns) for name, columns in layout["tables"].items()}
    if reader.left():
        raise ValueError(f"{reader.left():,} bytes belong to no column")
    names = {key: tuple(values) for key, values in layout["names"].items()}
    units = tuple(layout["units"])
    if not all(isinstance(name, str) for values in names.values() for name in values):
        raise TypeError("a name is no text")
    if not all(type(unit) in (str, int) for unit in units):
        raise TypeError("a document is named by neither a text nor a whole number")
    _check_codes(tables, names)
    rows = sum(table.height for table in tables.values())
    for key, values in names.items():
        if len(values) > rows + UNUSED_NAMES:
            text = f"the state has {len(values):,} names for {key!r}, and only {rows:,} rows"
            raise ContractError.single("state-too-large", text, file=file, help="make it again with --save")
    details = frozenset((table, column) for table, column in layout["details"])
    return header, Ledger(units=units, tables=tables, names=names, details=details), reader.forms


def _check_unpacked(tables: Mapping[str, Mapping[str, Any]], size: int, file: str) -> None:
    """Refuse a state whose columns take far more memory than the file is long, before any of them is made."""
    notes = (note for columns in tables.values() for note in columns.values())
    arrays = (array for note in notes for array in ((note["offsets"], note["data"]) if "offsets" in note else (note,)))
    known = (array for array in arrays if array["dtype"] in DTYPES)
    unpacked = sum(math.prod(map(abs, array["shape"])) * np.dtype(array["dtype"]).itemsize for array in known)
    if unpacked > max(SMALLEST_BOUND, LARGEST_RATIO * size):
        text = f"the columns of the state would take {unpacked:,} bytes, and the file has {size + _DIGEST:,}"
        raise ContractError.single("state-too-large", text, file=file, help="make it again with --save")


def _check_codes(tables: Mapping[str, Table], names: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse codes that stand for nothing: whatever works with a ledger takes them for places."""
    for table in tables.values():
        if table.array(UNIT).dtype != np.int32 or table.array(UNIT).ndim != 1:
            raise TypeError("the documents of rows are no codes")
        for key in table:
            if key not in names or not len(codes := table.array(key)):
                continue
            if codes.dtype.kind not in "iu" or int(codes.min()) < -1 or int(codes.max()) >= len(names[key]):
                raise ValueError(f"column {key!r} holds a code that stands for nothing")


class _Columns:
    """Reads columns one after the other, in the order in which `pack` wrote them."""

    def __init__(self, data: memoryview, file: str) -> None:
        self._data = data
        self._file = file
        self._position = 0
        self.forms: list[Form] = []

    def table(self, notes: Mapping[str, Any]) -> Table:
        """The next columns. One value stands for all rows of a column at most: a short file does not fill the memory."""
        height = notes[UNIT]["shape"][0]
        return Table({key: self.column(note, 0 if key == UNIT else height) for key, note in notes.items()})

    def column(self, note: Mapping[str, Any], repeats: int = 0) -> Column:
        """The next column; ``repeats`` is for how many rows one value may stand."""
        if "offsets" in note:
            offsets = self._array(note["offsets"])
            data = self._array(note["data"])
            if offsets.dtype != np.int64 or data.dtype != np.uint8 or offsets.ndim != 1 or data.ndim != 1:
                raise TypeError("texts are no bytes with their places")
            if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(data) or np.any(np.diff(offsets) < 0):
                raise ValueError("the places of texts do not rise from 0 to their length")
            return Strings(data, offsets)
        return self._array(note, repeats)

    def left(self) -> int:
        """How many bytes no column has taken."""
        return len(self._data) - self._position

    def _array(self, note: Mapping[str, Any], repeats: int = 0) -> Array:
        if note["dtype"] not in DTYPES:
            text = f"a column of type {note['dtype']!r} does not belong in a state"
            raise ContractError.single("state-dtype", text, file=self._file, help="make it again with --save")
        form = Form.of_note(note)
        if form.size > self.left() or (form.same and math.prod(form.shape) > repeats * WIDEST):
            raise ValueError("a column is longer than the state, or than its table")
        array = form.array(self._data[self._position : self._position + form.size])
        self._position += form.size
        self.forms.append(form)
        return array
