"""How an array stands in a file: as it is, in fewer bytes where its numbers are small, or as the one value that it has.

Nothing is lost: an array that is read has the type and the bits of the one that was written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from calque.base.columns import Array

DType: TypeAlias = "np.dtype[Any]"

WORTH = 1 << 16
"""Arrays of fewer bytes stand as they are."""
WIDEST = 64
"""How many values a row has at the most where one value stands for all: a short file does not fill the memory."""
WHOLE = ("|i1", "|u1", "<i2", "<u2", "<i4")
"""What whole numbers of more bytes may be stored as, the narrowest first."""
DTYPES = frozenset(("<f8", "<i8", "<i4", "<u2", "|u1", "|b1"))
"""What a column may hold."""


@dataclass(frozen=True, slots=True)
class Form:
    """The form of one array."""

    dtype: DType
    shape: tuple[int, ...]
    stored: DType
    """What its numbers are written as."""
    same: bool = False
    """Whether one value stands for all."""

    @classmethod
    def plain(cls, array: Array) -> Form:
        """An array as it is."""
        dtype = array.dtype.newbyteorder("<")
        return cls(dtype, array.shape, dtype)

    @classmethod
    def shortest(cls, array: Array) -> Form:
        """The form of a long array that takes the fewest bytes and hardly any time."""
        if array.nbytes >= WORTH and math.prod(array.shape[1:]) <= WIDEST and _all_same(array.reshape(-1)):
            return replace(cls.plain(array), same=True)
        return cls.narrowest(array)

    @classmethod
    def narrowest(cls, array: Array) -> Form:
        """The form with all values, whole numbers in as few bytes as all of them fit in."""
        plain = cls.plain(array)
        if array.nbytes < WORTH or array.dtype.kind != "i" or array.dtype.itemsize < 4:
            return plain
        lowest, highest = int(array.min()), int(array.max())
        fitting = (np.dtype(name) for name in WHOLE if np.iinfo(name).min <= lowest and highest <= np.iinfo(name).max)
        return replace(plain, stored=next(fitting, plain.stored))

    @classmethod
    def of_note(cls, note: Mapping[str, Any]) -> Form:
        """The form that a header tells of; `ValueError` or `TypeError` when no array has it."""
        dtype, stored, shape = str(note["dtype"]), str(note.get("stored", note["dtype"])), tuple(note["shape"])
        narrower = stored in WHOLE and np.dtype(dtype).kind == "i" and np.dtype(stored).itemsize < np.dtype(dtype).itemsize
        if stored != dtype and not narrower:
            raise ValueError(f"numbers of type {dtype} are not stored as {stored}")
        if not shape or not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"{shape} is no shape of a column")
        return cls(np.dtype(dtype), shape, np.dtype(stored), note.get("same", False) is True)

    def note(self) -> dict[str, Any]:
        """What a header tells of it."""
        stored = {} if self.stored == self.dtype else {"stored": self.stored.str}
        return {"dtype": self.dtype.str, "shape": list(self.shape), **stored, **({"same": True} if self.same else {})}

    @property
    def count(self) -> int:
        """How many values are written."""
        return 1 if self.same else math.prod(self.shape)

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return self.count * self.stored.itemsize

    def data(self, array: Array) -> memoryview:
        """The bytes of an array of this form; they are those of the array itself where it stands as it is."""
        values = np.ascontiguousarray(array).reshape(-1)[: self.count].astype(self.stored, copy=False)
        return values.view(np.uint8).data

    def array(self, data: bytes | memoryview) -> Array:
        """The array that these bytes are, without a copy where it stands as it is."""
        values = np.frombuffer(data, dtype=self.stored, count=self.count)
        if self.same:
            return np.full(self.shape, values[0], dtype=self.dtype)
        return values.astype(self.dtype, copy=False).reshape(self.shape)


def _all_same(values: Array) -> bool:
    """Whether all values have the same bits; of most that have not, three are looked at."""
    bits = values.view(f"u{values.dtype.itemsize}")
    some = bits[[0, len(bits) // 2, -1]]
    return bool(some[0] == some[1] == some[2] and (bits == bits[0]).all())
