"""Progress and warnings of running work, for whatever shows them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Progress:
    """How much there is to do, and how much of it is done. Both only grow."""

    def __init__(self, noun: str = "document") -> None:
        self.noun = noun
        self.done = 0
        self.total = 0
        """0 while the total is unknown."""

    def expect(self, total: int, noun: str = "") -> None:
        """Raise the total to at least this; ``noun`` is what is counted."""
        self.total = max(self.total, total)
        self.noun = noun or self.noun

    def advance(self, by: int = 1) -> None:
        """Count this much more as done."""
        self.set(self.done + by)

    def set(self, done: int) -> None:
        """Raise the amount that is done to this."""
        self.done = max(self.done, done)
        if self.total:
            self.total = max(self.total, self.done)


_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def progress_to(progress: Progress) -> Iterator[None]:
    """Let work in this thread report its progress to this object within the block.

    >>> shown = Progress()
    >>> with progress_to(shown):
    ...     current_progress().expect(3)
    ...     current_progress().advance()
    >>> shown.done, shown.total
    (1, 3)
    """
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


def current_progress() -> Progress:
    """Return the object of `progress_to`, or one that is not shown."""
    return _progress.get() or Progress()


_show_warning: ContextVar[Callable[[str], None] | None] = ContextVar("show_warning", default=None)


@contextmanager
def warnings_to(show: Callable[[str], None]) -> Iterator[None]:
    """Let `warn` in this thread call this function within the block.

    >>> shown = []
    >>> with warnings_to(shown.append):
    ...     warn("the file is read again")
    >>> shown
    ['the file is read again']
    """
    token = _show_warning.set(show)
    try:
        yield
    finally:
        _show_warning.reset(token)


def warn(text: str) -> None:
    """Show a warning as `warnings_to` says, or else as a `RuntimeWarning`."""
    show = _show_warning.get()
    if show is None:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    else:
        show(text)
