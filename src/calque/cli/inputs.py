"""Standard input where a path is expected: ``-`` is kept in a temporary file, because readers look twice."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import BinaryIO

import click

from calque.cli.outputs import settle
from calque.core.errors import CalqueError, ConfigError

STDIN = "-"
HEAD = 1 << 16
"""How many bytes tell what there is to read."""
PIECE = 1 << 20
"""How many bytes are in memory at a time."""

_spooled: dict[str, str] = {}
"""Temporary files, and what people call them."""


def from_stdin(*paths: str) -> tuple[str, ...]:
    """The same paths, with a file that holds standard input for ``-``; it is removed when the command ends."""
    if paths.count(STDIN) > 1:
        raise ConfigError("-: standard input can be read once; name a file for all other sides")
    if STDIN in paths:
        settle()  # what cannot be written is refused before a long stream is read
    return tuple(_kept() if path == STDIN else path for path in paths)


def told(text: str) -> str:
    """A text for people, in which standard input is called as they called it."""
    for path, name in _spooled.items():
        text = text.replace(path, name)
    return text


def _kept() -> str:
    import shutil
    import tempfile

    stream = sys.stdin.buffer
    if sys.stdin.isatty():
        click.echo("reading standard input; end it with Ctrl-D", err=True)
    folder = tempfile.mkdtemp(prefix="calque-")
    click.get_current_context().call_on_close(partial(shutil.rmtree, folder, ignore_errors=True))
    try:
        head = _beginning(stream)
        path = os.path.join(folder, "stdin" + extension(head))
        with open(path, "xb") as file:
            file.write(head)
            shutil.copyfileobj(stream, file, PIECE)
    except OSError as error:
        raise CalqueError(
            f"{folder}: {(error.strerror or str(error)).lower()}; standard input is kept there: make room, or name another "
            "folder in the environment variable TMPDIR"
        ) from error
    _spooled[path] = STDIN
    return path


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
    if head.startswith(b"PAR1"):
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
