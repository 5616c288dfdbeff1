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


def record_ids(text: bytes, keys: list[str], levels: int) -> dict[str, str | int] | None:
    """What stands under some keys of a JSON object: texts and whole numbers of 64 bits.

    ``None`` for what is no object, repeats a key, nests too deep, or has something else under one of the keys.

    >>> record_ids(b'{"id": 7, "a": [1]}', ["doc_id", "id"], 100), record_ids(b'{"id": null}', ["id"], 100)
    ({'id': 7}, None)
    """
    try:
        record = json.loads(text.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or repeats_a_key(text) or nests_beyond(text, levels):
        return None
    found = {key: record[key] for key in keys if key in record}
    fine = all(type(each) is str or (type(each) is int and -(1 << 63) <= each < 1 << 63) for each in found.values())
    return found if fine else None
