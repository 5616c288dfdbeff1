"""Files that appear whole or not at all: what ends a process in between, a signal included, leaves nothing behind."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write to a temporary name in the same folder, then rename."""
    with _renamed(os.fspath(path)) as temporary, open(temporary, "xb") as file:
        file.write(data)


def write_folder(path: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write files to a new folder (or one that is empty): under a temporary name beside it, then renamed."""
    target = os.fspath(path)
    if os.path.lexists(target) and not (os.path.isdir(target) and not os.listdir(target)):
        raise FileExistsError(errno.EEXIST, "exists already; name a folder that does not", target)
    with _renamed(target) as temporary:
        os.mkdir(temporary)
        for name, data in files.items():
            with open(os.path.join(temporary, name), "xb") as file:
                file.write(data)


@contextmanager
def _renamed(target: str) -> Iterator[str]:
    """A name beside the target's for the block to use; what is there then becomes the target, or is removed when it fails.

    The name is settled before anything has it: an interrupt can come at any moment.
    """
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{os.urandom(6).hex()}")
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException as error:
        _remove(temporary)
        if isinstance(error, OSError):
            # The reader of the message knows the file that was asked for, not our name for it.
            raise OSError(error.errno, error.strerror, target) from None
        raise


def _remove(path: str) -> None:
    if os.path.isdir(path):
        import shutil  # 10 ms that a run which goes well does not need

        shutil.rmtree(path, ignore_errors=True)
    with suppress(FileNotFoundError):
        os.unlink(path)
