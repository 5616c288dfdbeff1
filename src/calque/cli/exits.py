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

from calque.core.errors import CalqueError

if TYPE_CHECKING:
    from calque.core.result import Result

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
    """Run a command and end the process with the code that tells how it went; never with a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        if isinstance(sys.stdout.buffer, io.RawIOBase):
            sys.stdout = _buffered(sys.stdout.buffer, sys.stdout.encoding)
        # A character that the terminal cannot show, or half of one from a file, is spelt out and does not end the run.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with _ending_in_order():
            code = command() or FINE
            sys.stdout.flush()
    except SystemExit:
        # Only click ends the process here, when the reader of our output has gone; its code would say that a gate failed.
        code = FINE
    except BrokenPipeError:
        _leave_stdout()  # the reader of our output has gone, as `head` does
        code = FINE
    except (Exception, KeyboardInterrupt, Interrupted, Ended) as error:
        code = _told(error)
    sys.exit(code)


def _buffered(raw: io.RawIOBase, encoding: str) -> io.TextIOWrapper:
    """Standard output with a buffer. Without one (PYTHONUNBUFFERED) Python loses in silence what a disk has no room for."""
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, line_buffering=True)


def _leave_stdout() -> None:
    """Nothing more can be written there; Python would complain again while it closes it."""
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
        native.give_up(raised)


def _told(error: Exception | KeyboardInterrupt | Interrupted | Ended) -> int:
    """Tell a person what went wrong; the exit code that says so to a program."""
    if isinstance(error.__cause__, KeyboardInterrupt | Interrupted | Ended):
        error = error.__cause__  # while a class is made, Python puts what comes up into an error of its own
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        from calque.core.presentation.sections import printable_lines

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
            _leave_stdout()
        _say(f"{'standard output' if unwritten else error.filename or 'file'}: {(error.strerror or str(error)).lower()}")
    else:
        if os.environ.get("CALQUE_DEBUG"):
            import traceback

            traceback.print_exception(error)
        _say(f"this should not happen: {type(error).__name__}: {error}\nset CALQUE_DEBUG=1 to see where, and please report it")
    return REFUSED


def say_first(result: Result, *, quiet: bool = False, name: str = "") -> None:
    """Say before anything else why nothing was evaluated, when nothing was, and which gates do not hold.

    ``name`` tells one result of several.
    """
    if result.unevaluated is not None:
        _say(str(result.unevaluated))
    if result.verdict.failures and not quiet:
        say_failures([f"{name}: {failure}" if name else failure for failure in result.failures])


def say_failures(failures: Sequence[str]) -> None:
    """Say which gates do not hold."""
    from calque.core.presentation.sections import printable
    from calque.core.verdict import some_failures

    for failure in some_failures(failures):
        click.echo(click.style("gate:", fg="red", bold=True) + f" {printable(failure)}", err=True, color=colour())


def code_of(result: Result, *, quiet: bool) -> int:
    """The exit code of a result; the gate of a suite that does not hold says why, unless gates have said so first."""
    failures = result.failures
    if failures and not quiet and not result.verdict.failures:
        say_failures(failures)
    if result.incomplete:
        return INCOMPLETE
    return GATE_FAILED if failures else FINE


def say_losses(results: Iterable[Result]) -> None:
    """Say what could not be evaluated, and what seems to be read wrongly, where no sheet has told it.

    Why nothing was evaluated has been said first.
    """
    issues = dict.fromkeys(issue for result in results for issue in result.issues if issue is not result.unevaluated)
    if not issues:
        return
    from calque.cli.inputs import told
    from calque.core.errors import Severity
    from calque.core.presentation.sections import grouped, printable
    from calque.readers.sides.readings import CODES

    for line in grouped(issue for issue in issues if issue.severity is Severity.LOSS or issue.code in CODES):
        click.echo(click.style("note:", bold=True) + f" {told(printable(line))}", err=True, color=colour())


def colour() -> bool | None:
    """Whether colour is shown, for click: never with ``NO_COLOR``, else only on a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _say(message: str) -> None:
    from calque.cli.inputs import told
    from calque.core.presentation.sections import printable_lines

    click.echo(click.style("error:", fg="red", bold=True) + " " + printable_lines(told(message)), err=True, color=colour())
