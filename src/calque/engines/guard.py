"""Guards: work that may take only so long, and work that can end a process from inside, which a twin of this one does."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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


PASSED_ON = (signal.SIGINT, signal.SIGTERM)
"""Signals that end a command in order. The twin does so, and this process waits for it."""


def can_guard() -> bool:
    """Whether this system can make a twin of a process."""
    return hasattr(os, "fork")


def in_twin() -> int | None:
    """Go on twice: ``None`` in a twin of this process that does the work, and here, once it has ended, how it did.

    That is its exit code, or the number of the signal that ended it, negative. The twin shares the terminal, the files and
    the folder, and ends when this process does, however that comes. To be called before any thread is begun: a twin has none.
    """
    if sys.platform == "win32":
        raise NotImplementedError("no twins here: `can_guard` says so")
    sys.stdout.flush()
    sys.stderr.flush()
    theirs, ours = os.pipe()
    twin = os.fork()
    if not twin:
        os.close(ours)
        _without_core_dump()
        begin(lambda: _heed(theirs))
        return None
    os.close(theirs)
    with _passing_on(ours):
        _, status = os.waitpid(twin, 0)
    os.close(ours)
    return os.waitstatus_to_exitcode(status)


@contextmanager
def _passing_on(pipe: int) -> Iterator[None]:
    def tell(number: int, _frame: object) -> None:
        with suppress(OSError):  # it has just ended
            os.write(pipe, bytes([number]))

    for number in PASSED_ON:
        signal.signal(number, tell)
    try:
        yield
    finally:
        # The twin has told how it ended, and all that is left is to end likewise: who asks now would be told twice.
        for number in PASSED_ON:
            signal.signal(number, signal.SIG_IGN)


def _heed(pipe: int) -> None:
    """Take over the signals that the other process got, and end when it has gone.

    A terminal sends Ctrl-C to both. Python makes one of what comes before it is answered; afterwards nobody listens any more.
    """
    main = threading.main_thread().ident or 0
    while told := os.read(pipe, 1):
        if sys.platform != "win32" and callable(signal.getsignal(told[0])):
            signal.pthread_kill(main, told[0])  # another thread would not wake it
    os._exit(1)


def _without_core_dump() -> None:
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))
