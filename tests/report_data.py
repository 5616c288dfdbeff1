"""Read the data that an HTML report contains."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

import numpy as np

CODES = {"u8": "u1", "u16": "<u2", "u32": "<u4", "i8": "i1", "i32": "<i4", "f32": "<f4", "f64": "<f8"}
BLOCK = re.compile(rb'<script[^>]*id="data"[^>]*>([^<]+)</script>')


def read_report(page: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the head and the columns of a report."""
    match = BLOCK.search(page)
    assert match is not None
    whole = zlib.decompress(base64.b64decode(match[1], validate=True), -15)
    end = 4 + int.from_bytes(whole[:4], "little")
    head = json.loads(whole[4:end])
    columns = {}
    for name, (code, start, count) in head["columns"].items():
        columns[name] = np.frombuffer(whole, CODES[code], count, end + start)
    return head, columns
