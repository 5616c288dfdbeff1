"""Reading ahead: a thread fetches what will be asked for, within a bound."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Generic, Self, TypeVar

from calque.engines.in_threads import begin

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
