"""Marks of files: what tells that one is another than it was, without reading it."""

from __future__ import annotations

import os
from typing import TypeAlias

FileMark: TypeAlias = tuple[int, int, int]
"""Which file it is, how long, and when it was last written."""


def mark_of(file: os.stat_result) -> FileMark:
    """The mark of a file that was looked at."""
    return file.st_ino, file.st_size, file.st_mtime_ns
