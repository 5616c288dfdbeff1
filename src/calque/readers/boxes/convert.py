"""From one format to another: what a target needs, what it cannot carry, and what does not come back from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from calque.base.columns import Flags, Floats
from calque.base.errors import ContractError, Issue, Severity
from calque.corpus.boxes import BoxCorpus, Extent, Flaw
from calque.geometry.boxes import areas, corners
from calque.geometry.forms import BoxForm
from calque.readers.boxes import read_back
from calque.readers.boxes.conventions import in_pixels, in_shares, sizes_of
from calque.readers.boxes.formats import Files, Format
from calque.readers.boxes.objects import UNUSABLE

STRUCTURE = frozenset({"id", "file_name", "width", "height", "doc_id", "doc_name", "page_index"})
"""Columns of metadata that say what and where a page is: they are not lost where documents, pages and sizes are kept."""


def _areas(corpus: BoxCorpus) -> int:
    """How many areas are stated that are not those of the boxes (but of masks, say)."""
    if corpus.given_areas is None:
        return 0
    own = areas(corpus.boxes, corpus.form)
    return int((np.abs(corpus.given_areas - own) > 1e-9 * np.maximum(own, 1.0)).sum())


def _bare(corpus: BoxCorpus) -> int:
    """How many pages have no object, and documents no page."""
    pages = len(corpus.page_index) - len(np.unique(corpus.page))
    return pages + len(corpus.documents) - len(np.unique(corpus.page_document))


def _rings(corpus: BoxCorpus, *, four: bool) -> int:
    """How many objects are rings of four corners, or of any other number."""
    if corpus.outlines is None:
        return 0
    corners = np.diff(corpus.outlines.offsets)
    return int(((corners > 0) & ((corners == 4) == four)).sum())


FEATURES: dict[str, Callable[[BoxCorpus], int]] = {
    "scores": lambda corpus: 0 if corpus.scores is None else int(np.isfinite(corpus.scores).sum()),
    "ids": lambda corpus: 0 if corpus.ids is None else len(corpus.ids),
    "crowds": lambda corpus: 0 if corpus.crowd is None else int((corpus.crowd != 0).sum()),
    "ignored objects": lambda corpus: 0 if corpus.ignore is None else int((corpus.ignore != 0).sum()),
    "areas": _areas,
    "turned boxes": lambda corpus: _rings(corpus, four=True),
    "outlines": lambda corpus: _rings(corpus, four=False),
    "masks": lambda corpus: 0 if corpus.masks is None else int(corpus.masks.drawn().sum()),
    "page sizes": lambda corpus: 0 if corpus.page_sizes is None else int((corpus.page_sizes > 0).all(axis=1).sum()),
    "page names": lambda corpus: 0 if corpus.page_names is None else sum(map(bool, corpus.page_names.tolist())),
    "metadata": lambda corpus: sum(len(values) for column, values in corpus.metadata.items() if column not in STRUCTURE),
    "empty pages": _bare,
}
"""What a corpus may have beyond documents, pages, labels and boxes, and how much of it there is."""
_BOXES = "the boxes around them were written"
DRAWN: Mapping[Any, str] = {
    "turned boxes": _BOXES,
    "outlines": _BOXES,
    "masks": _BOXES,
    ("coco", "outlines"): "they are there as segmentations, with the boxes around them",
}
"""What was done with shapes that a target has no place for."""
COUNTED = frozenset({"scores", "crowds", "ignored objects", "areas", "empty pages"})
"""Those without which an evaluation may give other numbers. The others are named, and nothing more."""


def converted(corpus: BoxCorpus, target: Format, page_size: Sequence[float] | None) -> tuple[Files, tuple[Issue, ...]]:
    """The files that say in the target's words what the corpus says, and what of it they do not say, each with its count.

    What is written is read back first: whatever does not come back as it was is a loss, and files that could not be read are
    refused with a `ContractError`.
    """
    if target.write is None:
        raise ContractError.single("no-writer", f"calque reads {target.name} and does not write it", help="choose another --to")
    with np.errstate(over="ignore", invalid="ignore"):  # boxes that are none stay so, and are counted below
        fitted, cut, gone = _on_the_page(_fitted(corpus, target, page_size), target)
    files = target.write(fitted)
    kept = _usable(corpus) & ~cut & ~gone
    # Sizes that made the conversion are in its result; those of the source are what may be lost.
    issues = [
        *_not_carried(corpus, target),
        _loss("not-written", "an object without a usable box or label was not written", corpus, _unusable(corpus)),
        _loss("box-outside", f"a box wholly beyond its page was not written: {target.name} has no place for it", corpus, gone),
        _loss("box-cut", f"a box was cut at the edge of its page: {target.name} has no place beyond it", corpus, cut),
        *read_back.losses(corpus, kept, files, target, page_size),
    ]
    return files, tuple(issue for issue in issues if issue.count)


def _fitted(corpus: BoxCorpus, target: Format, page_size: Sequence[float] | None) -> BoxCorpus:
    """The corpus in the units and the form that the target is written in."""
    sizes = sizes_of(corpus, page_size)
    if target.extent is not None and corpus.extent is not target.extent:
        _need_sizes(corpus, target, np.asarray((sizes > 0).all(axis=1)))
        corpus = in_pixels(corpus, sizes) if target.extent is Extent.PIXELS else in_shares(corpus, sizes)
    elif (sizes > 0).any():
        corpus = dataclasses.replace(corpus, page_sizes=sizes)
    if target.form is None or corpus.form is target.form:
        return corpus
    return dataclasses.replace(corpus, boxes=_as(target.form, corners(corpus.boxes, corpus.form)), form=target.form)


def _as(form: BoxForm, boxes: Floats) -> Floats:
    """Corners in another form."""
    return boxes if form is BoxForm.XYXY else np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)


def _on_the_page(corpus: BoxCorpus, target: Format) -> tuple[BoxCorpus, Flags, Flags]:
    """The corpus without what the target refuses beyond the page, which boxes were cut for that, and which had to go."""
    none = np.zeros(len(corpus), dtype=np.bool_)
    if target.beyond is None or corpus.extent is not Extent.NORMALIZED:
        return corpus, none, none
    boxes = corners(corpus.boxes, corpus.form)
    out = _usable(corpus) & ((boxes < -target.beyond) | (boxes > 1 + target.beyond)).any(axis=1)
    if not out.any():
        return corpus, none, none
    gone = out & ((boxes[:, :2] >= 1).any(axis=1) | (boxes[:, 2:] <= 0).any(axis=1))
    inside = _as(corpus.form, np.where(out[:, None], np.clip(boxes, 0.0, 1.0), boxes))
    flaws = np.zeros(len(corpus), dtype=np.uint8) if corpus.flaws is None else corpus.flaws
    fitted = dataclasses.replace(
        corpus,
        boxes=np.where(out[:, None], inside, corpus.boxes),
        flaws=np.where(gone, np.uint8(Flaw.BAD_BOX), flaws).astype(np.uint8),
        outlines=None if corpus.outlines is None else corpus.outlines.without(out),
    )
    return fitted, out & ~gone, gone


def _need_sizes(corpus: BoxCorpus, target: Format, known: Flags) -> None:
    missing = [page for page in np.unique(corpus.page).tolist() if not known[page]]
    if missing:
        document, index = corpus.documents[corpus.page_document[missing[0]]], corpus.page_index[missing[0]]
        raise ContractError.single(
            "page-size",
            f"{target.name} has boxes in {target.extent}, the file has them in {corpus.extent}, and the size of "
            f"{len(missing):,} page{'s' if len(missing) > 1 else ''} is not known (page {index} of {document!r} is one)",
            file=corpus.source,
            help="pass --page-size W,H",
        )


def _not_carried(corpus: BoxCorpus, target: Format) -> list[Issue]:
    """One issue for each thing that the target has no place for."""
    issues = []
    for name, count_of in FEATURES.items():
        count = 0 if name in target.carries else count_of(corpus)
        text = f"{target.name} cannot carry {name}: {DRAWN.get((target.name, name), DRAWN.get(name, 'left out'))}"
        severity = Severity.LOSS if name in COUNTED else Severity.NOTE
        issues.append(Issue("not-carried", text, corpus.source, severity=severity, count=count))
    return issues


def _loss(code: str, what: str, corpus: BoxCorpus, where: Flags) -> Issue:
    return Issue(code, what, corpus.source, severity=Severity.LOSS, count=int(where.sum()))


def _usable(corpus: BoxCorpus) -> Flags:
    return np.asarray(~_unusable(corpus) & (corpus.label >= 0))


def _unusable(corpus: BoxCorpus) -> Flags:
    return np.zeros(len(corpus), dtype=np.bool_) if corpus.flaws is None else np.asarray(np.isin(corpus.flaws, UNUSABLE))
