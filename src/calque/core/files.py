"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write to a temporary name in the same folder, then rename."""
    import tempfile  # 5 ms that a run without output files does not need

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


def _give_usual_mode(path: str) -> None:
    # mkstemp makes files private; a result should be as readable as any other file of this user.
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)
