"""The comparator of boxes: intersection over union."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from calque.comparators.base import BaseComparator
from calque.geometry.rectangles import Rectangle, iou, rectangle


@dataclass(frozen=True)
class BBoxIoUComparator(BaseComparator):
    """Intersection over union of two boxes, ``[[x1, y1], [x2, y2]]`` or ``[x1, y1, x2, y2]``, corners in any order.

    >>> round(BBoxIoUComparator(threshold=0.5).compare([[0, 0], [100, 50]], [[10, 5], [110, 55]]), 4)
    0.6807
    >>> BBoxIoUComparator().compare([0, 0, 1, 1], "somewhere")
    0.0
    """

    name: ClassVar[str] = "bbox_iou"

    def prepare(self, value: Any) -> Rectangle | None:
        """The corners in order; ``None`` for what is no box."""
        return rectangle(value)

    def _compare(self, truth: Rectangle | None, found: Rectangle | None) -> float:
        return 0.0 if truth is None or found is None else iou(truth, found)
