"""What every engine can do, and the simplest one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

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
