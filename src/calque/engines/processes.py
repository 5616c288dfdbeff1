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
from typing import Any, Generic, Self

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
        self._kept: WorkerPool | None = None

    def __enter__(self) -> Self:
        self._keeps_workers = True
        return self

    def __exit__(self, *_: object) -> None:
        pool, self._kept, self._keeps_workers = self._kept, None, False
        if pool is not None:
            pool.shut_down()

    def map(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[Outcome]:
        """Yield the results in the order of the items. A single item is not worth a process."""
        rest = iter(items)
        first = list(islice(rest, 2))
        if len(first) < 2:
            yield from map(work, first)
            return
        packed = pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
        pool = self._kept or WorkerPool(self._jobs)
        if self._keeps_workers:
            self._kept = pool
        try:
            yield from map_in_order(lambda item: RetriedItem(pool, packed, item), chain(first, rest), self._jobs)
        except BaseException:
            if self._kept is pool:
                self._kept = None
            pool.kill()
            raise
        if self._kept is not pool:
            pool.shut_down()


class WorkerPool:
    """An executor that is replaced when one of its workers is killed."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._has_warned = False
        self._start()

    def _start(self) -> None:
        with _environment(PYTHONWARNINGS="ignore:resource_tracker"):  # when we are killed, it reports what it cleans up
            resource_tracker.ensure_running()
        self._context = WorkerContext()
        keep_safe_path = "PYTHONSAFEPATH" in os.environ
        self._executor = ProcessPoolExecutor(self._jobs, self._context, _set_up_worker, (keep_safe_path,))

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
        self._executor.shutdown(cancel_futures=True)


class RetriedItem(Generic[Outcome]):
    """An item in a worker pool. If a worker is killed before there is a result, the item is submitted once more."""

    def __init__(self, pool: WorkerPool, packed: bytes, item: Any) -> None:
        self._pool = pool
        self._packed = packed
        self._item = item
        self._future: Future[Outcome] = pool.submit(packed, item)

    def done(self) -> bool:
        """Return whether there is a result or an exception."""
        return self._future.done()

    def result(self) -> Outcome:
        """Return the result, or raise the exception of the work."""
        try:
            return self._future.result()
        except BrokenProcessPool:
            self._pool.warn_of_killed_worker()
        try:
            self._future = self._pool.submit(self._packed, self._item)
            return self._future.result()
        except BrokenProcessPool:
            raise CalqueError(f"{KILLED}; use fewer --jobs") from None


class WorkerContext(SpawnContext):
    """Starts the workers of one executor, and knows them."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: list[WorkerProcess] = []

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
        with _environment(OPENBLAS_NUM_THREADS=os.environ.get("OPENBLAS_NUM_THREADS", "1")), _without_script():
            super().start()


_changing_process = threading.RLock()
"""Held while the environment or ``__main__`` of this process is changed for a process that starts."""


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set environment variables for a new Python process, which must not import modules from the current folder."""
    with _changing_process:
        changed = {"PYTHONSAFEPATH": "1", **variables}
        before = {name: os.environ.get(name) for name in changed}
        os.environ.update(changed)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


@contextmanager
def _without_script() -> Iterator[None]:
    """Hide where ``__main__`` comes from. `multiprocessing` lets a new process import it from there."""
    with _changing_process:
        script = sys.modules["__main__"]
        origin = {name: value for name, value in vars(script).items() if name in ("__file__", "__spec__")}
        vars(script).pop("__file__", None)
        script.__spec__ = None
        try:
            yield
        finally:
            vars(script).update(origin)


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
