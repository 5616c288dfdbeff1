"""Page rows: one row for each page, with its boxes as lists; what Parquet and NDJSON have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Column, Flags, Floats, Ints, concat, take
from calque.corpus.boxes import UnitId

FIRST_ROOM = 32
"""For how many parts like the first a column has room, up to `ROOM` entries; memory that is not written to costs nothing."""
ROOM = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Some pages in file order, and their objects in the order of the pages."""

    number: Ints
    """Where each page stands in its file, from 1."""
    document: list[UnitId]
    index: Ints
    sizes: Floats
    """Width and height of each page; NaN where not given."""
    counts: Ints
    """How many objects each page has."""
    boxes: Floats
    """As the file has them."""
    label: Codes
    """Codes into the table of the file, `Labels`."""
    scores: Floats | None = None
    """NaN where an object has none, infinite where it is no number."""
    ids: Column | None = None
    crowd: Bytes | None = None
    areas: Floats | None = None
    metadata: Mapping[str, list[Any]] = field(default_factory=dict)
    """Further columns, one value for each page; ``None`` where there is none."""

    PAGE_ARRAYS: ClassVar = ("number", "index", "sizes", "counts")
    OBJECT_ARRAYS: ClassVar = ("boxes", "label", "scores", "crowd", "areas")
    FILL: ClassVar[Mapping[str, Any]] = {"scores": np.nan, "crowd": np.uint8(0), "areas": np.nan}
    """What stands for a column that a part of the file does not have."""

    def __len__(self) -> int:
        """The number of objects."""
        return len(self.boxes)

    def take(self, keep: Flags) -> Rows:
        """Only these pages, whole."""
        rows, objects = np.flatnonzero(keep), np.flatnonzero(np.repeat(keep, self.counts))
        page_arrays = {name: getattr(self, name)[rows] for name in self.PAGE_ARRAYS}
        object_arrays = {name: column[objects] for name in self.OBJECT_ARRAYS if (column := getattr(self, name)) is not None}
        return Rows(
            **page_arrays,
            **object_arrays,
            document=[self.document[row] for row in rows.tolist()],
            ids=None if self.ids is None else take(self.ids, objects),
            metadata={name: [values[row] for row in rows.tolist()] for name, values in self.metadata.items()},
        )

    @classmethod
    def none(cls) -> Rows:
        """No pages at all."""
        whole = np.zeros(0, dtype=np.int64)
        return cls(
            number=whole,
            document=[],
            index=whole,
            sizes=np.zeros((0, 2)),
            counts=whole,
            boxes=np.zeros((0, 4)),
            label=np.zeros(0, dtype=np.int32),
        )


class GatheredRows:
    """Rows that come in parts.

    The first part is kept as it is: often it is all. Once there are two, each is copied and let go, so that the memory of one
    part serves for the next.
    """

    def __init__(self) -> None:
        self._first: Rows | None = None
        self._pages = 0
        self._objects = 0
        self._arrays: dict[str, Array] = {}
        self._document: list[UnitId] = []
        self._ids: list[Column] = []
        self._metadata: dict[str, list[Any]] = {}

    def __len__(self) -> int:
        """The number of pages and objects: what takes memory."""
        waiting = 0 if self._first is None else len(self._first.document) + len(self._first)
        return self._pages + self._objects + waiting

    def add(self, rows: Rows) -> None:
        """Take more rows in."""
        first, self._first = self._first, None
        if first is None and not self._pages:
            self._first = rows
            return
        if first is not None:
            self._copy(first)
        self._copy(rows)

    def _copy(self, rows: Rows) -> None:
        for name in Rows.PAGE_ARRAYS:
            self._append(name, getattr(rows, name), self._pages)
        for name in Rows.OBJECT_ARRAYS:
            column = getattr(rows, name)
            if column is None and name in self._arrays:
                column = np.full(len(rows), Rows.FILL[name])
            if column is not None:
                self._append(name, column, self._objects)
        if rows.ids is not None and len(rows):
            self._ids.append(rows.ids)
        for name in dict.fromkeys((*self._metadata, *rows.metadata)):
            values = self._metadata.setdefault(name, [None] * self._pages)
            values += rows.metadata.get(name) or [None] * len(rows.document)
        self._document += rows.document
        self._pages += len(rows.document)
        self._objects += len(rows)

    def _append(self, name: str, column: Array, begin: int) -> None:
        """Put a column behind what is there, in a larger array if need be."""
        end = begin + len(column)
        known = self._arrays.get(name)
        if known is None or len(known) < end:
            room = max(2 * end, min(ROOM, FIRST_ROOM * len(column)))
            larger = np.empty((room, *column.shape[1:]), dtype=column.dtype)
            if begin:
                larger[:begin] = Rows.FILL[name] if known is None else known[:begin]
            self._arrays[name] = known = larger
        known[begin:end] = column

    def rows(self) -> Rows:
        """Everything that was taken in."""
        if self._first is not None:
            return self._first
        if not self._arrays:
            return Rows.none()
        pages = {name: self._arrays[name][: self._pages] for name in Rows.PAGE_ARRAYS}
        objects = {name: self._arrays[name][: self._objects] for name in Rows.OBJECT_ARRAYS if name in self._arrays}
        return Rows(
            **pages,
            **objects,
            document=self._document,
            ids=concat(self._ids) if self._ids else None,
            metadata=self._metadata,
        )


def told_apart(scores: Floats, there: Flags | None) -> Floats:
    """Scores of which those that are no number are infinite, so that NaN says of an object that it has none.

    >>> told_apart(np.array([0.5, np.nan, np.nan]), np.array([True, True, False])).tolist()
    [0.5, inf, nan]
    """
    odd = np.isnan(scores) if there is None else np.isnan(scores) & there
    return np.where(odd, np.inf, scores) if odd.any() else scores


class Labels:
    """The class names of a file, numbered as they turn up.

    >>> labels = Labels()
    >>> labels.codes(["Table", "Figure", "Table"]).tolist(), labels.names
    ([0, 1, 0], ['Table', 'Figure'])
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._code: dict[str, int] = {}

    def codes(self, names: Sequence[str]) -> Codes:
        """The numbers of many names, new ones where needed."""
        for name in dict.fromkeys(names):
            if name not in self._code:
                self._code[name] = len(self.names)
                self.names.append(name)
        return np.fromiter(map(self._code.__getitem__, names), dtype=np.int32, count=len(names))
