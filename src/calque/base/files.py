"""Files that appear whole or not at all: what ends a process in between, a signal included, leaves nothing behind.

Only regular files are replaced. What is there and is none (a pipe, a device) is written through and stays what it is;
a link stays a link, and what it leads to is replaced.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, TypeAlias

from calque.base.errors import CalqueError, ConfigError

FileStamp: TypeAlias = tuple[int, int, int]
"""The inode, the size and the time of the last change of a file: together they detect a changed file without reading it."""
PAGES = (".html", ".htm")
"""How files are called that browsers open as pages."""


def file_stamp(status: os.stat_result) -> FileStamp:
    """Return the stamp of a file."""
    return status.st_ino, status.st_size, status.st_mtime_ns


def write_whole(path: str | os.PathLike[str], data: bytes | Iterable[bytes | memoryview]) -> None:
    """Write to a temporary name in the same folder, then rename; write through to a pipe or a device."""
    name = os.fspath(path)
    there = what_is(name)
    pieces = (data,) if isinstance(data, bytes) else data
    if there is not None and not stat.S_ISREG(there.st_mode):
        _write_through(name, pieces)
        return
    with _renamed(name) as temporary:
        with open(temporary, "xb") as file:
            file.writelines(pieces)
        if there is not None:
            os.chmod(temporary, stat.S_IMODE(there.st_mode))  # who may read it stays as it was


def write_entry(
    path: str | os.PathLike[str], data: bytes | Iterable[bytes | memoryview], *, replace: bool = True
) -> os.stat_result | None:
    """Write a file in a folder that somebody else may have filled, and return what the file is.

    The file is new, and gets its name when it is whole. A symbolic link is refused, and so is anything but a regular file: the
    folder must not decide which file is written. Without ``replace`` a file that has the name stays, and nothing is returned.
    """
    name = os.fspath(path)
    _check_entry(name)
    pieces = (data,) if isinstance(data, bytes) else data
    with _renamed(name, follow=False, replace=replace) as temporary, open(temporary, "xb") as file:
        file.writelines(pieces)
        file.flush()
        written = os.fstat(file.fileno())
    there = os.lstat(name)
    return written if replace or (there.st_dev, there.st_ino) == (written.st_dev, written.st_ino) else None


def open_entry(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file in a folder that somebody else may have filled; links, pipes and devices are refused."""
    name = os.fspath(path)
    _check_entry(name)
    # What takes the name after the check must neither be followed nor make the command wait.
    flags = (getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    return open(os.open(name, os.O_RDONLY | sum(flags)), "rb")


def check_no_links(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder with a symbolic link in it: a link could lead what is written there to any other file."""
    with os.scandir(folder) as entries:
        linked = sorted(entry.path for entry in entries if entry.is_symlink())
    if linked:
        raise _linked(linked[0])


def _check_entry(path: str) -> None:
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(there.st_mode):
        raise _linked(path)
    if not stat.S_ISREG(there.st_mode):
        raise ConfigError(f"{path}: is not a regular file; remove it, or name another folder")


def _linked(path: str) -> ConfigError:
    return ConfigError(f"{path}: is a symbolic link, and calque follows none in this folder; remove it, or name another folder")


def write_folder(path: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write files to a new folder (or one that is empty): under a temporary name beside it, then renamed."""
    target = os.fspath(path)
    if os.path.lexists(target) and not (os.path.isdir(target) and not os.listdir(target)):
        raise FileExistsError(errno.EEXIST, "exists already; name a folder that does not", target)
    with _renamed(target) as temporary:
        os.mkdir(temporary)
        for name, data in files.items():
            with _named(name), open(os.path.join(temporary, name), "xb") as file:
                file.write(data)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Files are named as what they hold: one whose name no file can have is told by it, and not by its folder."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        text = f"no file can be called {name[:40]}…: that is {len(name)} letters long; choose a format that is one file"
        raise CalqueError(text) from None


def what_is(path: str) -> os.stat_result | None:
    """What a path leads to, through links; ``None`` when there is nothing yet. A link to itself is an `OSError`."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_special(path: str) -> bool:
    """Whether there is something that is neither a file nor a folder: a pipe, a device."""
    there = what_is(path)
    return there is not None and not stat.S_ISREG(there.st_mode) and not stat.S_ISDIR(there.st_mode)


def check_opens_as_page(path: str) -> None:
    """Refuse a report that no browser would take for a page because of its name."""
    root, extension = os.path.splitext(path)
    if extension.lower() not in PAGES and not is_special(path):
        print_it = "; to have a PDF, print the page in a browser" if extension.lower() == ".pdf" else ""
        raise ConfigError(f"{path}: a report is an HTML page; call it {os.path.basename(root)}.html{print_it}")


def _write_through(target: str, pieces: Iterable[bytes | memoryview]) -> None:
    """Write into what is there already. It is neither made nor emptied: a pipe has a reader, a device its own ideas."""
    try:
        with open(os.open(target, os.O_WRONLY), "wb") as file:
            file.writelines(pieces)
    except OSError as error:
        raise OSError(error.errno, error.strerror, target) from None


@contextmanager
def _renamed(target: str, *, follow: bool = True, replace: bool = True) -> Iterator[str]:
    """A name beside the target's for the block to use; what is there then becomes the target, or is removed when it fails.

    With ``follow`` a link stays, and the file that it leads to is replaced. Without ``replace`` a file that is there stays.

    The name is settled before anything has it: an interrupt can come at any moment.
    """
    place = os.path.realpath(target) if follow and os.path.islink(target) else target
    folder, name = os.path.split(place)
    temporary = os.path.join(folder, f".{name}.{os.urandom(6).hex()}")
    try:
        yield temporary
        if replace or not _named_unless_taken(temporary, place):
            os.replace(temporary, place)
    except BaseException as error:
        _remove(temporary)
        if isinstance(error, OSError):
            # The reader of the message knows the file that was asked for, not our name for it.
            raise OSError(error.errno, error.strerror, target) from None
        raise


def _named_unless_taken(temporary: str, place: str) -> bool:
    """Give a new file its name unless another file has it; false where the file system cannot do that at once."""
    try:
        os.link(temporary, place)
    except FileExistsError:
        pass
    except OSError:
        return os.path.lexists(place)
    _remove(temporary)
    return True


def _remove(path: str) -> None:
    if os.path.isdir(path):
        import shutil  # 10 ms that a run which goes well does not need

        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):  # it is not there, or never could be
        os.unlink(path)
