"""Compressed files: gzip and Zstandard, told by their first bytes and unpacked within bounds.

For messages, other files are told by their first bytes, too: whoever gives a PDF where text belongs hears of it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from calque.base.errors import ContractError, MissingExtra
from calque.engines import run_in_background
from calque.kernels.scanning import Scanned

if TYPE_CHECKING:
    from typing_extensions import Buffer

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
SUFFIXES = (".gz", ".gzip", ".zst", ".zstd")

MOST_TIMES = 250
"""How many times its own size a file may hold. Boxes as text are packed to a twentieth or so; a bomb to a thousandth."""
ALWAYS_FINE = 64 << 20
"""What any file may hold, in bytes, however small it is."""
_FED = {GZIP: 1 << 16, ZSTD: 1 << 10}
"""How many bytes are unpacked at a time: so few that what comes out of them fits in memory even from a bomb."""

MARKS: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF", "is a PDF", "give the text that was read from it"),
    (b"PK\x03\x04", "is a ZIP archive (or an office document)", "unpack it first"),
    (GZIP, "is packed with gzip", "unpack it first"),
    (ZSTD, "is packed with Zstandard", "unpack it first"),
    (b"BZh", "is packed with bzip2", "unpack it first"),
    (b"\xfd7zXZ", "is packed with xz", "unpack it first"),
    (b"\x89PNG", "is a PNG image", "give what was found in it"),
    (b"\xff\xd8\xff", "is a JPEG image", "give what was found in it"),
    (b"calque state ", "is a calque state", "states are for calque merge"),
    (b"PAR1", "is a Parquet file", "name it .parquet"),
    (b"SQLite format 3", "is an SQLite database", "export its rows"),
)
"""How files begin, what they are, and what to do."""


def magic(path: str) -> bytes | None:
    """The mark of the compression of a file, or ``None`` when it has none or cannot be read."""
    if not os.path.isfile(path):
        return None  # looking into a pipe would use it up
    try:
        with open(path, "rb") as file:
            head = file.read(4)
    except OSError:
        return None
    return next((mark for mark in (GZIP, ZSTD) if head.startswith(mark)), None)


def plain_name(path: str) -> str:
    """The name of a file without the extension of its compression.

    >>> plain_name("pages.ndjson.gz")
    'pages.ndjson'
    """
    stem, suffix = os.path.splitext(path)
    return stem if suffix.lower() in SUFFIXES else path


def opened(path: str) -> io.BufferedReader:
    """A file as a stream of its content, unpacked if need be. Damage and bombs are a `ContractError` when they are met."""
    mark = magic(path)
    return open(path, "rb") if mark is None else io.BufferedReader(_Stream(_pieces(path, mark)), 1 << 18)


def unpacked(path: str, mark: bytes) -> bytes:
    """The whole content of a compressed file."""
    return b"".join(_pieces(path, mark))


class Unpacking(Scanned):
    """A compressed JSON file that is being unpacked, and then scanned, in a thread of its own."""

    def __init__(self, path: str, mark: bytes) -> None:
        self.path = path
        self._scan = None
        self._seen = None
        self._unpacking = run_in_background(lambda: self._unpack(mark))

    def _unpack(self, mark: bytes) -> bytes:
        data = unpacked(self.path, mark)
        self._begin(data)
        return data

    def content(self) -> bytes:
        """What the file holds, unpacked; raises what went wrong."""
        return self._unpacking.result()

    def columns(self) -> dict[str, Any] | None:
        """What the scanner read of the content."""
        self.content()
        return super().columns()

    def part(self, span: tuple[int, int]) -> bytes:
        """The bytes of the content from one offset to another."""
        return self.content()[span[0] : span[1]]


class _Stream(io.RawIOBase):
    """Pieces of bytes as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        if not self._rest:
            self._rest = memoryview(next((piece for piece in self._pieces if piece), b""))
        target = memoryview(buffer)
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _pieces(path: str, mark: bytes) -> Iterator[bytes]:
    """The content of a compressed file, which may be several compressed streams one after the other."""
    start, failure = _unpacker(mark)
    limit = max(ALWAYS_FINE, MOST_TIMES * os.path.getsize(path))
    total = 0
    unpacker = start()
    with open(path, "rb") as file:
        while data := file.read(_FED[mark]):
            while data:
                if unpacker.eof:
                    # Another stream begins, or zeros fill up the file.
                    if not (data := data.lstrip(b"\0")):
                        break
                    unpacker = start()
                try:
                    piece = unpacker.decompress(data)
                except failure as error:
                    raise _damaged(path, str(error)) from None
                data = unpacker.unused_data if unpacker.eof else b""
                total += len(piece)
                if total > limit:
                    raise _too_large(path, limit)
                yield piece
    if not unpacker.eof:
        raise _damaged(path, "it ends too early")


def _unpacker(mark: bytes) -> tuple[Callable[[], Any], type[Exception]]:
    """What makes an unpacker, and what it raises about damaged data."""
    if mark == GZIP:
        import zlib

        return lambda: zlib.decompressobj(wbits=31), zlib.error
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("zstandard", "zstd", "reading .zst files") from None
    return lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError


def _too_large(path: str, limit: int) -> ContractError:
    text = f"holds more than {limit:,} bytes, far more than text of its packed size does"
    return ContractError.single("unpacks-too-large", text, file=path, help="unpack it yourself if you trust it")


def _damaged(path: str, reason: str) -> ContractError:
    text = f"the compressed data is damaged: {reason}"
    return ContractError.single("compression-damaged", text, file=path, help="copy or make the file again")


def strange(data: bytes) -> tuple[str, str] | None:
    r"""What a file that begins so is, and what to do, where it is no text.

    >>> strange(b"%PDF-1.7"), strange(b"plain"), strange("plain".encode("utf-16"))
    (('is a PDF', 'give the text that was read from it'), None, ('is UTF-16', 'save it as UTF-8'))
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or _every_other_is_nothing(data[:64]):
        return "is UTF-16", "save it as UTF-8"
    return next(((text, help) for mark, text, help in MARKS if data.startswith(mark)), None)


def _every_other_is_nothing(head: bytes) -> bool:
    """Whether it looks like UTF-16 (or UTF-32) of Latin letters without a mark at its beginning."""
    return len(head) >= 4 and (not any(head[1::2]) or not any(head[0::2])) and any(head)
