"""All systems over one truth: an overlay for each, alike in documents, pages and labels, and one layer of all their boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calque.core.boxes.overlay import Layer, Overlay
from calque.core.columns import Array, Bytes, Codes, Flags, Ints
from calque.core.corpus import BoxCorpus
from calque.core.start_up import Frozen
from calque.kernels.structs import SharedAreas


class Joint(Frozen, kw_only=True, eq=False):
    """The overlays of all systems, and their boxes page by page: on each page system by system, in file order."""

    overlays: tuple[Overlay, ...]
    found: Layer
    system: Bytes
    """For each box its system."""
    order: Ints
    """For each box its row among the boxes of all systems one after the other."""
    known: Array
    """For each document the systems that have it, as a mask."""
    in_play: Flags
    """For each document whether it counts."""

    @classmethod
    def of(cls, truth: BoxCorpus, parts: Sequence[BoxCorpus], on: str, *, intersect: bool, jobs: int = 1) -> Joint:
        """Lay every system over the truth."""
        overlays = tuple(
            Overlay.of(truth, part, on, beside=[other for other in parts if other is not part], jobs=jobs) for part in parts
        )
        if any(overlay.found.shared is not None for overlay in overlays):  # one with outlines beside one without
            overlays = tuple(each if each.found.shared is not None else each.with_shapes(jobs) for each in overlays)
        page = np.concatenate([overlay.found.page for overlay in overlays])
        system = np.repeat(np.arange(len(parts), dtype=np.uint8), [len(overlay.found) for overlay in overlays])
        order = np.argsort(page, kind="stable")
        bits = [overlay.in_found.astype(np.uint16) << place for place, overlay in enumerate(overlays)]
        known = np.bitwise_or.reduce(bits)
        everywhere = overlays[0].in_truth & (known == (1 << len(parts)) - 1)
        return cls(
            overlays=overlays,
            found=_joined([overlay.found for overlay in overlays], page, order),
            system=system[order],
            order=order,
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
        return np.concatenate(list(columns))[self.order]


def systems_in(masks: Array) -> Codes:
    """How many systems each mask has.

    >>> systems_in(np.array([0, 1, 5], np.uint16)).tolist()
    [0, 1, 2]
    """
    highest = int(masks.max(initial=0))
    return np.array([mask.bit_count() for mask in range(highest + 1)], np.int32)[masks]


def _joined(layers: Sequence[Layer], page: Array, order: Ints) -> Layer:
    first = layers[0]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(page, minlength=len(first.offsets) - 1))]).astype(np.int64)
    measured = None
    if any(layer.measured is not None for layer in layers):
        measured = np.concatenate([layer.areas() for layer in layers])[order]
    return Layer(
        page=page[order],
        label=np.concatenate([layer.label for layer in layers])[order],
        boxes=np.concatenate([layer.boxes for layer in layers])[order],
        form=first.form,
        scores=np.concatenate([layer.scores for layer in layers])[order],
        offsets=offsets,
        measured=measured,
        shared=_shared(layers, order),
    )


def _shared(layers: Sequence[Layer], order: Ints) -> SharedAreas | None:
    """What boxes share with truths, where some are more than boxes; then it was measured for every system."""
    parts = [layer.shared for layer in layers]
    if any(part is None for part in parts):
        return None
    given = [part for part in parts if part is not None]
    count = np.concatenate([np.diff(part.offsets) for part in given])
    begin = np.concatenate([[0], np.cumsum(count)[:-1]]) if len(count) else np.zeros(0, np.int64)
    size = count[order]
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    rows = np.repeat(begin[order] - offsets[:-1], size) + np.arange(offsets[-1])
    truths, areas = (np.concatenate([getattr(part, name) for part in given])[rows] for name in ("truths", "areas"))
    return SharedAreas(offsets, truths, areas)
