"""The engine protocol, the serial engine, and the choice of an engine by the number of jobs."""

from __future__ import annotations

import io
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

ITEMS_PER_WORKER = 2
"""Items that an engine draws for each worker ahead of the results: one in work and one that waits."""


class Engine(Protocol):
    """Does the same work for many items."""

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """Yield the results in the order of the items.

        The calling thread draws the items, at most a few per worker ahead of the results. An exception of the work is raised in
        the place of its result. After an exception, or when the iterator is closed, the engine stops the remaining work. An
        engine may send the work, the items and the results to other processes: check them with `is_portable`. Each worker
        unpickles the work once, so the work may carry what all items share.
        """


class Serial:
    """Does all work in the calling thread, one item per requested result.

    >>> list(Serial().map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """Yield the results in the order of the items."""
        yield from map(work, items)


def _result_of(_item: object, future: Future[Outcome]) -> Outcome:
    return future.result()


def map_in_order(
    submit: Callable[[Item], Future[Outcome]],
    items: Iterable[Item],
    jobs: int,
    result_of: Callable[[Item, Future[Outcome]], Outcome] = _result_of,
) -> Iterator[Outcome]:
    """Submit the items, a few per worker ahead, and yield the results in the order of the items."""
    pending: deque[tuple[Item, Future[Outcome]]] = deque()
    for item in items:
        pending.append((item, submit(item)))
        while pending and (len(pending) >= ITEMS_PER_WORKER * jobs or pending[0][1].done()):
            yield result_of(*pending.popleft())
    while pending:
        yield result_of(*pending.popleft())


_engine_in_use: ContextVar[Engine | None] = ContextVar("engine", default=None)


def thread_engine(jobs: int) -> Engine:
    """Return an engine with this many threads. One job is `Serial`."""
    if jobs == 1:
        return Serial()
    from calque.engines.threads import Threads

    return Threads(jobs)


def process_engine(jobs: int) -> Engine:
    """Return the engine in use (see `use_engine`), or one with this many worker processes. One job is `Serial`."""
    if jobs == 1:
        return Serial()
    if (engine := _engine_in_use.get()) is not None:
        return engine
    from calque.engines.processes import Processes  # 20 ms that one job does not need

    return Processes(jobs)


@contextmanager
def use_engine(engine: Engine) -> Iterator[None]:
    """Let `process_engine` return this engine within the block: a cluster, or workers that already run."""
    token = _engine_in_use.set(engine)
    try:
        yield
    finally:
        _engine_in_use.reset(token)


@contextmanager
def keep_workers(jobs: int) -> Iterator[None]:
    """Keep worker processes between calls of `Engine.map` within the block, and end them after it.

    Workers start with the first work. If an engine is in use already, it stays in use.
    """
    if jobs == 1 or _engine_in_use.get() is not None:
        yield
        return
    from calque.engines.processes import Processes

    with Processes(jobs) as engine, use_engine(engine):
        yield


def is_portable(thing: object) -> bool:
    """Return whether worker processes can receive an object: it pickles, and nothing in it is defined in ``__main__``.

    Workers do not run the script of their parent, so its classes and functions do not exist there.

    >>> is_portable(abs), is_portable(lambda: 0), is_portable("__main__")
    (True, False, True)
    """
    try:
        _PortablePickler(io.BytesIO(), pickle.HIGHEST_PROTOCOL).dump(thing)
    except Exception:  # an object may raise anything when it is pickled
        return False
    return True


class _PortablePickler(pickle.Pickler):
    """Refuses functions, classes and instances of classes that are defined in ``__main__``."""

    def reducer_override(self, thing: Any) -> Any:
        if getattr(thing, "__module__", None) == "__main__":
            raise pickle.PicklingError(f"{thing!r} is defined in __main__")
        return NotImplemented
