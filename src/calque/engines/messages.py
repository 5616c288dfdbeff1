"""What passes between a process and its workers: a kind, a length, and so many bytes."""

from __future__ import annotations

from typing import IO

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
