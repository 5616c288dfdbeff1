"""Arrow arrays as NumPy arrays, straight from their buffers.

pyarrow's own conversions import pandas where it is installed, and its compute functions; both take longer than reading a file.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from calque.core.columns import Array, Flags, Floats, Ints

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
    numbers = values(array).astype(np.float64, copy=False)
    there = valid(array)
    return numbers if there is None else np.where(there, numbers, np.nan)


def texts(array: Any) -> list[str | None]:
    """The strings of an array, ``None`` where it is null."""
    name = str(array.type)
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
