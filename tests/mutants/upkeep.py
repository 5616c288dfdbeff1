"""A workplace after a trial: what a fault left there is undone, so that the next one starts from the same bytes."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.workplace import Workplace

WRITTEN_ANYWAY = {"__pycache__", ".hypothesis"}
"""What Python and Hypothesis keep for themselves, and look at again only for the same source."""


def tidy(place: Workplace) -> list[str]:
    """End what still runs in a workplace, make its tree what it was, and name what was not."""
    ended = [f"process {name}" for name in end_leftovers(place.folder)]
    return [*ended, *restored(place.tree, place.clean)]


def restored(tree: Path, clean: Path) -> list[str]:
    """Make a tree what another one is, byte by byte, and name what differed."""
    there, wanted = (set(entries(folder)) for folder in (tree, clean))
    different = [each for each in sorted(there & wanted) if not same(tree / each, clean / each)]
    extra = sorted(there - wanted)
    for each in [*different, *extra]:
        remove(tree / each)
    for each in sorted([*(wanted - there), *different]):  # a folder comes before what is in it
        if (clean / each).is_dir():
            (tree / each).mkdir(exist_ok=True)
        else:
            shutil.copy2(clean / each, tree / each, follow_symlinks=False)
    return [*(f"{each} was changed" for each in different), *(f"{each} was gone" for each in sorted(wanted - there))] + [
        f"{each} was new" for each in extra
    ]


def entries(folder: Path) -> Iterator[str]:
    """The files and folders below a folder."""
    for path in folder.iterdir():
        if path.name not in WRITTEN_ANYWAY:
            yield path.name
            if path.is_dir() and not path.is_symlink():
                yield from (f"{path.name}/{each}" for each in entries(path))


def same(one: Path, other: Path) -> bool:
    if one.lstat().st_mode != other.lstat().st_mode:
        return False
    return one.is_dir() or one.read_bytes() == other.read_bytes()


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)  # it may have gone with its folder


def end_leftovers(folder: Path) -> list[str]:
    """End processes that left the group of the tests, where the system lists processes as files; these are their names."""
    ended = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            at_work = Path(os.readlink(process / "cwd")).is_relative_to(folder)
            words = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            if int(process.name) != os.getpid() and (at_work or any(word.startswith(f"{folder}/") for word in words)):
                os.kill(int(process.name), signal.SIGKILL)
                ended.append(" ".join(words)[:200].strip())
    return ended
