"""A cluster: work as a dask graph, on this machine or behind a scheduler, with results added up in a tree.

What a worker that goes had made is made again by others; one that does not answer any more is given up by the scheduler.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Self

from calque.core.errors import DISTRIBUTION, CalqueError, MissingExtra
from calque.engines.engine import Item, Outcome
from calque.engines.telling import meter

FAN_IN = 8
"""How many results are added up at once."""
SILENCE = "60s"
"""How long a worker of a local cluster may be silent before its work is given to others."""
REACHED_WITHIN = "20s"
"""How long a scheduler may take to answer."""
QUIET = {"distributed": "critical", "distributed.nanny": "critical", "distributed.worker": "critical"}
"""What goes wrong is told by whoever asked, in one line."""
TOGETHER = (DISTRIBUTION, "numpy")
"""What client and workers must have in the same version, as numbers are made of both."""


class Cluster:
    """An engine whose workers are those of a dask cluster: the one behind an address, or a local one that ends with it."""

    def __init__(self, scheduler: str | None = None, workers: int = 1) -> None:
        self._scheduler = scheduler
        self._workers = workers
        self._client: Any = None
        self._local: Any = None

    def __enter__(self) -> Self:
        try:
            import dask
            import distributed
        except ImportError as error:
            raise MissingExtra("distributed", "dask", "--engine dask") from error
        try:
            if self._scheduler is None:
                # What somebody has set in a file or in the environment stays.
                dask.config.update_defaults({"distributed": {"scheduler": {"worker-ttl": SILENCE}}, "logging": QUIET})
                self._local = distributed.LocalCluster(
                    n_workers=self._workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            self._client = distributed.Client(self._local or self._scheduler, timeout=REACHED_WITHIN, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            self.__exit__()
            raise CalqueError(f"{self._scheduler or 'a local cluster'}: cannot be reached: {error}") from error
        self._check_versions()
        return self

    def __exit__(self, *_: object) -> None:
        for part in (self._client, self._local):
            if part is not None:
                part.close(timeout=REACHED_WITHIN)
        self._client = self._local = None

    def _check_versions(self) -> None:
        """Refuse workers that would give other numbers, or none."""
        from importlib.metadata import version

        for package in TOGETHER:
            ours = version(package)
            there = self._client.run(partial(version, package), on_error="return")
            difference = apart(package, ours, there)
            if difference:
                self.__exit__()
                raise CalqueError(difference)

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """The outcomes in the order of the items."""
        futures = [self._client.submit(work, item, pure=False) for item in items]
        for future in futures:
            yield future.result()

    def put(self, work: Callable[..., Any], *given: Any) -> Any:
        """A piece of work that is done somewhere, and what it makes stays there; what is put may be given to others."""
        return self._client.submit(work, *given, pure=False)

    def of(self, futures: Any) -> Any:
        """What pieces of work have made, brought here."""
        return self._client.gather(futures)

    def counted(self, futures: Sequence[Any]) -> None:
        """Wait for all, and say on the meter how far they are; the first failure is raised."""
        from distributed import as_completed

        for future in as_completed(futures, loop=self._client.loop):
            if future.status == "error":
                future.result()
            meter().advance()

    def reduced(self, add_up: Callable[[list[Any]], Any], futures: Sequence[Any]) -> Any:
        """All of them added up, some at a time, by whoever has most of them; what comes of it stays there.

        ``add_up`` must give the same for any order and any grouping.
        """
        level = list(futures)
        while len(level) > 1:
            groups = [level[start : start + FAN_IN] for start in range(0, len(level), FAN_IN)]
            level = [group[0] if len(group) == 1 else self.put(add_up, group) for group in groups]
        return level[0]


def apart(package: str, ours: str, there: Mapping[str, Any]) -> str:
    """What is to be told when workers have another version of a package, or none of it; nothing when all have the same.

    >>> apart("calque-eval", "0.2.0", {"tcp://a:1": "0.2.0", "tcp://b:1": "0.1.0"})
    'the worker tcp://b:1 has calque-eval 0.1.0, and here is 0.2.0; install the same version everywhere'
    """
    others = {worker: said for worker, said in there.items() if said != ours}
    if not others:
        return ""
    worker, said = next(iter(others.items()))
    has = f"has {package} {said}" if isinstance(said, str) else f"has no {package}"
    more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
    return f"the worker {worker}{more} {has}, and here is {ours}; install the same version everywhere"
