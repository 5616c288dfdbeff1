"""Annotations drawn with matplotlib, which is imported only here and is no dependency of calque."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calque.coco.mask import decode
from calque.coco.segmentation import mask_of

CROWD_COLOUR = np.array([2.0, 166.0, 101.0]) / 255


def show(api: Any, rows: Sequence[Mapping[str, Any]], with_boxes: bool) -> Any:
    """Draw rings, masks, keypoints and, if asked for, boxes on the current axes; captions are printed."""
    if not len(rows):
        return 0
    if "segmentation" not in rows[0] and "keypoints" not in rows[0]:
        if "caption" not in rows[0]:
            raise ValueError("annotations have a segmentation, keypoints or a caption to be shown")
        for row in rows:
            print(row["caption"])
        return None
    try:
        axes = importlib.import_module("matplotlib.pyplot").gca()
        polygon = importlib.import_module("matplotlib.patches").Polygon
        collection = importlib.import_module("matplotlib.collections").PatchCollection
    except ModuleNotFoundError:
        raise ModuleNotFoundError("showAnns() draws with matplotlib: pip install matplotlib", name="matplotlib") from None
    axes.set_autoscale_on(False)
    patches, colours = [], []
    for row in rows:
        colour = (np.random.default_rng().random(3) * 0.6 + 0.4).tolist()
        _keypoints(api, row, axes, colour)
        rings = _outlines(api, row, axes, colour) + (_box(row) if with_boxes else [])
        patches += [polygon(np.array(ring, dtype=np.float64).reshape(-1, 2)) for ring in rings]
        colours += [colour] * len(rings)
    axes.add_collection(collection(patches, facecolor=colours, linewidths=0, alpha=0.4))
    axes.add_collection(collection(patches, facecolor="none", edgecolors=colours, linewidths=2))
    return None


def _outlines(api: Any, row: Mapping[str, Any], axes: Any, colour: list[float]) -> list[Sequence[float]]:
    """The rings of an annotation; a mask is painted at once."""
    segmentation = row.get("segmentation")
    if isinstance(segmentation, list):
        return list(segmentation)
    if segmentation is not None:
        pixels = decode(mask_of(row, api.imgs.get(row["image_id"])))
        paint = np.ones((*pixels.shape, 3)) * (CROWD_COLOUR if row.get("iscrowd") else np.array(colour))
        axes.imshow(np.dstack([paint, pixels * 0.5]))
    return []


def _keypoints(api: Any, row: Mapping[str, Any], axes: Any, colour: list[float]) -> None:
    """Limbs between labelled points, and the points: those that are hidden have a dark edge."""
    if not isinstance(row.get("keypoints"), list):
        return
    points = np.array(row["keypoints"], dtype=np.float64).reshape(-1, 3)
    for limb in np.array(api.cats[row["category_id"]].get("skeleton", []), dtype=np.int64).reshape(-1, 2) - 1:
        if (points[limb, 2] > 0).all():
            axes.plot(points[limb, 0], points[limb, 1], linewidth=3, color=colour)
    for seen, edge in ((0, "k"), (1, colour)):
        x, y, _ = points[points[:, 2] > seen].T
        axes.plot(x, y, "o", markersize=8, markerfacecolor=colour, markeredgecolor=edge, markeredgewidth=2)


def _box(row: Mapping[str, Any]) -> list[Sequence[float]]:
    x, y, width, height = row["bbox"][:4]
    return [[x, y, x, y + height, x + width, y + height, x + width, y]]
