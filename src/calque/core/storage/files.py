"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write to a temporary name in the same folder, then rename."""
    import tempfile  # with the next one, 10 ms that a run without output files does not need
    from pathlib import Path

    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        # The reader of the message knows the file that was asked for, not our name for it.
        raise OSError(error.errno, error.strerror, os.fspath(target)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        _give_usual_mode(temporary)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def write_folder(path: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write files to a new folder (or one that is empty): under a temporary name beside it, then renamed."""
    import shutil
    import tempfile
    from pathlib import Path

    target = Path(path)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise FileExistsError(errno.EEXIST, "exists already; name a folder that does not", os.fspath(target))
    try:
        temporary = tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(target)) from None
    try:
        for name, data in files.items():
            (Path(temporary) / name).write_bytes(data)
        _give_usual_mode(temporary, folder=True)
        os.replace(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _give_usual_mode(path: str, *, folder: bool = False) -> None:
    # tempfile makes them private; a result should be as readable as any other of this user.
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, (0o777 if folder else 0o666) & ~mask)
