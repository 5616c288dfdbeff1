"""What a JSON text says of itself before it is read: keys that occur twice in one object, and how deep it nests."""

from __future__ import annotations

import json
import re
from typing import Any

_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)
"""Whole texts, too, so that no bracket is found in them."""


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


def nests_beyond(text: bytes, levels: int) -> bool:
    """Whether a JSON text nests its values more than so many levels deep. Brackets within texts do not count.

    >>> nests_beyond(b'[["[[["]]', 2), nests_beyond(b"[[[]]]", 2)
    (False, True)
    """
    depth = 0
    for mark in _BRACKETS.findall(text):
        depth += 1 if mark in b"[{" else -1 if mark in b"]}" else 0
        if depth > levels:
            return True
    return False
