"""A sample of the pages that two sides have, and how many of their boxes pair there, however the sides are read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calque.base.columns import Codes, Flags, Floats, Ints
from calque.corpus.boxes import BoxCorpus, Extent, canonical
from calque.geometry.boxes import corners, edges, intersection, iou
from calque.geometry.forms import BoxForm

PAGES = 120
"""How many pages are looked at; a larger file is judged by a sample."""
CROWDED = 150
"""How many boxes of one page are looked at."""
COMPARED = 12_000
"""About how many pairs of boxes are compared for one reading; where pages are crowded, fewer of them are looked at."""
FEW = 4
"""How many pages are looked at however crowded they are: on one alone, chance could not be told."""
ALIKE = 0.5
"""From this IoU on two boxes pair."""

Transform = Callable[[Floats, Floats], Floats]
"""Corners of boxes, and the sizes of their pages (NaN where unknown), to the corners that were meant."""


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """The boxes of one side on the sheets of a sample, sheet by sheet."""

    rows: Ints
    sheet: Ints
    boxes: Floats
    """Corners; those of negative size too, for a slip may have made them so."""
    sizes: Floats
    """The width and height of each box's page."""

    def __len__(self) -> int:
        return len(self.rows)

    def read(self, transform: Transform) -> Laid:
        """The same boxes, with their numbers read in another way."""
        with np.errstate(all="ignore"):
            return replace(self, boxes=transform(self.boxes, self.sizes))

    def on(self, kept: Flags) -> Laid:
        """Only what lies on some sheets, which are numbered anew."""
        chosen = kept[self.sheet]
        number = np.cumsum(kept) - 1
        return Laid(self.rows[chosen], number[self.sheet[chosen]], self.boxes[chosen], self.sizes[chosen])

    def turned(self, sheets: int) -> Laid:
        """The same boxes, each page's on the sheet after its own: what pairs now does so by chance."""
        sheet = (self.sheet + 1) % sheets
        order = np.argsort(sheet, kind="stable")
        return Laid(self.rows[order], sheet[order], self.boxes[order], self.sizes[order])


def sample(truth: BoxCorpus) -> Ints:
    """Pages of the truth that have boxes: all of them, or some that are spread over the documents in canonical order."""
    occupied = np.flatnonzero(np.bincount(truth.page, minlength=len(truth.page_index)))
    documents = truth.documents
    codes = np.flatnonzero(np.bincount(truth.page_document[occupied]))  # np.unique would import 10 ms of masked arrays
    alike = len(set(map(type, map(documents.__getitem__, codes.tolist())))) <= 1
    ranked = sorted(codes.tolist(), key=documents.__getitem__ if alike else lambda code: canonical(documents[code]))
    rank = np.zeros(len(documents), dtype=np.int64)
    rank[ranked] = np.arange(len(ranked))
    ordered = occupied[np.lexsort((truth.page_index[occupied], rank[truth.page_document[occupied]]))]
    return np.asarray(_spread(ordered, PAGES), dtype=np.int64)


def _spread(pages: Ints, wanted: int) -> Ints:
    if len(pages) <= wanted:
        return pages
    return np.asarray(pages[np.linspace(0, len(pages) - 1, wanted).astype(np.int64)])


def sizes_of(corpus: BoxCorpus, other: BoxCorpus, pages: Ints, others: Ints) -> Floats:
    """The sizes of pages as either side knows them; shares of the page have pages of size 1."""
    sizes = np.full((len(pages), 2), 1.0 if corpus.extent is Extent.NORMALIZED else np.nan)
    for side, rows in ((other, others), (corpus, pages)):
        if side.page_sizes is not None and corpus.extent is Extent.PIXELS and len(side.page_sizes):
            stated = np.where((rows >= 0)[:, None], side.page_sizes[rows], np.nan)
            sizes = np.where(np.isnan(stated), sizes, stated)
    return sizes


def laid(corpus: BoxCorpus, pages: Ints, sizes: Floats) -> Laid:
    """The boxes on these pages, one sheet each; -1 is a page that this side does not have."""
    sheet_of = np.full(len(corpus.page_index) + 1, -1, dtype=np.int64)
    sheet_of[pages[pages >= 0]] = np.flatnonzero(pages >= 0)
    on = np.take(sheet_of, corpus.page)
    rows = np.flatnonzero(on >= 0)
    rows = rows[np.isfinite(corpus.boxes[rows]).all(axis=1)]
    rows = rows[np.argsort(on[rows], kind="stable")]
    sheet = on[rows]
    first = np.searchsorted(sheet, sheet)
    few = np.arange(len(rows)) - first < CROWDED
    rows, sheet = rows[few], sheet[few]
    return Laid(rows, sheet, corners(corpus.boxes[rows], BoxForm(corpus.form)), sizes[sheet])


def thinned(truths: Laid, found: Laid, sheets: int) -> Flags:
    """Which sheets are looked at when all of them together would take too long."""
    compared = int((np.bincount(truths.sheet, minlength=sheets) * np.bincount(found.sheet, minlength=sheets)).sum())
    step = min(-(-compared // COMPARED) or 1, max(1, sheets // FEW))
    return np.asarray(np.arange(sheets) % step == 0)


def looked_up(wanted: Sequence[Hashable], known: Sequence[Hashable]) -> Ints:
    """For each wanted name of a page the row that has it, or -1."""
    place = dict.fromkeys(wanted, -1)
    for row, name in enumerate(known):
        if name in place:
            place[name] = row
    return np.array([place[name] for name in wanted], dtype=np.int64)


def same_places(truth: BoxCorpus, pages: Ints, found: BoxCorpus, shift: int = 0) -> Ints:
    """For each page of the truth the predictions' page of the same document and number, give or take a shift; or -1."""
    codes = truth.page_document[pages].tolist()
    names = [truth.documents[code] for code in codes]
    if all(code < len(found.documents) and found.documents[code] == name for code, name in zip(codes, names, strict=True)):
        code_of = dict(zip(names, codes, strict=True))  # nearly always: results know the documents of their truth
    else:
        wanted = set(names)
        code_of = {name: code for code, name in enumerate(found.documents) if name in wanted}
    near = np.zeros(len(found.documents), dtype=np.bool_)
    near[list(code_of.values())] = True
    rows = np.flatnonzero(near[found.page_document])
    places = zip(found.page_document[rows].tolist(), found.page_index[rows].tolist(), strict=True)
    row_of = dict(zip(places, rows.tolist(), strict=True))
    index = (truth.page_index[pages] + shift).tolist()
    return np.array(
        [row_of.get((code_of.get(name, -1), at), -1) for name, at in zip(names, index, strict=True)], dtype=np.int64
    )


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """Which boxes of two sides pair: the places of both in what was laid out."""

    truth: Codes | Ints
    found: Codes | Ints

    def only(self, kept: Flags) -> Meetings:
        """Some of them."""
        return Meetings(self.truth[kept], self.found[kept])

    def pairs(self) -> int:
        """How many pairs there can be when each box is in one: nearly always exact, for few boxes are like two others."""
        return min(int(np.count_nonzero(np.bincount(side))) for side in (self.truth, self.found))


def meetings(truths: Laid, found: Laid) -> Meetings:
    """The boxes of the same sheet with an IoU of at least one half, whatever their labels."""
    first = np.searchsorted(found.sheet, truths.sheet)
    each = np.searchsorted(found.sheet, truths.sheet, side="right") - first
    mine = np.repeat(np.arange(len(truths)), each)
    theirs = np.arange(len(mine)) - np.repeat(np.cumsum(each) - each, each) + np.repeat(first, each)
    # Of negative size, or NaN where a page has no size, a box meets nothing.
    one, other = edges(truths.boxes, BoxForm.XYXY).take(mine), edges(found.boxes, BoxForm.XYXY).take(theirs)
    alike = iou(intersection(one, other), one.area, other.area) >= ALIKE
    return Meetings(mine[alike], theirs[alike])
