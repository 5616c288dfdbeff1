"""What work says of itself, without knowing whether anybody listens: how far it is, and what people should hear of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Meter:
    """How much there is to do, and how much of it is done; both only grow."""

    def __init__(self, noun: str = "document") -> None:
        self.noun = noun
        self.done = 0
        self.total = 0
        """0 as long as nobody can tell."""

    def expect(self, total: int, noun: str = "") -> None:
        """There will be at least so much in all; ``noun`` is what is counted."""
        self.total = max(self.total, total)
        self.noun = noun or self.noun

    def advance(self, by: int = 1) -> None:
        """So much more is done."""
        self.reach(self.done + by)

    def reach(self, done: int) -> None:
        """So much is done in all."""
        self.done = max(self.done, done)
        if self.total:
            self.total = max(self.total, self.done)


_WATCHED: ContextVar[Meter | None] = ContextVar("watched", default=None)


@contextmanager
def watched(meter: Meter) -> Iterator[None]:
    """Until the block ends, work in this thread says to this meter how far it is.

    >>> mine = Meter()
    >>> with watched(mine):
    ...     meter().expect(3)
    ...     meter().advance()
    >>> mine.done, mine.total
    (1, 3)
    """
    before = _WATCHED.set(meter)
    try:
        yield
    finally:
        _WATCHED.reset(before)


def meter() -> Meter:
    """The meter that somebody watches, or one that nobody does."""
    return _WATCHED.get() or Meter()


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
