"""Where a command writes, settled before any work: nothing that it reads, nothing twice, and no folder that is not there."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from calque.base.errors import ConfigError
from calque.base.files import check_opens_as_page, is_special, what_is, write_whole
from calque.evaluation.presentation.sections import printable

if TYPE_CHECKING:
    from calque.evaluation.evaluator import Evaluator

STDOUT = "-"
"""How standard output is called where a file could be named."""

Identity: TypeAlias = tuple[Any, ...]
"""What is equal for two spellings of one file, and only for those."""


class Named(click.Path):
    """A path that must name something: a variable of a shell that was never set does not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, or an error that says what was given no name."""
        if not os.fspath(value) and param is not None and _was_given(param, ctx):
            option = isinstance(param, click.Option)
            where = " / ".join(param.opts) if option else param.human_readable_name
            what = " or ".join(name for name, fine in (("file", self.file_okay), ("folder", self.dir_okay)) if fine)
            leave = ", or leave the option out" if option and not param.required else ""
            raise ConfigError(f"{where}: the name is empty; name a {what}{leave}")
        return super().convert(value, param, ctx)


def _was_given(parameter: click.Parameter, context: click.Context | None) -> bool:
    """Whether the value comes from the command line or the environment and is not the empty default of a setting.

    An argument has no default. click 8.4.0 reports no source at all while it converts a default.
    """
    if isinstance(parameter, click.Argument) or context is None or parameter.name is None:
        return True
    given = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)
    return context.get_parameter_source(parameter.name) in given


class Written(Named):
    """A path that a command writes to. Every other path among its parameters is one that it reads."""


class WrittenPage(Written):
    """A report that a command writes."""


def settle(*read_too: str) -> None:
    """Refuse an output of this command that is one of its inputs, lies in one, comes twice, or cannot be there.

    Inputs and outputs are told apart by the types of the command's parameters; ``read_too`` are inputs that only the
    inputs name.
    """
    context = click.get_current_context()
    read: list[str] = [*read_too]
    written: list[str] = []
    pages: list[str] = []
    for parameter in context.command.params:
        if isinstance(parameter.type, click.Path) and parameter.name is not None:
            given = context.params.get(parameter.name)
            paths = given if isinstance(given, tuple) else (given,)
            (written if isinstance(parameter.type, Written) else read).extend(path for path in paths if path)
            if isinstance(parameter.type, WrittenPage) and given is not None:
                pages.append(given)
    if "output" in context.params and not context.params["output"]:
        written.append(STDOUT)
    refuse(written, read)
    for path in pages:
        if path != STDOUT:
            check_opens_as_page(path)


def refuse(written: Sequence[str], read: Iterable[str]) -> None:
    """Raise `ConfigError` when what is written would replace what is read, or another output."""
    inputs = [(path, there) for path in read if (there := _looked_at(path)) is not None]
    seen: dict[Identity, str] = {}
    for path in written:
        if path != STDOUT:
            _has_a_place(path)
        mine = _identity(path)
        if mine in seen:
            help = "two outputs cannot be the same file, nor two names that differ in case alone; name two"
            raise ConfigError(f"{' and '.join(dict.fromkeys(map(spelt, (seen[mine], path))))}: {help}")
        seen[mine] = path
        for name, there in inputs:
            if mine == _of(there) and (path != STDOUT or stat.S_ISREG(there.st_mode)):
                same = "is" if os.path.normpath(name) == os.path.normpath(path) else f"is {name}, which is"
                raise ConfigError(f"{spelt(path)}: {same} read by this command; write to another file")
            if stat.S_ISDIR(there.st_mode) and path != STDOUT and _within(path, mine, name, there):
                raise ConfigError(f"{path}: belongs to the folder {name}, which this command reads; write elsewhere")


def _looked_at(path: str) -> os.stat_result | None:
    try:
        return None if path == STDOUT else os.stat(path)
    except (OSError, ValueError):
        return None  # whoever reads it says what is wrong with it


def _has_a_place(path: str) -> None:
    """Refuse before the work, not after it, when a file could not be written."""
    there = what_is(path)
    if there is not None and stat.S_ISREG(there.st_mode) and not os.access(path, os.W_OK):
        raise ConfigError(f"{path}: is protected against writing; write elsewhere")
    real = os.path.realpath(path)
    if there is None and not os.path.isdir(os.path.dirname(real)):
        folder = os.path.dirname(real if os.path.islink(path) else path) or os.curdir
        raise ConfigError(f"{path}: the folder {folder} does not exist; make it, or write elsewhere")


def _of(there: os.stat_result) -> Identity:
    return there.st_dev, there.st_ino


def _identity(path: str) -> Identity:
    """The file on disk; of one that is not there yet the folder and the name, as systems spell it that ignore case."""
    if path == STDOUT:
        try:
            return _of(os.fstat(sys.stdout.fileno()))
        except (OSError, ValueError):  # what stands in for it in a program is no file
            return (STDOUT,)
    there = what_is(path)
    if there is not None:
        return _of(there)
    import unicodedata

    folder, name = os.path.split(os.path.realpath(path))
    return *_of(os.stat(folder)), unicodedata.normalize("NFC", name).casefold()


def _within(path: str, mine: Identity, folder: str, there: os.stat_result) -> bool:
    """Whether a file lies in a folder, or a link in the folder leads to it."""
    if is_special(path):
        return False
    above = os.path.dirname(os.path.realpath(path))
    while not (stands := os.path.samestat(os.stat(above), there)) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    if stands or len(mine) > 2:
        return stands
    with os.scandir(folder) as entries:
        return any(_leads_to(entry, mine) for entry in entries)


def _leads_to(entry: os.DirEntry[str], mine: Identity) -> bool:
    if entry.inode() != mine[1] and not entry.is_symlink():
        return False
    try:
        return _of(entry.stat()) == mine
    except OSError:
        return False


def spelt(path: str) -> str:
    """An output as people are told of it."""
    return "standard output" if path == STDOUT else path


def formats(chosen: str | None, outputs: Sequence[str], extensions: Mapping[str, str]) -> dict[str, str]:
    """The format of each output: by its extension where there are several, as asked where there is one or none.

    A name that tells nothing (standard output, a pipe) takes the format that was asked for, or a table.

    >>> formats("json", (), {}), formats(None, ("a.md", "-"), {".md": "markdown"})
    ({'-': 'json'}, {'a.md': 'markdown', '-': 'table'})
    """
    if len(outputs) < 2 and chosen is not None:
        return dict.fromkeys(outputs or (STDOUT,), chosen)
    told = {path: by_name(path, extensions) for path in outputs or (STDOUT,)}
    if chosen is not None and None not in told.values():
        raise ConfigError(
            f"--format {chosen}: each of several outputs has the format of its extension; leave it out, or add -o - for it"
        )
    return {path: kind or chosen or silent(path, extensions) for path, kind in told.items()}


def by_name(path: str, extensions: Mapping[str, str]) -> str | None:
    """The format that an output's extension names, if it names one."""
    return extensions.get(os.path.splitext(path)[1].lower())


def silent(path: str, extensions: Mapping[str, str]) -> str:
    """The format of an output whose name tells none: a table where no file is made, else there is a question."""
    if path == STDOUT or is_special(path):
        return "table"
    extension = os.path.splitext(path)[1].lower()
    raise ConfigError(f"{path}: the extension {extension!r} names no format; use {', '.join(extensions)} or --format")


def put(path: str, pieces: Iterable[str], *, quiet: bool = False) -> None:
    """Write text to an output, whole, and say so."""
    if path == STDOUT:
        for piece in pieces:
            click.echo(piece, nl=False)
        return
    write_whole(path, "".join(pieces).encode("utf-8", "backslashreplace"))
    say_written(path, quiet=quiet)


def put_bytes(path: str, data: bytes) -> None:
    """Write what need not be text to an output, whole; a terminal is shown no bytes that it would obey."""
    if path != STDOUT:
        write_whole(path, data)
    elif not sys.stdout.isatty():
        click.echo(data, nl=False)
    else:
        _show(data)


def _show(data: bytes) -> None:
    from calque.evaluation.presentation.sections import printable_lines

    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError("standard output: these are bytes for a program, and here is a terminal; redirect it") from None
    click.echo(printable_lines(text), nl=False)


def say_written(path: str, *, quiet: bool) -> None:
    """One line on stderr for a file that was written."""
    if not quiet and path != STDOUT:
        click.echo(f"wrote {printable(path)}", err=True)


def save(evaluator: Evaluator, path: str | None) -> None:
    """Keep the state where it was asked for."""
    if path == STDOUT:
        put_bytes(path, evaluator.state())
    elif path is not None:
        evaluator.save(path)
