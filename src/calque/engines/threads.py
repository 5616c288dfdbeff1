"""Threads: work in the background, several pieces in parallel, an engine of threads, and bounded prefetching."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, Self, TypeVar

from calque.engines.engine import Item, Outcome, map_in_order

ROWS_WORTH_THREADS = 100_000
"""The least number of rows that are worth several threads."""


def threads_for(rows: int, jobs: int) -> int:
    """Return how many threads to use for this many rows: all jobs, or one if there are few rows."""
    return jobs if rows >= ROWS_WORTH_THREADS else 1


def run_in_background(work: Callable[[], Outcome]) -> Future[Outcome]:
    """Start work in a thread that does not keep the process alive.

    >>> run_in_background(lambda: 6 * 7).result()
    42
    """
    future: Future[Outcome] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # raised where the result is requested
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def run_parallel(jobs: int, *works: Callable[[], Any]) -> list[Any]:
    """Run pieces of work in at most this many threads and return their results in order.

    The first exception, in the order of the pieces, is raised after the running pieces have ended.

    >>> run_parallel(2, lambda: 1 + 1, lambda: "done")
    [2, 'done']
    """
    if jobs == 1 or len(works) < 2:
        return [work() for work in works]
    with ThreadPoolExecutor(min(jobs, len(works))) as pool:
        return list(pool.map(lambda work: work(), works))


class Threads:
    """Does work in threads of this process.

    >>> list(Threads(2).map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """Yield the results in the order of the items."""
        pool = ThreadPoolExecutor(self._jobs)
        try:
            yield from map_in_order(lambda item: pool.submit(work, item), items, self._jobs)
        finally:
            pool.shutdown(cancel_futures=True)


Part = TypeVar("Part")


class Prefetch(Generic[Part]):
    """Draws parts in a thread, ahead of the consumer. The waiting parts weigh at most about ``limit``.

    An exception of the parts is raised in the place of its part. Leaving the block ends the thread.

    >>> with Prefetch([1, 2, 3], weight=int, limit=2) as parts:
    ...     list(parts)
    [1, 2, 3]
    """

    def __init__(self, parts: Iterable[Part], *, weight: Callable[[Part], int], limit: int) -> None:
        self._weight = weight
        self._limit = limit
        self._waiting: deque[Part] = deque()
        self._load = 0
        self._changed = threading.Condition()
        self._ended = False
        self._error: Exception | None = None
        run_in_background(partial(self._run, parts))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end(None)

    def __iter__(self) -> Iterator[Part]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ended)
                if not self._waiting:
                    error = self._error
                    break
                part = self._waiting.popleft()
                self._load -= self._weight(part)
                self._changed.notify_all()
            yield part
        if error is not None:
            raise error

    def _run(self, parts: Iterable[Part]) -> None:
        try:
            for part in parts:
                if not self._put(part):
                    return
        except Exception as error:  # raised in the thread of the consumer
            self._end(error)
        else:
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        with self._changed:
            self._error = self._error or error
            self._ended = True
            self._changed.notify_all()

    def _put(self, part: Part) -> bool:
        """Add a part when there is room. Return whether the consumer still wants parts."""
        with self._changed:
            self._changed.wait_for(lambda: self._load < self._limit or self._ended)
            if self._ended:
                return False
            self._waiting.append(part)
            self._load += self._weight(part)
            self._changed.notify_all()
            return True
