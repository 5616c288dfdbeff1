"""The inputs of a command, made fit for readers: standard input and pipes are copied to files, because readers read twice."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from calque.base.errors import CalqueError, ConfigError
from calque.cli.outputs import settle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calque.readers.sources.shards import Shard

STDIN = "-"
PARQUET = b"PAR1"
"""How Parquet files begin."""
HEAD = 1 << 16
"""How many bytes tell what there is to read."""
PIECE = 1 << 20
"""How many bytes are in memory at a time."""

_spooled: dict[str, str] = {}
"""Temporary files, and what people call them."""


def taken_in(*paths: str) -> tuple[str, ...]:
    """The same paths, with a file that holds what can be read only once (``-``, a pipe); it is removed when the command ends.

    Readers look twice: what is it, and what does it say?
    """
    if paths.count(STDIN) > 1:
        raise ConfigError("-: standard input can be read once; name a file for all other sides")
    once = [path for path in paths if path == STDIN or _is_pipe(path)]
    if once:
        settle()  # what cannot be written is refused before a long stream is read
    kept = {path: _kept(path) for path in dict.fromkeys(once)}
    return tuple(kept.get(path, path) for path in paths)


def cut(truth: str, predictions: str, values: Mapping[str, Any]) -> list[Shard]:
    """Return the pairs of files that two patterns match, or the one pair for a checkpoint or a cluster; else none.

    Input that can be read only once is copied to a file, as by `taken_in`.
    """
    asked = values["engine"] != "here" or bool(values["checkpoint"])
    if not asked and not any(mark in path for path in (truth, predictions) for mark in ("*", "?", "[", "://")):
        return []
    from calque.readers.sources.shards import Shard, is_address, shards_of

    shards = shards_of(truth, predictions)
    if not asked and shards == [Shard(truth, predictions)] and not is_address(truth) and not is_address(predictions):
        return []
    paths = taken_in(*(path for shard in shards for path in (shard.truth, shard.predictions)))
    return [Shard(*pair) for pair in zip(paths[::2], paths[1::2], strict=True)]


def _is_pipe(path: str) -> bool:
    """Whether a path is a pipe, as ``<(command)`` is in a shell."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def states_among(words: Iterable[str]) -> list[str]:
    """The saved states among the words of a command line, and among what came through pipes."""
    from calque.evaluation.storage.state import FAMILY

    named = list(dict.fromkeys(word.rpartition("=")[2] for word in words))
    kept = (os.path.join(path, name) for path in named if os.path.isdir(path) for name in sorted(os.listdir(path)))
    return [path for path in (*named, *kept, *_spooled) if _begins(path, FAMILY)]


def _begins(path: str, mark: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.read(len(mark)) == mark
    except (OSError, ValueError):
        return False


def told(text: str) -> str:
    """A text for people, in which standard input and pipes are called as they called them."""
    for path, name in _spooled.items():
        text = text.replace(path, name)
    return text


def names_of_files() -> dict[str, str]:
    """Temporary files, and what people call them."""
    return dict(_spooled)


def _kept(path: str) -> str:
    import shutil
    import tempfile

    if path == STDIN and sys.stdin.isatty():
        click.echo("reading standard input; end it with Ctrl-D", err=True)
    folder = tempfile.mkdtemp(prefix="calque-")
    click.get_current_context().call_on_close(partial(shutil.rmtree, folder, ignore_errors=True))
    try:
        with _stream(path) as stream:
            head = _beginning(stream)
            file_name = os.path.join(folder, "stdin" + extension(head))
            with open(file_name, "xb") as file:
                file.write(head)
                shutil.copyfileobj(stream, file, PIECE)
    except OSError as error:
        raise CalqueError(
            f"{folder}: {(error.strerror or str(error)).lower()}; {_spelt(path)} is kept there: make room, or name another "
            "folder in the environment variable TMPDIR"
        ) from error
    _spooled[file_name] = path
    return file_name


def _stream(path: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if path == STDIN else open(path, "rb")


def _spelt(path: str) -> str:
    return "standard input" if path == STDIN else path


def _beginning(stream: BinaryIO) -> bytes:
    head = b""
    while len(head) < HEAD and (piece := stream.read(HEAD - len(head))):
        head += piece
    return head


def extension(head: bytes) -> str:
    r"""The extension that files which begin so usually have, for readers that go by names.

    >>> extension(b'{"images": []}'), extension(b'{"id": 1}\n{"id": 2}\n'), extension(b"docid\twordid\tword\n")
    ('.json', '.jsonl', '.tsv')
    """
    if head.startswith(PARQUET):
        return ".parquet"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<"):
        return ".html" if b"<html" in start[:4096].lower() else ".xml"
    line, _, rest = start.partition(b"\n")
    if start.startswith((b"{", b"[")):
        return ".jsonl" if rest.strip() and _is_object(line) else ".json"
    if b"docid" in line.lower():
        return ".tsv" if b"\t" in line else ".csv"
    return ".tsv" if line.startswith(b"level\tpage_num") else ".txt"


def _is_object(line: bytes) -> bool:
    import json

    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
