"""When two JSON values are the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def same(first: Any, second: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, and a truth value is no number.

    >>> same([1, {"a": True}], [1.0, {"a": True}]), same(1, True), same("1", 1)
    (True, False, False)
    """
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)
