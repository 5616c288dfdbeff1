"""COCO files: ground truth (images, annotations, categories) and results (a list of detections)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calque.base.columns import Bytes, Codes, Column, Flags, Floats, Ints, Outlines, Strings
from calque.base.errors import ContractError, IssueLog, Severity, did_you_mean
from calque.corpus.boxes import BoxCorpus, Extent, Flaw, Side, UnitId, canonical
from calque.corpus.masks import Masks
from calque.geometry.boxes import unsound
from calque.geometry.forms import BoxForm
from calque.readers.boxes import page_names
from calque.readers.boxes.coco_columns import Ids, ResultColumns, TruthColumns
from calque.readers.boxes.conventions import Rules
from calque.readers.sources import json_tree
from calque.readers.sources.json_tree import pointer, shown

FORMAT = "coco"
NAMED = 10
"""How many ids a message names."""


def truth_corpus(columns: TruthColumns, log: IssueLog, rules: Rules) -> BoxCorpus:
    """The corpus of a ground-truth file, or of predictions in the same form (annotations with scores)."""
    label_map = _label_map(columns.categories, log)
    _check_distinct(columns.images, log)
    log.raise_errors()
    objects = _Objects(
        page=columns.image.positions_in(columns.images),
        label=columns.category.positions_in(Ids.of(list(label_map))),
        boxes=columns.boxes,
        outlines=columns.outlines,
        masks=columns.masks,
        scores=columns.scores if rules.side is Side.FOUND else None,
        image=columns.image,
        category=columns.category,
        noun="annotation",
        place=("annotations",),
    )
    pages = _pages(columns, rules, log.file).extended(objects.unknown_images())
    metadata = _metadata(columns.image_entries(), pages, log) if rules.metadata else {}
    return BoxCorpus(
        **pages.columns(),
        metadata=metadata,
        image_names=_image_names(columns.image_entries(), len(pages.page_index)) if rules.images else None,
        **objects.columns(pages, log, rules),
        labels=tuple(label_map.values()),
        label_map=label_map,
        crowd=columns.crowd if columns.crowd.any() else None,
        ignore=columns.ignore if columns.ignore.any() else None,
        given_areas=None if np.isnan(columns.areas).all() else columns.areas,
        ids=None if columns.ids is None else _id_column(columns.ids),
        form=BoxForm.XYWH,
        extent=Extent.PIXELS,
        side=rules.side,
        format=FORMAT,
        source=log.file,
        issues=tuple(log),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """A results file. It names images and classes by id only, so that it means little without the truth."""

    columns: ResultColumns
    log: IssueLog
    rules: Rules

    def against(self, truth: BoxCorpus) -> BoxCorpus:
        """The corpus of the results on the images and with the classes of the truth."""
        images = Ids.of(truth.documents if truth.image_ids is None else truth.image_ids)
        pages = _Pages(list(truth.documents), truth.page_document, truth.page_index, truth.image_ids)
        return self._corpus(images, pages, dict(truth.label_map or {}))

    def alone(self) -> BoxCorpus:
        """The corpus of the results by themselves: documents and classes are ids."""
        images = list(dict.fromkeys(self.columns.image.tolist()))
        names = {identity: str(identity) for identity in dict.fromkeys(self.columns.category.tolist())}
        count = np.arange(len(images), dtype=np.int32)
        return self._corpus(Ids.of(images), _Pages(list(images), count, np.zeros(len(images), dtype=np.int64)), dict(names))

    def _corpus(self, images: Ids, pages: _Pages, label_map: dict[UnitId, str]) -> BoxCorpus:
        columns = self.columns
        objects = _Objects(
            page=columns.image.positions_in(images),
            label=columns.category.positions_in(Ids.of(list(label_map))),
            boxes=columns.boxes,
            outlines=columns.outlines,
            masks=columns.masks,
            scores=columns.scores,
            image=columns.image,
            category=columns.category,
            noun="prediction",
            place=(),
        )
        pages = pages.extended(objects.unknown_images())
        return BoxCorpus(
            **pages.columns(),
            **objects.columns(pages, self.log, replace(self.rules, side=Side.FOUND)),
            labels=tuple(label_map.values()),
            label_map=label_map,
            form=BoxForm.XYWH,
            extent=Extent.PIXELS,
            side=Side.FOUND,
            format=FORMAT,
            source=self.log.file,
            issues=tuple(self.log),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Pages:
    """The page table of a corpus."""

    documents: list[UnitId]
    page_document: Codes
    page_index: Ints
    image_ids: tuple[UnitId, ...] | None = None
    sizes: Floats | None = None

    def extended(self, unknown: Sequence[UnitId]) -> _Pages:
        """With a document of its own for each image that is not in the table: what lies there is not lost."""
        if not unknown:
            return self
        known = set(self.documents)
        names: list[UnitId] = [f"image {image}" if image in known else image for image in unknown]
        count = len(unknown)
        last = np.arange(len(self.documents), len(self.documents) + count, dtype=np.int32)
        return _Pages(
            self.documents + names,
            np.concatenate([self.page_document, last]),
            np.concatenate([self.page_index, np.zeros(count, dtype=np.int64)]),
            None if self.image_ids is None else (*self.image_ids, *unknown),
            None if self.sizes is None else np.concatenate([self.sizes, np.full((count, 2), np.nan)]),
        )

    def columns(self) -> dict[str, Any]:
        return {
            "documents": tuple(self.documents),
            "page_document": self.page_document,
            "page_index": self.page_index,
            "image_ids": self.image_ids,
            "page_sizes": self.sizes,
        }


def _pages(columns: TruthColumns, rules: Rules, file: str) -> _Pages:
    """The images of a file as pages: each its own document, or grouped by a key of the image entries."""
    images = columns.images.tolist()
    if rules.document_key == "stem":
        return _by_file(columns, images, file)
    groups = columns.documents if rules.document_key is None else _by_key(columns, rules.document_key, file)
    if groups is None or rules.document_key == "id":
        count = np.arange(len(images), dtype=np.int32)
        return _Pages(images, count, np.zeros(len(images), dtype=np.int64), None, columns.sizes)
    documents = list(dict.fromkeys(groups))
    code = {document: position for position, document in enumerate(documents)}
    page_document = np.array([code[group] for group in groups], dtype=np.int32)
    index = _stated_indices(columns, groups)
    return _Pages(
        documents, page_document, _ranks(images, page_document) if index is None else index, tuple(images), columns.sizes
    )


def _stated_indices(columns: TruthColumns, groups: list[UnitId]) -> Ints | None:
    """The ``page_index`` of each image, where all have one that tells the pages of a document apart."""
    if not columns.mentions("page_index"):
        return None
    stated = [json_tree.index(entry.get("page_index")) for entry in columns.image_entries()]
    if None in stated or len(set(zip(groups, stated, strict=True))) < len(stated):
        return None
    return np.array(stated, dtype=np.int64)


def _ranks(images: list[UnitId], page_document: Codes) -> Ints:
    """For each image how many images of its document come before it, in the order of their ids."""
    index = np.zeros(len(images), dtype=np.int64)
    pages_so_far: dict[int, int] = {}
    for row in sorted(range(len(images)), key=lambda row: canonical(images[row])):
        document = int(page_document[row])
        index[row] = pages_so_far.get(document, 0)
        pages_so_far[document] = int(index[row]) + 1
    return index


def _by_file(columns: TruthColumns, images: list[UnitId], file: str) -> _Pages:
    """Pages named by the images' files, as in formats that have a file for each page."""
    names = [page_names.bare(str(name)) for name in _by_key(columns, "file_name", file)]
    places = [page_names.place(name) for name in names]
    if len(set(places)) < len(places):
        first = {place: row for row, place in reversed(list(enumerate(places)))}
        twice = next(name for row, name in enumerate(names) if first[places[row]] < row)
        text = f"two images have the name {twice!r} without folder and extension"
        raise ContractError.single(
            "document-key", text, file=file, pointer=pointer("images"), help="use --document-key file_name"
        )
    code = {document: position for position, document in enumerate(dict.fromkeys(document for document, _ in places))}
    page_document = np.array([code[document] for document, _ in places], dtype=np.int32)
    index = np.array([index for _, index in places], dtype=np.int64)
    return _Pages([page_names.bare(document) for document in code], page_document, index, tuple(images), columns.sizes)


def _by_key(columns: TruthColumns, key: str, file: str) -> list[UnitId]:
    entries = columns.image_entries()
    values = [entry.get(key) for entry in entries]
    wrong = next((row for row, value in enumerate(values) if not isinstance(value, int | str)), None)
    if wrong is not None:
        known = sorted({name for entry in entries for name in entry})
        raise ContractError.single(
            "document-key",
            f"the image has no usable {key!r}: {shown(values[wrong])}",
            file=file,
            pointer=pointer("images", wrong),
            help=did_you_mean(key, known) or f"image entries have {', '.join(known)}",
        )
    return [value for value in values if value is not None]


def _image_names(entries: Sequence[Any], pages: int) -> Strings:
    """The ``file_name`` of each page's image; images that are not in the table have none."""
    names = [name if isinstance(name := entry.get("file_name"), str) else "" for entry in entries]
    return Strings.pack([*names, *[""] * (pages - len(names))])


def _metadata(entries: Sequence[Any], pages: _Pages, log: IssueLog) -> dict[str, dict[UnitId, Any]]:
    """The scalar values of image entries by key and document; a document whose images differ has no value."""
    table: dict[str, dict[UnitId, Any]] = {}
    differing: dict[str, list[UnitId]] = {}
    for entry, document in zip(entries, pages.page_document.tolist(), strict=False):
        unit = pages.documents[document]
        for key, value in entry.items():
            if isinstance(value, str | int | float) and table.setdefault(key, {}).setdefault(unit, value) != value:
                differing.setdefault(key, []).append(unit)
    for key, units in differing.items():
        for unit in units:
            table[key].pop(unit, None)
        if not table[key]:
            del table[key]
            continue
        text = f"documents whose images differ in {key!r} have no value there: {_some(list(dict.fromkeys(units)))}"
        log.add("metadata-differs", pointer("images"), text, severity=Severity.NOTE)
    return table


def _finite_or_nan(scores: Floats) -> Floats:
    finite = np.isfinite(scores)
    return scores if finite.all() else np.where(finite, scores, np.nan)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Objects:
    """Boxes with their places looked up, -1 where the file does not have the image or the class."""

    page: Codes
    label: Codes
    boxes: Floats
    outlines: Outlines | None
    masks: Masks | None
    scores: Floats | None
    image: Ids
    category: Ids
    noun: str
    place: tuple[str, ...]

    def unknown_images(self) -> list[UnitId]:
        """The ids of images that are not in the page table, each once."""
        rows = np.flatnonzero(self.page < 0)
        return list(dict.fromkeys(_pick(self.image, rows)))

    def columns(self, pages: _Pages, log: IssueLog, rules: Rules) -> dict[str, Any]:
        """The object columns of a corpus, with what is wrong with each written down."""
        flaws = np.zeros(len(self.boxes), dtype=np.uint8)
        if rules.side is Side.FOUND:
            scores = np.broadcast_to(np.nan, len(self.boxes)) if self.scores is None else self.scores
            self._flag(flaws, rules.unusable(scores), Flaw.NO_SCORE, "score-missing", "without a usable score", log)
        unknown = self.page < 0
        self._flag(flaws, unknown, Flaw.UNKNOWN_PAGE, "unknown-image", "for images that are not in the truth", log, self.image)
        what = "with categories that are not in the truth"
        self._flag(flaws, self.label < 0, Flaw.UNKNOWN_LABEL, "unknown-category", what, log, self.category)
        bad = unsound(self.boxes, BoxForm.XYWH)
        if bad is not None:
            self._flag(flaws, bad, Flaw.BAD_BOX, "box-invalid", "whose box is not finite, too large or of negative size", log)
        outlines = self._kept_outlines(flaws, log, rules)
        page = self.page
        if unknown.any():
            first = len(pages.page_document) - len(self.unknown_images())
            code = {image: first + position for position, image in enumerate(self.unknown_images())}
            page = page.copy()
            rows = np.flatnonzero(unknown)
            page[rows] = [code[image] for image in _pick(self.image, rows)]
        return {
            "page": page,
            "label": self.label,
            "boxes": self.boxes,
            "scores": None if self.scores is None else _finite_or_nan(self.scores),
            "flaws": flaws if flaws.any() else None,
            "outlines": outlines,
            "masks": None if self.masks is None or (rules.on == "boxes" and self.masks.boxless is None) else self.masks,
        }

    def _kept_outlines(self, flaws: Bytes, log: IssueLog, rules: Rules) -> Outlines | None:
        """The outlines of sound objects, unless boxes were asked for."""
        if self.outlines is None:
            return None
        drawn = self.outlines.drawn()
        if rules.on == "boxes":
            text = "a turned box or an outline was read as the upright box around it"
            where, count = pointer(*self.place, int(np.flatnonzero(drawn)[0])), int(drawn.sum())
            log.add("outline-boxed", where, text, severity=Severity.NOTE, count=count)
            return None
        flat = drawn & (self.outlines.corners() < 3)
        self._flag(flaws, flat, Flaw.BAD_BOX, "outline-invalid", "whose outline has fewer than three different points", log)
        kept = self.outlines.without(flaws == Flaw.BAD_BOX)
        return kept if kept.drawn().any() else None

    def _flag(
        self, flaws: Bytes, where: Flags, flaw: Flaw, code: str, what: str, log: IssueLog, ids: Ids | None = None
    ) -> None:
        rows = np.flatnonzero(where)
        if not len(rows):
            return
        flaws[rows] = flaw
        named = "" if ids is None else ": " + _some(list(dict.fromkeys(_pick(ids, rows))))
        text = f"{len(rows):,} {self.noun}{'s' if len(rows) > 1 else ''} {what}{named}"
        log.add(code, pointer(*self.place, int(rows[0])), text, severity=Severity.LOSS)


def _pick(ids: Ids, rows: Ints) -> list[UnitId]:
    if ids.ints is not None:
        return list(ids.ints[rows].tolist())
    return [ids.values[code] for code in (ids.codes[rows].tolist() if ids.codes is not None else ())]


def _some(ids: list[UnitId]) -> str:
    listed = ", ".join(repr(identity) for identity in ids[:NAMED])
    return listed if len(ids) <= NAMED else f"{listed} and {len(ids) - NAMED:,} more"


def _id_column(ids: Ids) -> Column:
    return ids.ints if ids.ints is not None else Strings.pack(str(value) for value in ids.tolist())


def _check_distinct(ids: Ids, log: IssueLog) -> None:
    seen: dict[UnitId, int] = {}
    values = ids.tolist()
    if len(set(values)) == len(values):
        return
    for row, value in enumerate(values):
        if value in seen:
            log.add("duplicate-image", pointer("images", row), f"the image id {value!r} is also that of image {seen[value]}")
        seen.setdefault(value, row)


def _label_map(categories: Any, log: IssueLog) -> dict[UnitId, str]:
    """The name of each category id; equal names are told apart by their ids."""
    if not isinstance(categories, list):
        log.add("wrong-type", pointer("categories"), f"expected an array of categories, not {shown(categories)}")
        return {}
    names: dict[UnitId, str] = {}
    for row, entry in enumerate(categories):
        identity = entry.get("id") if isinstance(entry, Mapping) else None
        known = isinstance(identity, str) or json_tree.identity(identity) is not None
        if not isinstance(identity, int | str) or not known:
            log.add("category", pointer("categories", row), f"expected an object with an id and a name, not {shown(entry)}")
        elif identity in names:
            log.add("category", pointer("categories", row), f"the category id {identity!r} occurs more than once")
        else:
            name = entry.get("name")
            names[identity] = str(identity if name is None else name)
    taken = Counter(names.values())
    return {identity: name if taken[name] == 1 else f"{name} ({identity})" for identity, name in names.items()}
