"""Work that may take only so long."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from calque.engines.in_threads import begin


def alarms() -> bool:
    """Whether an alarm can interrupt what is done here: in the main thread, where the system has alarms."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


def in_time(work: Callable[[], Any], seconds: float) -> Any:
    """What the work returns; `TimeoutError` when it takes too long.

    >>> in_time(lambda: 6 * 7, 60)
    42
    """
    if alarms():
        with _alarm(seconds):
            return work()
    return in_thread(work, seconds)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Interrupt the block itself: a loop that never ends is really stopped."""
    if sys.platform == "win32":
        raise NotImplementedError("no alarms here: `alarms` says so")

    def ring(_signal: int, _frame: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left, interval)  # an alarm of whoever runs us
        signal.signal(signal.SIGALRM, before)


def in_thread(work: Callable[[], Any], seconds: float) -> Any:
    """Where no alarm can ring, stop waiting: the thread itself cannot be stopped and ends with the process."""
    return begin(work).result(seconds)
