"""States that tests open, change and seal again with a true checksum."""

from __future__ import annotations

from xxhash import xxh3_128

from calque.evaluation.storage.state import ALIGNMENT, MAGIC

START = len(MAGIC) + 8


def opened_state(data: bytes) -> tuple[bytes, bytes]:
    """Return the header of a state as JSON text, and its columns."""
    end = START + int.from_bytes(data[len(MAGIC) : START], "little")
    return data[START:end].rstrip(b" "), data[end:-16]


def sealed_state(header: bytes, columns: bytes) -> bytes:
    """Return a state with an aligned header and a true checksum."""
    text = header.ljust(-(-(START + len(header)) // ALIGNMENT) * ALIGNMENT - START)
    body = MAGIC + len(text).to_bytes(8, "little") + text + columns
    return body + xxh3_128(body).digest()


def column_bytes(data: bytes) -> bytes:
    """Return a column with its padding."""
    return data.ljust(-(-len(data) // ALIGNMENT) * ALIGNMENT, b"\0")
