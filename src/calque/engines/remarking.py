"""Remarks: what people should hear of work that goes on nevertheless. Whoever works says it; who listens decides how."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_HEARD: ContextVar[Callable[[str], None] | None] = ContextVar("heard", default=None)


@contextmanager
def heard(tell: Callable[[str], None]) -> Iterator[None]:
    """Until the block ends, remarks of this thread are told so.

    >>> said = []
    >>> with heard(said.append):
    ...     remark("done again")
    >>> said
    ['done again']
    """
    before = _HEARD.set(tell)
    try:
        yield
    finally:
        _HEARD.reset(before)


def remark(text: str) -> None:
    """Say it to whoever listens; a program that does not is warned."""
    tell = _HEARD.get()
    if tell is None:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    else:
        tell(text)
