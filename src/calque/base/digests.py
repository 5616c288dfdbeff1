"""Short digests of content, for signatures and names of files."""

from __future__ import annotations

import importlib
from contextlib import suppress
from functools import cache
from typing import Any


def digest(content: str | bytes, length: int = 12) -> str:
    """The beginning of the SHA-256 of a text or of bytes, in hexadecimal digits.

    >>> digest("calque"), digest("calque", 4)
    ('97aa39a992e4', '97aa')
    """
    told = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return str(_sha256()(told).hexdigest()[:length])


@cache
def _sha256() -> Any:
    """Python's own SHA-256, as `random` takes it: `hashlib` loads OpenSSL, which takes as long as twenty modules."""
    for module in ("_sha2", "_sha256"):  # since Python 3.12, and before
        with suppress(ImportError):
            return importlib.import_module(module).sha256
    import hashlib

    return hashlib.sha256
