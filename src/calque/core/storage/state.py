"""A ledger as bytes: a JSON header, then raw columns, then a checksum. Data only: nothing in it is ever run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from calque.core.columns import Array, Column, Strings, Table
from calque.core.errors import ContractError
from calque.core.ledger import Ledger

FAMILY = b"calque state "
MAGIC = FAMILY + b"1\n"
_LENGTH = 8
_DIGEST = 16
_DTYPES = {"<f8", "<i8", "<i4", "<u2", "|u1", "|b1"}
"""What a column may hold; a file that names anything else is refused."""


def pack(header: Mapping[str, Any], ledger: Ledger) -> bytes:
    """The bytes of a state: the caller's header and the ledger."""
    arrays: list[Array] = []
    tables = {
        name: {key: _describe(column, arrays) for key, column in table.columns.items()} for name, table in ledger.tables.items()
    }
    layout = {
        "units": list(ledger.units),
        "names": {key: list(values) for key, values in ledger.names.items()},
        "details": sorted(ledger.details),
        "tables": tables,
    }
    text = json.dumps({**header, "ledger": layout}, ensure_ascii=True).encode("ascii")
    body = b"".join([MAGIC, len(text).to_bytes(_LENGTH, "little"), text, *(array.tobytes() for array in arrays)])
    return body + _digest(body)


def _digest(body: bytes | memoryview) -> bytes:
    import hashlib  # only states need it

    return hashlib.blake2b(body, digest_size=_DIGEST).digest()


def _describe(column: Column, arrays: list[Array]) -> dict[str, Any]:
    if isinstance(column, Strings):
        return {"offsets": _describe(column.offsets, arrays), "data": _describe(column.data, arrays)}
    array = np.ascontiguousarray(column)
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    arrays.append(array)
    return {"dtype": array.dtype.str, "shape": list(array.shape)}


def unpack(data: bytes, file: str) -> tuple[dict[str, Any], Ledger]:
    """The header and the ledger of a state; `ContractError` when the bytes are not one."""
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
        return _parsed(body)


@contextmanager
def well_formed(file: str) -> Iterator[None]:
    """Whatever a state that was changed by hand makes Python stumble over becomes an error that names the file."""
    try:
        yield
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        text = f"the state does not hold what it should ({type(error).__name__}: {error})"
        raise ContractError.single("state-damaged", text, file=file, help="make it again with --save") from error


def _parsed(body: memoryview) -> tuple[dict[str, Any], Ledger]:
    start = len(MAGIC) + _LENGTH
    size = int.from_bytes(body[len(MAGIC) : start], "little")
    header = json.loads(bytes(body[start : start + size]))
    layout = header.pop("ledger")
    reader = _Columns(body[start + size :])
    tables = {
        name: Table({key: reader.column(note) for key, note in columns.items()}) for name, columns in layout["tables"].items()
    }
    ledger = Ledger(
        units=tuple(layout["units"]),
        tables=tables,
        names={key: tuple(values) for key, values in layout["names"].items()},
        details=frozenset((table, column) for table, column in layout["details"]),
    )
    return header, ledger


class _Columns:
    """Reads columns one after the other, in the order in which `pack` wrote them."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._position = 0

    def column(self, note: Mapping[str, Any]) -> Column:
        if "offsets" in note:
            offsets = self._array(note["offsets"])
            return Strings(self._array(note["data"]), offsets)
        return self._array(note)

    def _array(self, note: Mapping[str, Any]) -> Array:
        if note["dtype"] not in _DTYPES:
            raise ContractError.single("state-dtype", f"a column of type {note['dtype']!r} does not belong in a state")
        dtype, shape = np.dtype(note["dtype"]), tuple(note["shape"])
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(self._data, dtype=dtype, count=count, offset=self._position).reshape(shape)
        self._position += array.nbytes
        return array
