"""All systems over one truth: an overlay for each, alike in documents, pages and labels, and one layer of all their boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Ints
from calque.corpus.boxes import BoxCorpus
from calque.evaluation.boxes.overlay import Layer, Overlay
from calque.kernels.structs import SharedAreas


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Joint:
    """The overlays of all systems, and their boxes page by page: on each page system by system, in file order."""

    overlays: tuple[Overlay, ...]
    found: Layer
    system: Bytes
    """For each box its system."""
    rows: tuple[Ints, ...]
    """For each system the places of its boxes."""
    known: Array
    """For each document the systems that have it, as a mask."""
    in_play: Flags
    """For each document whether it counts."""

    @classmethod
    def of(cls, overlays: tuple[Overlay, ...], *, intersect: bool) -> Joint:
        """All boxes of systems that were laid over one truth."""
        system, rows = _woven([overlay.found for overlay in overlays])
        bits = [overlay.in_found.astype(np.uint16) << place for place, overlay in enumerate(overlays)]
        known = np.bitwise_or.reduce(bits)
        everywhere = overlays[0].in_truth & (known == (1 << len(overlays)) - 1)
        return cls(
            overlays=overlays,
            found=_joined([overlay.found for overlay in overlays], rows),
            system=system,
            rows=rows,
            known=known,
            in_play=everywhere if intersect else np.ones(len(known), np.bool_),
        )

    @property
    def base(self) -> Overlay:
        """The overlay of the first system, for what is the same in all."""
        return self.overlays[0]

    @property
    def bit(self) -> Array:
        """For each box the mask of its system."""
        return (1 << self.system.astype(np.uint16)).astype(np.uint16)

    def laid(self, columns: Sequence[Array]) -> Array:
        """A column that is given system by system, for the boxes as they stand here."""
        return laid(columns, self.rows)


def laid_over(truth: BoxCorpus, parts: Sequence[BoxCorpus], on: str, jobs: int = 1) -> tuple[Overlay, ...]:
    """Every system over the truth."""
    overlays = tuple(
        Overlay.of(truth, part, on, beside=[other for other in parts if other is not part], jobs=jobs) for part in parts
    )
    if any(overlay.found.shared is not None for overlay in overlays):  # one with outlines beside one without
        return tuple(each if each.found.shared is not None else each.with_shapes(jobs) for each in overlays)
    return overlays


def some_at_a_time(overlays: tuple[Overlay, ...], size: int) -> Iterator[tuple[Overlay, ...]]:
    """The overlays of some whole documents after the other, which have about so many objects; what is no box comes at once."""
    base = overlays[0]
    layers = [base.truth, *(overlay.found for overlay in overlays)]
    pages = np.searchsorted(base.page_document, np.arange(len(base.documents) + 1))
    before = np.sum([layer.offsets[pages] for layer in layers], axis=0)
    if before[-1] <= size or not all(layer.plain() for layer in layers):
        yield overlays
        return
    ends = np.searchsorted(before, np.arange(size, before[-1], size))
    for start, stop in pairwise([0, *dict.fromkeys(ends.tolist()), len(base.documents)]):
        if start < stop:
            yield tuple(overlay.cut(start, stop) for overlay in overlays)


def systems_in(masks: Array) -> Codes:
    """How many systems each mask has.

    >>> systems_in(np.array([0, 1, 5], np.uint16)).tolist()
    [0, 1, 2]
    """
    highest = int(masks.max(initial=0))
    return np.array([mask.bit_count() for mask in range(highest + 1)], np.int32)[masks]


def _woven(layers: Sequence[Layer]) -> tuple[Bytes, tuple[Ints, ...]]:
    """The system of each box when pages are put together, and for each system the places of its boxes."""
    counts = np.stack([np.diff(layer.offsets) for layer in layers], axis=1)
    system = np.repeat(np.tile(np.arange(len(layers), dtype=np.uint8), len(counts)), counts.ravel())
    return system, tuple(np.flatnonzero(system == place) for place in range(len(layers)))


def laid(columns: Sequence[Array], rows: Sequence[Ints]) -> Array:
    """Columns in one, each row at its place; without a copy of all of them in between."""
    shape, kind = (sum(map(len, rows)), *columns[0].shape[1:]), np.result_type(*columns)
    if kind == np.float64 and not any(column.any() for column in columns):
        return np.zeros(shape)  # memory that nobody writes to costs nothing
    whole = np.empty(shape, kind)
    for column, places in zip(columns, rows, strict=True):
        _in_one_piece(whole)[places] = _in_one_piece(column.astype(whole.dtype, copy=False))
    return whole


def _in_one_piece(column: Array) -> Array:
    """The same memory with one entry for each row, which is moved at once, however many numbers it has."""
    if column.ndim == 1:
        return column
    return np.ascontiguousarray(column).view(np.dtype((np.void, column.dtype.itemsize * column.shape[1]))).reshape(-1)


def _joined(layers: Sequence[Layer], rows: Sequence[Ints]) -> Layer:
    measured = None
    if any(layer.measured is not None for layer in layers):
        measured = laid([layer.areas() for layer in layers], rows)
    offsets = np.sum([layer.offsets for layer in layers], axis=0)
    return Layer(
        page=np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets)),
        label=laid([layer.label for layer in layers], rows),
        boxes=laid([layer.boxes for layer in layers], rows),
        form=layers[0].form,
        scores=laid([layer.scores for layer in layers], rows),
        offsets=offsets,
        measured=measured,
        shared=_shared(layers, rows),
    )


def _shared(layers: Sequence[Layer], places: Sequence[Ints]) -> SharedAreas | None:
    """What boxes share with truths, where some are more than boxes; then it was measured for every system."""
    parts = [layer.shared for layer in layers]
    if any(part is None for part in parts):
        return None
    given = [part for part in parts if part is not None]
    count = np.concatenate([np.diff(part.offsets) for part in given])
    begin = np.concatenate([[0], np.cumsum(count)[:-1]]) if len(count) else np.zeros(0, np.int64)
    order = np.argsort(np.concatenate(list(places)))
    size = count[order]
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    rows = np.repeat(begin[order] - offsets[:-1], size) + np.arange(offsets[-1])
    truths, areas = (np.concatenate([getattr(part, name) for part in given])[rows] for name in ("truths", "areas"))
    return SharedAreas(offsets, truths, areas)
