"""Many files for each side, here or on other machines: patterns, and which file of one side goes with which of the other."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calque.base.errors import CalqueError, ConfigError, MissingExtra

WILD = re.compile(r"\*\*/|\*+|\?|\[[^\]]+\]")
"""What stands for any text in a pattern."""
SHOWN = 3
"""How many files without a partner are named."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of each side, with whole documents that no other shard has."""

    truth: str
    predictions: str


def is_pattern(path: str) -> bool:
    """Whether a path stands for several files; one that exists stands for itself.

    >>> is_pattern("truth-*.parquet"), is_pattern("truth.parquet")
    (True, False)
    """
    return WILD.search(path) is not None and not os.path.lexists(path)


def is_address(path: str) -> bool:
    """Whether a path leads to another machine.

    >>> is_address("s3://bucket/truth.parquet"), is_address("C:/truth.parquet")
    (True, False)
    """
    return re.match(r"[a-z][a-z0-9+.-]+(::|://)", path) is not None


def shards_of(truth: str, predictions: str) -> list[Shard]:
    """The pairs of files that two patterns stand for: those where the same text stands in the place of the wildcards.

    Two plain paths are one shard.
    """
    sides = [(path, found(path)) for path in (truth, predictions)]
    patterns = [path for path, files in sides if files is not None]
    if not patterns:
        return [Shard(truth, predictions)]
    if len(patterns) == 1:
        other = predictions if patterns == [truth] else truth
        raise ConfigError(f"{patterns[0]} is a pattern and {other} is none; give a pattern for both sides")
    ours, theirs = ({filled(path, name): name for name in files or ()} for path, files in sides)
    _check_partners(ours, theirs, truth, predictions)
    return [Shard(ours[text], theirs[text]) for text in sorted(ours)]


def _check_partners(ours: dict[tuple[str, ...], str], theirs: dict[tuple[str, ...], str], truth: str, predictions: str) -> None:
    for mine, other, pattern in ((ours, theirs, predictions), (theirs, ours, truth)):
        alone = [name for text, name in mine.items() if text not in other]
        if alone:
            more = f" and {len(alone) - SHOWN:,} more" if len(alone) > SHOWN else ""
            raise ConfigError(
                f"{', '.join(alone[:SHOWN])}{more}: no file of {pattern} goes with it; files go together when the same text "
                "stands in the place of * and ?"
            )


def found(path: str) -> Sequence[str] | None:
    """The files that a pattern stands for, sorted; ``None`` where it is no pattern. One without any file is refused."""
    if not is_pattern(path):
        return None
    files = found_there(path) if is_address(path) else sorted(glob.glob(path, recursive=True))
    if not files:
        raise ConfigError(f"{path}: no file has such a name; put patterns in quotes, so that the shell leaves them alone")
    return files


def filled(pattern: str, name: str) -> tuple[str, ...]:
    """What stands in a name in the place of each wildcard.

    >>> filled("truth-*.part?.json", "truth-news.part2.json")
    ('news', '2')
    """
    expression, end = "", 0
    for wild in WILD.finditer(pattern):
        expression += re.escape(pattern[end : wild.start()]) + _matching(wild[0])
        end = wild.end()
    match = re.fullmatch(expression + re.escape(pattern[end:]), name, re.DOTALL)
    return match.groups() if match is not None else (name,)


def _matching(wild: str) -> str:
    if wild == "**/":
        return "((?:.*/)?)"
    if wild.startswith("*"):
        return "(.*)" if len(wild) > 1 else "([^/]*)"
    return "(.)" if wild == "?" else f"({'[^' + wild[2:] if wild[1] == '!' else wild})"


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtra("fsspec", "dask", "an address such as s3://bucket/truth.parquet") from error
    return fsspec


def found_there(pattern: str) -> list[str]:
    """The addresses that a pattern stands for, sorted."""
    with _told(pattern):
        files, _, names = _fsspec().get_fs_token_paths(pattern)
        return sorted(files.unstrip_protocol(name) for name in names)


def fetched(address: str, folder: str) -> str:
    """A copy of a file in a folder of this machine, under its own name."""
    target = os.path.join(folder, os.path.basename(address.rstrip("/")) or "file")
    with _told(address):
        files, _, (name, *_) = _fsspec().get_fs_token_paths(address)
        files.get(name, target, recursive=files.isdir(name))
    return target


class _told:  # noqa: N801  # reads as what it does
    """Whatever goes wrong on the way is told with the address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, CalqueError):
            raise CalqueError(f"{self._address}: cannot be read: {type(error).__name__}: {error}") from error
