"""The data of a report as one block: a JSON head and typed columns, deflated, as text that no markup can break out of."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from calque.core.columns import Array

ALIGNED = 8
"""Columns begin on multiples of this, so that the page can look at them in place."""
LEVEL = 6
"""Level 9 takes seven times as long and saves less than a hundredth."""
TYPES = {"|u1": "u8", "<u2": "u16", "<u4": "u32", "|i1": "i8", "<i4": "i32", "<f4": "f32", "<f8": "f64"}
"""What a column may hold, by NumPy's name for it."""


def packed(head: Mapping[str, Any], columns: Mapping[str, Array]) -> bytes:
    """``[u32 length][head][columns]``, as deflated bytes in base 64."""
    parts: list[bytes] = []
    placed: dict[str, list[Any]] = {}
    size = 0
    for name, column in columns.items():
        flat = np.ascontiguousarray(column).reshape(-1)
        flat = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
        data = flat.tobytes()
        placed[name] = [TYPES[flat.dtype.str], size, len(flat)]
        parts += [data, bytes(-len(data) % ALIGNED)]
        size += len(data) + -len(data) % ALIGNED
    text = json.dumps({**head, "columns": placed}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    encoded = text.encode("utf-8", "backslashreplace")
    encoded += b" " * (-(4 + len(encoded)) % ALIGNED)
    whole = b"".join([len(encoded).to_bytes(4, "little"), encoded, *parts])
    deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflate.compress(whole) + deflate.flush())
