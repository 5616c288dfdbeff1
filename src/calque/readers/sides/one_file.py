"""What can be said of a file by itself: which verb it is for, and what is odd in its boxes though no verb refuses it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from calque.core.columns import Ints
from calque.core.corpus import BoxCorpus, Extent, Side
from calque.core.errors import CalqueError, Issue, Severity
from calque.geometry.boxes import corners
from calque.geometry.forms import BoxForm
from calque.readers.boxes import coco_files, formats
from calque.readers.page_rows.files import LISTS, NDJSON
from calque.readers.sources.json_tree import pointer
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


MARGIN = 1.0
"""By how many pixels a box may reach over the edge of its image: annotation tools round."""
NAMED = 3
"""How many of the ids that occur twice a message names."""


def remarks(corpus: BoxCorpus) -> tuple[Issue, ...]:
    """Everything odd, one note for each kind, with the first place and the number of times."""
    return (*_ids_twice(corpus), *_names_twice(corpus), *_without_area(corpus), *_beyond_images(corpus))


def _ids_twice(corpus: BoxCorpus) -> Iterator[Issue]:
    """Of COCO files, whose ids are of the whole file; elsewhere they are of a page, and the reader looks at them."""
    if corpus.format != coco_files.FORMAT or corpus.ids is None:
        return
    ids = np.array(corpus.ids.tolist())
    again = np.setdiff1d(np.arange(len(ids)), np.unique(ids, return_index=True)[1])
    if len(again):
        some = ", ".join(dict.fromkeys(repr(identity) for identity in ids[again[:NAMED]].tolist()))
        text = f"annotation ids that occur more than once, such as {some}"
        yield _note("duplicate-annotation-id", corpus, again, text, "give every annotation an id of its own")


def _names_twice(corpus: BoxCorpus) -> Iterator[Issue]:
    """Of COCO files, where the reader tells equal names apart by their ids."""
    if corpus.format != coco_files.FORMAT or not corpus.label_map:
        return
    apart = [name.removesuffix(f" ({key})") for key, name in corpus.label_map.items() if name.endswith(f" ({key})")]
    twice = [name for name, count in Counter(apart).items() if count > 1]
    if twice:
        text = f"categories with the same name are told apart by their ids: {', '.join(map(repr, twice[:NAMED]))}"
        help = "rename them, or bring them together with a class map"
        yield Issue("duplicate-category-name", text, corpus.source, pointer("categories"), help, Severity.NOTE, len(twice))


def _without_area(corpus: BoxCorpus) -> Iterator[Issue]:
    boxes = corners(corpus.boxes, BoxForm(corpus.form))
    flat = np.isfinite(boxes).all(axis=1) & (boxes[:, 2:] == boxes[:, :2]).any(axis=1)
    if flat.any():
        truths = corpus.side is not Side.FOUND and corpus.scores is None
        what = "truths without area, which nothing can find" if truths else "boxes without area, which meet nothing"
        yield _note("no-area", corpus, np.flatnonzero(flat), what, "give them a width and a height, or leave them out")


def _beyond_images(corpus: BoxCorpus) -> Iterator[Issue]:
    if corpus.extent is not Extent.PIXELS:
        return
    boxes = corners(corpus.boxes, BoxForm(corpus.form))
    beyond = np.asarray((boxes[:, :2] < -MARGIN).any(axis=1))
    if corpus.page_sizes is not None:
        beyond |= (boxes[:, 2:] > corpus.page_sizes[corpus.page] + MARGIN).any(axis=1)
    if beyond.any():
        text = "boxes that reach beyond their images"
        help = "clip them, or check --boxes, --units and the images' sizes"
        yield _note("beyond-image", corpus, np.flatnonzero(beyond), text, help)


def _note(code: str, corpus: BoxCorpus, rows: Ints, text: str, help: str) -> Issue:
    inside = () if corpus.side is Side.FOUND else ("annotations",)
    place = pointer(*inside, int(rows[0])) if corpus.format == coco_files.FORMAT else ""
    return Issue(code, text, corpus.source, place, help, Severity.NOTE, len(rows))
