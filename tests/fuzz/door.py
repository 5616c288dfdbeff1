"""A door: files that somebody else may have written, the commands that read them, and the two ways in which those may end."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from calque import CalqueError
from calque.cli.app import calque
from tests.kept import Kept

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Door:
    """Files that somebody else may have written, and commands that read them all."""

    name: str
    make: Callable[[], Files]
    commands: tuple[str, ...]
    opens: tuple[str, ...]
    """What is read through it: entries of registries, as in ``boxes: coco``."""
    kept: tuple[str, ...] = ()
    """Files that stay sound: what is attacked is read beside them."""

    _files: Kept[Files] = field(default_factory=Kept, init=False, repr=False, compare=False)

    @property
    def files(self) -> Files:
        """The sound files, by their paths."""
        return self._files(f"files of the door {self.name}", self.make)

    @property
    def attacked(self) -> list[str]:
        """The files that are changed."""
        return [name for name in self.files if name not in self.kept]


class Trouble(AssertionError):
    """What no data may bring about: neither a result nor an error that names the file."""


def attempt(files: Files, commands: Iterable[str]) -> None:
    """Run commands on files in the current folder; `Trouble` when one ends in no order."""
    laid_out(files)
    for command in commands:
        run(command, files)


def laid_out(files: Files) -> None:
    """Write files into the current folder."""
    for name, data in files.items():
        path = Path(name)
        if path.parent != Path():
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


OUT, ERR = io.StringIO(), io.StringIO()
"""The same for all commands: click keeps every stream that it has written to."""


def run(command: str, files: Files) -> int:
    """Run a command as the entry point does, up to where it would tell of an error."""
    for stream in (OUT, ERR):
        stream.seek(0)
        stream.truncate()
    with contextlib.redirect_stdout(OUT), contextlib.redirect_stderr(ERR):
        try:
            code = calque.main(shlex.split(command), prog_name="calque", standalone_mode=False) or 0
        except CalqueError as error:
            if not _names_a_file(str(error), files):
                raise Trouble(f"calque {command}: no file is named: {error}") from error
            return 2
        except click.ClickException as error:
            raise Trouble(f"calque {command}: {error.format_message()}") from error
    if code not in (0, 1, 2, 3):
        raise Trouble(f"calque {command}: ended with {code}")
    if "\x1b" in OUT.getvalue() + ERR.getvalue():
        raise Trouble(f"calque {command}: an escape sequence came out")
    return int(code)


def _names_a_file(text: str, files: Files) -> bool:
    """Whether a file is named, or a run of a comparison, which is called like the file of its state."""
    runs = {Path(name).stem for name in files if name.endswith(".state")}
    return any(name.split("/")[0] in text for name in files) or bool(runs & set(text.split()))


def tried(files: Files, commands: Iterable[str]) -> str:
    """What went wrong with files in a folder of their own; nothing where nothing did."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        try:
            attempt(files, commands)
        except BaseException as error:  # whatever it is, it is told
            if isinstance(error, KeyboardInterrupt):
                raise
            return told(error)
    return ""


def told(error: BaseException) -> str:
    """An error with the last place in the package where it passed."""
    places = []
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if f"{os.sep}calque{os.sep}" in file:
            places.append(f"{file.rpartition(os.sep + 'calque' + os.sep)[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__}: {str(error)[:300]} ({' < '.join(reversed(places[-3:]))})"
