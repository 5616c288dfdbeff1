"""A worker: a process that takes in items, answers each, and ends when nobody asks any more; and what passes between."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any

from calque.engines.in_threads import begin

WORK = b"w"
"""What is to be done with the items that follow, pickled."""
ITEM = b"i"
"""An item, pickled; one answer is given for each."""
ANSWER = b"a"
"""Whether it went well, and what came of it, pickled."""

_LENGTH = 8


def send(pipe: IO[bytes], kind: bytes, data: bytes) -> None:
    """Write one message."""
    pipe.write(kind + len(data).to_bytes(_LENGTH, "little"))
    pipe.write(data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> tuple[bytes, bytes]:
    """The next message; `EOFError` when the other side has gone, perhaps in the middle of one."""
    kind, length = pipe.read(1), pipe.read(_LENGTH)
    size = int.from_bytes(length, "little")
    data = pipe.read(size) if len(length) == _LENGTH else b""
    if len(length) < _LENGTH or len(data) < size:
        raise EOFError
    return kind, data


def main() -> None:
    """Serve the process that started this one, over the pipes that were its stdin and stdout."""
    # As in a command: modules are nearly all that lives long here.
    gc.set_threshold(100_000, 50, 100)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks is interrupted, and ends this one
    source, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What the work reads or prints must not get between the messages.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no stderr
        os.dup2(nothing, 1)
    sys.argv = ["calque"]
    with suppress(BrokenPipeError):  # who asked has gone
        Desk(source, answers, os._exit).serve()
    gc.freeze()


class Desk:
    """Takes in messages in a thread of its own, so that it notices at once when the one who asks has gone."""

    def __init__(self, source: IO[bytes], answers: IO[bytes], leave: Callable[[int], Any]) -> None:
        self._source = source
        self._answers = answers
        self._leave = leave
        self._busy = False
        self._waiting: SimpleQueue[tuple[bytes, bytes] | None] = SimpleQueue()

    def serve(self) -> None:
        """Answer every item until the messages end. The main thread does the work: some of it needs alarms."""
        begin(self._take_in)
        answer = Answering()
        while (message := self._waiting.get()) is not None:
            kind, data = message
            if kind == WORK:
                answer = Answering(data)
                continue
            del message
            said = answer(data)
            self._busy = False
            send(self._answers, ANSWER, said)
            del data, said  # may be large, and the next item may be long in coming

    def _take_in(self) -> None:
        with suppress(EOFError):
            while True:
                kind, data = receive(self._source)
                self._busy = self._busy or kind == ITEM
                self._waiting.put((kind, data))
        if self._busy:
            self._leave(1)  # nobody waits for what is being done
        self._waiting.put(None)


class Answering:
    """Does one work; it is unpickled with the first item, where what is wrong with it can be told."""

    def __init__(self, packed: bytes = b"") -> None:
        self._packed = packed
        self._work: Callable[[Any], Any] | None = None

    def __call__(self, item: bytes) -> bytes:
        """The answer to an item, pickled: what came of it, or what was raised."""
        try:
            if self._work is None:
                self._work = pickle.loads(self._packed)  # noqa: S301  # from the process that started this one
            outcome = self._work(pickle.loads(item))  # noqa: S301  # likewise
            return pickle.dumps((True, outcome), pickle.HIGHEST_PROTOCOL)
        except BaseException as error:  # raised again where someone waits for the outcome
            return _failed(error)


def _failed(error: BaseException) -> bytes:
    """The error as itself, with a note on where it came from; one that cannot travel is told in words."""
    import traceback

    error.add_note("In a worker:\n" + "".join(traceback.format_tb(error.__traceback__)).rstrip())
    try:
        packed = pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)
        pickle.loads(packed)  # noqa: S301  # some can be packed and not unpacked
    except Exception:
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")), pickle.HIGHEST_PROTOCOL)
    return packed
