"""The HTML around a report: the app, its policy, the data as one block, and plain tables for those who run no scripts."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array
from calque.evaluation.presentation.sections import Section, to_html

if TYPE_CHECKING:
    from calque.report.images import Picture

MOST_ROWS = 200
"""How many rows of a table stand in the part for those who run no scripts."""


def document(
    kind: str, title: str, data: bytes, sections: Sequence[Section], pictures: Iterable[Picture] = (), *, sidecar: bool = False
) -> bytes:
    """The whole file, with the app of that kind of report."""
    script, style = app(kind)
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script, style, sidecar=sidecar)}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        '<meta name="color-scheme" content="light dark">\n',
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n",
        f"<noscript><h1>{escape(title)}</h1><p>No scripts run here: the numbers as tables.</p>",
        f"{to_html([shortened(section) for section in sections])}</noscript>\n",
        '<div id="app"></div>\n<script type="application/octet-stream" id="data">',
    ]
    drawn = b"".join(picture.block() for picture in pictures)
    head = "".join(parts).encode("utf-8", "backslashreplace")
    return head + data + b"</script>\n" + drawn + f"<script>{script}</script>\n</body>\n</html>\n".encode()


def app(kind: str) -> tuple[str, str]:
    """The script and the style of a kind of report: boxes have no use for the look of values and words."""
    return asset(f"{kind}.js"), ("" if kind == "boxes" else asset("values.css")) + asset("app.css")


def asset(name: str) -> str:
    """A part of the app as it was built."""
    return (resources.files("calque.report") / "bundle" / name).read_text(encoding="utf-8")


def policy(script: str, style: str, *, sidecar: bool) -> str:
    """What the page may do: run this script, use this style, show its own images, and nothing else."""
    images = "file: data: blob:" if sidecar else "data: blob:"
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src {images}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def shortened(section: Section) -> Section:
    """A section with its first rows, and a note about the others."""
    more = len(section.rows) - MOST_ROWS
    if more <= 0:
        return section
    return replace(section, rows=section.rows[:MOST_ROWS], notes=[*section.notes, f"{more:,} more rows"])


ALIGNED = 8
"""Columns begin on multiples of this, so that the page can look at them in place."""
LEVEL = 6
"""Level 9 takes seven times as long and saves less than a hundredth."""
TYPES = {"|u1": "u8", "<u2": "u16", "<u4": "u32", "|i1": "i8", "<i4": "i32", "<f4": "f32", "<f8": "f64"}
"""What a column may hold, by NumPy's name for it."""


def packed(head: Mapping[str, Any], columns: Mapping[str, Array]) -> bytes:
    """``[u32 length][head][columns]``, as deflated bytes in base 64."""
    parts: list[bytes] = []
    placed: dict[str, list[Any]] = {}
    size = 0
    for name, column in columns.items():
        flat = np.ascontiguousarray(column).reshape(-1)
        flat = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
        data = flat.tobytes()
        placed[name] = [TYPES[flat.dtype.str], size, len(flat)]
        parts += [data, bytes(-len(data) % ALIGNED)]
        size += len(data) + -len(data) % ALIGNED
    text = json.dumps({**head, "columns": placed}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    encoded = text.encode("utf-8", "backslashreplace")
    encoded += b" " * (-(4 + len(encoded)) % ALIGNED)
    whole = b"".join([len(encoded).to_bytes(4, "little"), encoded, *parts])
    deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflate.compress(whole) + deflate.flush())
