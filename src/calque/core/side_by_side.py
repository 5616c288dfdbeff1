"""Independent pieces of work at the same time: arrays and kernels let go of the interpreter while they work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


def side_by_side(jobs: int, *works: Callable[[], Any]) -> list[Any]:
    """What each piece of work returns, in their order; with more than one job they run in threads.

    The first failure, in the order of the pieces, is raised after all have ended.

    >>> side_by_side(2, lambda: 1 + 1, lambda: "done")
    [2, 'done']
    """
    if jobs == 1:
        return [work() for work in works]
    results: list[Any] = [None] * len(works)
    failures: dict[int, BaseException] = {}

    def run(place: int) -> None:
        try:
            results[place] = works[place]()
        except BaseException as failure:
            failures[place] = failure

    threads = [threading.Thread(target=run, args=(place,)) for place in range(1, len(works))]
    for thread in threads:
        thread.start()
    run(0)
    for thread in threads:
        thread.join()
    for place in sorted(failures):
        raise failures[place]
    return results
