"""From COCO's ``segmentation`` to masks: rings, uncompressed runs, compressed runs, or the box where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calque.base.columns import Array, Floats
from calque.coco.mask import RLE, drawn, frUncompressedRLE, merge, page_size
from calque.coco.runs import Runs, boxes_of, uint32


def mask_of(row: Mapping[str, Any], image: Mapping[str, Any] | None) -> Any:
    """The mask of one annotation; compressed runs come back as they are."""
    segmentation = row.get("segmentation")
    if isinstance(segmentation, list) and segmentation and isinstance(segmentation[0], dict):
        return merge(frUncompressedRLE(segmentation))
    if isinstance(segmentation, Mapping):
        return segmentation if compressed(segmentation) else frUncompressedRLE([segmentation])[0]
    return masks_of_rings([row], [image])[0]


def compressed(segmentation: Any) -> bool:
    """Whether a segmentation is a mask already."""
    # A dictionary nearly always, and to ask for that is many times quicker.
    return (type(segmentation) is dict or isinstance(segmentation, Mapping)) and type(segmentation["counts"]) in {str, bytes}


def drawable(row: Mapping[str, Any]) -> bool:
    """Whether an annotation is rings, or has only a box: what `masks_of_rings` takes."""
    segmentation = row.get("segmentation")
    if isinstance(segmentation, list):
        return not segmentation or not isinstance(segmentation[0], dict)
    return segmentation is None


def masks_of_rings(rows: Sequence[Mapping[str, Any]], images: Sequence[Mapping[str, Any] | None]) -> list[RLE]:
    """The masks of annotations that are `drawable`, all at once."""
    rings: list[Any] = []
    parts, sizes = [0], []
    for row, image in zip(rows, images, strict=True):
        if image is None or "height" not in image or "width" not in image:
            named = row.get("image_id")
            raise ValueError(f"image {named!r} has no height and width, so annotation {row.get('id')!r} cannot be drawn on it")
        sizes.append(page_size(image["height"], image["width"]))
        rings += _rings(row)
        parts.append(len(rings))
    try:
        return drawn(rings, np.array(parts, dtype=np.int64), sizes)
    except ValueError as error:
        if len(rows) == 1:
            raise ValueError(f"annotation {rows[0].get('id')!r} of image {rows[0].get('image_id')!r}: {error}") from None
        return [masks_of_rings([row], [image])[0] for row, image in zip(rows, images, strict=True)]  # names the one


def _rings(row: Mapping[str, Any]) -> list[Any]:
    """The rings of an annotation; parts of fewer than three vertices enclose nothing, and need not be asked for."""
    if row.get("segmentation"):
        return list(row["segmentation"])
    box = row.get("bbox")
    if box is None or len(box) < 4:
        raise ValueError(f"annotation {row.get('id')!r} has neither a segmentation nor a box")
    x, y, width, height = (float(value) for value in box[:4])
    return [[x, y, x, y + height, x + width, y + height, x + width, y]]


def pixels_and_boxes(masks: Sequence[Mapping[str, Any]]) -> tuple[Array, Floats]:
    """The number of pixels of each mask, and the box around it."""
    runs = Runs.read(masks)
    return uint32(runs.areas()), boxes_of(runs)
