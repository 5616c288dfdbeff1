"""COCO's evaluation of boxes and masks, under the names and with the answers of ``pycocotools.cocoeval``.

Where nothing is overridden, `evaluate` matches all images and classes at once, on calque's kernels; `evalImgs` and `ious` are
made when they are first read. A subclass's own `_prepare`, `computeIoU` and `evaluateImg` are called for each image and class,
in pycocotools' order. Undefined numbers are -1 here, as there; `calque.Detection` says why instead.
"""

from __future__ import annotations

import copy
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from calque.base.arguments import check_type, wrong_argument
from calque.base.columns import Array, Floats
from calque.coco import mask as maskUtils
from calque.coco import per_image
from calque.coco.coco import COCO, Row
from calque.coco.curves import accumulated
from calque.coco.evaluated import Evaluated
from calque.coco.segmentation import compressed, drawable, masks_of_rings
from calque.coco.sides import Unusual
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


def summarized(
    params: Any, evaluation: dict[str, Any], say: Callable[[str], None] = print, *, at_last_limit: bool = False
) -> Floats:
    """Return the twelve numbers and print one line for each. If there are fewer than three limits, the last one fills in.

    pycocotools takes AP at 100 detections and the other averages at the third limit. With ``at_last_limit`` all of them are
    taken at the last limit, as faster_coco_eval does.
    """
    limits = list(params.maxDets)
    at = [limits[min(place, len(limits) - 1)] for place in range(3)] if limits else [-1, -1, -1]
    most = limits[-1] if at_last_limit and limits else at[2]
    rows: list[tuple[str, float | None, str, int]] = [
        ("AP", None, "all", most if at_last_limit else 100),
        ("AP", 0.5, "all", most),
        ("AP", 0.75, "all", most),
        *(("AP", None, size, most) for size in ("small", "medium", "large")),
        *(("AR", None, "all", limit) for limit in at),
        *(("AR", None, size, most) for size in ("small", "medium", "large")),
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


__all__ = ["COCOeval", "Params", "maskUtils"]

ID_ZERO = (
    "an annotation has the id 0, which pycocotools never counts as found; here it can be found. "
    "Number annotations from 1, or set COCOeval.id_zero_counts = False for pycocotools' numbers"
)
NO_KEYPOINTS = "keypoints are not supported: calque evaluates 'bbox' and 'segm'"


class OnDemand:
    """An attribute that is made when it is first read, unless somebody has set it."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        held = instance.__dict__
        if self.name not in held:
            if held.get("_evaluated") is None:
                raise AttributeError(self.name)
            held[self.name] = self.make(instance)
        return held[self.name]

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value

    def __delete__(self, instance: Any) -> None:
        instance.__dict__.pop(self.name, None)


class COCOeval:
    """Evaluates detections against ground truth, both `COCO` objects, calque's or pycocotools'.

    >>> import contextlib, io
    >>> from calque.coco import COCO
    >>> with contextlib.redirect_stdout(io.StringIO()):  # it prints what it does, as pycocotools does
    ...     truth = COCO({"images": [{"id": 1}], "categories": [{"id": 1, "name": "Table"}],
    ...                   "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]}]})
    ...     found = truth.loadRes([{"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 9], "score": 0.7}])
    ...     evaluation = COCOeval(truth, found, "bbox")
    ...     evaluation.evaluate(); evaluation.accumulate(); evaluation.summarize()
    >>> evaluation.eval["precision"].shape, round(float(evaluation.stats[0]), 3), evaluation.evalImgs[0]["dtIds"]
    ((10, 101, 1, 4, 3), 0.9, [1])
    """

    id_zero_counts: ClassVar[bool] = True
    """Whether an annotation with id 0 can be found. It cannot in pycocotools, which knows a match by an id other than 0."""

    at_last_limit: ClassVar[bool] = False
    """Whether `summarize` takes AP at the last limit of ``maxDets``. pycocotools always takes it at 100."""

    evalImgs = OnDemand(lambda self: self._evaluated.verdicts())
    ious = OnDemand(lambda self: self._evaluated.overlaps())
    _gts = OnDemand(lambda self: self._grouped(0))
    _dts = OnDemand(lambda self: self._grouped(1))

    def __init__(self, cocoGt: Any = None, cocoDt: Any = None, iouType: str = "segm") -> None:
        check_type("COCOeval", "iouType", iouType, str | None, "a text")
        if not iouType:
            print("iouType not specified. use default iouType segm")
        self.cocoGt, self.cocoDt = _api(cocoGt), cocoDt
        self._evaluated: Evaluated | None = None
        self._taken: tuple[list[Row], list[Row]] = ([], [])
        self.evalImgs = defaultdict(list)
        self.eval: dict[str, Any] = {}
        self._gts = defaultdict(list)
        self._dts = defaultdict(list)
        self.params = Params(iouType=iouType)
        self._paramsEval: Any = {}
        self.stats: Any = []
        self.ious = {}
        if self.cocoGt is not None:
            self.params.imgIds = sorted(self.cocoGt.getImgIds())
            self.params.catIds = sorted(self.cocoGt.getCatIds())

    def _prepare(self) -> None:
        """Sort the annotations that take part into ``_gts`` and ``_dts``, by image and class."""
        self._gts, self._dts = map(_by_image_and_class, self._rows())
        self.evalImgs = defaultdict(list)
        self.eval = {}

    def _rows(self) -> tuple[list[Row], list[Row]]:
        """The annotations that take part; masks are compressed, and truths are marked, in place."""
        p = self.params
        self.cocoDt = _results(self.cocoGt, self.cocoDt)
        wanted = {"imgIds": p.imgIds, "catIds": p.catIds} if p.useCats else {"imgIds": p.imgIds}
        gts, dts = (api.loadAnns(api.getAnnIds(**wanted)) for api in (self.cocoGt, self.cocoDt))
        if p.iouType == "segm":
            _to_masks(gts, self.cocoGt)
            _to_masks(dts, self.cocoDt)
        for row in gts:
            row["ignore"] = "iscrowd" in row and row["iscrowd"]
        if self.id_zero_counts and any(row["id"] == 0 for row in gts):
            warnings.warn(ID_ZERO, RuntimeWarning, stacklevel=4)
        return gts, dts

    def _grouped(self, side: int) -> defaultdict[Any, list[Row]]:
        """One side by image and class, with an empty list where pycocotools has looked and found nothing."""
        rows = _by_image_and_class(self._taken[side])
        for image in self._paramsEval.imgIds:
            for category in self._paramsEval.catIds:
                rows[image, category]
        return rows

    def evaluate(self) -> None:
        """Match detections with truths at every threshold and in every area range."""
        start = time.time()
        self._say("Running per image evaluation...")
        p = self.params
        if p.useSegm is not None:
            p.iouType = "segm" if p.useSegm == 1 else "bbox"
            self._say(f"useSegm (deprecated) is not None. Running {p.iouType} evaluation")
        self._say(f"Evaluate annotation type *{p.iouType}*")
        p.imgIds = list(np.unique(p.imgIds))
        if p.useCats:
            p.catIds = list(np.unique(p.catIds))
        p.maxDets = sorted(p.maxDets)
        if self._own_steps() or not self._at_once():
            self._one_by_one()
        self._say(f"DONE (t={time.time() - start:0.2f}s).")

    def _own_steps(self) -> bool:
        """Whether somebody has put a step of their own in the place of ours."""
        return any(name in self.__dict__ or getattr(type(self), name) is not step for name, step in STEPS.items())

    def _at_once(self) -> bool:
        """Match everything on the kernels; False where something is too unusual for them."""
        rows = self._rows()
        params = copy.deepcopy(self.params)
        try:
            self._evaluated = Evaluated.of(*rows, params, self.id_zero_counts)
        except (Unusual, TypeError, ValueError, KeyError, OverflowError):
            return False  # one by one it is answered, or refused where it is
        self._taken = rows
        self._paramsEval, self.eval = params, {}
        del self._gts, self._dts, self.evalImgs, self.ious
        return True

    def _one_by_one(self) -> None:
        """Image by image and class by class, by whatever steps there are."""
        self._evaluated = None
        self._prepare()
        p = self.params
        classes = p.catIds if p.useCats else [-1]
        if p.iouType not in {"segm", "bbox"}:
            raise ValueError(NO_KEYPOINTS if p.iouType == "keypoints" else f"iouType {p.iouType!r} is not known")
        self.ious = {(image, category): self.computeIoU(image, category) for image in p.imgIds for category in classes}
        most = p.maxDets[-1]
        self.evalImgs = [
            self.evaluateImg(image, category, area, most) for category in classes for area in p.areaRng for image in p.imgIds
        ]
        self._paramsEval = copy.deepcopy(self.params)

    def _group(self, imgId: Any, catId: Any) -> tuple[list[Row], list[Row]]:
        p = self.params
        if p.useCats:
            return self._gts[imgId, catId], self._dts[imgId, catId]
        gt, dt = ([row for category in p.catIds for row in side[imgId, category]] for side in (self._gts, self._dts))
        return gt, dt

    def computeIoU(self, imgId: Any, catId: Any) -> Any:
        """The overlaps of one image and class: detections by score, up to the largest limit, against truths."""
        key = per_image.key_of(self.params.iouType)
        return per_image.overlaps(*self._group(imgId, catId), key, self.params.maxDets[-1])

    def computeOks(self, imgId: Any, catId: Any) -> Any:
        """Refused: the likeness of keypoints."""
        del imgId, catId
        raise ValueError(NO_KEYPOINTS)

    def evaluateImg(self, imgId: Any, catId: Any, aRng: Any, maxDet: int) -> Row | None:
        """What happens to the detections and truths of one image and class in one range of sizes."""
        gt, dt = self._group(imgId, catId)
        if not gt and not dt:
            return None
        head = {"image_id": imgId, "category_id": catId, "aRng": aRng, "maxDet": maxDet}
        ious = self.ious[imgId, catId]
        return head | per_image.verdict(gt, dt, ious, self.params.iouThrs, aRng, maxDet, self.id_zero_counts)

    def accumulate(self, p: Any = None) -> None:
        """Precision, recall and scores by threshold, recall point, class, area range and number of detections."""
        self._say("Accumulating evaluation results...")
        start = time.time()
        # Once they were read they may have been changed.
        ours = self._evaluated if "evalImgs" not in self.__dict__ else None
        if not (ours.size if ours else len(self.evalImgs)):
            self._say("Please run evaluate() first")
        p = self.params if p is None else p
        p.catIds = p.catIds if p.useCats == 1 else [-1]
        if not self._paramsEval:
            raise RuntimeError("Please run evaluate() first")
        tables = ours.accumulated(p, self._paramsEval) if ours else None
        if tables is None:
            tables = accumulated(self.evalImgs, p, self._paramsEval)
        self.eval = tables.evaluation(p)
        self._say(f"DONE (t={time.time() - start:0.2f}s).")

    def summarize(self) -> None:
        """Print the twelve numbers and keep them in ``stats``."""
        if not self.eval:
            raise RuntimeError("Please run accumulate() first")
        self.stats = summarized(self.params, self.eval, self._say, at_last_limit=self.at_last_limit)

    def _say(self, text: str) -> None:
        print(text)

    def __str__(self) -> str:
        self.summarize()
        return ""


STEPS = {name: getattr(COCOeval, name) for name in ("_prepare", "computeIoU", "evaluateImg")}
"""Kept as they are here: some scripts put a function of their own into the class."""


def _by_image_and_class(rows: Sequence[Row]) -> defaultdict[Any, list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[row["image_id"], row["category_id"]].append(row)
    return groups


def _api(source: Any) -> Any:
    """A data set, where a path or parsed JSON stands for one."""
    if isinstance(source, Mapping) and not {"images", "categories"} <= source.keys():
        raise wrong_argument("COCOeval", "cocoGt", source, "COCO data with images and categories")
    if isinstance(source, str | os.PathLike | Mapping):
        return COCO(source)
    if source is not None and not hasattr(source, "getImgIds"):
        raise wrong_argument("COCOeval", "cocoGt", source, "a COCO object, a path or parsed JSON")
    return source


def _results(truth: Any, source: Any) -> Any:
    """Results as a data set, where a path or a list of rows stands for one; the rows of a list stay as they are."""
    if isinstance(source, list):
        return truth.loadRes([dict(row) for row in source])
    if isinstance(source, str | os.PathLike):
        return truth.loadRes(os.fspath(source))
    if source is None:
        raise ValueError("there are no detections: give cocoDt, or set it, before evaluate()")
    return _api(source)


def _to_masks(rows: Sequence[Row], api: Any) -> None:
    """Put compressed masks in the place of segmentations."""
    if getattr(type(api), "annToRLE", None) is not COCO.annToRLE or "annToRLE" in vars(api):
        for row in rows:
            row["segmentation"] = api.annToRLE(row)
        return
    others = [row for row in rows if not compressed(row.get("segmentation"))]
    drawn = [row for row in others if drawable(row)]
    for row, mask in zip(drawn, masks_of_rings(drawn, [api.imgs.get(row["image_id"]) for row in drawn]), strict=True):
        row["segmentation"] = mask
    for row in others:
        if not compressed(row["segmentation"]):
            row["segmentation"] = api.annToRLE(row)
