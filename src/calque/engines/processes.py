"""Worker processes: a `ProcessPoolExecutor` whose workers never outlive their parent and never run its script.

Spawned processes usually import the parent's ``__main__``. Scripts without a ``__main__`` guard and scripts from standard input
fail then, so `WorkerProcess` does without it.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Self

from calque.base.errors import CalqueError
from calque.engines.engine import Item, Outcome, map_in_order
from calque.engines.progress import warn
from calque.engines.threads import run_in_background

KILLED = "a worker process was killed, perhaps because memory ran out"
MOST_WORKERS = 61 if sys.platform == "win32" else sys.maxsize
"""Windows cannot wait for more processes at a time."""


class Processes:
    """Does work in worker processes. Within its block workers stay for the next `map`; else each `map` starts new ones."""

    def __init__(self, jobs: int) -> None:
        self._jobs = min(jobs, MOST_WORKERS)
        self._keeps_workers = False
        self._kept: list[WorkerPool] = []

    def __enter__(self) -> Self:
        self._keeps_workers = True
        return self

    def __exit__(self, *_: object) -> None:
        pools, self._kept, self._keeps_workers = self._kept, [], False
        for pool in pools:
            pool.shut_down()

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """Yield the results in the order of the items. A single item is not worth a process."""
        rest = iter(items)
        first = list(islice(rest, max(2, self._jobs)))
        if len(first) < 2:
            yield from map(work, first)
            return
        packed = pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
        pool = self._pool_of(min(self._jobs, len(first)))

        def submit(item: Item) -> Future[Outcome]:
            return pool.submit(packed, item)

        def result_of(item: Item, future: Future[Outcome]) -> Outcome:
            try:
                return future.result()
            except BrokenProcessPool:
                pool.warn_of_killed_worker()
            try:
                return submit(item).result()
            except BrokenProcessPool:
                raise CalqueError(f"{KILLED}; use fewer --jobs") from None

        try:
            yield from map_in_order(submit, chain(first, rest), self._jobs, result_of)
        except BaseException:
            if pool in self._kept:
                self._kept.remove(pool)
            pool.kill()
            raise
        if pool not in self._kept:
            pool.shut_down()

    def _pool_of(self, workers: int) -> WorkerPool:
        """Return a pool that was kept and has this many workers, or a new one."""
        for pool in self._kept:
            if pool.size >= workers:
                return pool
        pool = WorkerPool(workers)
        if self._keeps_workers:
            self._kept.append(pool)
        return pool


class WorkerPool:
    """An executor that is replaced when one of its workers is killed."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._has_warned = False
        self._start()

    def _start(self) -> None:
        with _environment_of_new_python(PYTHONWARNINGS="ignore:resource_tracker"):
            resource_tracker.ensure_running()  # it would warn of semaphores that it removes after this process was killed
        self._context = WorkerContext()
        keep_safe_path = "PYTHONSAFEPATH" in os.environ
        self._executor = ProcessPoolExecutor(self.size, self._context, _set_up_worker, (keep_safe_path,))
        # Start all workers with the first item. Python's pool does not watch a worker that starts later until it hears from
        # another worker. If such a worker is killed, the pool waits forever.
        self._executor._safe_to_dynamically_spawn_children = False  # type: ignore[attr-defined]

    def submit(self, packed: bytes, item: Any) -> Future[Any]:
        """Let a worker do the pickled work with an item."""
        try:
            return self._executor.submit(_do_work, packed, item)
        except BrokenProcessPool:
            self._start()
            return self._executor.submit(_do_work, packed, item)

    def warn_of_killed_worker(self) -> None:
        """Report a killed worker, once."""
        if not self._has_warned:
            warn(f"{KILLED}; calque does its part again")
        self._has_warned = True

    def shut_down(self) -> None:
        """End the workers, which have nothing to do."""
        self._executor.shutdown()

    def kill(self) -> None:
        """End the workers, whatever they do."""
        for worker in self._context.workers:
            if worker.is_alive():
                worker.kill()
                worker.join()
        # If a worker was killed while it wrote a result, the thread of the pool waits for the rest until all ends are closed.
        self._context.results._writer.close()  # type: ignore[attr-defined]
        self._executor.shutdown(cancel_futures=True)


class WorkerContext(SpawnContext):
    """Starts the workers of one executor, and knows them."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: list[WorkerProcess] = []

    def SimpleQueue(self) -> Any:  # noqa: N802
        """Return the queue in which workers put their results."""
        self.results = super().SimpleQueue()
        return self.results

    def Process(self, *args: Any, **kwargs: Any) -> WorkerProcess:  # type: ignore[override]  # noqa: N802
        """Return a worker that is not started yet."""
        worker = WorkerProcess(*args, **kwargs)
        self.workers.append(worker)
        return worker


class WorkerProcess(SpawnProcess):
    """A spawned process that does not run the script of its parent."""

    def start(self) -> None:
        """Start it in another thread: Python raises signals in the main thread, where they would leave it half started."""
        starting = run_in_background(self._start)
        try:
            starting.result()
        except BaseException:
            wait([starting])
            raise

    def _start(self) -> None:
        if sys.platform != "win32":
            # The worker inherits this. Ctrl-C reaches it, too, perhaps before it can ignore it.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        # NumPy's linear algebra would start a thread for each core, and calque does not use it.
        with _environment_of_new_python(OPENBLAS_NUM_THREADS=os.environ.get("OPENBLAS_NUM_THREADS", "1")):
            super().start()


_starting_python = threading.Lock()


@contextmanager
def _environment_of_new_python(**variables: str) -> Iterator[None]:
    """Change this process for a new Python process that starts within the block.

    The new process inherits the environment variables and imports no modules from the current folder. It does not run the
    script of this process: `multiprocessing` cannot see where ``__main__`` comes from.
    """
    changed = {"PYTHONSAFEPATH": "1", **variables}
    script = sys.modules["__main__"]
    with _starting_python:
        values = {name: os.environ.get(name) for name in changed}
        origin = {name: value for name, value in vars(script).items() if name in ("__file__", "__spec__")}
        os.environ.update(changed)
        vars(script).pop("__file__", None)
        script.__spec__ = None
        try:
            yield
        finally:
            vars(script).update(origin)
            for name, value in values.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def _set_up_worker(keep_safe_path: bool) -> None:
    """Prepare a worker process: it ends with its parent, and leaves the parent's terminal, input and output alone."""
    run_in_background(_end_with_parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, and ends this process
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if not keep_safe_path:
        os.environ.pop("PYTHONSAFEPATH", None)  # it is for this process, not for programs that the work starts
    gc.set_threshold(100_000, 50, 100)  # as in a command: nearly all objects are modules, which stay
    null_device = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_device, 0)
    try:
        os.dup2(2, 1)  # standard output belongs to the parent
    except OSError:  # there is no standard error
        os.dup2(null_device, 1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do_work(packed: bytes, item: Any) -> Any:
    """Do pickled work with an item, in a worker."""
    try:
        return _load(packed)(item)
    except BaseException as error:
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301  # made here
        except Exception:
            # Python's pool takes an exception that cannot be unpickled for a killed worker.
            raise RuntimeError(f"{type(error).__name__}: {error}") from None
        raise


@lru_cache(maxsize=1)
def _load(packed: bytes) -> Any:
    """Unpickle work once for all its items."""
    return pickle.loads(packed)  # noqa: S301  # from the parent
