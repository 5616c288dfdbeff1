"""Processes: workers that are started afresh, with the same order, bounds and failures as in threads.

A thread waits for each worker, so that everything about order, bounds and failures is said once, in `in_order`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Self

from calque.engines.engine import Item, Outcome
from calque.engines.in_threads import in_order

if TYPE_CHECKING:
    from calque.engines.crew import Crew


class Processes:
    """Works in processes of their own. Within its block they are kept for the next round of work; else each has new ones."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._keeps = False
        self._crew: Crew | None = None

    def __enter__(self) -> Self:
        self._keeps = True
        return self

    def __exit__(self, *_: object) -> None:
        crew, self._crew, self._keeps = self._crew, None, False
        if crew is not None:
            crew.end()

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """The outcomes in the order of the items; a single one is not worth a process."""
        rest = iter(items)
        first = list(islice(rest, 2))
        if len(first) < 2:
            yield from map(work, first)
            return
        import pickle  # what runs in one process needs neither

        from calque.engines.crew import AGAIN, Crew, Round
        from calque.engines.telling import remark

        crew = self._crew or Crew()
        if self._keeps:
            self._crew = crew
        round = Round(crew, pickle.dumps(work, pickle.HIGHEST_PROTOCOL))
        told = 0
        try:
            for outcome in in_order(round.ask, chain(first, rest), self._jobs, round.stop):
                if told < round.repeated:
                    told = round.repeated
                    remark(AGAIN)
                yield outcome
        finally:
            if told < round.repeated:
                remark(AGAIN)
            if crew is not self._crew:
                crew.end()
