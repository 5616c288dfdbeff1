"""Files with one page a row, Parquet and NDJSON: what they are called, and how they are told from all others."""

from __future__ import annotations

import json
from typing import Any

from calque.readers.boxes.conventions import Rules
from calque.readers.sources import compression
from calque.readers.sources.source import Source

PARQUET, NDJSON = "parquet", "ndjson"
"""The names of the two formats."""
LISTS = ("boxes", "labels", "scores", "ids", "crowd", "area")
"""Columns that hold a list for each page, one entry for each object."""
SCALARS = ("doc_id", "page_index", "width", "height")
NEEDED = ("doc_id", "boxes", "labels")
COLUMNS = (*SCALARS, *LISTS)
"""Every column with a meaning of its own; any other scalar column is something known of the document."""

HEADER, PAGES = "calque", "pages"
"""A first line with this key and value is no page: it states what the boxes of an NDJSON file are."""
LONGEST_HEADER = 1 << 10
_MAGIC = b"PAR1"
_SUFFIXES = (".ndjson", ".jsonl")
_KEYS = {column.encode() for column in COLUMNS}


def row_format(source: Source, rules: Rules) -> str | None:
    """The format of a file of page rows, named or recognised; ``None`` for everything else."""
    if rules.format is not None:
        return rules.format if rules.format in (PARQUET, NDJSON) else None
    return PARQUET if is_parquet(source) else NDJSON if is_ndjson(source) else None


def is_parquet(source: Source) -> bool:
    """Whether a file begins as Parquet does."""
    return source.head.startswith(_MAGIC)


def is_ndjson(source: Source) -> bool:
    """Whether a file holds one page a line: by its content, or by its name where that leaves it open."""
    return bool(source.head) and looks_like_ndjson(source.head, compression.plain_name(source.path))


def looks_like_ndjson(head: bytes, name: str) -> bool:
    """Whether a file that begins so holds one page a line.

    >>> looks_like_ndjson(b'{"doc_id": 1, "boxes": [], "labels": []}', "pages.txt")
    True
    >>> looks_like_ndjson(b'{"images": []}', "coco.json")
    False
    """
    line = head.partition(b"\n")[0]
    if not line.startswith(b"{"):
        return False
    if name.lower().endswith(_SUFFIXES):
        return True
    if header(line) is not None:
        return True
    first_key = line[1:].lstrip().partition(b":")[0].strip(b' "')
    if first_key not in _KEYS and b'"doc_id"' not in line:
        return False  # as nearly all files; parsing what may be all of the head would say so a millisecond later
    try:
        node = json.loads(line)
    except (ValueError, RecursionError):
        # Broken, or a page longer than the head: its first key has to tell.
        return first_key in _KEYS
    return isinstance(node, dict) and "doc_id" in node


def header(line: bytes) -> dict[str, Any] | None:
    """What the first line of an NDJSON file states of all others; ``None`` when it is a page, or broken.

    >>> header(b'{"calque": "pages", "box_form": "xywh"}')
    {'calque': 'pages', 'box_form': 'xywh'}
    """
    if b'"calque"' not in line[:LONGEST_HEADER] or len(line) > LONGEST_HEADER:
        return None
    try:
        node = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return node if isinstance(node, dict) and node.get(HEADER) == PAGES and "doc_id" not in node else None
