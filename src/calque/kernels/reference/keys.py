"""Keys that occur twice in one object of a JSON text."""

from __future__ import annotations

import json
from typing import Any


def repeats_a_key(text: bytes) -> bool:
    """Whether any object in a JSON text has a key twice; a text that is not JSON has none.

    >>> repeats_a_key(b'{"a": 1, "b": [{"a": 2}]}'), repeats_a_key(b'[{"a": 1, "a": 2}]')
    (False, True)
    """
    repeated = False

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal repeated
        repeated = repeated or len(dict(pairs)) < len(pairs)

    try:
        json.loads(text, object_pairs_hook=look)
    except (ValueError, RecursionError):
        return False
    return repeated
