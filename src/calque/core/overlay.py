"""Two box corpora laid over each other: the same documents, pages and classes, rows in canonical order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calque.core.columns import Array, Codes, Flags, Floats, Ints, Strings
from calque.core.corpus import BoxCorpus, BoxForm, UnitId, canonical
from calque.core.errors import ContractError
from calque.core.geometry import areas, corners


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """One side of an overlay: its objects sorted by page, in file order within a page."""

    row: Ints
    """For each object its row in the corpus it came from."""
    page: Codes
    label: Codes
    boxes: Floats
    form: BoxForm
    scores: Floats
    """NaN where there is no score."""
    offsets: Ints
    """Where the objects of each page begin; one entry more than there are pages."""
    ids: Strings | None

    def __len__(self) -> int:
        return len(self.row)

    def areas(self) -> Floats:
        """The area of each object."""
        return areas(self.boxes, self.form)


@dataclass(frozen=True, kw_only=True, eq=False)
class Overlay:
    """What is true and what was found, on shared pages. Documents in canonical order, pages by number, labels by name."""

    documents: tuple[UnitId, ...]
    in_truth: Flags
    in_found: Flags
    page_document: Codes
    page_index: Ints
    labels: tuple[str, ...]
    truth: Layer
    found: Layer

    @classmethod
    def of(cls, truth: BoxCorpus, found: BoxCorpus) -> Overlay:
        """Lay ``found`` over ``truth``."""
        if truth.extent is not found.extent:
            raise ContractError.single(
                "units-differ",
                f"the truth is in {truth.extent} coordinates, the predictions are in {found.extent} ones",
                file=found.source,
                help="bring both to the same units",
            )
        documents = tuple(sorted({*truth.documents, *found.documents}, key=canonical))
        code = {unit: position for position, unit in enumerate(documents)}
        truth_documents = np.array([code[unit] for unit in truth.documents], dtype=np.int64)
        found_documents = np.array([code[unit] for unit in found.documents], dtype=np.int64)
        page_document, page_index, page = _join_pages(
            np.concatenate([truth_documents[truth.page_document], found_documents[found.page_document]]),
            np.concatenate([truth.page_index, found.page_index]),
        )
        labels = tuple(sorted({*truth.labels, *found.labels}))
        form = truth.form if truth.form is found.form else BoxForm.XYXY
        pages = len(page_document)
        return cls(
            documents=documents,
            in_truth=_member(truth_documents, len(documents)),
            in_found=_member(found_documents, len(documents)),
            page_document=page_document,
            page_index=page_index,
            labels=labels,
            truth=_layer(truth, page[: len(truth.page_index)], pages, labels, form),
            found=_layer(found, page[len(truth.page_index) :], pages, labels, form),
        )


def _member(codes: Ints, size: int) -> Flags:
    flags = np.zeros(size, dtype=np.bool_)
    flags[codes] = True
    return flags


def _join_pages(document: Ints, index: Ints) -> tuple[Codes, Ints, Codes]:
    """The distinct (document, index) pairs in order, and for each input page which of them it is."""
    numbers, number = np.unique(index, return_inverse=True)
    keys, page = np.unique(document * max(len(numbers), 1) + number, return_inverse=True)
    page_document, number_of = np.divmod(keys, max(len(numbers), 1))
    return page_document.astype(np.int32), numbers[number_of], page.astype(np.int32)


def _layer(corpus: BoxCorpus, shared_page: Codes, pages: int, labels: tuple[str, ...], form: BoxForm) -> Layer:
    position = {name: code for code, name in enumerate(labels)}
    shared_label = np.array([position[name] for name in corpus.labels], dtype=np.int32)
    page = shared_page[corpus.page]
    row = _stable_order(page)
    page = page[row]
    boxes = corpus.boxes if form is corpus.form else corners(corpus.boxes, corpus.form)
    return Layer(
        row=row,
        page=page,
        label=shared_label[corpus.label[row]],
        boxes=boxes[row],
        form=form,
        scores=np.full(len(corpus), np.nan) if corpus.scores is None else corpus.scores[row],
        offsets=np.searchsorted(page, np.arange(pages + 1)).astype(np.int64),
        ids=None if corpus.ids is None else corpus.ids.take(row),
    )


def _stable_order(keys: Array) -> Ints:
    return np.argsort(keys, kind="stable").astype(np.int64)
