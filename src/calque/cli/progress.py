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
BAR = 20
"""Terminal cells of the bar."""


@contextmanager
def working(
    what: str,
    *,
    quiet: bool = False,
    done: Callable[[], int] = lambda: 0,
    total: Callable[[], int] = lambda: 0,
    noun: str = "document",
) -> Iterator[None]:
    """Show ``what``, how much is done, how fast and for how long still until the block ends, then leave no trace."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    ended = threading.Event()
    watcher = begin(lambda: _watch(what, ended, done, total, noun))
    try:
        yield
    finally:
        ended.set()
        watcher.ended()


def _watch(what: str, ended: threading.Event, done: Callable[[], int], total: Callable[[], int], noun: str) -> None:
    import shutil

    from calque.core.presentation.sections import cut

    began = time.monotonic()
    wait = PATIENCE
    while not ended.wait(wait):
        wait = 0.2
        line = f"{printable(what)} {progress(done(), total(), time.monotonic() - began, noun)}"
        sys.stderr.write("\r" + cut(line, shutil.get_terminal_size().columns - 1) + "\x1b[K")
        sys.stderr.flush()
    if time.monotonic() - began > PATIENCE:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def progress(done: int, total: int, seconds: float, noun: str) -> str:
    """How far work is: a bar, the rate and the time that is left, as far as they are known.

    >>> progress(0, 0, 3.2, "document")
    '… 3 s'
    >>> progress(120, 0, 4.0, "document")
    '… 4 s, 120 documents, 30/s'
    >>> progress(120, 480, 4.0, "document")
    '█████░░░░░░░░░░░░░░░ 120 of 480 documents, 30/s, 12 s left'
    """
    from calque.core.presentation.wording import counted

    rate = done / seconds if seconds > 0 else 0.0
    speed = f", {rate:,.0f}/s" if rate >= 1 else f", {rate:.1g}/s" if rate > 0 else ""
    if not total:
        return f"… {seconds:.0f} s" + (f", {counted(done, noun)}{speed}" if done else "")
    filled = min(BAR, BAR * done // total)
    left = f", {(total - done) / rate:,.0f} s left" if rate > 0 and done < total else ""
    return f"{'█' * filled}{'░' * (BAR - filled)} {done:,} of {counted(total, noun)}{speed}{left}"
