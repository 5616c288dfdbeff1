"""The parameters of an evaluation, and the twelve numbers in pycocotools' words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calque.core.columns import Array, Floats
from calque.geometry.forms import COCO_THRESHOLDS, RECALL_POINTS


class Params:
    """The settings of an evaluation, under pycocotools' names. Change them before `COCOeval.evaluate`."""

    def __init__(self, iouType: str = "segm") -> None:
        if iouType == "keypoints":
            self.setKpParams()
        if iouType not in {"segm", "bbox"}:
            raise ValueError(f"iouType {iouType!r} is not supported: calque evaluates 'bbox' and 'segm'")
        self.setDetParams()
        self.iouType = iouType
        self.useSegm: int | None = None

    def setDetParams(self) -> None:
        """COCO's settings for boxes and masks."""
        self.imgIds: list[Any] = []
        self.catIds: list[Any] = []
        self.iouThrs: Floats = np.array(COCO_THRESHOLDS)
        self.recThrs: Floats = np.array(RECALL_POINTS)
        self.maxDets: list[int] = [1, 10, 100]
        self.areaRng: list[list[float]] = [[0, 1e10], [0, 32**2], [32**2, 96**2], [96**2, 1e10]]
        self.areaRngLbl: list[str] = ["all", "small", "medium", "large"]
        self.useCats = 1

    def setKpParams(self) -> None:
        """Refused: COCO's settings for keypoints."""
        raise ValueError("keypoints are not supported: calque evaluates 'bbox' and 'segm'")


def summarized(params: Any, evaluation: dict[str, Any], say: Callable[[str], None] = print) -> Floats:
    """The twelve numbers, each said in its line. Where there are fewer than three limits, the last stands for the others."""
    limits = list(params.maxDets)
    at = [limits[min(place, len(limits) - 1)] for place in range(3)] if limits else [-1, -1, -1]
    rows: list[tuple[str, float | None, str, int]] = [
        ("AP", None, "all", 100),
        ("AP", 0.5, "all", at[2]),
        ("AP", 0.75, "all", at[2]),
        *(("AP", None, size, at[2]) for size in ("small", "medium", "large")),
        *(("AR", None, "all", limit) for limit in at),
        *(("AR", None, size, at[2]) for size in ("small", "medium", "large")),
    ]
    numbers = np.zeros(12)
    for place, row in enumerate(rows):
        numbers[place] = mean_of(params, evaluation, *row)
        say(line_of(params, *row, numbers[place]))
    return numbers


def mean_of(params: Any, evaluation: dict[str, Any], kind: str, threshold: float | None, area: str, limit: int) -> float:
    """The mean of what is defined, or -1."""
    areas = [place for place, label in enumerate(params.areaRngLbl) if label == area]
    limits = [place for place, most in enumerate(params.maxDets) if most == limit]
    values: Array = evaluation["precision" if kind == "AP" else "recall"]
    if threshold is not None:
        values = values[np.where(threshold == np.asarray(params.iouThrs))[0]]
    values = values[..., areas, limits]
    defined = values[values > -1]
    return float(np.mean(defined)) if len(defined) else -1.0


def line_of(params: Any, kind: str, threshold: float | None, area: str, limit: int, value: float) -> str:
    """What pycocotools prints of a number."""
    title = "Average Precision" if kind == "AP" else "Average Recall"
    grid = f"{params.iouThrs[0]:0.2f}:{params.iouThrs[-1]:0.2f}" if threshold is None else f"{threshold:0.2f}"
    return f" {title:<18} ({kind}) @[ IoU={grid:<9} | area={area:>6s} | maxDets={limit:>3d} ] = {value:0.3f}"
