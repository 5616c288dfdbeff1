"""Exit codes, and how errors are told to a person."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

import click

from calque.core.errors import CalqueError

FINE = 0
GATE_FAILED = 1
REFUSED = 2
"""Usage, settings or data that cannot be worked with."""
INCOMPLETE = 3
"""Some items could not be evaluated; the rest was."""
INTERRUPTED = 130


def run(command: Callable[[], int | None]) -> NoReturn:
    """Run a command and end the process with the code that tells how it went; never with a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A character that the terminal cannot show, or half of one from a file, is spelt out and does not end the run.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = command() or FINE
        sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        code = leaving.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted; nothing was written")
        code = INTERRUPTED
    except SystemExit:
        # Only click ends the process here, when the reader of our output has gone; its code would say that a gate failed.
        code = FINE
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does; Python would complain again while it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FINE
    except CalqueError as error:
        _say(str(error))
        code = REFUSED
    except OSError as error:
        _say(f"{error.filename or 'file'}: {(error.strerror or str(error)).lower()}")
        code = REFUSED
    except Exception as error:
        if os.environ.get("CALQUE_DEBUG"):
            traceback.print_exc()
        _say(f"this should not happen: {type(error).__name__}: {error}\nset CALQUE_DEBUG=1 to see where, and please report it")
        code = REFUSED
    sys.exit(code)


def colour() -> bool | None:
    """Whether colour is shown, for click: never with ``NO_COLOR``, else only on a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _say(message: str) -> None:
    from calque.core.presentation import printable_lines

    click.echo(click.style("error:", fg="red", bold=True) + " " + printable_lines(message), err=True, color=colour())
