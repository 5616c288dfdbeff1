"""What one side of an evaluation holds, as columns: never one Python object for each box."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from itertools import compress
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np

from calque.base.columns import Bytes, Codes, Column, Flags, Floats, Ints, Outlines, Strings, take
from calque.base.errors import Issue
from calque.base.short_repr import one_line
from calque.corpus.masks import Masks
from calque.geometry.boxes import corners, unsound
from calque.geometry.forms import BoxForm

if TYPE_CHECKING:
    import numpy.typing as npt

UnitId: TypeAlias = int | str
"""The id of a document, the unit that is sharded, merged and resampled."""


def canonical(unit: UnitId) -> tuple[bool, UnitId]:
    """The sort key of document ids: integers by value, then strings by code point.

    >>> sorted(["b", 10, "a", 9], key=canonical)
    [9, 10, 'a', 'b']
    """
    return isinstance(unit, str), unit


def in_canonical_order(units: Iterable[UnitId]) -> list[UnitId]:
    """The ids, sorted; at full speed when they are of one kind, as they nearly always are."""
    listed = list(units)
    alike = len(set(map(type, listed))) <= 1
    return sorted(listed) if alike else sorted(listed, key=canonical)


class Side(StrEnum):
    """Which side of the evaluation a corpus stands on."""

    TRUTH = "ground_truth"
    FOUND = "prediction"


class Extent(StrEnum):
    """What coordinates are measured in."""

    NORMALIZED = "normalized"
    PIXELS = "pixels"


class Flaw(IntEnum):
    """Why an object cannot be evaluated as it stands. It keeps its row, is counted, and the reader names it."""

    NONE = 0
    NO_SCORE = 1
    """No usable score: everything but AP can still count it."""
    UNKNOWN_PAGE = 2
    """On an image that the truth does not have: made up as far as P/R go, outside AP."""
    UNKNOWN_LABEL = 3
    BAD_BOX = 4
    """Not finite, too large to have an area, or of negative size; or an outline or a mask that is none."""
    DROPPED = 5
    """Its label is one that the class map drops."""
    NOT_ANNOTATED = 6
    """On a page that the ground truth lists and that nobody has annotated."""


class Corpus(ABC):
    """The items of some documents on one side. Frozen, validated on the way in."""

    source: str = ""
    """Where it came from, for messages."""
    model: str = ""
    """The name of the model (or annotator) that made it."""
    issues: tuple[Issue, ...] = ()
    """What the reader noticed and did not refuse."""

    @abstractmethod
    def units(self) -> tuple[UnitId, ...]:
        """The ids of all documents, including those without any item."""

    @abstractmethod
    def select(self, units: Iterable[UnitId]) -> Self:
        """Only these documents, whole."""

    def digests(self) -> list[int] | None:
        """For each document what it holds, as a whole number of 64 bits; ``None`` where a corpus cannot tell."""
        return None

    def origins(self) -> tuple[tuple[str, str], ...]:
        """The file and the model that it came from; several where it holds several runs."""
        return ((self.source, self.model),)

    def contents(self) -> str:
        """How much there is, in a few words for people."""
        count = len(self.units())
        return f"{count:,} document{'' if count == 1 else 's'}"

    @staticmethod
    def from_arrays(
        boxes: npt.ArrayLike,
        labels: Sequence[str] | npt.ArrayLike,
        *,
        documents: Sequence[UnitId] | npt.ArrayLike | None = None,
        pages: Sequence[int] | npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        ids: Sequence[str] | None = None,
        form: str = "xyxy",
        extent: str = "pixels",
        label_names: Sequence[str] | None = None,
        all_documents: Iterable[UnitId] = (),
    ) -> BoxCorpus:
        """Make a corpus of boxes from arrays with one entry per box.

        Args:
            boxes: Four numbers per box.
            labels: The label of each box: a name, or a code into ``label_names``.
            documents: The document of each box. By default one document named 0.
            pages: The page of each box, from 0. By default page 0.
            scores: The confidence of each box, for predictions.
            ids: The id of each box.
            form: What the four numbers are: ``"xyxy"``, ``"xywh"`` or ``"cxcywh"``.
            extent: ``"pixels"`` or ``"normalized"``.
            label_names: The names that the codes in ``labels`` stand for.
            all_documents: Documents to add that have no boxes.

        Returns:
            The corpus.

        Raises:
            ValueError: An array has the wrong length or shape, or contains a value that is not allowed.

        >>> corpus = Corpus.from_arrays([[0, 0, 10, 10], [5, 5, 9, 9]], ["Table", "Figure"], pages=[0, 1])
        >>> corpus.units(), corpus.labels, len(corpus)
        ((0,), ('Figure', 'Table'), 2)
        """
        box_rows = _numbers(boxes, "boxes").reshape(-1, 4)
        count = len(box_rows)
        document_of = _column(documents, count, "documents", default=0)
        page_of = _pages(_column(pages, count, "pages", default=0))
        units = tuple(in_canonical_order({*document_of, *map(_plain, all_documents)}))
        unit_code = {unit: code for code, unit in enumerate(units)}
        document_code = np.array([unit_code[unit] for unit in document_of], dtype=np.int64)
        places, page = np.unique(np.stack([document_code, page_of], axis=1), axis=0, return_inverse=True)
        names, label = _label_codes(_column(labels, count, "labels", default=""), label_names)
        return BoxCorpus(
            documents=units,
            page_document=places[:, 0].astype(np.int32),
            page_index=places[:, 1].astype(np.int64),
            labels=names,
            page=page.reshape(-1).astype(np.int32),
            label=label,
            boxes=box_rows,
            scores=None if scores is None else _scores(scores, count),
            ids=None if ids is None else Strings.pack(ids),
            form=BoxForm(one_of(form, BoxForm, "form")),
            extent=Extent(one_of(extent, Extent, "extent")),
        )


def one_of(value: str, known: type[StrEnum], name: str) -> str:
    """The value of an argument that is one of a few words; `ValueError` that names the argument and the words."""
    words = [str(word) for word in known]
    if value not in words:
        raise ValueError(f"{name} must be {' or '.join(map(repr, words))}, not {value!r}")
    return value


def _numbers(values: npt.ArrayLike, name: str) -> Floats:
    try:
        rows = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must have four numbers for each box") from None
    if rows.size % 4 or (rows.ndim > 1 and rows.shape[-1] != 4 and rows.size):
        raise ValueError(f"{name} must have four numbers for each box, not the shape {rows.shape}")
    return rows


def _pages(numbers: list[Any]) -> Ints:
    try:
        return np.asarray(numbers, dtype=np.int64)
    except (TypeError, ValueError):
        raise ValueError("pages must be whole numbers from 0, one for each box") from None


def _scores(values: npt.ArrayLike, count: int) -> Floats:
    listed = _column(values, count, "scores", default=0)
    try:
        return np.array(listed, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("scores must be numbers, one for each box") from None


def _column(values: Any, count: int, name: str, *, default: UnitId) -> list[Any]:
    if values is None:
        return [default] * count
    listed = values.tolist() if isinstance(values, np.ndarray) else [_plain(value) for value in values]
    if len(listed) != count:
        raise ValueError(f"{name} has {len(listed)} entries for {count} boxes")
    return listed


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as the Python value that it holds, and every other value as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _label_codes(labels: list[Any], names: Sequence[str] | None) -> tuple[tuple[str, ...], Codes]:
    """Return the label names and one code for each label, from labels that are all names or all codes."""
    known = None if names is None else tuple(map(_plain, names))
    if labels and all(isinstance(label, int) for label in labels):
        if known is None:
            raise ValueError("integer labels need label_names")
        wrong = next((label for label in labels if not 0 <= label < len(known)), None)
        if wrong is not None:
            raise ValueError(f"label {wrong} is outside label_names, which has {len(known)} names")
        return known, np.array(labels, dtype=np.int32)
    odd = next((label for label in labels if not isinstance(label, str)), None)
    if odd is not None or None in labels:
        raise ValueError(f"labels must be all names or all codes into label_names, got {odd!r}")
    known = tuple(sorted(set(labels))) if known is None else known
    code = {name: position for position, name in enumerate(known)}
    unknown = sorted(set(labels) - set(code))
    if unknown:
        raise ValueError(f"labels {unknown} are not in label_names")
    return known, np.array([code[label] for label in labels], dtype=np.int32)


SIDES = (1e-70, 1e70)
"""What a side of a page may measure: boxes that are brought from any page to any other stay numbers."""
OBJECT_COLUMNS = ("page", "label", "boxes", "scores", "ids", "crowd", "ignore", "given_areas", "flaws", "outlines", "masks")
PAGE_COLUMNS = ("page_document", "page_index", "page_names", "page_sizes", "image_names", "annotated")


@dataclass(frozen=True, eq=False, kw_only=True)
class BoxCorpus(Corpus):
    """Boxes on the pages of documents. Rows stand in file order; the order within a page is an object's position."""

    documents: tuple[UnitId, ...]
    page_document: Codes
    """For each page the index of its document."""
    page_index: Ints
    """For each page its number in the document, from 0; with the document it is the page's identity."""
    labels: tuple[str, ...]
    """The names of all classes, including those without any object."""
    label_map: Mapping[UnitId, str] | None = None
    """The names by the file's own class ids, if it has such."""
    annotated: Flags | None = None
    """For each page whether somebody has annotated it; ``None`` if all pages are annotated."""
    page: Codes
    """For each object the index of its page."""
    label: Codes
    """For each object the index of its label; -1 with `Flaw.UNKNOWN_LABEL` or `Flaw.DROPPED`."""
    boxes: Floats
    scores: Floats | None = None
    """Confidences; NaN where a prediction has none, ``None`` when no object has one."""
    ids: Column | None = None
    """The objects' own ids: strings, or integers."""
    crowd: Bytes | None = None
    """Truths that stand for many objects: nothing has to find them, and what lies on them is excused."""
    ignore: Bytes | None = None
    """Truths that need not be found, and excuse what lies on them."""
    given_areas: Floats | None = None
    """Areas that the file states (of a mask, say); NaN where it states none."""
    flaws: Bytes | None = None
    """A `Flaw` for each object."""
    outlines: Outlines | None = None
    """What objects are that are no upright boxes, in the units of the boxes; ``boxes`` has the boxes around them."""
    masks: Masks | None = None
    """Where objects' masks stand, where the file has some."""
    page_names: Strings | None = None
    page_sizes: Floats | None = None
    """Width and height of each page; NaN where unknown, and where they are beyond what any page measures."""
    image_names: Strings | None = None
    """For each page the file with its picture, as the source names it; empty where it names none."""
    image_ids: tuple[UnitId, ...] | None = None
    """For each page the image's own id, when images are grouped into documents."""
    metadata: Mapping[str, Mapping[UnitId, Any]] = field(default_factory=dict)
    """What is known of documents, by column and document: a language, a publisher; a document without a value is not listed."""
    form: BoxForm = BoxForm.XYXY
    extent: Extent = Extent.PIXELS
    format: str = "arrays"
    side: Side | None = None
    """What the file says it is, if it says so."""
    model: str = ""
    source: str = ""
    issues: tuple[Issue, ...] = ()

    def __post_init__(self) -> None:
        objects, pages = len(self.boxes), len(self.page_index)
        if self.boxes.shape != (objects, 4):
            raise ValueError(f"boxes must have four columns, not shape {self.boxes.shape}")
        _check_codes(self.page, pages, "page")
        _check_codes(self.label, len(self.labels), "label", lowest=-1 if self.flaws is not None else 0)
        _check_codes(self.page_document, len(self.documents), "page_document")
        for names, length in ((OBJECT_COLUMNS, objects), (PAGE_COLUMNS, pages)):
            for name in names:
                column = getattr(self, name)
                if column is not None and len(column) != length:
                    raise ValueError(f"{name} has {len(column)} entries, expected {length}")
        self._forget_odd_sizes()
        self._check_boxes()

    def _forget_odd_sizes(self) -> None:
        sizes = self.page_sizes
        if sizes is not None and len(sizes):
            odd = (sizes > SIDES[1]) | ((sizes > 0) & (sizes < SIDES[0]))
            if odd.any():
                object.__setattr__(self, "page_sizes", np.where(odd.any(axis=1, keepdims=True), np.nan, sizes))

    def _check_boxes(self) -> None:
        bad = unsound(self.boxes, self.form)
        if bad is None:
            return
        if self.flaws is not None:
            bad &= self.flaws != Flaw.BAD_BOX
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ValueError(f"box {row} is not a finite {self.form} box: {self.boxes[row].tolist()}")

    def __len__(self) -> int:
        """The number of objects."""
        return len(self.boxes)

    def __repr__(self) -> str:
        return one_line(f"<BoxCorpus {self.source or 'from arrays'}: {self.contents()}>")

    def contents(self) -> str:
        """How many documents, pages and objects there are, and with which labels."""
        sizes = {"page": len(self.page_index), "object": len(self)}
        counted = [f"{count:,} {noun}{'' if count == 1 else 's'}" for noun, count in sizes.items()]
        return ", ".join([super().contents(), *counted, f"labels {', '.join(self.labels)}"])

    def units(self) -> tuple[UnitId, ...]:
        """The ids of all documents."""
        return self.documents

    def digests(self) -> list[int]:
        """Return a digest of each document: declared classes, pages with their sizes, and objects without ids and scores.

        A column that the file lacks counts like one without values, so that a shard and a whole file give the same digest.
        """
        names = np.array([digest(name.encode("utf-8", "surrogatepass")) for name in (*self.labels, "")], dtype=np.int64)
        declared = b"" if self.label_map is None else np.sort(names[:-1]).astype("<i8").tobytes()
        document = self.page_document[self.page]
        floats = [*corners(self.boxes, self.form).T]
        defaults = {"crowd": 0.0, "ignore": 0.0, "flaws": 0.0, "given_areas": np.nan}
        for name, default in defaults.items():
            own = getattr(self, name)
            floats.append(np.full(len(self), default) if own is None else own)
        columns = [self.page_index[self.page], names[self.label], self._outline_digests(), self._mask_digests()]
        columns += [_bits(column) for column in floats]
        order = np.lexsort((columns[0], document))
        table = np.ascontiguousarray(np.stack(columns, dtype="<i8")[:, order].T)
        sizes = np.full((len(self.page_index), 2), np.nan) if self.page_sizes is None else self.page_sizes
        in_order = np.lexsort((self.page_index, self.page_document))
        pages = np.column_stack([self.page_index, _bits(sizes)])[in_order].astype("<i8")
        everywhere = np.arange(len(self.documents) + 1)
        of_rows, of_pages = (np.searchsorted(np.sort(one), everywhere) for one in (document, self.page_document))
        return [
            digest(declared + pages[of_pages[at] : of_pages[at + 1]].tobytes() + table[of_rows[at] : of_rows[at + 1]].tobytes())
            for at in range(len(self.documents))
        ]

    def _outline_digests(self) -> Ints:
        if self.outlines is None:
            return np.zeros(len(self), dtype=np.int64)
        rings = np.split(self.outlines.points, self.outlines.offsets[1:-1])[: len(self)]
        return np.array([digest(ring.astype("<f8").tobytes()) if len(ring) else 0 for ring in rings], dtype=np.int64)

    def _mask_digests(self) -> Ints:
        if self.masks is None:
            return np.zeros(len(self), dtype=np.int64)
        return np.array([json_digest(json.loads(text)) if text else 0 for text in self.masks.texts()], dtype=np.int64)

    def select(self, units: Iterable[UnitId]) -> BoxCorpus:
        """Only these documents (those that are here), whole, with all labels kept."""
        wanted = set(units)
        keep_document = np.array([unit in wanted for unit in self.documents], dtype=np.bool_)
        keep_page = keep_document[self.page_document]
        keep_object = keep_page[self.page]
        return replace(
            self,
            documents=tuple(unit for unit in self.documents if unit in wanted),
            image_ids=None if self.image_ids is None else tuple(compress(self.image_ids, keep_page)),
            metadata={
                column: {unit: value for unit, value in values.items() if unit in wanted}
                for column, values in self.metadata.items()
            },
            **self._kept(OBJECT_COLUMNS, keep_object),
            **self._kept(PAGE_COLUMNS, keep_page),
            page=_renumber(keep_page)[self.page[keep_object]],
            page_document=_renumber(keep_document)[self.page_document[keep_page]],
        )

    def with_pages(self, keep: Flags) -> BoxCorpus:
        """Return the corpus without some pages, on which there must be no objects. Documents stay."""
        page = _renumber(keep)[self.page]
        kept = self._kept(PAGE_COLUMNS, keep)
        return replace(self, **{**kept, "annotated": None}, page=page, page_document=self.page_document[keep])

    def _kept(self, names: tuple[str, ...], keep: Flags) -> dict[str, Any]:
        rows = np.flatnonzero(keep)
        columns = {name: getattr(self, name) for name in names if name not in ("page", "page_document")}
        return {name: take(column, rows) for name, column in columns.items() if column is not None}


def _check_codes(codes: Codes, size: int, name: str, *, lowest: int = 0) -> None:
    if len(codes) and not (int(codes.min()) >= lowest and int(codes.max()) < size):
        raise ValueError(f"{name} points outside its table of {size} entries")


def _renumber(keep: Flags) -> Codes:
    return (np.cumsum(keep) - 1).astype(np.int32)


def _bits(values: npt.ArrayLike) -> Ints:
    """Return floats as the whole numbers with the same bits; every NaN has the same ones."""
    floats = np.ascontiguousarray(values, dtype="<f8")
    return np.where(np.isnan(floats), np.nan, floats + 0.0).view("<i8")


def distinct_names(units: Sequence[UnitId]) -> list[str]:
    """The names of documents as text, for JSON keys and lists: ``3`` and ``"3"`` in one corpus stay two.

    >>> distinct_names([1, 3, "3", "a"])
    ['1', '3', '"3"', 'a']
    """
    numbers = {str(unit) for unit in units if not isinstance(unit, str)}
    return [f'"{unit}"' if isinstance(unit, str) and unit in numbers else str(unit) for unit in units]


Pair = TypeVar("Pair")


class Batches(Iterator[Pair]):
    """Pairs of corpora that come one after the other, with about how many documents there will be in all."""

    def __init__(self, pairs: Iterator[Pair], total: Callable[[], int]) -> None:
        self._pairs = pairs
        self.total = total
        """About how many documents, as far as that can be told by now; 0 when it cannot. Asked only by who shows it."""

    def __next__(self) -> Pair:
        return next(self._pairs)


def documents_to_come(pairs: Iterator[Any]) -> Callable[[], int]:
    """How many documents will come in all; nobody knows where the pairs do not say so."""
    return pairs.total if isinstance(pairs, Batches) else lambda: 0


def digest(content: bytes) -> int:
    """Some bytes as a whole number of 64 bits, with a sign as columns have it.

    >>> digest(b"calque") == digest(b"calque"), digest(b"calque") == digest(b"claque")
    (True, False)
    """
    import hashlib  # only states and comparisons need it

    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little", signed=True)


def json_digest(value: Any) -> int:
    """JSON values, whatever the order of their keys."""
    return digest(_sorted_json(value).encode("ascii"))


_sorted_json = json.JSONEncoder(sort_keys=True, ensure_ascii=True, default=str).encode
