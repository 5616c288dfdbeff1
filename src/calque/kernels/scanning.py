"""JSON files that the native scanner parses in the background while Python imports other modules.

This module imports nothing heavy, so that a command can start the parsing before anything else.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from calque.base.errors import ContractError
from calque.kernels import TWINS, chosen


class Scanned(os.PathLike[str]):
    """A JSON file whose columns are on their way."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._scan: Any = None
        self._seen: tuple[int, ...] | None = None
        if os.path.isfile(self.path):
            self._seen = _identity(os.stat(self.path))
            self._begin(self.path)

    def _begin(self, source: str | bytes) -> None:
        """Start to scan a file or its content, where there is a scanner."""
        if chosen() == "native":
            self._scan = importlib.import_module(TWINS["native"]).Scan(source, "auto")

    def __fspath__(self) -> str:
        return self.path

    def columns(self) -> dict[str, Any] | None:
        """What the scanner read, or ``None`` where the exact reader has to look: no scanner, no room, or nothing it knows.

        They are handed over, once: their memory is free as soon as the caller needs them no longer.
        """
        scan, self._scan = self._scan, None
        if scan is None:
            return None
        native = importlib.import_module(TWINS["native"])
        try:
            columns: dict[str, Any] = scan.columns()
        except (native.ScanError, OSError, MemoryError):
            return None
        return columns

    def part(self, span: tuple[int, int]) -> bytes:
        """The bytes of the file from one offset to another; `ContractError` when it is no longer the file that was scanned."""
        with open(self.path, "rb") as file:
            if _identity(os.fstat(file.fileno())) != self._seen:
                help = "try again when nothing writes to it"
                raise ContractError.single("changed", "changed while it was read", file=self.path, help=help)
            file.seek(span[0])
            return file.read(span[1] - span[0])

    @property
    def seen(self) -> tuple[int, ...] | None:
        """What the file looked like when its scan began; ``None`` for what is no file by itself."""
        return self._seen


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """What differs when a file is replaced or written to."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def scan_pages(lines: bytes) -> dict[str, Any] | None:
    """The columns of page rows, one a line, or ``None`` where the exact reader has to look."""
    if chosen() != "native":
        return None
    columns: dict[str, Any] | None = importlib.import_module(TWINS["native"]).scan_pages(lines)
    return columns
