"""Reading ahead: a thread fetches what will be asked for, within a bound."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, Self, TypeVar

Part = TypeVar("Part")


class Ahead(Generic[Part]):
    """The parts of something, fetched in a thread of its own from the moment on that this is made.

    ``limit`` bounds the weight of what waits to be asked for. An error comes to light where its part would.

    >>> with Ahead(lambda: iter([1, 2, 3]), weight=int, limit=2) as parts:
    ...     list(parts)
    [1, 2, 3]
    """

    def __init__(self, fetch: Callable[[], Iterator[Part]], *, weight: Callable[[Part], int], limit: int) -> None:
        self._fetch = fetch
        self._weight = weight
        self._limit = limit
        self._waiting: deque[Part] = deque()
        self._load = 0
        self._changed = threading.Condition()
        self._ended = False
        self._error: Exception | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nobody will ask any more: the thread ends."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def __iter__(self) -> Iterator[Part]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ended)
                if not self._waiting:
                    break
                part = self._waiting.popleft()
                self._load -= self._weight(part)
                self._changed.notify_all()
            yield part
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            for part in self._fetch():
                if not self._put(part):
                    return
        except Exception as error:  # raised in the thread that asks
            self._error = error
        with self._changed:
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
