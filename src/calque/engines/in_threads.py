"""Threads: one piece of work begun, several at once, the same for many items, or reading before somebody asks."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from calque.engines.engine import Item, Outcome

if TYPE_CHECKING:
    from concurrent.futures import Future

WORTH_A_THREAD = 100_000
"""From how many rows on work is done side by side: with fewer, threads only get in each other's way."""

ON_THE_WAY = 2
"""How many items for each worker are drawn before their outcomes are asked for: one in hand and one that waits."""


def threads_for(rows: int, jobs: int) -> int:
    """How many of the threads that may be used this many rows are worth."""
    return jobs if rows >= WORTH_A_THREAD else 1


class Begun(Generic[Outcome]):
    """Work that has begun in a thread of its own."""

    def __init__(self, work: Callable[[], Outcome], *, stays: bool) -> None:
        self._outcome: Outcome
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=not stays)
        self._thread.start()

    def _run(self, work: Callable[[], Outcome]) -> None:
        try:
            self._outcome = work()
        except BaseException as failure:  # raised where the outcome is asked for
            self._failure = failure

    def ended(self, seconds: float | None = None) -> bool:
        """Wait for its end, or for so many seconds; whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self, seconds: float | None = None) -> Outcome:
        """What the work returns or raises; `TimeoutError` when so many seconds go by before."""
        if not self.ended(seconds):
            raise TimeoutError
        if self._failure is not None:
            raise self._failure
        return self._outcome


def begin(work: Callable[[], Outcome]) -> Begun[Outcome]:
    """Begin a piece of work. It does not keep the process alive.

    >>> begin(lambda: 6 * 7).result()
    42
    """
    return Begun(work, stays=False)


def at_once(jobs: int, *works: Callable[[], Any]) -> list[Any]:
    """What each piece of work returns, in their order; this thread and as many others as make up the jobs do them.

    The first failure, in the order of the pieces, is raised after those that were begun have ended.

    >>> at_once(2, lambda: 1 + 1, lambda: "done")
    [2, 'done']
    """
    if jobs == 1:
        return [work() for work in works]
    results: list[Any] = [None] * len(works)
    failures: dict[int, BaseException] = {}
    places = iter(range(len(works)))
    turn = threading.Lock()

    def draw() -> int | None:
        with turn:
            return None if failures else next(places, None)

    def run() -> None:
        while (place := draw()) is not None:
            try:
                results[place] = works[place]()
            except BaseException as failure:  # raised again by the caller's thread
                with turn:
                    failures[place] = failure

    others = [Begun(run, stays=True) for _ in range(1, min(jobs, len(works)))]
    run()
    for other in others:
        other.result()
    if failures:
        # Pieces are drawn in order, so whatever comes before one that failed has ended as well.
        raise failures[min(failures)]
    return results


class Threads:
    """Works in threads of this process.

    >>> list(Threads(2).map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """The outcomes in the order of the items."""
        return in_order(work, items, self._jobs)


def in_order(
    work: Callable[[Item], Outcome], items: Iterable[Item], jobs: int, stop: Callable[[], None] = lambda: None
) -> Iterator[Outcome]:
    """The outcomes in the order of the items. ``stop`` is called before work in hand is awaited that nobody needs any more."""
    from concurrent.futures import ThreadPoolExecutor  # 10 ms that a run without it does not need

    pool = ThreadPoolExecutor(jobs)
    waiting: deque[Future[Outcome]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            while waiting and (len(waiting) >= ON_THE_WAY * jobs or waiting[0].done()):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BaseException:
        stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


Part = TypeVar("Part")


def ahead(parts: Iterable[Part], *, weight: Callable[[Part], int], limit: int) -> Ahead[Part]:
    """The parts, drawn by a thread of its own from now on; ``limit`` bounds the weight of those that nobody has asked for yet.

    An error comes to light where its part would.

    >>> with ahead([1, 2, 3], weight=int, limit=2) as parts:
    ...     list(parts)
    [1, 2, 3]
    """
    return Ahead(parts, weight, limit)


class Ahead(Generic[Part]):
    """Parts that are being fetched. Leaving its block ends the fetching."""

    def __init__(self, parts: Iterable[Part], weight: Callable[[Part], int], limit: int) -> None:
        self._weight = weight
        self._limit = limit
        self._waiting: deque[Part] = deque()
        self._load = 0
        self._changed = threading.Condition()
        self._ended = False
        self._error: Exception | None = None
        begin(partial(self._run, parts))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nobody will ask any more: the thread ends."""
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
        except Exception as error:  # raised in the thread that asks
            self._end(error)
        else:
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        with self._changed:
            self._error = self._error or error
            self._ended = True
            self._changed.notify_all()

    def _put(self, part: Part) -> bool:
        """Add a part when there is room; ``False`` when nobody asks any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._load < self._limit or self._ended)
            if self._ended:
                return False
            self._waiting.append(part)
            self._load += self._weight(part)
            self._changed.notify_all()
            return True
