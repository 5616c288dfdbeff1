"""A sign of life on stderr for work that takes longer than half a second; only on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 0.5
"""Seconds of silence before anything is shown."""


@contextmanager
def working(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Show ``what`` and the seconds gone by until the block ends, then leave no trace."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(what, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(what: str, done: threading.Event) -> None:
    begin = time.monotonic()
    wait = PATIENCE
    while not done.wait(wait):
        wait = 0.2
        sys.stderr.write(f"\r{what} … {time.monotonic() - begin:.0f} s")
        sys.stderr.flush()
    if time.monotonic() - begin > PATIENCE:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
