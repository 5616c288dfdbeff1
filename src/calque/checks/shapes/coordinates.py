"""Numbers as models write them: finite, or a string that is wholly a decimal number; anything else is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

DECIMAL = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*", re.ASCII)
LONGEST = 40
"""How much of a value a message shows."""


_ENCODER = json.JSONEncoder(ensure_ascii=False)
_AS_THEY_ARE = frozenset({dict, list, float, int, str, bool, type(None)})


class BadValue(ValueError):
    """A value is not what a format needs; the message says why, without the place."""


def number(value: Any) -> float:
    """The number that a value is or spells; `BadValue` otherwise.

    >>> number(" 1e1 "), number(3)
    (10.0, 3.0)
    """
    if type(value) is float:
        result = value
    elif type(value) is int:
        result = _real(value)
    elif isinstance(value, str):
        if DECIMAL.fullmatch(value) is None:
            raise BadValue(f"{shown(value)} is not a number")
        result = float(value)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValue(f"{shown(value)} is not a number")
    else:
        result = _real(value)
    if not math.isfinite(result):
        raise BadValue(f"{shown(value)} is not a finite number")
    return result


def _real(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def numbers(values: Sequence[Any]) -> list[float]:
    """All values as numbers."""
    return list(map(number, values))


def plain(value: Any) -> Any:
    """Arrays and array scalars as the lists and numbers that they hold; anything else as it is."""
    if type(value) in _AS_THEY_ARE:
        return value
    return value.tolist() if hasattr(value, "tolist") else value


def is_list(value: Any) -> bool:
    """Whether a value is a list, as JSON means it."""
    return type(value) is list or isinstance(value, list | tuple)


def shown(value: Any) -> str:
    """A value as a message shows it, cut to a readable length.

    >>> shown("10px"), shown(None), shown([1, 2])
    ('"10px"', 'null', '[1, 2]')
    """
    text = ""
    try:
        # Piece by piece: a value of megabytes is not written out to show its beginning.
        for piece in _ENCODER.iterencode(value[: 2 * LONGEST] if isinstance(value, str) else value):
            text += piece
            if len(text) > LONGEST:
                return text[: LONGEST - 1] + "…"
    except (TypeError, ValueError, RecursionError):
        return f"a {type(value).__name__}"
    return text
