"""Single values of parsed JSON, as the readers of small formats need them: the value, or ``None`` when it is something else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from calque.core.corpus import UnitId
from calque.core.errors import IssueLog, did_you_mean
from calque.readers.json_tree import RepeatedKeys, kind, pointer, shown


def number(value: Any) -> float | None:
    """A JSON number as a float (integers may be too large for one and become infinite).

    >>> number(3), number("3"), number(True)
    (3.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def numbers(value: Any) -> list[float] | None:
    """A flat list of numbers; pairs are flattened.

    >>> numbers([[1, 2], [3, 4.5]]), numbers([1, "2"])
    ([1.0, 2.0, 3.0, 4.5], None)
    """
    if not isinstance(value, list):
        return None
    if value and all(isinstance(item, list) and len(item) == 2 for item in value):
        value = [part for item in value for part in item]
    read = [number(item) for item in value]
    return None if None in read else [item for item in read if item is not None]


def identity(value: Any) -> UnitId | None:
    """An id: an integer or a string that is not empty."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        return None
    return value if isinstance(value, str) or -(2**63) <= value < 2**63 else None


def index(value: Any) -> int | None:
    """A page number from 0."""
    read = identity(value)
    return read if isinstance(read, int) and 0 <= read < 2**53 else None


def text(value: Any) -> str | None:
    """A string that is not empty."""
    return value if isinstance(value, str) and value else None


def entries(value: Any, where: str, log: IssueLog) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Each object of a list, with its pointer; what is no object, and keys that occur twice, go to the log."""
    if not isinstance(value, list):
        log.add("wrong-type", where, f"expected an array, not {kind(value)} {shown(value)}")
        return
    for row, entry in enumerate(value):
        place = where + pointer(row)
        if isinstance(entry, Mapping):
            for key in entry.repeated if isinstance(entry, RepeatedKeys) else ():
                log.add("duplicate-key", place, f"the key {key!r} occurs more than once", help="keep one of them")
            yield place, entry
        else:
            log.add("wrong-type", place, f"expected an object, not {kind(entry)} {shown(entry)}")


def missing(entry: Mapping[str, Any], key: str, where: str, what: str, log: IssueLog) -> None:
    """Say that a value is absent, or not what it should be."""
    if key in entry:
        log.add("wrong-type", where + pointer(key), f"expected {what}, not {kind(entry[key])} {shown(entry[key])}")
    else:
        log.add("missing-key", where, f"the key {key!r} is missing", help=did_you_mean(key, entry) or f"add {what}")
