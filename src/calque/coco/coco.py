"""COCO annotations and results, under the names and with the answers of ``pycocotools.coco``."""

from __future__ import annotations

import copy
import gc
import itertools
import json
import os
import time
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec
import numpy as np

from calque.base.columns import Array
from calque.coco import mask as maskUtils
from calque.coco.segmentation import mask_of, pixels_and_boxes

Row: TypeAlias = dict[str, Any]
Ids: TypeAlias = Any
"""One id, or anything that has a length and holds ids."""

__all__ = ["COCO", "maskUtils"]


class COCO:
    """A data set: from a file, from a dictionary, or empty, to be filled by hand before `createIndex`.

    >>> import contextlib, io
    >>> with contextlib.redirect_stdout(io.StringIO()):  # it prints what it does, as pycocotools does
    ...     api = COCO({"images": [{"id": 7}], "categories": [{"id": 1, "name": "Table"}],
    ...                 "annotations": [{"id": 3, "image_id": 7, "category_id": 1, "bbox": [0, 0, 9, 9]}]})
    ...     results = api.loadRes([{"image_id": 7, "category_id": 1, "bbox": [0, 0, 9, 8], "score": 0.7}])
    >>> api.getAnnIds(imgIds=7), api.getCatIds(catNms="Table"), results.anns[1]["area"]
    ([3], [1], 72)
    """

    def __init__(self, annotation_file: str | os.PathLike[str] | Mapping[str, Any] | None = None) -> None:
        self.dataset: dict[str, Any] = {}
        self.anns: dict[Any, Row] = {}
        self.cats: dict[Any, Row] = {}
        self.imgs: dict[Any, Row] = {}
        self.imgToAnns: defaultdict[Any, list[Row]] = defaultdict(list)
        self.catToImgs: defaultdict[Any, list[Any]] = defaultdict(list)
        if annotation_file is None:
            return
        if isinstance(annotation_file, Mapping):
            self.dataset = annotation_file if isinstance(annotation_file, dict) else dict(annotation_file)
        else:
            print("loading annotations into memory...")
            start = time.time()
            self.dataset = parsed(annotation_file)
            if type(self.dataset) is not dict:
                raise AssertionError(f"annotation file format {type(self.dataset)} not supported")
            print(f"Done (t={time.time() - start:0.2f}s)")
        self.createIndex()

    def createIndex(self) -> None:
        """Make ``anns``, ``imgs``, ``cats``, ``imgToAnns`` and ``catToImgs`` from ``dataset``."""
        print("creating index...")
        annotations = self.dataset.get("annotations", ())
        self.imgToAnns, self.catToImgs = defaultdict(list), defaultdict(list)
        for row in annotations:
            self.imgToAnns[row["image_id"]].append(row)
        self.anns = {row["id"]: row for row in annotations}
        self.imgs = {row["id"]: row for row in self.dataset.get("images", ())}
        self.cats = {row["id"]: row for row in self.dataset.get("categories", ())}
        if "categories" in self.dataset:
            for row in annotations:
                self.catToImgs[row["category_id"]].append(row["image_id"])
        print("index created!")

    def info(self) -> None:
        """Print what the file says about itself."""
        for key, value in self.dataset["info"].items():
            print(f"{key}: {value}")

    def getAnnIds(self, imgIds: Ids = (), catIds: Ids = (), areaRng: Any = (), iscrowd: Any = None) -> list[Any]:
        """The ids of annotations on these images, of these categories, of sizes within the range, crowds or not."""
        images, categories = _many(imgIds), _many(catIds)
        if len(images):
            rows: Iterable[Row] = itertools.chain.from_iterable(
                self.imgToAnns[image] for image in images if image in self.imgToAnns
            )
        else:
            rows = self.dataset["annotations"]
        if len(categories):
            wanted = _container(categories)
            rows = [row for row in rows if row["category_id"] in wanted]
        if len(areaRng):
            rows = [row for row in rows if areaRng[0] < row["area"] < areaRng[1]]
        if iscrowd is not None:
            return [row["id"] for row in rows if (row["iscrowd"] or 0) == iscrowd]
        return [row["id"] for row in rows]

    def getCatIds(self, catNms: Any = (), supNms: Any = (), catIds: Ids = ()) -> list[Any]:
        """The ids of categories with these names, of these supercategories, among these ids."""
        rows: list[Row] = self.dataset["categories"]
        for key, values in (("name", catNms), ("supercategory", supNms), ("id", catIds)):
            wanted = _many(values)
            if len(wanted):
                rows = [row for row in rows if row[key] in wanted]
        return [row["id"] for row in rows]

    def getImgIds(self, imgIds: Ids = (), catIds: Ids = ()) -> list[Any]:
        """The ids of images among these ids that have all of these categories."""
        images, categories = _many(imgIds), _many(catIds)
        if not len(images) and not len(categories):
            return list(self.imgs.keys())
        ids = set(images)
        for number, category in enumerate(categories):
            if number == 0 and not ids:
                ids = set(self.catToImgs[category])
            else:
                ids &= set(self.catToImgs[category])
        return list(ids)

    def loadAnns(self, ids: Ids = ()) -> Any:
        """The annotations with these ids, or with one id, as a list."""
        return _chosen(self.anns, ids)

    def loadCats(self, ids: Ids = ()) -> Any:
        """The categories with these ids, or with one id, as a list."""
        return _chosen(self.cats, ids)

    def loadImgs(self, ids: Ids = ()) -> Any:
        """The images with these ids, or with one id, as a list."""
        return _chosen(self.imgs, ids)

    def showAnns(self, anns: list[Row], draw_bbox: bool = False) -> Any:
        """Draw annotations on the current axes of matplotlib, which must be installed, or print captions."""
        from calque.coco.drawing import show

        return show(self, anns, draw_bbox)

    def loadRes(self, resFile: Any) -> COCO:
        """Results as a data set of their own, from a file, a list of rows or a table of seven columns.

        The rows of a list are completed in place: ``id`` from 1, ``area``, ``iscrowd``, and the box or mask that they lack.
        """
        results = COCO()
        results.dataset["info"] = copy.deepcopy(self.dataset.get("info", {}))
        results.dataset["images"] = list(self.dataset["images"])
        print("Loading and preparing results...")
        start = time.time()
        if isinstance(resFile, str | os.PathLike):
            rows = parsed(resFile)
        elif isinstance(resFile, np.ndarray):
            rows = self.loadNumpyAnnotations(resFile)
        else:
            rows = resFile
        if type(rows) is not list:
            raise AssertionError("results in not an array of objects")
        if not {row["image_id"] for row in rows} <= set(self.getImgIds()):
            raise AssertionError("Results do not correspond to current coco set")
        _complete(self, results, rows)
        print(f"DONE (t={time.time() - start:0.2f}s)")
        results.dataset["annotations"] = rows
        results.createIndex()
        return results

    def download(self, tarDir: Any = None, imgIds: Ids = ()) -> None:
        """Refused: calque never uses the network."""
        del tarDir, imgIds
        raise NotImplementedError("download() is not supported: calque never uses the network; fetch the images by other means")

    def loadNumpyAnnotations(self, data: Array) -> list[Row]:
        """Rows of results from a table: image id, x, y, width, height, score, category id."""
        print("Converting ndarray to lists...")
        if not isinstance(data, np.ndarray) or data.ndim != 2 or data.shape[1] != 7:
            raise AssertionError("results as an array have seven columns: image id, x, y, width, height, score, category id")
        print(data.shape)
        rows = []
        for number, line in enumerate(data):
            if number % 1000000 == 0:
                print(f"{number}/{len(data)}")
            image, x, y, width, height, score, category = line
            rows.append({
                "image_id": int(image),
                "bbox": [x, y, width, height],
                "score": score,
                "category_id": int(category),
            })  # fmt: skip
        return rows

    def annToRLE(self, ann: Row) -> Any:
        """The mask of an annotation in compressed runs; its box is drawn where it has no segmentation."""
        return mask_of(ann, self.imgs.get(ann["image_id"]))

    def annToMask(self, ann: Row) -> Any:
        """The pixels of an annotation, as a table of 0 and 1."""
        return maskUtils.decode(self.annToRLE(ann))


def parsed(path: str | os.PathLike[str]) -> Any:
    """The JSON of a file, as Python reads it."""
    with open(path, "rb") as file:
        text = file.read()
    # Millions of new objects, none of them garbage: looking for some would take as long as reading.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return json.loads(text.decode())  # NaN, Infinity and lone surrogates, which the standard does not know
    finally:
        if collecting:
            gc.enable()


def _complete(api: COCO, results: COCO, rows: list[Row]) -> None:
    """Give every row what an annotation has. What the first row has decides which kind of results these are."""
    first: Row = rows[0] if rows else {"segmentation": None}
    if "caption" in first:
        with_caption = {row["image_id"] for row in rows}
        results.dataset["images"] = [image for image in results.dataset["images"] if image["id"] in with_caption]
        for number, row in enumerate(rows):
            row["id"] = number + 1
        return
    if "bbox" in first and len(first["bbox"]):
        _complete_boxes(api, rows)
    elif "segmentation" in first:
        _complete_masks(api, rows)
    elif "keypoints" in first:
        _complete_keypoints(rows)
    else:
        return
    if "categories" in api.dataset:
        results.dataset["categories"] = copy.deepcopy(api.dataset["categories"])


def _complete_boxes(api: COCO, rows: list[Row]) -> None:
    for number, row in enumerate(rows):
        box = row.get("bbox")
        if box is None:
            row["area"], row["bbox"] = (values[0] for values in pixels_and_boxes([mask_of(row, api.imgs.get(row["image_id"]))]))
        else:
            x, y, width, height = box[0], box[1], box[2], box[3]
            if "segmentation" not in row:
                row["segmentation"] = [[x, y, x, y + height, x + width, y + height, x + width, y]]
            row["area"] = width * height
        row["id"] = number + 1
        row["iscrowd"] = 0


def _complete_masks(api: COCO, rows: list[Row]) -> None:
    areas, boxes = pixels_and_boxes([mask_of(row, api.imgs.get(row["image_id"])) for row in rows])
    for number, row in enumerate(rows):
        row["area"] = areas[number]
        if "bbox" not in row:
            row["bbox"] = boxes[number].copy()
        row["id"] = number + 1
        row["iscrowd"] = 0


def _complete_keypoints(rows: list[Row]) -> None:
    for number, row in enumerate(rows):
        x, y = row["keypoints"][0::3], row["keypoints"][1::3]
        left, right, top, bottom = np.min(x), np.max(x), np.min(y), np.max(y)
        row["area"] = (right - left) * (bottom - top)
        row["id"] = number + 1
        row["bbox"] = [left, top, right - left, bottom - top]


def _many(ids: Ids) -> Any:
    """What has a length and can be walked through as it is, anything else as a list of one."""
    return ids if _isArrayLike(ids) else [ids]


def _isArrayLike(obj: Any) -> bool:
    """Under pycocotools' name, for those who import it from there."""
    return hasattr(obj, "__iter__") and hasattr(obj, "__len__")


def _container(ids: Any) -> Container[Any]:
    """The same ids, quick to look up."""
    try:
        return frozenset(ids)
    except TypeError:
        return list(ids)


def _chosen(rows: dict[Any, Row], ids: Ids) -> list[Row] | None:
    if _isArrayLike(ids):
        return [rows[one] for one in ids]
    return [rows[ids]] if isinstance(ids, int | np.integer) else None
