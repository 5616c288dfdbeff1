"""Work with a timeout: interrupted by an alarm in the main thread, given up elsewhere."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from calque.engines.threads import run_in_background


def has_alarms() -> bool:
    """Return whether an alarm can interrupt work here: in the main thread, if the system has alarms."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


def with_timeout(work: Callable[[], Any], seconds: float) -> Any:
    """Return the result of the work, or raise `TimeoutError` when it takes too long.

    Without alarms the work is not stopped: its thread ends with the process.

    >>> with_timeout(lambda: 6 * 7, 60)
    42
    """
    if not has_alarms():
        return run_in_background(work).result(seconds)
    with _alarm(seconds):
        return work()


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` in the block after this many seconds, even in an endless loop."""
    if sys.platform == "win32":
        raise NotImplementedError("Windows has no alarms")

    def ring(_signal: int, _frame: Any) -> None:
        raise TimeoutError

    handler_before = signal.signal(signal.SIGALRM, ring)
    seconds_before, interval_before = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, seconds_before, interval_before)  # an alarm of the program around us
        signal.signal(signal.SIGALRM, handler_before)
