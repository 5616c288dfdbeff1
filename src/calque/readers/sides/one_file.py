"""What can be said of a file by itself: which verb it is for, and what is odd in its boxes though no verb refuses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

import numpy as np

from calque.base.columns import Ints
from calque.base.errors import Issue, Severity
from calque.corpus.boxes import BoxCorpus, Extent, Side
from calque.geometry.boxes import corners
from calque.geometry.forms import BoxForm
from calque.readers.boxes import coco_files
from calque.readers.sides.kinds import kind_of
from calque.readers.sources.json_tree import pointer

Verb: TypeAlias = Literal["detect", "fields", "words", "tables", "order", "check"]


def verb_of(path: str) -> Verb:
    """Return the command that reads a file or folder; ``detect`` when nothing is clear, whose reader says what is wrong.

    ALTO, PAGE XML and Parquet may contain both boxes and words, and are taken for boxes. HTML is taken for text.
    """
    kind = kind_of(path)
    commands = () if kind is None else kind.commands
    if "words" in commands and "detect" not in commands:
        return "words"
    return next((verb for verb in get_args(Verb) if verb in commands[:1]), "detect")


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
