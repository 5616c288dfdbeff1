"""A Dask cluster: work on this machine or behind a scheduler, with results reduced in a tree.

Dask computes the results of a lost worker again. The scheduler gives up a worker that does not answer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Self

from calque.base.errors import DISTRIBUTION, CalqueError, MissingExtra
from calque.engines.engine import Item, Outcome
from calque.engines.progress import current_progress

FAN_IN = 8
"""How many results are reduced at a time."""
SILENCE = "60s"
"""How long a worker of a local cluster may be silent before others get its work."""
REACHED_WITHIN = "20s"
"""How long a scheduler may take to accept a client."""
JOINED_WITHIN = 30.0
"""How many seconds a cluster may be without any worker, at the start and later."""
ANSWERED_WITHIN = 40.0
"""How many seconds a scheduler may not answer at all."""
BETWEEN_LOOKS = 2.0
"""Seconds between two requests to the scheduler."""
QUIET = {"distributed": "critical", "distributed.nanny": "critical", "distributed.worker": "critical"}
"""calque reports failures itself, in one line."""
NO_PAGES: dict[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
"""The web servers of a local cluster have no pages. Dask cannot turn them off."""
TOGETHER = (DISTRIBUTION, "numpy")
"""Packages that client and workers must have in the same version: the numbers depend on them."""


class Cluster:
    """An engine on a Dask cluster: the one behind an address, or a local one that ends with this object.

    A local cluster listens on the loopback interface with TLS. Its certificates are in memory only, so no other user can join.
    """

    def __init__(self, scheduler: str | None = None, workers: int = 1) -> None:
        self._scheduler = scheduler
        self._name = scheduler or "a local cluster"
        self._workers = workers
        self._client: Any = None
        self._local: Any = None
        self._watch: ClusterWatch | None = None

    def __enter__(self) -> Self:
        try:
            import dask
            import distributed
        except ImportError as error:
            raise MissingExtra("distributed", "dask", "--engine dask") from error
        for name in ("distributed", "tornado.application", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # calque reports failures, in one line
        try:
            if self._scheduler is None:
                # Settings from a file or from the environment have priority.
                dask.config.update_defaults({"distributed": {"scheduler": {"worker-ttl": SILENCE}}, "logging": QUIET})
                with dask.config.set(NO_PAGES):
                    self._local = distributed.LocalCluster(
                        n_workers=self._workers,
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address=None,
                        silence_logs=logging.CRITICAL,
                        security=_temporary_security(),
                    )
            self._client = distributed.Client(self._local or self._scheduler, timeout=REACHED_WITHIN, set_as_default=False)
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            self.__exit__()
            raise CalqueError(f"{self._name}: cannot be reached: {error}") from error
        try:
            self._check_workers()
            self._check_versions()
        except BaseException:
            self.__exit__()
            raise
        self._watch = ClusterWatch(self._client, self._name)
        return self

    def __exit__(self, *_: object) -> None:
        if self._watch is not None:
            self._watch.end()
        for part in (self._client, self._local):
            if part is not None:
                with suppress(Exception):  # it may be gone already
                    part.close(timeout=REACHED_WITHIN)
        self._client = self._local = self._watch = None

    def _check_workers(self) -> None:
        """Refuse a cluster without workers. Some clusters start workers only when there is work."""
        waiting = self._client.submit(int, pure=False)
        try:
            self._client.wait_for_workers(1, timeout=JOINED_WITHIN)
        except (TimeoutError, OSError) as error:
            raise CalqueError(_without_workers(self._name)) from error
        finally:
            del waiting

    def _check_versions(self) -> None:
        """Refuse workers with other versions, which could compute other numbers."""
        from importlib.metadata import version

        for package in TOGETHER:
            ours = version(package)
            with self._clear_errors():
                there = self._client.run(partial(version, package), on_error="return")
            difference = version_mismatch(package, ours, there)
            if difference:
                raise CalqueError(difference)

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Turn failures of the cluster within the block into errors that name the cause."""
        from asyncio import CancelledError
        from concurrent.futures import CancelledError as Cancelled

        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            if self._watch is not None and self._watch.trouble:
                raise CalqueError(self._watch.trouble)
            yield
        except KilledWorker as error:
            raise CalqueError(
                f"{self._name}: a worker died again and again over the same work; it may need more memory: "
                "make shards smaller, or give workers more memory"
            ) from error
        except (CommClosedError, CancelledError, Cancelled) as error:
            trouble = self._watch.trouble if self._watch is not None else ""
            raise CalqueError(
                trouble or f"{self._name}: the scheduler was lost; start it, and give the same command again"
            ) from error

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """Yield the results in the order of the items."""
        futures = [self.put(work, item) for item in items]
        for future in futures:
            with self._clear_errors():
                outcome = future.result()
            yield outcome

    def put(self, work: Callable[..., Any], *given: Any) -> Any:
        """Start work on some worker and return its future. The result stays there, and can be an argument of other work."""
        with self._clear_errors():
            return self._client.submit(work, *given, pure=False)

    def of(self, futures: Any) -> Any:
        """Fetch the results of futures."""
        with self._clear_errors():
            return self._client.gather(futures)

    def counted(self, futures: Sequence[Any]) -> None:
        """Wait for all futures and count them as progress. Raise the first failure."""
        from distributed import as_completed

        with self._clear_errors():
            for future in as_completed(futures, loop=self._client.loop):
                if future.status != "finished":
                    future.result()
                current_progress().advance()

    def reduced(self, add_up: Callable[[list[Any]], Any], futures: Sequence[Any]) -> Any:
        """Reduce the results on the workers, a few at a time, and return the future of the last result.

        ``add_up`` must return the same for any order and any grouping.
        """
        level = list(futures)
        while len(level) > 1:
            groups = [level[start : start + FAN_IN] for start in range(0, len(level), FAN_IN)]
            level = [group[0] if len(group) == 1 else self.put(add_up, group) for group in groups]
        return level[0]


class ClusterWatch:
    """Checks a scheduler every few seconds. If it is silent or has no workers for too long, it cancels all futures."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name
        self._ended = threading.Event()
        self.trouble = ""
        """Why the cluster cannot work, if it cannot."""
        threading.Thread(target=self._run, name="calque-cluster", daemon=True).start()

    def end(self) -> None:
        """Stop checking."""
        self._ended.set()

    def _run(self) -> None:
        answered = staffed = time.monotonic()
        while not self._ended.wait(BETWEEN_LOOKS):
            with suppress(Exception):  # any failure is a missing answer
                known = self._client.sync(self._client.scheduler.identity, callback_timeout=BETWEEN_LOOKS * 2)
                answered = time.monotonic()
                staffed = answered if known["workers"] else staffed
            now = time.monotonic()
            if now - answered > ANSWERED_WITHIN:
                self.trouble = f"{self._name}: the scheduler does not answer; start it, and give the same command again"
            elif now - staffed > JOINED_WITHIN and staffed < answered:
                self.trouble = _without_workers(self._name)
            if self.trouble and not self._ended.is_set():
                self._client.loop.add_callback(self._give_up)
                return

    def _give_up(self) -> None:
        for state in list(self._client.futures.values()):
            state.cancel()


def _without_workers(name: str) -> str:
    return f"{name}: has no workers, and none joined within {JOINED_WITHIN:.0f} seconds; start workers, and try again"


def _temporary_security() -> Any:
    from distributed import Security

    try:
        return Security.temporary()
    except ImportError as error:
        raise MissingExtra("cryptography", "dask", "--engine dask") from error


def version_mismatch(package: str, ours: str, there: Mapping[str, Any]) -> str:
    """Return a message if workers have another version of a package, or not the package; else an empty string.

    >>> version_mismatch("calque-eval", "0.2.0", {"tcp://a:1": "0.2.0", "tcp://b:1": "0.1.0"})
    'the worker tcp://b:1 has calque-eval 0.1.0, and here is 0.2.0; install the same version everywhere'
    """
    others = {worker: said for worker, said in there.items() if said != ours}
    if not others:
        return ""
    worker, said = next(iter(others.items()))
    has = f"has {package} {said}" if isinstance(said, str) else f"has no {package}"
    more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
    return f"the worker {worker}{more} {has}, and here is {ours}; install the same version everywhere"
