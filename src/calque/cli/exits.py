"""Exit codes, and how errors are told to a person."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

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


class Ended(BaseException):
    """SIGTERM came: everything that has been begun is put in order on the way out."""


def run(command: Callable[[], int | None]) -> NoReturn:
    """Run a command and end the process with the code that tells how it went; never with a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
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
        # The reader of our output has gone, as `head` does; Python would complain again while it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FINE
    except (Exception, KeyboardInterrupt, Ended) as error:
        code = _told(error)
    sys.exit(code)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM raise `Ended` in the main thread, unless whoever runs us has other plans for it."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end(_signal: int, _frame: object) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # asked again, we are on the way already
    raise Ended


def _told(error: Exception | KeyboardInterrupt | Ended) -> int:
    """Tell a person what went wrong; the exit code that says so to a program."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, click.Abort | KeyboardInterrupt):
        _say("interrupted; nothing was written")
        return INTERRUPTED
    if isinstance(error, Ended):
        _say("ended by a signal (SIGTERM); nothing was written")
        return ENDED
    if isinstance(error, CalqueError):
        _say(str(error))
    elif isinstance(error, OSError):
        _say(f"{error.filename or 'file'}: {(error.strerror or str(error)).lower()}")
    else:
        if os.environ.get("CALQUE_DEBUG"):
            import traceback

            traceback.print_exception(error)
        _say(f"this should not happen: {type(error).__name__}: {error}\nset CALQUE_DEBUG=1 to see where, and please report it")
    return REFUSED


def say_first(result: Result) -> None:
    """Say before anything else why nothing was evaluated, when nothing was."""
    if result.unevaluated is not None:
        _say(str(result.unevaluated))


def code_of(result: Result, *, quiet: bool) -> int:
    """The exit code of a result; a gate that does not hold says why."""
    failures = result.failures
    if failures and not quiet:
        from calque.core.presentation.sections import printable

        for failure in failures:
            click.echo(click.style("gate:", fg="red", bold=True) + f" {printable(failure)}", err=True, color=colour())
    if result.incomplete:
        return INCOMPLETE
    return GATE_FAILED if failures else FINE


def colour() -> bool | None:
    """Whether colour is shown, for click: never with ``NO_COLOR``, else only on a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _say(message: str) -> None:
    from calque.core.presentation.sections import printable_lines

    click.echo(click.style("error:", fg="red", bold=True) + " " + printable_lines(message), err=True, color=colour())
