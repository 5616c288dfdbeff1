"""What kernels are given, as named tuples of plain arrays; the compiled twin reads their fields by place.

``native/bind_structs.hpp`` holds the same structs, and the tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from calque.core.columns import Bytes, Codes, Floats, Ints
    from calque.geometry.forms import BoxForm

Masks: TypeAlias = "npt.NDArray[np.uint16]"
"""Bit ``t`` is about the threshold ``t``."""

TAKES_PART, ABSORBS, LEFT_OUT = 0, 1, 2
"""What an object does in a pairing: be paired; be no target yet excuse what lies on it (truths only); nothing."""


class PageBoxes(NamedTuple):
    """The boxes of one side, page after page: ``offsets[p]:offsets[p + 1]`` are the rows of page ``p``."""

    boxes: Floats
    """Four numbers a row."""
    form: BoxForm
    labels: Codes
    offsets: Ints
    roles: Bytes


class CocoTruths(NamedTuple):
    """What COCO's matching has to know of truths besides."""

    areas: Floats
    """The size that decides about area ranges; it need not be that of the box."""
    crowd: Bytes


class CocoSettings(NamedTuple):
    """At which IoU thresholds, in which area ranges (two ends a row, both inside) and up to which rank COCO matches."""

    thresholds: Floats
    area_ranges: Floats
    max_detections: int


class ScoreOrder(NamedTuple):
    """Rows by class and score: class ``k`` has ``order[class_offsets[k]:class_offsets[k + 1]]``."""

    order: Codes
    class_offsets: Ints


class Verdicts(NamedTuple):
    """What COCO's matching says of each found row, in one area range."""

    rank: Codes
    matched: Masks
    ignored: Masks


class KindLimits(NamedTuple):
    """Where one kind of error ends and the next begins: two IoUs and two shares, all inclusive."""

    match: float
    background: float
    part: float
    most: float
