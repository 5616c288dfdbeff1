"""Short representations: what `repr` returns for objects that hold many documents, on one line."""

from __future__ import annotations

import dataclasses
import reprlib
from typing import Any

LONGEST = 240
"""The length of a representation, in characters; a terminal shows it in three or four lines."""

_values = reprlib.Repr()
_values.maxlevel, _values.maxstring, _values.maxother = 3, 60, 60
_values.maxdict = _values.maxlist = _values.maxtuple = _values.maxset = _values.maxfrozenset = 3


def one_line(text: str) -> str:
    """Return a representation on one line, cut in its middle if it is too long.

    >>> one_line("<Table: 2 rows>"), len(one_line("x" * 1000))
    ('<Table: 2 rows>', 240)
    """
    flat = text.replace("\n", " ")
    half = LONGEST // 2
    return flat if len(flat) <= LONGEST else f"{flat[:half]}…{flat[1 - half :]}"


def short_repr(thing: Any) -> str:
    """Return the class of a dataclass instance and the values that differ from their defaults, each cut short.

    Use it as ``__repr__`` of a class.

    >>> @dataclasses.dataclass
    ... class Page:
    ...     words: list[str]
    ...     number: int = 1
    ...     __repr__ = short_repr
    >>> Page(["a", "b", "c", "d"]), Page([], number=2)
    (Page(words=['a', 'b', 'c', ...]), Page(words=[], number=2))
    """
    shown = [
        f"{field.name}={_values.repr(value)}"
        for field in dataclasses.fields(thing)
        if field.repr and not _is_default(field, value := getattr(thing, field.name))
    ]
    return one_line(f"{type(thing).__qualname__}({', '.join(shown)})")


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    if field.default is dataclasses.MISSING:
        return False
    return value is field.default or (type(value) is type(field.default) and bool(value == field.default))
