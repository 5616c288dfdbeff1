"""Exit codes, and how errors are told to a person."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import click

from calque.base.errors import CalqueError

if TYPE_CHECKING:
    from calque.evaluation.result import Result

FINE = 0
GATE_FAILED = 1
REFUSED = 2
"""Usage, settings or data that cannot be worked with."""
INCOMPLETE = 3
"""Some items could not be evaluated; the rest was."""
INTERRUPTED = 130
ENDED = 143
"""By SIGTERM, as shells count: 128 and the number of the signal."""

NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""Errors of writing. Every writer names its file; where none is named, it was standard output."""


class Ended(BaseException):
    """SIGTERM came: everything that has been begun is put in order on the way out."""


class Interrupted(BaseException):
    """Ctrl-C came; not `KeyboardInterrupt`, which click would answer with an empty line."""


def run(command: Callable[[], int | None]) -> NoReturn:
    """Run a command and end the process with its exit code, never with a traceback.

    A reader that closes our output early (``head``) does not change the exit code: what it no longer reads is discarded.
    """
    global _known_code  # noqa: PLW0603  # one process runs one command
    _known_code = None
    _replace_streams()
    try:
        with _ending_in_order():
            code = command() or FINE
            sys.stdout.flush()
    except (SystemExit, BrokenPipeError) as error:
        # click raises SystemExit for a closed pipe. Here the pipe is another output, such as a named pipe.
        code = _OUTPUT_CLOSED if _known_code is None else _known_code
        if isinstance(error, SystemExit) or error.filename is None:
            _discard_stdout()
    except (Exception, KeyboardInterrupt, Interrupted, Ended) as error:
        code = _told(error)
    sys.exit(code)


_known_code: int | None = None
"""The exit code, as soon as the command knows it; a closed output does not change it."""
_OUTPUT_CLOSED = 141
"""Nothing is known yet and the reader of an output has gone: 128 and the number of SIGPIPE, as shells report it."""


def note_code(code: int) -> None:
    """Remember the exit code of a result; of several results, the highest."""
    global _known_code  # noqa: PLW0603
    _known_code = max(code, _known_code or FINE)


class _Pipe(io.FileIO):
    """A standard stream that discards everything once its reader has gone."""

    def write(self, data: Any) -> int:
        """Write the data, or count it as written when nobody reads it."""
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def _replace_streams() -> None:
    """Replace stdout and stderr by streams that survive a closed pipe and characters that cannot be encoded.

    They have a buffer even with PYTHONUNBUFFERED: Python silently loses text without one when the disk is full.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # the shell closed it (>&-)
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # open until the process ends
        elif isinstance(stream, io.TextIOWrapper):
            raw = stream.buffer if isinstance(stream.buffer, io.RawIOBase) else getattr(stream.buffer, "raw", None)
            if type(raw) is io.FileIO:
                stream.flush()
                pipe = io.BufferedWriter(_Pipe(raw.fileno(), "w", closefd=False))
                buffered = stream.line_buffering or stream.write_through
                stream = io.TextIOWrapper(pipe, encoding=stream.encoding, line_buffering=buffered)
                setattr(sys, name, stream)
            stream.reconfigure(errors="backslashreplace")


def _discard_stdout() -> None:
    """Send what is left in the buffer nowhere; Python would report an error for it again when it closes the stream."""
    with suppress(OSError, ValueError):  # what stands in for it in a program is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM raise `Ended` and Ctrl-C `Interrupted` in the main thread, unless whoever runs us has other plans."""
    usual: dict[signal.Signals, Any] = {signal.SIGTERM: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    here = threading.current_thread() is threading.main_thread()
    ours = [sent for sent, handler in usual.items() if here and signal.getsignal(sent) is handler]
    answers = {sent: _end if sent == signal.SIGTERM else _interrupt for sent in ours}
    for sent, answer in answers.items():
        signal.signal(sent, answer)
    try:
        yield
    finally:
        for sent, answer in answers.items():
            if signal.getsignal(sent) is answer:  # else it came: it is told on the way out, once, however often it is sent
                signal.signal(sent, usual[sent])
        _end_kernels(None)


def _interrupt(_signal: int, _frame: object) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # asked again, the system ends us at once
    _end_kernels(Interrupted)
    raise Interrupted


def _end(_signal: int, _frame: object) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # asked again, we are on the way already
    _end_kernels(Ended)
    raise Ended


def _end_kernels(raised: type[BaseException] | None) -> None:
    """Let kernels that other threads are in raise this, too; on the way out those are waited for."""
    if (native := sys.modules.get("calque.kernels._native")) is not None:
        native.cancel_all(raised)


def _told(error: Exception | KeyboardInterrupt | Interrupted | Ended) -> int:
    """Tell a person what went wrong; the exit code that says so to a program."""
    if isinstance(error.__cause__, KeyboardInterrupt | Interrupted | Ended):
        error = error.__cause__  # while a class is made, Python puts what comes up into an error of its own
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        from calque.evaluation.presentation.sections import printable_lines

        shown = io.StringIO()
        error.show(shown)
        click.echo(printable_lines(shown.getvalue()), err=True, nl=False)
        return error.exit_code
    if isinstance(error, click.Abort | KeyboardInterrupt | Interrupted):
        _say("interrupted; nothing was written")
        return INTERRUPTED
    if isinstance(error, Ended):
        _say("ended by a signal (SIGTERM); nothing was written")
        return ENDED
    if isinstance(error, CalqueError):
        _say(str(error))
    elif isinstance(error, OSError):
        if unwritten := error.filename is None and error.errno in NO_ROOM:
            _discard_stdout()
        _say(f"{'standard output' if unwritten else error.filename or 'file'}: {(error.strerror or str(error)).lower()}")
    else:
        if os.environ.get("CALQUE_DEBUG"):
            import traceback

            traceback.print_exception(error)
        _say(f"this should not happen: {type(error).__name__}: {error}\nset CALQUE_DEBUG=1 to see where, and please report it")
    return REFUSED


def say_first(result: Result, *, quiet: bool = False, name: str = "") -> None:
    """Print why nothing was evaluated, or else which gates failed, before anything else.

    ``name`` distinguishes several results.
    """
    note_code(_code(result))
    if result.unevaluated is not None:
        which = f"{name}: " if name and not result.unevaluated.file else ""
        _say(f"nothing was evaluated: {which}{result.unevaluated}")
    elif result.verdict.failures and not quiet:
        say_failures([f"{name}: {failure}" if name else failure for failure in result.failures])


def say_failures(failures: Sequence[str]) -> None:
    """Say which gates do not hold."""
    from calque.evaluation.presentation.sections import printable
    from calque.evaluation.verdict import some_failures

    for failure in some_failures(failures):
        click.echo(click.style("gate:", fg="red", bold=True) + f" {printable(failure)}", err=True, color=colour())


def code_of(result: Result, *, quiet: bool) -> int:
    """The exit code of a result; the gate of a suite that does not hold says why, unless gates have said so first."""
    failures = result.failures
    if failures and not quiet and not result.verdict.failures and result.unevaluated is None:
        say_failures(failures)
    return _code(result)


def _code(result: Result) -> int:
    if result.incomplete:
        return INCOMPLETE
    return GATE_FAILED if result.failures else FINE


def say_losses(results: Iterable[Result]) -> None:
    """Say what could not be evaluated, and what seems to be read wrongly, where no sheet has told it.

    Why nothing was evaluated has been said first.
    """
    issues = dict.fromkeys(issue for result in results for issue in result.issues if issue is not result.unevaluated)
    if not issues:
        return
    from calque.base.errors import Severity
    from calque.cli.inputs import told
    from calque.evaluation.presentation.sections import grouped, printable
    from calque.readers.sides.readings import CODES

    told_anyway = (*CODES, "unknown-holdout")
    for line in grouped(issue for issue in issues if issue.severity is Severity.LOSS or issue.code in told_anyway):
        click.echo(click.style("note:", bold=True) + f" {told(printable(line))}", err=True, color=colour())


def colour() -> bool | None:
    """Whether colour is shown, for click: never with ``NO_COLOR``, else only on a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _say(message: str) -> None:
    from calque.cli.inputs import told
    from calque.evaluation.presentation.sections import printable_lines

    click.echo(click.style("error:", fg="red", bold=True) + " " + printable_lines(told(message)), err=True, color=colour())
