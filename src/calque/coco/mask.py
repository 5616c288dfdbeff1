"""Masks in COCO's run-length form, under the names and with the answers of ``pycocotools.mask``.

A mask is ``{"size": [height, width], "counts": bytes}``; ``counts`` may come in as a string too.

>>> import numpy as np
>>> square = encode(np.pad(np.ones((2, 2), np.uint8), 1))
>>> square, int(area(square)), toBbox(square).tolist()
({'size': [4, 4], 'counts': b'52203'}, 4, [1.0, 1.0, 2.0, 2.0])
>>> iou([square], frPyObjects(np.array([[1.0, 1.0, 2.0, 1.0]]), 4, 4), [0]).tolist()
[[0.5]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias, cast

import numpy as np

from calque.base.columns import Array, Bytes, Floats, Ints
from calque.coco.runs import Packed, Runs, boxes_of, decoded, intersection_over_union, merged, runs_of_pixels, strings, uint32
from calque.geometry.boxes import iou_of_crowds
from calque.kernels import kernels
from calque.kernels.structs import MaskFault

RLE: TypeAlias = dict[str, Any]
MOST_PIXELS = 1 << 31

__all__ = ["area", "decode", "encode", "frPyObjects", "iou", "merge", "toBbox"]


def encode(bimask: Array) -> Any:
    """The mask of a table of pixels (two axes), or the masks of many (the third axis), of any memory order."""
    if bimask.dtype not in (np.uint8, np.bool_):
        raise ValueError(f"masks are encoded from arrays of uint8 or bool, not of {bimask.dtype}")
    if bimask.ndim == 2:
        return _encoded(bimask[:, :, None])[0]
    if bimask.ndim == 3:
        return _encoded(bimask)
    raise ValueError(f"masks have 2 or 3 axes (height, width, number), not {bimask.ndim}")


def decode(rleObjs: Any) -> Bytes:
    """The pixels of a mask, or of a list of masks along a third axis."""
    if type(rleObjs) is list:
        return decoded(Runs.read(rleObjs))
    return decoded(Runs.read([rleObjs]))[:, :, 0]


def area(rleObjs: Any) -> Any:
    """How many pixels a mask has, or each of a list of masks."""
    if type(rleObjs) is list:
        return uint32(Runs.read(rleObjs).areas())
    return uint32(Runs.read([rleObjs]).areas())[0]


def toBbox(rleObjs: Any) -> Floats:
    """The box around a mask as x, y, width, height, or around each of a list of masks."""
    if type(rleObjs) is list:
        return boxes_of(Runs.read(rleObjs))
    return cast("Floats", boxes_of(Runs.read([rleObjs]))[0])


def merge(rleObjs: Sequence[Mapping[str, Any]], intersect: Any = 0) -> RLE:
    """The mask of what any of the masks has, or what all of them have."""
    if isinstance(rleObjs, Mapping):
        raise TypeError("merge() takes a list of masks")
    size, runs = merged(Runs.read(rleObjs), bool(intersect))
    return {"size": size, "counts": strings(runs, np.array([0, len(runs)], dtype=np.int64))[0]}


def iou(dt: Any, gt: Any, pyiscrowd: Any) -> Any:
    """Intersection over union of every detection with every truth, both masks or both boxes (x, y, width, height).

    For a crowd the union is the detection alone. Masks of different sizes that overlap have -1. ``[]`` for nothing.
    """
    crowd = np.array(pyiscrowd, dtype=np.uint8)
    if len(crowd) != len(gt):
        raise ValueError(f"iscrowd has {len(crowd)} entries for {len(gt)} truths")
    if not len(dt) or not len(gt):
        return []  # nothing to read: most classes of an image have but one side
    found, truth = _comparable(dt), _comparable(gt)
    if isinstance(found, Packed) and isinstance(truth, Packed):
        return intersection_over_union(found, truth, crowd)
    if isinstance(found, Packed) or isinstance(truth, Packed):
        raise TypeError("masks can be compared with masks, and boxes with boxes")
    return iou_of_crowds(found, truth, crowd)


def frPyObjects(pyobj: Any, h: Any, w: Any) -> Any:
    """Masks from rings, from a table of boxes or from uncompressed runs: a list from many, one mask from one."""
    if isinstance(pyobj, np.ndarray):
        return frBbox(pyobj, h, w)
    if isinstance(pyobj, dict) and "counts" in pyobj and "size" in pyobj:
        return frUncompressedRLE([pyobj], h, w)[0]
    if isinstance(pyobj, list) and pyobj:
        if isinstance(pyobj[0], dict) and "counts" in pyobj[0] and "size" in pyobj[0]:
            return frUncompressedRLE(pyobj, h, w)
        if isinstance(pyobj[0], int | float):
            return (frBbox(np.array([pyobj]), h, w) if len(pyobj) == 4 else frPoly([pyobj], h, w))[0]
        if not isinstance(pyobj[0], dict) and len(pyobj[0]) == 4:
            return frBbox(np.array(pyobj, dtype=np.float64), h, w)
        if not isinstance(pyobj[0], dict) and len(pyobj[0]) > 4:
            return frPoly(pyobj, h, w)
    raise TypeError("masks are made from rings, an array of boxes, or dictionaries with size and counts; this is neither")


def frBbox(bb: Array, h: Any, w: Any) -> list[RLE]:
    """The masks of boxes (x, y, width, height)."""
    if bb.ndim != 2 or bb.shape[1] != 4:
        raise ValueError(f"boxes are an array of four columns, not of shape {bb.shape}")
    x, y, width, height = bb.astype(np.float64).T
    right, bottom = x + width, y + height
    return frPoly(np.stack([x, y, x, bottom, right, bottom, right, y], axis=1), h, w)


def frPoly(poly: Any, h: Any, w: Any) -> list[RLE]:
    """The masks of rings (x1, y1, x2, y2, …), one each; an odd last number is dropped."""
    height, width = page_size(h, w)
    rings = list(poly)
    return drawn(rings, np.arange(len(rings) + 1), [(height, width)] * len(rings))


def frUncompressedRLE(ucRles: Sequence[Mapping[str, Any]], h: Any = None, w: Any = None) -> list[RLE]:
    """Masks whose counts are lists of runs, compressed; the runs are kept as they are."""
    del h, w  # pycocotools takes and passes over them, too: a mask has its own size
    masks = []
    for mask in ucRles:
        if isinstance(mask["counts"], str | bytes):
            raise TypeError("the counts are compressed already")
        runs = np.array(mask["counts"], dtype=np.uint32).astype(np.int64)
        if runs.ndim != 1:
            raise ValueError("counts are one list of runs")
        text = strings(runs, np.array([0, len(runs)], dtype=np.int64))[0]
        masks.append({"size": [int(mask["size"][0]), int(mask["size"][1])], "counts": text})
    return masks


def drawn(rings: Sequence[Sequence[float] | Floats], parts: Ints, sizes: Sequence[tuple[int, int]]) -> list[RLE]:
    """The masks of rings on pages of these heights and widths: mask ``m`` is what the rings ``parts[m]:parts[m + 1]`` cover."""
    lengths = [len(ring) // 2 for ring in rings]
    # An odd last number is no vertex.
    flat = (ring if len(ring) % 2 == 0 else ring[:-1] for ring in rings)
    points = np.array(list(chain.from_iterable(flat)), dtype=np.float64).reshape(-1, 2)
    if len(points) != sum(lengths):
        raise ValueError("a ring is one list of numbers: x1, y1, x2, y2, …")
    heights, widths = np.array(sizes, dtype=np.int64).reshape(-1, 2).T.copy()
    ring_offsets = np.cumsum([0, *lengths], dtype=np.int64)
    intervals, offsets, faults = kernels().masks_of_rings(points, ring_offsets, parts.astype(np.int64), heights, widths)
    if faults.any():
        number = int(np.flatnonzero(faults == MaskFault.RING)[0])
        raise ValueError(f"ring {number} cannot be drawn: its numbers must be finite and within 4e8 of 0")
    texts = strings(*kernels().runs_of_masks(intervals, offsets, heights * widths))
    return [{"size": [height, width], "counts": text} for (height, width), text in zip(sizes, texts, strict=True)]


def page_size(h: Any, w: Any) -> tuple[int, int]:
    """Height and width as whole numbers; `ValueError` for a page on which nothing can be drawn."""
    height, width = int(h), int(w)
    if height < 0 or width < 0 or height * width >= MOST_PIXELS:
        raise ValueError(f"a page of {height} x {width} pixels cannot be drawn on; it must have fewer than {MOST_PIXELS}")
    return height, width


def _encoded(pixels: Array) -> list[RLE]:
    height, width, number = pixels.shape
    by_columns = np.ascontiguousarray(pixels.transpose(2, 1, 0)).view(np.uint8).reshape(number, height * width)
    texts = strings(*runs_of_pixels(by_columns))
    return [{"size": [height, width], "counts": text} for text in texts]


def _comparable(objects: Any) -> Any:
    """A table of boxes, or the columns of masks."""
    if isinstance(objects, np.ndarray):
        if objects.ndim != 2 or objects.shape[1] != 4:
            raise ValueError(f"boxes are an array of four columns, not of shape {objects.shape}")
        return objects.astype(np.float64)
    if not isinstance(objects, list):
        raise TypeError(f"boxes come as an array or a list, masks as a list; not as {type(objects).__name__}")
    if all(type(one) is dict for one in objects):
        return Packed.of(objects)
    if all(isinstance(one, list | np.ndarray) and len(one) == 4 for one in objects):
        return np.array(objects, dtype=np.float64)
    raise TypeError("a list holds either boxes of four numbers or masks")
