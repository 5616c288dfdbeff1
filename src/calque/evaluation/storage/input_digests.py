"""What files hold, as far as it tells one from another: digests, and marks that show when one is changed.

This module imports nothing heavy: digests begin with the reading, before anything else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from calque.base.errors import CalqueError
from calque.base.file_stamps import FileMark, mark_of
from calque.engines import begin

if TYPE_CHECKING:
    from calque.engines import Begun

PIECE = 1 << 18
"""So many bytes are read at a time: they stay near the processor."""


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """Files that are to be evaluated, and their digests, which are on their way."""

    files: tuple[str, ...]
    marks: dict[str, FileMark]
    """What the files were before anybody read them."""
    sources: Callable[[], tuple[Any, ...]]
    """What they are evaluated from."""
    digests: tuple[Begun[str], ...]

    @classmethod
    def beforehand(cls, files: Sequence[str], begin_to_read: Callable[[str], Any]) -> Self:
        """Files that may not have to be evaluated: only their digests are taken, and the rest begins when it is asked for."""
        marks = _marks(files)
        return cls(tuple(files), marks, lambda: tuple(map(begin_to_read, files)), tuple(map(_begun, files)))

    @classmethod
    def beside(cls, files: Sequence[str], begin_to_read: Callable[[str], Any]) -> Self:
        """Files that will be evaluated: reading them begins at once, and so do their digests."""
        marks = _marks(files)
        sources = tuple(map(begin_to_read, files))
        return cls(tuple(files), marks, lambda: sources, tuple(map(_begun, sources)))

    def check_unchanged(self) -> None:
        """Refuse files that are others by now: what was evaluated and what has these digests must be the same."""
        now = _marks(self.files)
        changed = [path for path in {**self.marks, **now} if self.marks.get(path) != now.get(path)]
        if changed:
            raise CalqueError(f"{changed[0]}: was changed while it was being evaluated; give the same command again")


def _marks(files: Sequence[str]) -> dict[str, FileMark]:
    """The marks of files, or of all files of a folder."""
    inside = (os.path.join(path, name) for path in files for name in files_below(path))
    return {path: mark_of(os.stat(path)) for path in (*files, *inside)}


def files_below(folder: str) -> Iterator[str]:
    """The files of a folder and of those in it, linked ones included, by their paths from there and in their order."""
    seen: set[str] = set()  # folders may lead back to themselves
    for place, inner, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:
            inner.clear()
            continue
        seen.add(real)
        inner.sort()
        paths = (os.path.join(place, name) for name in sorted(names))
        yield from (os.path.relpath(path, folder) for path in paths if os.path.isfile(path))


def _begun(source: Any) -> Begun[str]:
    return begin(partial(content_digest, os.fspath(source)))


def content_digest(path: str) -> str:
    """The content of a file, or of all files of a folder with their names.

    It tells a changed file from the one that was evaluated, as quickly as files are read. It does not tell a forged one.
    """
    from xxhash import xxh3_128

    digest = xxh3_128()
    if not os.path.isdir(path):
        piece = memoryview(bytearray(PIECE))
        with open(path, "rb", buffering=0) as file:
            while count := file.readinto(piece):
                digest.update(piece[:count])
        return digest.hexdigest()
    for name in files_below(path):
        told = f"{name}\n{content_digest(os.path.join(path, name))}\n"
        digest.update(told.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
