"""The files that suites name: patterns with ``*``, and limits on what is listed and read."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterator
from fnmatch import fnmatch

from calque.core.errors import ConfigError, ContractError
from calque.core.storage.regular_files import MB, regular_size

LARGEST_SUITE = 32 * MB
"""Bytes of a suite file; YAML of this size takes about a minute to read."""
LARGEST_SCHEMA = 16 * MB
"""Bytes of a JSON Schema in a file of its own."""
LARGEST_ARRAY = 256 * MB
"""Bytes of a JSON array with cases, which is read as a whole."""
LARGEST_DATA = 4096 * MB
"""Bytes of any other file with cases, unpacked; it is read line by line."""
LONGEST_LINE = 256 * MB
"""Bytes of one line of a file with cases."""
MOST_FILES = 10_000
"""Files that one pattern may match."""
MOST_ENTRIES = 100_000
"""Files and folders that are looked at to find those that match a pattern."""


def found_files(pattern: str) -> tuple[str, ...]:
    """Return the files that a name or a pattern with ``*`` names, sorted; the name itself where nothing matches.

    Raises:
        ConfigError: The pattern matches too many files, or too many have to be looked at.
    """
    ends_in_folder = pattern.endswith((os.sep, os.altsep or os.sep))
    if ends_in_folder or not glob.has_magic(pattern) or "\0" in pattern or os.path.exists(pattern):
        return (pattern,)
    return tuple(sorted(_matching(pattern))) or (pattern,)


def _matching(pattern: str) -> set[str]:
    """Return the files that match, as `glob.glob` finds them, without its unbounded walk."""
    drive, rest = os.path.splitdrive(pattern)
    start = drive + (os.sep if rest[:1] in (os.sep, os.altsep or os.sep) else "")
    parts = [part for part in rest.replace(os.altsep or os.sep, os.sep).split(os.sep) if part]
    waiting: list[tuple[str, list[str]]] = [(start, parts)]
    found: set[str] = set()
    seen = 0
    while waiting:
        folder, (head, *others) = waiting.pop()
        if head == "**" and others:
            waiting.append((folder, others))
        for path, is_folder in _candidates(folder, head):
            seen += 1
            if seen > MOST_ENTRIES:
                raise ConfigError(f"{pattern}: needs more than {MOST_ENTRIES:,} files and folders to be listed. Name a folder.")
            if not _fits(os.path.basename(path), head):
                continue
            if is_folder and (others or head == "**"):
                waiting.append((path, [head, *others] if head == "**" else others))
            elif not is_folder and not others:
                found.add(path)
        if len(found) > MOST_FILES:
            raise ConfigError(f"{pattern}: matches more than {MOST_FILES:,} files. Name fewer, or join them.")
    return found


def _fits(name: str, head: str) -> bool:
    """Whether a name matches one part of a pattern; a wildcard does not match a dot at the beginning, as in a shell."""
    if not glob.has_magic(head):
        return name == head
    return head.startswith(".") == name.startswith(".") and fnmatch(name, head)


def _candidates(folder: str, head: str) -> Iterator[tuple[str, bool]]:
    """Yield the entries of a folder that may match one part of a pattern, and whether each is a folder."""
    if glob.has_magic(head):
        yield from ((os.path.join(folder, name), is_folder) for name, is_folder in _listed(folder))
    elif os.path.exists(path := os.path.join(folder, head)):
        yield path, os.path.isdir(path)


def _listed(folder: str) -> Iterator[tuple[str, bool]]:
    try:
        with os.scandir(folder or os.curdir) as entries:
            for entry in entries:
                try:
                    yield entry.name, entry.is_dir()
                except OSError:
                    yield entry.name, False
    except OSError:
        return  # a folder that cannot be listed matches nothing


def check_file(path: str) -> None:
    """Raise a `ContractError` unless the path leads to a regular file within the limit."""
    try:
        size = regular_size(path)
    except FileNotFoundError:
        raise ContractError.single("no-such-file", "does not exist", file=path, help="check the suite") from None
    except OSError as error:
        text = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise ContractError.single("cannot-read", text, file=path, help="check the file and its permissions") from None
    except ValueError as error:
        if os.path.isdir(path):
            raise ContractError.single("is-a-folder", "is a folder", file=path, help="name a file") from None
        raise ContractError.single("not-a-regular-file", str(error), file=path, help="name a regular file") from None
    if size > LARGEST_DATA:
        raise too_large(path, LARGEST_DATA)


def too_large(path: str, most: int) -> ContractError:
    """Return the error of a file with cases that is too large."""
    return ContractError.single("file-too-large", f"is larger than {most // MB:,} MB", file=path, help="split it")


def lines_of(file: io.BufferedIOBase, path: str) -> Iterator[bytes]:
    """Yield the lines of an open file; a `ContractError` ends a line or a file that is too long."""
    total = 0
    while line := file.readline(LONGEST_LINE + 1):
        total += len(line)
        _check_lengths(len(line), total, path)
        yield line


def text_lines_of(file: io.TextIOBase, path: str) -> Iterator[str]:
    """Yield the lines of an open text file, as `lines_of` does."""
    total = 0
    while line := file.readline(LONGEST_LINE + 1):
        total += len(line)
        _check_lengths(len(line), total, path)
        yield line


def _check_lengths(line: int, total: int, path: str) -> None:
    if line > LONGEST_LINE:
        text = f"has a line of more than {LONGEST_LINE // MB:,} MB"
        raise ContractError.single("line-too-long", text, file=path, help="write one case per line")
    if total > LARGEST_DATA:
        raise too_large(path, LARGEST_DATA)
