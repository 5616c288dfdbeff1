"""Width and height of PNG and JPEG images, from their headers; nothing is decoded and little is read."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

_PNG = b"\x89PNG\r\n\x1a\n"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that begin a frame, which has the size."""
_MOST_SEGMENTS = 1_000


def image_size(path: str | os.PathLike[str]) -> tuple[float, float] | None:
    """Width and height in pixels; ``None`` for anything but a PNG or JPEG image."""
    try:
        with open(path, "rb") as file:
            head = file.read(24)
            if head.startswith(_PNG) and head[12:16] == b"IHDR":
                return _sides(struct.unpack(">II", head[16:24]))
            if head.startswith(b"\xff\xd8"):
                file.seek(2)
                return _jpeg(file)
    except (OSError, struct.error):
        return None
    return None


def _jpeg(file: BinaryIO) -> tuple[float, float] | None:
    for _ in range(_MOST_SEGMENTS):
        mark, code = struct.unpack(">BB", file.read(2))
        while mark == code == 0xFF:  # padding
            (code,) = struct.unpack(">B", file.read(1))
        if mark != 0xFF or code == 0xDA:
            return None
        (length,) = struct.unpack(">H", file.read(2))
        if code in _FRAMES:
            height, width = struct.unpack(">xHH", file.read(5))
            return _sides((width, height))
        file.seek(max(length - 2, 0), os.SEEK_CUR)
    return None


def _sides(size: tuple[int, int]) -> tuple[float, float] | None:
    return (float(size[0]), float(size[1])) if min(size) > 0 else None
