"""Read regular files that other files name: no pipes, no devices, and nothing longer than a limit."""

from __future__ import annotations

import os
import stat

MB = 1 << 20


def regular_size(path: str) -> int:
    """Return the size of a regular file in bytes.

    Raises:
        OSError: There is no such file, or it cannot be looked at.
        ValueError: It is a folder, a pipe or a device.
    """
    try:
        there = os.stat(path)
    except ValueError:  # a name with a null byte
        raise FileNotFoundError(2, "no such file or directory", path) from None
    return _size(there)


def _size(there: os.stat_result) -> int:
    if stat.S_ISREG(there.st_mode):
        return there.st_size
    raise ValueError("is a folder" if stat.S_ISDIR(there.st_mode) else "is not a regular file")


def read_regular(path: str, most: int) -> bytes:
    """Return the content of a regular file of at most so many bytes.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not a regular file, or longer than ``most``.
    """
    regular_size(path)
    # The file may be another one by now: a pipe would block while it is opened, and a device has no end.
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
        _size(os.fstat(file.fileno()))
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"is larger than {most // MB:,} MB")
    return data


def reason(error: OSError | ValueError) -> str:
    """Return why a file cannot be read, to follow its name."""
    if isinstance(error, OSError):
        return f"cannot be read: {(error.strerror or str(error)).lower()}"
    return str(error)
