"""A sign of life on stderr for work that takes longer than half a second; only on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from calque.core.presentation.sections import printable
from calque.engines import begin

PATIENCE = 0.5
"""Seconds of silence before anything is shown."""


@contextmanager
def working(what: str, *, quiet: bool = False, done: Callable[[], int] = lambda: 0) -> Iterator[None]:
    """Show ``what``, the seconds gone by and how many documents are done until the block ends, then leave no trace."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    ended = threading.Event()
    watcher = begin(lambda: _watch(what, ended, done))
    try:
        yield
    finally:
        ended.set()
        watcher.ended()


def _watch(what: str, ended: threading.Event, done: Callable[[], int]) -> None:
    begin = time.monotonic()
    wait = PATIENCE
    while not ended.wait(wait):
        wait = 0.2
        documents = f", {done():,} documents" if done() else ""
        sys.stderr.write(f"\r{printable(what)} … {time.monotonic() - begin:.0f} s{documents}")
        sys.stderr.flush()
    if time.monotonic() - begin > PATIENCE:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
