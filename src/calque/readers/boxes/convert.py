"""From one format to another: what a target needs, and what it cannot carry."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from calque.core.columns import Flags
from calque.core.corpus import BoxCorpus, Extent
from calque.core.errors import ContractError, Issue, Severity
from calque.geometry.boxes import corners
from calque.geometry.forms import BoxForm
from calque.readers.boxes import page_names, plain
from calque.readers.boxes.conventions import in_pixels, in_shares, sizes_of
from calque.readers.boxes.formats import Files, Format
from calque.readers.boxes.objects import UNUSABLE
from calque.readers.page_rows import writing
from calque.readers.page_rows.files import PARQUET
from calque.readers.sides.slips import OPEN_FORMATS

KEEPS_IDS = frozenset({"coco", "coco-results", "plain", "ndjson"})
NAMED_BY_FILE = frozenset({"yolo", "voc", "page", "alto", "omnidocbench"})
FEATURES: dict[str, Callable[[BoxCorpus], bool]] = {
    "scores": lambda corpus: corpus.scores is not None,
    "ids": lambda corpus: corpus.ids is not None,
    "crowds": lambda corpus: corpus.crowd is not None,
    "ignored objects": lambda corpus: corpus.ignore is not None,
    "areas": lambda corpus: corpus.given_areas is not None,
    "page sizes": lambda corpus: corpus.page_sizes is not None,
    "page names": lambda corpus: corpus.page_names is not None,
    "metadata": lambda corpus: bool(corpus.metadata),
    "empty pages": lambda corpus: len(np.unique(corpus.page)) < len(corpus.page_index),
}
"""What a corpus may have beyond documents, pages, labels and boxes, and how to tell."""


def converted(corpus: BoxCorpus, target: Format, page_size: Sequence[float] | None) -> tuple[Files, tuple[Issue, ...]]:
    """The files that say in the target's words what the corpus says, and what of it they cannot say."""
    if target.write is None:
        raise ContractError.single("no-writer", f"calque reads {target.name} and does not write it", help="choose another --to")
    fitted = _fitted(corpus, target, page_size)
    # Sizes that made the conversion are in its result; those of the source are what may be lost.
    return target.write(fitted), (
        *_losses(corpus, target),
        *_renamed(corpus, target),
        *_unusable(corpus),
        *_options(fitted, target),
    )


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
    boxes = corners(corpus.boxes, corpus.form)
    if target.form is BoxForm.XYWH:
        boxes = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)
    return dataclasses.replace(corpus, boxes=boxes, form=target.form)


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


def _losses(corpus: BoxCorpus, target: Format) -> list[Issue]:
    lost = [name for name, present in FEATURES.items() if present(corpus) and name not in target.carries]
    if not lost:
        return []
    text = f"{target.name} cannot carry {', '.join(lost)}; they were left out"
    return [Issue("not-carried", text, corpus.source, severity=Severity.NOTE)]


def _renamed(corpus: BoxCorpus, target: Format) -> list[Issue]:
    """Documents whose ids do not survive: as file names, or as strings where they were numbers."""
    if target.name in KEEPS_IDS:
        return []
    if target.name == PARQUET and not writing.ids_as_text(corpus.documents):
        return []
    if target.name in NAMED_BY_FILE:
        lost = [document for document in corpus.documents if page_names.place(page_names.stem_of(document, 0))[0] != document]
    else:
        lost = [document for document in corpus.documents if not isinstance(document, str)]
    if not lost:
        return []
    text = f"{len(lost):,} document{'s are' if len(lost) > 1 else ' is'} named otherwise in {target.name}, such as {lost[0]!r}"
    return [Issue("document-renamed", text, corpus.source, severity=Severity.NOTE)]


def _options(corpus: BoxCorpus, target: Format) -> list[Issue]:
    options = plain.settings(corpus) if target.name in OPEN_FORMATS else ""
    text = f"the file does not say what its numbers mean: read it with{options}"
    return [Issue("needs-options", text, corpus.source, severity=Severity.NOTE)] if options else []


def _unusable(corpus: BoxCorpus) -> list[Issue]:
    count = 0 if corpus.flaws is None else int(np.isin(corpus.flaws, UNUSABLE).sum())
    if not count:
        return []
    text = f"{count:,} object{'s' if count > 1 else ''} without a usable box or label were not written"
    return [Issue("not-written", text, corpus.source, severity=Severity.LOSS)]
