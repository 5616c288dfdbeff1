"""Short digests of content, for signatures and names of files."""

from __future__ import annotations

import hashlib


def digest(content: str | bytes, length: int = 12) -> str:
    """Return the first hexadecimal digits of the SHA-256 of a text or of bytes.

    >>> digest("calque"), digest("calque", 4)
    ('97aa39a992e4', '97aa')
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:length]
