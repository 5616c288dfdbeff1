"""The choice of an engine: how many workers, and whether they outlive one round of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from calque.engines.in_processes import Processes
from calque.engines.in_threads import Threads
from calque.engines.interface import Engine, Serial

_in_use: ContextVar[Engine | None] = ContextVar("engine", default=None)


def threads(jobs: int) -> Engine:
    """An engine with so many threads; with one job none is started."""
    return Serial() if jobs == 1 else Threads(jobs)


def processes(jobs: int) -> Engine:
    """An engine with so many processes: the one in use where there is one, and with one job none at all."""
    return Serial() if jobs == 1 else _in_use.get() or Processes(jobs)


def portable(thing: object) -> bool:
    """Whether other processes can be sent it: it can be pickled, and nothing in it lives in ``__main__``, which is not theirs.

    >>> portable(abs), portable(lambda: 0)
    (True, False)
    """
    import pickle

    try:
        return b"__main__" not in pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
    except Exception:  # whatever its own way of being pickled raises
        return False


@contextmanager
def using(engine: Engine) -> Iterator[None]:
    """Within the block, whatever asks for processes gets this engine: workers that are there already, or a cluster's."""
    before = _in_use.set(engine)
    try:
        yield
    finally:
        _in_use.reset(before)


@contextmanager
def kept(jobs: int) -> Iterator[None]:
    """Within the block, workers are handed on from one round of work to the next; after it they are gone.

    None is started before there is something to do, and an engine that is in use already stays.
    """
    if jobs == 1 or _in_use.get() is not None:
        yield
        return
    with Processes(jobs) as engine, using(engine):
        yield
