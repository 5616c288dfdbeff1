"""A sign of life on stderr for work that takes longer than half a second; only on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager

from calque.engines import Progress, current_progress, progress_to, run_in_background, warnings_to
from calque.evaluation.presentation.sections import printable

PATIENCE = 0.5
"""Seconds of silence before anything is shown."""
BAR = 20
"""Terminal cells of the bar."""


@contextmanager
def working(what: str, *, quiet: bool = False, steps: int | Callable[[], int] = 0, noun: str = "step") -> Iterator[Progress]:
    """Show ``what``, how much is done, how fast and for how long still until the block ends, then leave no trace.

    The work reports its progress itself: see `current_progress`. Work of ``steps`` counts them on the progress that it gets. A
    function that counts the steps is called when they are shown.
    """
    if quiet or not sys.stderr.isatty():
        with warnings_to(_keep_quiet if quiet else _warn), _counting(current_progress(), steps, noun) as mine:
            yield mine
        return
    ended = threading.Event()
    with warnings_to(_warn), _counting(Progress(), steps, noun) as mine:
        watcher = run_in_background(lambda: _watch(what, ended, mine, steps))
        try:
            yield mine
        finally:
            ended.set()
            wait([watcher])


def _keep_quiet(_remark: str) -> None:
    """Nobody wants to hear it."""


def _warn(remark: str) -> None:
    """Say it on a line of its own, whether or not a bar stands there."""
    import click

    from calque.cli.exits import colour

    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    click.echo(click.style("warning:", fg="yellow") + f" {printable(remark)}", err=True, color=colour())


@contextmanager
def _counting(mine: Progress, steps: int | Callable[[], int], noun: str) -> Iterator[Progress]:
    """The progress of work. Where it counts steps, what is done within one of them is of another kind, and not counted."""
    if steps:
        mine.expect(0 if callable(steps) else steps, noun)
    with progress_to(Progress() if steps else mine):
        yield mine


def _watch(what: str, ended: threading.Event, mine: Progress, steps: int | Callable[[], int]) -> None:
    import shutil

    from calque.evaluation.presentation.sections import cut

    began = time.monotonic()
    wait = PATIENCE
    while not ended.wait(wait):
        if wait == PATIENCE and callable(steps):
            mine.expect(steps())
        wait = 0.2
        line = f"{printable(what)} {progress(mine.done, mine.total, time.monotonic() - began, mine.noun)}"
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
    from calque.base.wording import counted

    rate = done / seconds if seconds > 0 else 0.0
    speed = f", {rate:,.0f}/s" if rate >= 1 else f", {rate:.1g}/s" if rate > 0 else ""
    if not total:
        return f"… {seconds:.0f} s" + (f", {counted(done, noun)}{speed}" if done else "")
    filled = min(BAR, BAR * done // total)
    left = f", {(total - done) / rate:,.0f} s left" if rate > 0 and done < total else ""
    return f"{'█' * filled}{'░' * (BAR - filled)} {done:,} of {counted(total, noun)}{speed}{left}"
