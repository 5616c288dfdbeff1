"""A drop-in for pycocotools' ``COCOeval`` on calque's kernels: change one import in a training script.

``from calque.coco import COCOeval``, then ``evaluate()``, ``accumulate()``, ``summarize()``, ``stats`` and ``eval`` as before.
Undefined numbers are -1 here, as there; `calque.Detection` says why instead.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.core.arguments import names_arguments
from calque.core.columns import Array, Floats
from calque.core.corpus import UnitId, in_canonical_order
from calque.detection.average_precision import AREA_RANGES
from calque.geometry import boxes
from calque.geometry.forms import COCO_THRESHOLDS, RECALL_POINTS, BoxForm
from calque.kernels import kernels
from calque.kernels.structs import TAKES_PART, CocoSettings, CocoTruths, PageBoxes, ScoreOrder, Verdicts

AREA_NAMES = {"": "all", "s": "small", "m": "medium", "l": "large"}
_AT_ONCE = 16
"""How many thresholds one pass of the matching kernel can hold."""


class Params:
    """The settings of an evaluation, under pycocotools' names. Change them before `COCOeval.evaluate`."""

    def __init__(self, iouType: str = "bbox") -> None:
        self.iouType = iouType
        self.imgIds: list[UnitId] = []
        self.catIds: list[UnitId] = []
        self.iouThrs: Floats = np.array(COCO_THRESHOLDS)
        self.recThrs: Floats = np.array(RECALL_POINTS)
        self.maxDets: list[int] = [1, 10, 100]
        self.areaRng: list[list[float]] = [list(bounds) for bounds in AREA_RANGES.values()]
        self.areaRngLbl: list[str] = list(AREA_NAMES.values())
        self.useCats = 1


@dataclass(frozen=True, eq=False)
class _Side:
    """The annotations of one side that take part, sorted by image."""

    rows: list[Mapping[str, Any]]
    labels: Array
    offsets: Array
    boxes: Floats

    @classmethod
    def of(cls, dataset: Sequence[Mapping[str, Any]], params: Params) -> _Side:
        page = {image: position for position, image in enumerate(params.imgIds)}
        category = {identity: position for position, identity in enumerate(params.catIds)}
        taken = [row for row in dataset if row["image_id"] in page and row["category_id"] in category]
        # By image, then in file order; classes that are thrown together stand one after the other, as in pycocotools.
        taken.sort(key=lambda row: (page[row["image_id"]], 0 if params.useCats else category[row["category_id"]]))
        pages = np.array([page[row["image_id"]] for row in taken], dtype=np.int64)
        labels = np.array([category[row["category_id"]] for row in taken], dtype=np.int32)
        return cls(
            taken,
            labels if params.useCats else np.zeros_like(labels),
            np.searchsorted(pages, np.arange(len(page) + 1)).astype(np.int64),
            np.array([row["bbox"] for row in taken], dtype=np.float64).reshape(-1, 4),
        )

    def page_boxes(self) -> PageBoxes:
        everyone = np.full(len(self.rows), TAKES_PART, dtype=np.uint8)
        return PageBoxes(self.boxes, BoxForm.XYWH, self.labels, self.offsets, everyone)

    def column(self, key: str, default: float) -> Floats:
        return np.array([row.get(key, default) for row in self.rows], dtype=np.float64)


@names_arguments
class COCOeval:
    """Evaluates detections against ground truth, given as pycocotools ``COCO`` objects, parsed JSON or paths.

    >>> truth = {"images": [{"id": 1}], "categories": [{"id": 1, "name": "Table"}],
    ...          "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]}]}
    >>> found = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 9], "score": 0.7}]
    >>> evaluation = COCOeval(truth, found)
    >>> evaluation.evaluate(); evaluation.accumulate()
    >>> evaluation.eval["precision"].shape, float(evaluation.eval["recall"][0, 0, 0, 2])
    ((10, 101, 1, 4, 3), 1.0)
    """

    def __init__(self, cocoGt: Any = None, cocoDt: Any = None, iouType: str = "bbox") -> None:
        if iouType != "bbox":
            raise ValueError(f"iouType {iouType!r} is not supported: calque evaluates 'bbox'")
        self.cocoGt, self.cocoDt = cocoGt, cocoDt
        self.params = Params(iouType)
        self.eval: dict[str, Any] = {}
        self.stats: Floats = np.zeros(0)
        self._truth = _dataset(cocoGt)
        self._found = _dataset(cocoDt)
        self.params.imgIds = in_canonical_order({image["id"] for image in self._truth.get("images", ())})
        self.params.catIds = in_canonical_order({category["id"] for category in self._truth.get("categories", ())})

    def evaluate(self) -> None:
        """Match detections with truths at every threshold and in every area range."""
        params = self.params
        params.imgIds = in_canonical_order(set(params.imgIds))
        params.catIds = in_canonical_order(set(params.catIds)) if params.useCats else params.catIds
        params.maxDets = sorted(params.maxDets)
        truth = _Side.of(self._truth.get("annotations", ()), params)
        found = _Side.of(self._found.get("annotations", ()), params)
        areas = truth.column("area", np.nan)
        areas = np.where(np.isnan(areas), boxes.areas(truth.boxes, BoxForm.XYWH), areas)
        self._classes = len(params.catIds) if params.useCats else 1
        self._labels, self._scores = found.labels, found.column("score", np.nan)
        self._parts = [
            kernels().coco_match(
                truth.page_boxes(),
                CocoTruths(areas, truth.column("iscrowd", 0).astype(np.uint8)),
                found.page_boxes(),
                self._scores,
                CocoSettings(part, np.array(params.areaRng, dtype=np.float64), params.maxDets[-1]),
                os.cpu_count() or 1,
            )
            for part in self._threshold_parts()
        ]
        ignored = self._parts[0][3]
        self._truths = [
            np.bincount(truth.labels[ignored[:, area] == 0], minlength=self._classes).astype(np.int64)
            for area in range(len(params.areaRng))
        ]

    def _threshold_parts(self) -> list[Floats]:
        thresholds = np.asarray(self.params.iouThrs, dtype=np.float64)
        return [thresholds[start : start + _AT_ONCE] for start in range(0, max(len(thresholds), 1), _AT_ONCE)]

    def accumulate(self) -> None:
        """Precision, recall and scores by threshold, recall point, class, area range and number of detections."""
        params = self.params
        shape = [len(params.iouThrs), len(params.recThrs), self._classes, len(params.areaRng), len(params.maxDets)]
        precision, scores = np.full(shape, -1.0), np.full(shape, -1.0)
        recall = np.full([shape[0], *shape[2:]], -1.0)
        ranking = ScoreOrder(*kernels().score_order(self._labels, self._scores, self._classes))
        for number, (rank, matched, ignored, _) in enumerate(self._parts):
            rows = slice(number * _AT_ONCE, number * _AT_ONCE + len(self._threshold_parts()[number]))
            for area in range(len(params.areaRng)):
                for limit, most in enumerate(params.maxDets):
                    (
                        precision[rows, :, :, area, limit],
                        recall[rows, :, area, limit],
                        scores[rows, :, :, area, limit],
                    ) = kernels().coco_accumulate(
                        ranking,
                        self._scores,
                        Verdicts(rank, matched[:, area], ignored[:, area]),
                        np.tile(self._truths[area], (rows.stop - rows.start, 1)),
                        np.asarray(params.recThrs, dtype=np.float64),
                        most,
                    )
        self.eval = {
            "params": params,
            "counts": shape,
            "date": datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S"),
            "precision": precision,
            "recall": recall,
            "scores": scores,
        }

    def summarize(self) -> None:
        """Print the twelve numbers and keep them in ``stats``; AP uses the largest number of detections."""
        if not self.eval:
            raise RuntimeError("Please run accumulate() first")
        limits = self.params.maxDets
        most = len(limits) - 1
        rows: list[tuple[str, float | None, str, int]] = [("AP", threshold, "all", most) for threshold in (None, 0.5, 0.75)]
        sizes = ("small", "medium", "large")
        rows += [("AP", None, size, most) for size in sizes]
        rows += [("AR", None, "all", min(position, most)) for position in range(3)]
        rows += [("AR", None, size, most) for size in sizes]
        self.stats = np.array([self._summary(*row) for row in rows])

    def _summary(self, kind: str, threshold: float | None, area: str, limit: int) -> float:
        params = self.params
        if area not in params.areaRngLbl:
            return -1.0
        values: Floats = self.eval["precision" if kind == "AP" else "recall"][..., params.areaRngLbl.index(area), limit]
        if threshold is not None:
            values = values[np.isclose(params.iouThrs, threshold)]
        defined = values[values > -1]
        mean = float(np.mean(defined)) if defined.size else -1.0
        title = "Average Precision" if kind == "AP" else "Average Recall"
        grid = f"{params.iouThrs[0]:0.2f}:{params.iouThrs[-1]:0.2f}" if threshold is None else f"{threshold:0.2f}"
        place = f"@[ IoU={grid:<9} | area={area:>6s} | maxDets={params.maxDets[limit]:>3d} ]"
        print(f" {title:<18} ({kind}) {place} = {mean:0.3f}")  # it is what summarize() is called for
        return mean

    def __str__(self) -> str:
        self.summarize()
        return ""


def _dataset(source: Any) -> Mapping[str, Any]:
    """The parsed JSON behind a COCO object, a path, a list of results or a dictionary."""
    if source is None:
        return {}
    if isinstance(source, str | os.PathLike):
        with open(source, encoding="utf-8") as file:
            source = json.load(file)
    if isinstance(source, list):
        return {"annotations": source}
    dataset: Mapping[str, Any] = source if isinstance(source, Mapping) else source.dataset
    return dataset
