"""What there is to say of masks that were read: those that are none, odd ones, and boxes for objects that have only a mask."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints
from calque.base.errors import ContractError, Issue, Severity
from calque.corpus.boxes import BoxCorpus, Flaw, Side
from calque.corpus.masks import Masks, pixel_sizes
from calque.geometry.forms import BoxForm
from calque.kernels import kernels
from calque.kernels.structs import LEFT_OUT, TAKES_PART, MaskFault, PageBoxes, RowMasks
from calque.readers.boxes.conventions import sizes_of
from calque.readers.sources.json_tree import pointer

FAULTS = {
    MaskFault.SIZE: ("mask-size", "whose mask has another size than its page"),
    MaskFault.RUNS: ("mask-runs", "whose mask has runs that are negative or exceed its page"),
    MaskFault.COUNTS: ("mask-counts", "whose mask is no string of counts: a character that cannot be there, or one too few"),
    MaskFault.RING: ("mask-ring", "whose mask has no ring of three points, or points that are not finite or beyond 4e8"),
}
"""What makes an object invalid."""
CODES = frozenset({*(code for code, _ in FAULTS.values()), "mask-empty", "mask-odd", "mask-missing"})
"""The code of every issue with single masks."""


def alone(corpus: BoxCorpus, *, jobs: int = 1) -> BoxCorpus:
    """A corpus with boxes for what has only a mask."""
    return boxed(corpus, corpus, None, jobs)


def boxed(corpus: BoxCorpus, other: BoxCorpus, page_size: Sequence[float] | None, jobs: int) -> BoxCorpus:
    """A corpus with boxes for what has only a mask, on pages whose sizes the other side may know."""
    if corpus.masks is None or corpus.masks.boxless is None:
        return corpus
    look = Look.at_boxless(corpus, corpus.masks, corpus.masks.boxless, sizes_of(corpus, page_size, other), jobs)
    return look.with_boxes()


def with_note(truth: BoxCorpus, found: BoxCorpus) -> BoxCorpus:
    """The predictions with a note on masks that nobody asked for."""
    counts = [0 if side.masks is None else int(side.masks.drawn().sum()) for side in (truth, found)]
    if not any(counts):
        return found
    text = f"masks were not evaluated: {counts[0]:,} in the truth, {counts[1]:,} in the predictions"
    issue = Issue("masks-not-evaluated", text, found.source, help="pass --on masks", severity=Severity.NOTE)
    return dataclasses.replace(found, issues=(*found.issues, issue))


def needed_sizes(corpus: BoxCorpus, sizes: Floats) -> Floats:
    """Width and height of each page; `ContractError` where one with objects has none."""
    missing = np.unique(corpus.page)[np.isnan(sizes[np.unique(corpus.page)]).any(axis=1)]
    if len(missing):
        raise _no_page(corpus, int(missing[0]), len(missing))
    return sizes


def _no_page(corpus: BoxCorpus, page: int, count: int) -> ContractError:
    document, index = corpus.documents[corpus.page_document[page]], int(corpus.page_index[page])
    name = f"the image {document!r}" if not index and corpus.format == "coco" else f"page {index} of {document!r}"
    more = f" (and {count - 1:,} more)" if count > 1 else ""
    text = f"{name}{more} has no width and height in whole pixels, fewer than 2147483648 of them: no mask can be drawn there"
    return ContractError.single(
        "page-size", text, file=corpus.source, help="give width and height, pass --page-size W,H, or evaluate --on shapes"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What was seen of the masks of one side, row by row of its corpus."""

    given: BoxCorpus
    masks: Masks
    looked_at: Flags
    faults: Bytes
    areas: Floats
    bounds: Codes
    sizes: Codes
    odd: Bytes

    @classmethod
    def of(cls, corpus: BoxCorpus, rows: Ints | None, facts: Sequence[Array]) -> Look:
        """From what a kernel says of the corpus's rows, in another order where ``rows`` are given."""
        masks = Masks.none(len(corpus)) if corpus.masks is None else corpus.masks
        sound = np.ones(len(corpus), np.bool_) if corpus.flaws is None else corpus.flaws != Flaw.BAD_BOX
        if rows is not None:
            back = np.argsort(rows)
            facts = [column[back] for column in facts]
        return cls(corpus, masks, sound, *facts)

    @classmethod
    def at_boxless(cls, corpus: BoxCorpus, masks: Masks, boxless: Flags, sizes: Floats, jobs: int) -> Look:
        """Only at rows without a box."""
        masks.text.check()
        wanted = boxless if corpus.flaws is None else boxless & (corpus.flaws != Flaw.BAD_BOX)
        side = PageBoxes(
            boxes=np.ascontiguousarray(corpus.boxes),
            form=corpus.form,
            labels=np.zeros(len(corpus), np.int32),
            offsets=np.array([0, len(corpus)], np.int64),
            roles=np.where(wanted, np.uint8(TAKES_PART), np.uint8(LEFT_OUT)),
            masks=RowMasks(masks.text.path, masks.text.data, masks.starts, masks.ends, pixel_sizes(sizes)[corpus.page]),
        )
        return cls(corpus, masks, wanted, *kernels().mask_facts(side, jobs))

    def corpus(self, side: Side) -> BoxCorpus:
        """The side with masks, boxes and sizes, for an evaluation of masks; what cannot take part is marked."""
        corpus = self.with_boxes()
        notes = self._notes(self.looked_at & (self.faults == MaskFault.NONE), side)
        masks = replace(self.masks, range_areas=self._range_areas(corpus) if side is Side.FOUND else None, pairs=None)
        return dataclasses.replace(corpus, masks=masks, issues=(*corpus.issues, *notes))

    def _check_pages(self) -> None:
        """Raise when a page has no size to draw on."""
        lost = np.flatnonzero(self.looked_at & (self.faults == MaskFault.PAGE))
        if len(lost):
            pages = np.unique(self.given.page[lost])
            raise _no_page(self.given, int(pages[0]), len(pages))

    def with_boxes(self) -> BoxCorpus:
        """The side with the bounds of pixels for what has no box, and its invalid rows marked and counted."""
        self._check_pages()
        corpus, issues = self.given, [*self.given.issues]
        flaws = np.zeros(len(corpus), np.uint8) if corpus.flaws is None else corpus.flaws.copy()
        for fault, (code, what) in FAULTS.items():
            rows = np.flatnonzero(self.looked_at & (self.faults == fault))
            if len(rows):
                flaws[rows] = Flaw.BAD_BOX
                text = f"{len(rows):,} object{'s' if len(rows) > 1 else ''} {what}"
                issues.append(Issue(code, text, corpus.source, self._pointer(int(rows[0])), severity=Severity.LOSS))
        boxes = corpus.boxes
        if self.masks.boxless is not None:
            box = (
                self.bounds if corpus.form is BoxForm.XYWH else np.cumsum(self.bounds.reshape(-1, 2, 2), axis=1).reshape(-1, 4)
            )
            boxes = np.where((self.masks.boxless & self.looked_at)[:, None], box, boxes)
        return dataclasses.replace(corpus, boxes=boxes, flaws=flaws if flaws.any() else None, issues=tuple(issues))

    def _range_areas(self, corpus: BoxCorpus) -> Floats:
        """COCO's sizes of predictions: those of their boxes where the first of the file has one, else their pixels."""
        boxless = self.masks.boxless
        if boxless is not None and boxless[:1].any():
            return self.areas
        widths = corpus.boxes[:, 2:] if corpus.form is BoxForm.XYWH else corpus.boxes[:, 2:] - corpus.boxes[:, :2]
        of_boxes = widths[:, 0] * widths[:, 1]
        return of_boxes if boxless is None else np.where(boxless, self.areas, of_boxes)

    def _notes(self, fine: Flags, side: Side) -> list[Issue]:
        noted = [
            ("mask-empty", fine & (self.areas == 0), "a mask without any pixel takes part, and matches nothing"),
            ("mask-odd", fine & self.odd, "a ring has an odd number of numbers: the last was dropped"),
        ]
        if side is Side.TRUTH:
            drawn = np.zeros(len(fine), np.bool_) if self.given.outlines is None else self.given.outlines.drawn()
            boxes = fine & ~self.masks.drawn() & ~drawn
            noted.append(("mask-missing", boxes, "an object without a mask was drawn as its box"))
        return [
            Issue(
                code,
                text,
                self.given.source,
                self._pointer(int(np.flatnonzero(rows)[0])),
                severity=Severity.NOTE,
                count=int(rows.sum()),
            )
            for code, rows, text in noted
            if rows.any()
        ]

    def _pointer(self, row: int) -> str:
        if self.given.format != "coco":
            return ""
        return pointer(
            *(() if self.given.label_map is None or self.given.ids is None else ("annotations",)), row, "segmentation"
        )
