"""Two box corpora laid over each other: the same documents, pages and classes, rows in canonical order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Column, Flags, Floats, Ints, Outlines, Strings, Table, take
from calque.base.errors import ContractError
from calque.corpus.boxes import BoxCorpus, Extent, Flaw, UnitId, in_canonical_order
from calque.corpus.masks import Masks, pixel_sizes
from calque.evaluation.boxes.crowding import check_crowding
from calque.geometry.boxes import areas, corners
from calque.geometry.forms import BoxForm
from calque.kernels import kernels
from calque.kernels.structs import LEFT_OUT, TAKES_PART, PageBoxes, RowMasks, RowRings, SharedAreas


@dataclass(frozen=True, eq=False, kw_only=True)
class Layer:
    """One side of an overlay: its objects sorted by page, in file order within a page."""

    page: Codes
    label: Codes
    boxes: Floats
    form: BoxForm
    scores: Floats
    """NaN where there is no score."""
    offsets: Ints
    """Where the objects of each page begin; one entry more than there are pages."""
    ids: Column | None = None
    crowd: Bytes | None = None
    ignore: Bytes | None = None
    given_areas: Floats | None = None
    flaws: Bytes | None = None
    outlines: Outlines | None = None
    masks: Masks | None = None
    mask_sizes: Ints | None = None
    """Height and width of each object's page, in pixels; -1 where they are not known."""
    rows: Ints | None = None
    """For each object its row in its corpus, where their orders differ."""
    measured: Floats | None = None
    """The area of each object, where some are more than boxes."""
    shared: SharedAreas | None = None
    """What objects share with truths of their page, where some are more than boxes."""

    def __len__(self) -> int:
        return len(self.boxes)

    def page_boxes(self, roles: Bytes) -> PageBoxes:
        """What box kernels read of it; ``roles`` says what each object does."""
        rings = None if self.outlines is None else RowRings(self.outlines.points, self.outlines.offsets)
        masks = None
        if self.masks is not None and self.mask_sizes is not None:
            text = self.masks.text
            masks = RowMasks(text.path, text.data, self.masks.starts, self.masks.ends, self.mask_sizes)
        return PageBoxes(self.boxes, self.form, self.label, self.offsets, roles, self.measured, self.shared, rings, masks)

    def areas(self) -> Floats:
        """The area of each object."""
        return self._areas

    @cached_property
    def _areas(self) -> Floats:
        return areas(self.boxes, self.form) if self.measured is None else self.measured

    def spread(self, values: Array) -> Array:
        """What is given for each page, for each object."""
        return np.repeat(values, np.diff(self.offsets))

    def plain(self) -> bool:
        """Whether its objects are boxes and nothing more."""
        return all(more is None for more in (self.outlines, self.masks, self.measured, self.shared))

    def cut(self, start: int, stop: int) -> Layer:
        """The objects of some pages on end, without a copy of what they are; only where all are plain boxes."""
        first, last = int(self.offsets[start]), int(self.offsets[stop])
        kept = {name: column for name in CUT if (column := getattr(self, name)) is not None}
        return Layer(
            page=self.page[first:last] - np.int32(start),
            form=self.form,
            offsets=self.offsets[start : stop + 1] - first,
            **Table(kept).cut(first, last).columns,  # type: ignore[arg-type]  # each is what it was
        )

    def detail_columns(self) -> dict[str, Column]:
        """What a ledger keeps for outcome lists: boxes, and ids where there are some."""
        return {"box": self.boxes} if self.ids is None else {"box": self.boxes, "id": self.ids}


PAGE_DETAILS = frozenset(("pages", column) for column in ("width", "height", "spelling", "image_name"))
"""What a ledger keeps of pages for viewers alone."""
PASSED_ON = ("ids", "crowd", "ignore", "given_areas", "flaws", "outlines", "masks")
"""Columns that a layer takes over from its corpus as they are."""
CUT = ("label", "boxes", "scores", "ids", "crowd", "ignore", "given_areas", "flaws", "rows")
"""Columns of plain boxes that have one entry for each object and say the same of it wherever it stands."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Overlay:
    """What is true and what was found, on shared pages. Documents in canonical order, pages by number, labels by name."""

    documents: tuple[UnitId, ...]
    in_truth: Flags
    in_found: Flags
    page_document: Codes
    page_index: Ints
    page_in_truth: Flags
    """For each page whether the truth knows it, with objects or without."""
    page_sizes: Floats | None
    """Width and height of each page, as the truth states them."""
    extent: Extent
    """What coordinates are measured in."""
    image_names: tuple[str, ...] | None = None
    """For each page the file with its picture, where a side names some."""
    image_ids: tuple[UnitId, ...] | None
    """For each page the id of its image, when images are grouped into documents."""
    labels: tuple[str, ...]
    found_pages: Codes | None = None
    """Which page each page of the predictions is, where that was kept."""
    truth: Layer
    found: Layer

    @classmethod
    def of(
        cls, truth: BoxCorpus, found: BoxCorpus, on: str = "boxes", *, beside: Sequence[BoxCorpus] = (), jobs: int = 1
    ) -> Overlay:
        """Lay ``found`` over ``truth``, and measure what the two share where objects are more than boxes.

        What is ``beside`` them adds its documents, pages and labels, so that overlays of several runs have them all alike.
        """
        overlay = cls.of_boxes(truth, found, beside)
        check_crowding(overlay, found.source)
        if on == "masks":
            return overlay._of_masks(truth, found, jobs)
        if overlay.truth.outlines is overlay.found.outlines is None:
            return overlay
        if on == "shapes":
            return overlay.with_shapes(jobs)
        # Without their measures, rings say nothing.
        return replace(overlay, truth=replace(overlay.truth, outlines=None), found=replace(overlay.found, outlines=None))

    def with_shapes(self, jobs: int = 1) -> Overlay:
        """With what outlines share; an object without one is its box."""
        return self._measured(*kernels().shape_overlaps(*self.whole(), jobs))

    def measured_again(self, on: str, jobs: int = 1) -> Overlay:
        """With what the truth shares with other predictions that were laid over it: boxes alone."""
        if on != "masks":
            return self.with_shapes(jobs)
        overlay = replace(self, found=_on_pages(self.found, self._sizes_of_masks()))
        truth_facts, found_facts, offsets, truths, shared = kernels().mask_pairs(*overlay.whole(), jobs)
        return overlay._measured(truth_facts[1], found_facts[1], offsets, truths, shared)

    def _sizes_of_masks(self) -> Floats:
        """Width and height of each page; where no file says it, as the truth's first mask on it has it."""
        sizes = np.full((len(self.page_index), 2), np.nan) if self.page_sizes is None else self.page_sizes.copy()
        masks = self.truth.masks
        if masks is not None:
            import json

            unknown = np.isnan(sizes[self.truth.page]).any(axis=1)
            rows = np.flatnonzero(masks.drawn() & unknown & (_whole(self.truth) == TAKES_PART))
            for row in rows[np.unique(self.truth.page[rows], return_index=True)[1]].tolist():
                mask = json.loads(masks.text_of(row))
                if isinstance(mask, dict):  # corners say nothing of their page
                    sizes[self.truth.page[row]] = mask["size"][::-1]
        return sizes

    def _of_masks(self, truth: BoxCorpus, found: BoxCorpus, jobs: int) -> Overlay:
        """With what masks share: as it was measured when they were read, where these two were read together."""
        overlay = self.with_masks(found)
        pairs = None if found.masks is None else found.masks.pairs
        if pairs is not None and pairs.truth is truth.masks:
            return overlay._measured(pairs.truth_areas, pairs.found_areas, *pairs.shared)
        check_crowding(overlay, found.source)
        truth_facts, found_facts, offsets, truths, shared = kernels().mask_pairs(*overlay.whole(), jobs)
        return overlay._measured(truth_facts[1], found_facts[1], offsets, truths, shared)

    def with_masks(self, found: BoxCorpus) -> Overlay:
        """With a mask for every object, and the sizes of the pages that they are on."""
        sizes = np.full((len(self.page_index), 2), np.nan) if self.page_sizes is None else self.page_sizes.copy()
        if found.page_sizes is not None and self.found_pages is not None:
            theirs = np.full_like(sizes, np.nan)
            theirs[self.found_pages] = found.page_sizes
            sizes = np.where(np.isnan(sizes), theirs, sizes)
        return replace(self, truth=_on_pages(self.truth, sizes), found=_on_pages(self.found, sizes))

    def whole(self) -> tuple[PageBoxes, PageBoxes]:
        """What kernels measure: everything that is no invalid object."""
        return self.truth.page_boxes(_whole(self.truth)), self.found.page_boxes(_whole(self.found))

    def _measured(self, truth_areas: Floats, found_areas: Floats, offsets: Ints, truths: Codes, shared: Floats) -> Overlay:
        return replace(
            self,
            truth=replace(self.truth, measured=truth_areas),
            found=replace(self.found, measured=found_areas, shared=SharedAreas(offsets, truths, shared)),
        )

    @classmethod
    def of_boxes(cls, truth: BoxCorpus, found: BoxCorpus, beside: Sequence[BoxCorpus] = ()) -> Overlay:
        """Both sides on shared pages, nothing measured."""
        if truth.extent is not found.extent:
            raise ContractError.single(
                "units-differ",
                f"the truth is in {truth.extent} coordinates, the predictions are in {found.extent} ones",
                file=found.source,
                help="bring both to the same units",
            )
        every = (truth, found, *beside)
        documents = tuple(in_canonical_order({unit for side in every for unit in side.documents}))
        known = [_positions(side.documents, documents) for side in every]
        truth_documents, found_documents = known[:2]
        page_document, page_index, page = _join_pages(
            np.concatenate([places[side.page_document] for places, side in zip(known, every, strict=True)]),
            np.concatenate([side.page_index for side in every]),
        )
        page = page[: len(truth.page_index) + len(found.page_index)]
        labels = tuple(sorted({name for side in every for name in side.labels}))
        form = truth.form if all(side.form is truth.form for side in every) else BoxForm.XYXY
        pages = len(page_document)
        return cls(
            documents=documents,
            in_truth=_member(truth_documents, len(documents)),
            in_found=_member(found_documents, len(documents)),
            page_document=page_document,
            page_index=page_index,
            page_in_truth=_member(page[: len(truth.page_index)], pages),
            page_sizes=_page_sizes(truth, page, pages),
            extent=truth.extent,
            image_names=_image_names(truth, found, page, pages),
            image_ids=_image_ids(truth, found, page, pages),
            labels=labels,
            found_pages=page[len(truth.page_index) :],
            truth=_layer(truth, page[: len(truth.page_index)], pages, labels, form),
            found=_layer(found, page[len(truth.page_index) :], pages, labels, form),
        )

    def cut(self, start: int, stop: int) -> Overlay:
        """Some documents on end, with all their pages; only where all objects are plain boxes."""
        first, last = np.searchsorted(self.page_document, [start, stop]).tolist()
        return replace(
            self,
            documents=self.documents[start:stop],
            in_truth=self.in_truth[start:stop],
            in_found=self.in_found[start:stop],
            page_document=self.page_document[first:last] - np.int32(start),
            page_index=self.page_index[first:last],
            page_in_truth=self.page_in_truth[first:last],
            page_sizes=None if self.page_sizes is None else self.page_sizes[first:last],
            image_names=None if self.image_names is None else self.image_names[first:last],
            image_ids=None if self.image_ids is None else self.image_ids[first:last],
            found_pages=None,
            truth=self.truth.cut(first, last),
            found=self.found.cut(first, last),
        )

    def document_table(self) -> Table:
        """One row for each document: which sides know it."""
        units = np.arange(len(self.documents), dtype=np.int32)
        return Table({"unit": units, "in_truth": self.in_truth, "in_found": self.in_found})

    def page_columns(self) -> dict[str, Column]:
        """For each page its document, its number there, and whether the truth knows it."""
        return {"unit": self.page_document, "page_index": self.page_index, "in_truth": self.page_in_truth}

    def page_details(self) -> dict[str, Column]:
        """What viewers need of each page: its size, NaN where unknown, and how its boxes are spelt (see `page_spelling`)."""
        sizes = np.full((len(self.page_index), 2), np.nan) if self.page_sizes is None else self.page_sizes
        spelling = np.full(len(self.page_index), page_spelling(self.truth.form, self.extent), dtype=np.uint8)
        named: dict[str, Column] = {} if self.image_names is None else {"image_name": Strings.pack(self.image_names)}
        return {
            "width": np.ascontiguousarray(sizes[:, 0]),
            "height": np.ascontiguousarray(sizes[:, 1]),
            "spelling": spelling,
            **named,
        }

    @cached_property
    def first_pages(self) -> Codes:
        """For each page the first page of its document."""
        return np.searchsorted(self.page_document, self.page_document).astype(np.int32)

    def row_columns(self, layer: Layer) -> dict[str, Column]:
        """For each object of a layer its document, its page (counted from the document's first) and its label."""
        page = np.arange(len(self.page_document), dtype=np.int32) - self.first_pages
        return {"unit": layer.spread(self.page_document), "page": layer.spread(page), "label": layer.label}

    def within_document(self, layer: Layer, other: Layer, match: Codes) -> Codes:
        """Rows of the other side that rows of a layer point at, counted from the first of their document; -1 stays.

        What a row points at stands on its own page, and so in its own document.
        """
        relative: Codes = match - layer.spread(other.offsets[self.first_pages].astype(np.int32))
        return np.maximum(relative, np.int32(-1), out=relative)

    def unlabelled(self) -> Overlay:
        """The same boxes as if all had one label, for questions about places alone."""
        return replace(self, truth=_without_labels(self.truth), found=_without_labels(self.found))


def _whole(layer: Layer) -> Bytes:
    """What can be measured takes part."""
    bad = np.zeros(len(layer), dtype=np.bool_) if layer.flaws is None else layer.flaws == Flaw.BAD_BOX
    return np.where(bad, np.uint8(LEFT_OUT), np.uint8(TAKES_PART))


def _on_pages(layer: Layer, sizes: Floats) -> Layer:
    masks = Masks.none(len(layer)) if layer.masks is None else layer.masks
    masks.text.check()
    return replace(layer, masks=masks, mask_sizes=pixel_sizes(sizes)[layer.page])


SIZED, NORMALIZED = 1, 2
"""Bits of a page's spelling: boxes are a corner and a size, and coordinates are shares of the page."""


def page_spelling(form: BoxForm, extent: Extent) -> int:
    """How the boxes of a page are written, as a code that a ledger can keep.

    >>> page_spelling(BoxForm.XYWH, Extent.PIXELS), page_spelling(BoxForm.XYXY, Extent.NORMALIZED)
    (1, 2)
    """
    return SIZED * (form is BoxForm.XYWH) | NORMALIZED * (extent is Extent.NORMALIZED)


def _without_labels(layer: Layer) -> Layer:
    return replace(layer, label=np.zeros(len(layer), dtype=np.int32))


def _positions(units: tuple[UnitId, ...], among: tuple[UnitId, ...]) -> Ints:
    """Where each document stands among all."""
    if units == among:  # as they mostly are
        return np.arange(len(among), dtype=np.int64)
    place = {unit: position for position, unit in enumerate(among)}
    return np.array([place[unit] for unit in units], dtype=np.int64)


def _member(codes: Ints | Codes, size: int) -> Flags:
    flags = np.zeros(size, dtype=np.bool_)
    flags[codes] = True
    return flags


def _page_sizes(truth: BoxCorpus, page: Codes, pages: int) -> Floats | None:
    if truth.page_sizes is None:
        return None
    sizes = np.full((pages, 2), np.nan)
    sizes[page[: len(truth.page_index)]] = truth.page_sizes
    return sizes


def _image_names(truth: BoxCorpus, found: BoxCorpus, page: Codes, pages: int) -> tuple[str, ...] | None:
    """The name of each page's picture: the truth's, else the predictions'."""
    given = [side.image_names for side in (truth, found)]
    if all(names is None for names in given):
        return None
    names = [""] * pages
    counts = (len(truth.page_index), len(found.page_index))
    parts = zip(given, np.split(page, [counts[0]]), strict=True)
    for known, places in reversed(list(parts)):
        for place, name in zip(places.tolist(), known if known is not None else (), strict=False):
            names[place] = name or names[place]
    return tuple(names)


def _image_ids(truth: BoxCorpus, found: BoxCorpus, page: Codes, pages: int) -> tuple[UnitId, ...] | None:
    if truth.image_ids is None:
        return None
    names: list[UnitId] = [""] * pages
    for shared, image in zip(page.tolist(), (*truth.image_ids, *(found.image_ids or ())), strict=False):
        names[shared] = image
    return tuple(names)


def _join_pages(document: Ints, index: Ints) -> tuple[Codes, Ints, Codes]:
    """The distinct (document, index) pairs in order, and for each input page which of them it is."""
    numbers, number = np.unique(index, return_inverse=True)
    keys, page = np.unique(document * max(len(numbers), 1) + number, return_inverse=True)
    page_document, number_of = np.divmod(keys, max(len(numbers), 1))
    return page_document.astype(np.int32), numbers[number_of], page.astype(np.int32)


def _layer(corpus: BoxCorpus, shared_page: Codes, pages: int, labels: tuple[str, ...], form: BoxForm) -> Layer:
    position = {name: code for code, name in enumerate(labels)}
    # The last entry serves objects without a known label: index -1 stays -1.
    shared_label = np.array([*(position[name] for name in corpus.labels), -1], dtype=np.int32)
    page = corpus.page if np.array_equal(shared_page, np.arange(pages)) else np.take(shared_page, corpus.page)
    columns: dict[str, Any] = {
        "page": page,
        "label": np.take(shared_label, corpus.label),
        "boxes": corpus.boxes if form is corpus.form else corners(corpus.boxes, corpus.form),
        "scores": np.full(len(corpus), np.nan) if corpus.scores is None else corpus.scores,
        **{name: column for name in PASSED_ON if (column := getattr(corpus, name)) is not None},
    }
    if np.any(page[1:] < page[:-1]):
        order = np.argsort(page, kind="stable")
        columns = {**{name: take(column, order) for name, column in columns.items()}, "rows": order}
    offsets = np.concatenate([[0], np.cumsum(np.bincount(page, minlength=pages))])
    return Layer(form=form, offsets=offsets, **columns)
