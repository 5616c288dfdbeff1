"""Reading ahead: the files that a command line names are parsed while everything else is being imported."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from calque.core.errors import CalqueError
from calque.kernels.scanning import Scanned

VERBS = ("detect", "layout")
"""The verbs that are followed by two files to be scanned."""

_begun: dict[str, Scanned] = {}


def begin(arguments: Sequence[str]) -> None:
    """Start to scan what stands where ``detect TRUTH PREDICTIONS`` has its files, before the arguments are understood.

    Should something else stand there, or no file, it is not asked for later, and the scan ends with the process.
    """
    if arguments and arguments[0] in VERBS:
        with suppress(CalqueError):  # the verb meets it again, where it can be told
            _begun.update((path, Scanned(path)) for path in arguments[1:3])


def scanned(path: str) -> Scanned:
    """The file, whose scan may have begun already."""
    return _begun.pop(path, None) or Scanned(path)
