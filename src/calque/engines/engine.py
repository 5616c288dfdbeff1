"""Engines: what every one can do, the simplest, and the choice of one: how many workers, and how long they stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Engine(Protocol):
    """Does the same work for many items."""

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """The outcomes in the order of the items.

        Items are drawn by the thread that asks, when there is room: no more than a few for each worker are on their way.
        What the work raises is raised where its outcome would come; then, or when nobody asks any more, the rest is
        stopped. An engine may send work, items and outcomes to other processes: there they must be picklable, and nothing
        in them may live in ``__main__``. The work is sent once to each worker, so it may carry what all items share.
        """


class Serial:
    """Does everything here, one item when the next outcome is asked for.

    >>> list(Serial().map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """The outcomes in the order of the items."""
        yield from map(work, items)


_in_use: ContextVar[Engine | None] = ContextVar("engine", default=None)


def threads(jobs: int) -> Engine:
    """An engine with so many threads; with one job none is started."""
    if jobs == 1:
        return Serial()
    from calque.engines.in_threads import Threads

    return Threads(jobs)


def processes(jobs: int) -> Engine:
    """An engine with so many processes: the one in use where there is one, and with one job none at all."""
    if jobs == 1:
        return Serial()
    from calque.engines.in_processes import Processes

    return _in_use.get() or Processes(jobs)


def portable(thing: object) -> bool:
    """Whether other processes can be sent it: it can be pickled, and nothing in it lives in ``__main__``, which is not theirs.

    >>> portable(abs), portable(lambda: 0), portable("__main__")
    (True, False, True)
    """
    import io
    import pickle

    class Names(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            if module == "__main__":
                raise pickle.UnpicklingError(name)
            return super().find_class(module, name)

    try:
        data = pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
        if b"__main__" in data:  # a name of a class or function, or only a text
            Names(io.BytesIO(data)).load()
    except Exception:  # whatever its own way of being pickled raises
        return False
    return True


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
    from calque.engines.in_processes import Processes

    with Processes(jobs) as engine, using(engine):
        yield
