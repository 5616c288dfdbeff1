"""Which verb a file is for, told from what it holds: boxes, records or words."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from calque.core.errors import CalqueError
from calque.readers.boxes import formats
from calque.readers.page_rows.files import LISTS, NDJSON
from calque.readers.sources.source import Source
from calque.readers.text.text_files import KNOWN

Verb: TypeAlias = Literal["detect", "fields", "words", "tables"]


def verb_of(path: str) -> Verb:
    """The verb that reads a file or folder; boxes when nothing else is clear, for their reader says what is wrong.

    ALTO, PAGE XML and Parquet may hold both boxes and words, and are taken for boxes.
    """
    source = Source(path)
    try:
        format = formats.recognised(source)
    except CalqueError:
        return _of_no_boxes(source)
    return "fields" if format.name == NDJSON and not _is_page(source.head) else "detect"


def _is_page(head: bytes) -> bool:
    """Whether the first line has a list for each object of a page, or cannot be told."""
    try:
        row = json.loads(head.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return True
    return not isinstance(row, Mapping) or any(column in row for column in LISTS[:2])


def _of_no_boxes(source: Source) -> Verb:
    suffixes = {os.path.splitext(name)[1].lower() for name in (_names(source.path) if source.is_folder else [source.path])}
    if suffixes & {*KNOWN} - {".json"}:
        return "words"
    if source.is_folder:
        return "fields" if ".json" in suffixes else "detect"
    try:
        return _of_tree(source.tree)
    except CalqueError:
        return "detect"


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _of_tree(tree: Any) -> Verb:
    """Records are an object or a list of objects; words are texts or lists of words by document; tables have cells."""
    if _has_cells(tree) or _has_cells(tree[0] if isinstance(tree, list) and tree else None):
        return "tables"
    if isinstance(tree, Mapping) and tree:
        texts = all(isinstance(value, str) for value in tree.values())
        lists = all(isinstance(value, list) and all(isinstance(word, str) for word in value) for value in tree.values())
        # A record of texts alone would be one document a field: an id says that it is a record.
        return "words" if (texts or lists) and not {"id", "doc_id"} & tree.keys() else "fields"
    if isinstance(tree, list) and tree and all(isinstance(entry, Mapping) for entry in tree):
        return "fields"
    return "detect"


def _has_cells(tree: Any) -> bool:
    """Whether an object is a table, as calque, table-transformer or PubTabNet writes it."""
    if not isinstance(tree, Mapping):
        return False
    cells, html = tree.get("cells"), tree.get("html")
    listed = isinstance(cells, list) and all(isinstance(cell, Mapping) and {"row", "row_nums"} & cell.keys() for cell in cells)
    return "row_nums" in tree or listed or (isinstance(html, Mapping) and "structure" in html)
