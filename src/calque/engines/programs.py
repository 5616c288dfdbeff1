"""Programs in any language that read standard input and write standard output, with a timeout and without a shell."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """The exit code of a program, and what it wrote."""

    code: int
    out: bytes
    err: bytes


def run_program(argv: Sequence[str], given: bytes, *, seconds: float, folder: str | None = None) -> ProgramOutput:
    """Run a program with some bytes as its input.

    Raises:
        TimeoutError: The program takes too long. It and everything that it started are ended.
        OSError: The program cannot be started.

    >>> import sys
    >>> run_program([sys.executable, "-c", "print(input())"], b"hello", seconds=60).out.strip()
    b'hello'
    """
    program = subprocess.Popen(  # noqa: S603  # the user has allowed it, and there is no shell
        list(argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        start_new_session=True,  # so that everything it starts can be ended with it
    )
    try:
        out, err = program.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(program)
        raise TimeoutError from None
    except BaseException:
        _end(program)
        raise
    return ProgramOutput(program.returncode, out, err)


def _end(program: subprocess.Popen[bytes]) -> None:
    """End a program and everything that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            program.kill()
        else:
            os.killpg(program.pid, signal.SIGKILL)
    for pipe in (program.stdin, program.stdout, program.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    program.wait()
