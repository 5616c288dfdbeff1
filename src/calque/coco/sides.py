"""The rows of both sides as columns, grouped by image and class: what the kernels need, kept as it was at the evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from calque.base.columns import Floats, Ints
from calque.coco.per_image import area_of, is_crowd, plain_boxes
from calque.geometry.forms import BoxForm
from calque.kernels.structs import TAKES_PART, PageBoxes

Row: TypeAlias = dict[str, Any]


class Unusual(Exception):
    """Something that only the way image by image knows how to answer."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where images and classes stand in the parameters: their groups are numbered by image, then class."""

    images: dict[Any, int]
    classes: dict[Any, int]
    together: bool
    """Whether classes are thrown together; then their order still decides about ties."""

    @classmethod
    def of(cls, p: Any) -> Places:
        """The places in these parameters; `Unusual` where an id is there twice."""
        images = {image: place for place, image in enumerate(p.imgIds)}
        classes = {category: place for place, category in enumerate(p.catIds)}
        if len(images) < len(p.imgIds) or len(classes) < len(p.catIds):
            raise Unusual("an id twice")
        return cls(images, classes, not p.useCats)

    def sorted(self, rows: Sequence[Row]) -> tuple[list[Row], Ints, Ints]:
        """The rows on these images and of these classes, in the order of their groups, with image and class of each."""
        image = np.array([self.images.get(row["image_id"], -1) for row in rows], dtype=np.int64)
        label = np.array([self.classes.get(row["category_id"], -1) for row in rows], dtype=np.int64)
        inside = np.flatnonzero((image >= 0) & (label >= 0))
        keys = image[inside] * max(len(self.classes), 1) + label[inside]
        order = inside[np.argsort(keys, kind="stable")] if (np.diff(keys) < 0).any() else inside
        taken = list(rows) if len(order) == len(rows) and order is inside else [rows[place] for place in order.tolist()]
        return taken, image[order], label[order]

    def groups(self, image: Ints, label: Ints) -> Ints:
        """The number of each row's group."""
        return image if self.together else image * max(len(self.classes), 1) + label


@dataclass(frozen=True, eq=False)
class CocoSide:
    """One side, in the order of its groups."""

    rows: list[Row]
    ids: list[Any]
    scores: list[Any]
    """As they were given; empty for truths."""
    areas: Floats
    crowd: Ints
    groups: Ints
    labels: Ints
    shapes: list[Any]
    """Boxes or masks."""
    boxes: Floats
    """Of boxes, the same as a table."""

    @classmethod
    def of(cls, rows: Sequence[Row], places: Places, key: str, *, found: bool) -> CocoSide:
        """The columns of rows whose shapes stand under ``key``; `Unusual` where a column does not hold what they say."""
        taken, image, label = places.sorted(rows)
        shapes = [row[key] for row in taken]
        given = [row.get("area") for row in taken]
        areas = np.array([area_of(row) for row in taken] if None in given else given, dtype=np.float64)
        crowd = [] if found else [is_crowd(row) for row in taken]
        if any(bool(row.get("iscrowd")) != bool(flag) for row, flag in zip(taken, crowd, strict=False)):
            raise Unusual("a share of a crowd")
        boxes = plain_boxes(shapes) if key == "bbox" else np.zeros((0, 4))
        if not np.isfinite(boxes).all() or np.isnan(areas).any():
            raise Unusual("numbers that are not finite")
        with np.errstate(all="ignore"):
            flat = boxes[:, 2] * boxes[:, 3] == 0
        if ((boxes[:, 2] > 0) & (boxes[:, 3] > 0) & flat).any():
            raise Unusual("a box with sides and no area")
        ids = [row["id"] for row in taken]
        scores = [row["score"] for row in taken] if found else []
        labels = np.zeros_like(label) if places.together else label
        flags = np.array(crowd, dtype=np.int64)
        return cls(taken, ids, scores, areas, flags, places.groups(image, label), labels, shapes, boxes)

    def __len__(self) -> int:
        return len(self.ids)

    def page_boxes(self, groups: Ints, boxes: Floats | None = None) -> PageBoxes:
        """The rows as the kernels take them, each group for a page of its own."""
        return PageBoxes(
            self.boxes if boxes is None else boxes,
            BoxForm.XYWH,
            self.labels.astype(np.int32),
            np.append(np.searchsorted(self.groups, groups), len(self)).astype(np.int64),
            np.full(len(self), TAKES_PART, dtype=np.uint8),
        )

    def numbers(self) -> Floats:
        """The scores as a column; `Unusual` where they cannot be ranked by value alone."""
        try:
            scores = np.array(self.scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise Unusual("scores that are no numbers") from None
        if scores.ndim != 1 or not np.isfinite(scores).all():
            raise Unusual("scores that are not finite")
        return scores


def numeric_ids(ids: Sequence[Any], *, above: float) -> bool:
    """Whether all ids are numbers above this one."""
    try:
        return bool((np.array(ids, dtype=np.float64) > above).all())
    except (TypeError, ValueError, OverflowError):
        return False
