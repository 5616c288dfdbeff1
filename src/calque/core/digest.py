"""Content in eight bytes: two texts or tables with the same digest are the same."""

from __future__ import annotations

import json
from typing import Any


def digest(content: bytes) -> int:
    """Some bytes as a whole number of 64 bits, with a sign as columns have it.

    >>> digest(b"calque") == digest(b"calque"), digest(b"calque") == digest(b"claque")
    (True, False)
    """
    import hashlib  # only states and comparisons need it

    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little", signed=True)


def json_digest(value: Any) -> int:
    """JSON values, whatever the order of their keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return digest(text.encode("ascii"))
