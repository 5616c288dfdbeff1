"""The columns of COCO files, whoever read them, and the ids in them: integers mostly, strings sometimes, and fast for both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.columns import Bytes, Codes, Floats, Ints, Outlines, Strings
from calque.corpus.boxes import UnitId
from calque.corpus.masks import Masks, MaskText
from calque.kernels.scanning import Scanned
from calque.readers.sources.json_tree import parse


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """A column of ids: integers as they are, or codes into a table when some are strings.

    >>> Ids.of([7, "a", 7]).positions_in(Ids.of(["a", 7])).tolist()
    [1, 0, 1]
    """

    ints: Ints | None
    codes: Codes | None = None
    values: tuple[UnitId, ...] = ()

    @classmethod
    def of(cls, ids: Sequence[UnitId]) -> Ids:
        """The column of these ids."""
        if not any(issubclass(kind, str) for kind in set(map(type, ids))):
            return cls(np.array(ids, dtype=np.int64))
        table = {value: code for code, value in enumerate(dict.fromkeys(ids))}
        return cls(None, np.array([table[value] for value in ids], dtype=np.int32), tuple(table))

    @classmethod
    def scanned(cls, column: Mapping[str, Any]) -> Ids:
        """The column that the scanner filled."""
        if "ints" in column:
            return cls(column["ints"])
        return cls(None, column["codes"], tuple(column["values"]))

    def __len__(self) -> int:
        return len(self.ints if self.ints is not None else self.codes if self.codes is not None else ())

    def tolist(self) -> list[UnitId]:
        """The ids as Python objects."""
        if self.ints is not None:
            return list(self.ints.tolist())
        return [self.values[code] for code in (self.codes if self.codes is not None else ())]

    def positions_in(self, table: Ids) -> Codes:
        """For each id where it stands in a table of distinct ids; -1 when it does not."""
        if self.ints is not None and table.ints is not None:
            return _integer_positions(self.ints, table.ints)
        place = {value: position for position, value in enumerate(table.tolist())}
        if self.ints is not None:
            return np.array([place.get(value, -1) for value in self.ints.tolist()], dtype=np.int32)
        known = np.array([place.get(value, -1) for value in self.values], dtype=np.int32)
        return known[self.codes]


def _integer_positions(ids: Ints, table: Ints) -> Codes:
    if not len(ids) or not len(table):
        return np.full(len(ids), -1, dtype=np.int32)
    low, high = int(table.min()), int(table.max())
    if high - low <= 4 * len(table) + 1_000_000:
        low = 0 if 0 < low <= 100_000 else low  # most files count from 1 or so: nothing has to be subtracted then
        # A direct table, with one entry at its end for everything outside.
        place = np.full(high - low + 2, -1, dtype=np.int32)
        place[table - low] = np.arange(len(table), dtype=np.int32)
        if ids.min() < low or ids.max() > high:
            ids = np.where((ids < low) | (ids > high), high + 1, ids)
        return np.take(place, ids - low if low else ids)
    order = np.argsort(table, kind="stable")
    at = np.minimum(np.searchsorted(table[order], ids), len(table) - 1)
    return np.where(table[order][at] == ids, order[at], -1).astype(np.int32)


DOCUMENT_KEYS = ("doc_id", "doc_name")
"""Keys of an image entry that group images into documents, if every image has one."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TruthColumns:
    """A ground-truth file: its images, its annotations, and its categories as parsed JSON."""

    images: Ids
    sizes: Floats
    """Width and height of each image; NaN where absent."""
    documents: list[UnitId] | None
    """The document of each image, where the file groups them."""
    image_entries: Callable[[], list[Any]]
    """The image entries as parsed JSON, for keys that are rarely asked for."""
    mentions: Callable[[str], bool]
    """Whether a key may occur in an image entry; much cheaper than looking."""
    categories: Any
    ids: Ids | None
    image: Ids
    category: Ids
    boxes: Floats
    areas: Floats
    """NaN where absent."""
    crowd: Bytes
    ignore: Bytes
    scores: Floats | None
    outlines: Outlines | None = None
    """Turned boxes and corners, where there are some; ``boxes`` has the boxes around them."""
    masks: Masks | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ResultColumns:
    """A results file: a list of detections."""

    image: Ids
    category: Ids
    boxes: Floats
    scores: Floats
    """NaN where absent, infinite where it is no number."""
    outlines: Outlines | None = None
    masks: Masks | None = None


def scanned_truth(columns: Mapping[str, Any], file: Scanned) -> TruthColumns:
    """The ground truth that the compiled scanner read."""
    images, annotations, spans = columns["images"], columns["annotations"], columns["spans"]
    return TruthColumns(
        images=Ids.scanned(images["id"]),
        sizes=np.stack([images["width"], images["height"]], axis=1),
        documents=_documents(images),
        image_entries=lambda: list(parse(file.part(spans["images"]), file.path)),
        mentions=lambda key: f'"{key}"'.encode() in file.part(spans["images"]),
        categories=parse(file.part(spans["categories"]), file.path) if "categories" in spans else None,
        ids=None if annotations["id"] is None else Ids.scanned(annotations["id"]),
        image=Ids.scanned(annotations["image_id"]),
        category=Ids.scanned(annotations["category_id"]),
        boxes=annotations["bbox"],
        areas=annotations["area"],
        crowd=annotations["iscrowd"],
        ignore=annotations["ignore"],
        scores=annotations["score"],
        masks=_masks(annotations["masks"], file),
    )


def _masks(columns: Mapping[str, Any] | None, file: Scanned) -> Masks | None:
    """Where the masks of rows stand in the file, or in what was unpacked of it."""
    if columns is None:
        return None
    boxless = columns["boxless"]
    text = MaskText.of_bytes(file.part((0, 2**62))) if file.seen is None else MaskText.of_file(file.path, file.seen)
    return Masks(text, columns["starts"], columns["ends"], None if boxless is None else boxless != 0)


def _documents(images: Mapping[str, Any]) -> list[UnitId] | None:
    for key in DOCUMENT_KEYS:
        column = images[key]
        if column is not None and column["present"].all():
            names: list[UnitId] = list(Strings(column["data"], column["offsets"]))
            whole = images["doc_id_is_int"] if key == "doc_id" else np.zeros(len(names))
            return [int(name) if is_int else name for name, is_int in zip(names, whole, strict=True)]
    return None


def scanned_results(columns: Mapping[str, Any], file: Scanned) -> ResultColumns:
    """The results that the compiled scanner read."""
    return ResultColumns(
        image=Ids.scanned(columns["image_id"]),
        category=Ids.scanned(columns["category_id"]),
        boxes=columns["bbox"],
        scores=columns["score"],
        masks=_masks(columns["masks"], file),
    )
