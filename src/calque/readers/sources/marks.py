"""What a file is by its first bytes, for messages: whoever gives a PDF where text belongs is told so."""

from __future__ import annotations

MARKS: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF", "is a PDF", "give the text that was read from it"),
    (b"PK\x03\x04", "is a ZIP archive (or an office document)", "unpack it first"),
    (b"\x1f\x8b", "is packed with gzip", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is packed with Zstandard", "unpack it first"),
    (b"BZh", "is packed with bzip2", "unpack it first"),
    (b"\xfd7zXZ", "is packed with xz", "unpack it first"),
    (b"\x89PNG", "is a PNG image", "give what was found in it"),
    (b"\xff\xd8\xff", "is a JPEG image", "give what was found in it"),
    (b"calque state ", "is a calque state", "states are for calque merge"),
    (b"PAR1", "is a Parquet file", "name it .parquet"),
    (b"SQLite format 3", "is an SQLite database", "export its rows"),
)
"""How files begin, what they are, and what to do."""


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
