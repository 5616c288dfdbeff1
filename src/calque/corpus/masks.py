"""Where the masks of objects stand: as JSON in the file that was read, or in memory. Nobody keeps them as pixels."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints
from calque.base.errors import ContractError


@dataclass(frozen=True, slots=True, eq=False)
class MaskText:
    """The text that masks stand in: a file and what it looked like when it was read, or bytes that end with a NUL."""

    path: str
    seen: tuple[int, ...]
    data: Bytes

    @classmethod
    def of_file(cls, path: str, seen: tuple[int, ...]) -> MaskText:
        """A file, with its device, number, size and time of change."""
        return cls(path, seen, np.zeros(0, dtype=np.uint8))

    @classmethod
    def of_bytes(cls, data: bytes) -> MaskText:
        """A text in memory."""
        return cls("", (), np.frombuffer(data + b"\0", dtype=np.uint8))

    def check(self) -> None:
        """Raise a `ContractError` when the file is no longer the one that was read."""
        if not self.path:
            return
        try:
            status = os.stat(self.path)
        except OSError:
            status = None
        if status is None or (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns) != self.seen:
            help = "try again when nothing writes to it"
            raise ContractError.single("changed", "changed while it was read", file=self.path, help=help)

    def part(self, start: int, end: int) -> bytes:
        """The bytes from one offset to another."""
        if not self.path:
            return self.data[start:end].tobytes()
        with open(self.path, "rb") as file:
            file.seek(start)
            return file.read(end - start)


@dataclass(frozen=True, slots=True, eq=False)
class MaskPairs:
    """What was measured of two sides' masks when they were read, in the order of an overlay, so that nobody does so again."""

    truth: Masks
    """The masks of the other side, which it is true of."""
    truth_areas: Floats
    found_areas: Floats
    shared: tuple[Ints, Codes, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Masks:
    """For each object where its mask stands; nowhere for one that has none.

    >>> masks = Masks.pack([b'{"size": [1, 2], "counts": [0, 2]}', b""])
    >>> len(masks), masks.drawn().tolist(), masks.take([1, 0]).text_of(1)
    (2, [True, False], b'{"size": [1, 2], "counts": [0, 2]}')
    """

    text: MaskText
    starts: Ints
    ends: Ints
    boxless: Flags | None = None
    """Objects whose file has no box for them: theirs is that of their pixels."""
    range_areas: Floats | None = None
    """Of predictions: the sizes that decide about COCO's area ranges."""
    pairs: MaskPairs | None = None
    """Of predictions: what they share with the truth they were read with."""

    @classmethod
    def pack(cls, texts: Iterable[bytes], boxless: Flags | None = None) -> Masks:
        """The column of masks in memory."""
        listed = list(texts)
        ends = np.cumsum([len(text) for text in listed], dtype=np.int64)
        starts = ends - np.array([len(text) for text in listed], dtype=np.int64)
        return cls(MaskText.of_bytes(b"".join(listed)), starts, ends, boxless)

    @classmethod
    def none(cls, count: int) -> Masks:
        """The column of objects without masks."""
        return cls.pack([b""] * count)

    def __len__(self) -> int:
        return len(self.starts)

    def drawn(self) -> Flags:
        """For each object whether its file has a mask."""
        return np.asarray(self.ends > self.starts)

    def text_of(self, row: int) -> bytes:
        """The mask of an object as JSON."""
        return self.text.part(int(self.starts[row]), int(self.ends[row]))

    def texts(self) -> Iterator[bytes]:
        """The masks of all objects as JSON; the file is opened once."""
        if not self.text.path:
            yield from map(self.text_of, range(len(self)))
            return
        self.text.check()
        with open(self.text.path, "rb") as file:
            for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
                file.seek(start)
                yield file.read(end - start)

    def take(self, rows: Any) -> Masks:
        """The masks of these rows, in this order."""
        chosen: Array = np.asarray(rows, dtype=np.int64)
        boxless = None if self.boxless is None else self.boxless[chosen]
        areas = None if self.range_areas is None else self.range_areas[chosen]
        return Masks(self.text, self.starts[chosen], self.ends[chosen], boxless, areas)


def pixel_sizes(sizes: Floats) -> Ints:
    """Height and width of pages in whole pixels, from width and height; -1 where they are not known."""
    with np.errstate(invalid="ignore"):
        whole = ((sizes >= 0) & (sizes < 2**31) & (sizes == np.floor(sizes))).all(axis=1, keepdims=True)
        return np.where(whole, sizes[:, ::-1], -1.0).astype(np.int64)
