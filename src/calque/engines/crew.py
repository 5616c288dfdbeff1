"""The workers of a process, from its side: started, asked, and sent home.

A worker is a new Python process that loads what its work needs and nothing else: it inherits no thread, no lock and no file
of this one, does not run ``__main__``, and reads from a pipe that only this process holds. When the pipe ends, so does the
worker; that is how none survives a process that was killed.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Any

from calque.base.errors import CalqueError
from calque.engines.worker import ITEM, WORK, receive, send

ENDED = "a worker was ended from outside, perhaps because memory ran out; try fewer --jobs"

PATIENCE = 10.0
"""Seconds that a worker which is told to end may take before it is killed."""

START = "import sys; sys.path[:] = sys.argv[1:]; from calque.engines.worker import main; main()"
"""A worker finds modules where this process does, wherever it was started."""


AGAIN = "a worker was ended from outside, perhaps because memory ran out; its part is done again"


class WorkerEnded(CalqueError):
    """A worker has gone before it answered."""


class Crew:
    """Workers that have nothing to do at the moment."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._turn = threading.Lock()

    def take(self) -> Worker:
        """One of them, or a new one."""
        with self._turn:
            if self._idle:
                return self._idle.pop()
        return Worker()

    def put(self, worker: Worker) -> None:
        """Take back one that has answered."""
        with self._turn:
            self._idle.append(worker)

    def end(self) -> None:
        """Send all home."""
        with self._turn:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.dismiss()
        for worker in idle:
            worker.end()


class Round:
    """One work for many items, and the workers that are busy with it."""

    def __init__(self, crew: Crew, work: bytes) -> None:
        self.crew = crew
        self._work = work
        self._busy: set[Worker] = set()
        self._stopped = False
        self._turn = threading.Lock()
        self.repeated = 0
        """How many items were given to a second worker, because the first had gone."""

    def ask(self, item: Any) -> Any:
        """What a worker makes of an item. When one goes before it answers, another is asked, once."""
        try:
            return self._asked(item)
        except WorkerEnded:
            with self._turn:
                if self._stopped:
                    raise
                self.repeated += 1
        return self._asked(item)

    def _asked(self, item: Any) -> Any:
        worker = self.crew.take()
        try:
            with self._turn:
                self._busy.add(worker)
                if self._stopped:  # while the worker was being started
                    worker.kill()
            return worker.ask(self._work, item)
        finally:
            with self._turn:
                self._busy.discard(worker)
            if worker.lost:
                worker.end()
            else:
                self.crew.put(worker)

    def stop(self) -> None:
        """End everybody who is still busy."""
        with self._turn:
            self._stopped = True
            for worker in self._busy:
                worker.kill()


class Worker:
    """A process that waits for work."""

    def __init__(self) -> None:
        self._process = _started()
        self._holds: bytes | None = None
        self.lost = False
        """Whether it can be asked no more."""

    @property
    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101, PT018  # both are pipes
        return self._process.stdin, self._process.stdout

    def ask(self, work: bytes, item: Any) -> Any:
        """What the work makes of the item there; raises what it raises."""
        data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        to_worker, from_worker = self._pipes
        try:
            if self._holds is not work:
                send(to_worker, WORK, work)
                self._holds = work
            send(to_worker, ITEM, data)
            del data
            _, answer = receive(from_worker)
        except (OSError, EOFError):
            self.lost = True
            raise WorkerEnded(ENDED) from None
        fine, outcome = pickle.loads(answer)  # noqa: S301  # from a process of our own
        if not fine:
            raise outcome
        return outcome

    def kill(self) -> None:
        """End it now, whatever it does."""
        self.lost = True
        self._process.kill()

    def dismiss(self) -> None:
        """Tell it that nothing more will come."""
        with suppress(OSError):  # it has ended already, with something unsaid
            self._pipes[0].close()

    def end(self) -> None:
        """Wait until it has gone."""
        self.dismiss()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._pipes[1].close()


def _started() -> subprocess.Popen[bytes]:
    flags = ["-P", *(f"-W{option}" for option in sys.warnoptions), *(["-X", "utf8"] if sys.flags.utf8_mode else [])]
    return subprocess.Popen(  # noqa: S603  # this very interpreter, and code of our own
        [sys.executable, *flags, "-c", START, *(entry for entry in sys.path if isinstance(entry, str))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # NumPy's linear algebra would start a thread for each core; nothing here uses it.
        env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
        # In a group of its own, Ctrl-C reaches this process alone, which then ends its workers.
        process_group=0,
    )
