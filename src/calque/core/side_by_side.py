"""Independent pieces of work at the same time: arrays and kernels let go of the interpreter while they work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

WORTH_A_THREAD = 100_000
"""From how many rows on work is done side by side: with fewer, threads only get in each other's way."""


def threads_for(rows: int, jobs: int) -> int:
    """How many of the threads that may be used this many rows are worth."""
    return jobs if rows >= WORTH_A_THREAD else 1


def side_by_side(jobs: int, *works: Callable[[], Any]) -> list[Any]:
    """What each piece of work returns, in their order; with more than one job they run in that many threads (0: one each).

    The first failure, in the order of the pieces, is raised after all have ended.

    >>> side_by_side(2, lambda: 1 + 1, lambda: "done")
    [2, 'done']
    """
    if jobs == 1:
        return [work() for work in works]
    results: list[Any] = [None] * len(works)
    failures: dict[int, BaseException] = {}
    places = iter(range(len(works)))  # drawing from it is one step, so no two threads draw the same

    def draw() -> None:
        for place in places:
            try:
                results[place] = works[place]()
            except BaseException as failure:  # raised again by the caller's thread
                failures[place] = failure

    threads = [threading.Thread(target=draw) for _ in range(1, min(jobs, len(works)) if jobs > 0 else len(works))]
    for thread in threads:
        thread.start()
    draw()
    for thread in threads:
        thread.join()
    for place in sorted(failures):
        raise failures[place]
    return results
