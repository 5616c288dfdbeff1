"""COCO files read exactly from parsed JSON: every breach of their shape is named, none is guessed at."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from calque.base.columns import Outlines
from calque.base.errors import IssueLog, did_you_mean
from calque.corpus.boxes import UnitId
from calque.corpus.masks import Masks
from calque.geometry.rings import is_upright_box, turned_box, without_repeats
from calque.readers.boxes.coco_columns import DOCUMENT_KEYS, Ids, ResultColumns, TruthColumns
from calque.readers.boxes.conventions import around, as_score
from calque.readers.sources.json_tree import RepeatedKeys, kind, number, pointer, shown


def looks_like_truth(tree: Any) -> bool:
    """Whether parsed JSON means to be COCO ground truth."""
    return isinstance(tree, Mapping) and bool(tree.keys() & {"images", "annotations", "categories"})


def looks_like_results(tree: Any) -> bool:
    """Whether parsed JSON means to be a list of COCO results."""
    return (
        isinstance(tree, list)
        and all(isinstance(item, Mapping) for item in tree[:1])
        and ("image_id" in tree[0] if tree else True)
    )


def truth_from_tree(tree: Mapping[str, Any], log: IssueLog) -> TruthColumns:
    """The columns of a ground-truth file; raises with every issue when its shape is broken."""
    reader = _Reader(log)
    reader.repeated(tree, "")
    images = [entry for entry in reader.entries(tree, "images") if entry is not None]
    annotations = list(reader.entries(tree, "annotations"))
    columns = TruthColumns(
        images=Ids.of([reader.identity(entry, "id", pointer("images", row)) for row, entry in enumerate(images)]),
        sizes=np.array([[reader.size(entry, key) for key in ("width", "height")] for entry in images]).reshape(-1, 2),
        documents=_documents(images),
        image_entries=lambda: images,
        mentions=lambda key: any(key in entry for entry in images),
        categories=tree.get("categories"),
        ids=reader.annotation_ids(annotations),
        image=Ids.of([reader.identity(entry, "image_id", _place(row)) for row, entry in enumerate(annotations)]),
        category=Ids.of([reader.identity(entry, "category_id", _place(row)) for row, entry in enumerate(annotations)]),
        **reader.boxes(annotations, _place),
        areas=np.array([reader.number(entry, "area", _place(row)) for row, entry in enumerate(annotations)], dtype=np.float64),
        crowd=np.array([reader.flag(entry, "iscrowd", _place(row)) for row, entry in enumerate(annotations)], dtype=np.uint8),
        ignore=np.array([reader.flag(entry, "ignore", _place(row)) for row, entry in enumerate(annotations)], dtype=np.uint8),
        scores=reader.scores(annotations, _place) if any("score" in entry for entry in annotations) else None,
    )
    log.raise_errors()
    return columns


def results_from_tree(tree: list[Any], log: IssueLog) -> ResultColumns:
    """The columns of a results file; raises with every issue when its shape is broken."""
    reader = _Reader(log)
    entries = [reader.entry(entry, pointer(row)) for row, entry in enumerate(tree)]
    columns = ResultColumns(
        image=Ids.of([reader.identity(entry, "image_id", pointer(row)) for row, entry in enumerate(entries)]),
        category=Ids.of([reader.identity(entry, "category_id", pointer(row)) for row, entry in enumerate(entries)]),
        **reader.boxes(entries, pointer),
        scores=reader.scores(entries, pointer),
    )
    log.raise_errors()
    return columns


def _place(row: int) -> str:
    return pointer("annotations", row)


def _documents(images: list[Mapping[str, Any]]) -> list[UnitId] | None:
    for key in DOCUMENT_KEYS:
        names = [entry.get(key) for entry in images]
        if names and all(isinstance(name, int | str) and not isinstance(name, bool) for name in names):
            return [name for name in names if name is not None]
    return None


class _Reader:
    """Reads single values and writes down what they should have been."""

    def __init__(self, log: IssueLog) -> None:
        self.log = log

    def repeated(self, node: Any, where: str) -> None:
        for key in node.repeated if isinstance(node, RepeatedKeys) else ():
            self.log.add("duplicate-key", where, f"the key {key!r} occurs more than once", help="keep one of them")

    def entries(self, tree: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        value = tree.get(key)
        if not isinstance(value, list):
            wrong = f"not {kind(value)} {shown(value)}" if key in tree else "and there is none"
            self.log.add("wrong-type", pointer(key), f"expected an array, {wrong}", help=did_you_mean(key, tree))
            return []
        return [self.entry(entry, pointer(key, row)) for row, entry in enumerate(value)]

    def entry(self, node: Any, where: str) -> Mapping[str, Any]:
        if isinstance(node, Mapping):
            self.repeated(node, where)
            return node
        self.log.add("wrong-type", where, f"expected an object, not {kind(node)} {shown(node)}")
        return {}

    def identity(self, entry: Mapping[str, Any], key: str, where: str) -> UnitId:
        value = entry.get(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63):
            return value
        if key not in entry:
            self.log.add("missing-key", where, f"the key {key!r} is missing", help=did_you_mean(key, entry))
        else:
            self.log.add("wrong-type", where + pointer(key), f"expected an integer or a string, not {shown(value)}")
        return 0

    def annotation_ids(self, annotations: list[Mapping[str, Any]]) -> Ids | None:
        if all(entry.get("id") is None for entry in annotations):
            return None
        return Ids.of([self.identity(entry, "id", _place(row)) for row, entry in enumerate(annotations)])

    def size(self, entry: Mapping[str, Any], key: str) -> float:
        value = number(entry.get(key))
        return math.nan if value is None else value

    def number(self, entry: Mapping[str, Any], key: str, where: str) -> float:
        """A number; NaN when it is absent or null."""
        value = entry.get(key)
        if value is None:
            return math.nan
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value) if abs(value) < 1e308 or isinstance(value, float) else math.inf
        self.log.add("wrong-type", where + pointer(key), f"expected a number, not {kind(value)} {shown(value)}")
        return math.nan

    def scores(self, entries: list[Mapping[str, Any]], place: Any) -> Any:
        """The score of each entry; NaN where it has none."""
        read = ((entry.get("score"), self.number(entry, "score", place(row))) for row, entry in enumerate(entries))
        return np.array([as_score(given, value) for given, value in read], dtype=np.float64)

    def flag(self, entry: Mapping[str, Any], key: str, where: str) -> int:
        value = entry.get(key)
        if value is None:
            return 0
        if value in (0, 1):
            return int(value)
        self.log.add("wrong-type", where + pointer(key), f"expected 0 or 1, not {shown(value)}")
        return 0

    def boxes(self, entries: list[Mapping[str, Any]], place: Any) -> dict[str, Any]:
        """The columns ``boxes``, ``outlines`` and ``masks``."""
        texts = [_mask_text(entry.get("segmentation")) for entry in entries]
        boxless = np.array(
            [bool(text) and not _boxed(entry) for text, entry in zip(texts, entries, strict=True)], dtype=np.bool_
        )
        placed = [self._placed(entry, place(row)) for row, entry in enumerate(entries)]
        boxes = np.array([box for box, _ in placed], dtype=np.float64).reshape(-1, 4)
        drawn = any(ring for _, ring in placed)
        return {
            "boxes": boxes,
            "outlines": Outlines.pack(ring for _, ring in placed) if drawn else None,
            "masks": Masks.pack(texts, boxless if boxless.any() else None) if any(texts) else None,
        }

    def _placed(self, entry: Mapping[str, Any], where: str) -> tuple[list[float], list[float]]:
        """The box and the ring of an entry: a turned box ``obb``, else what the numbers of ``bbox`` are."""
        value, turned = _numbers(entry.get("bbox")), _numbers(entry.get("obb"))
        if turned is not None and len(turned) == TURNED:
            box, ring = _turned(turned)
            return value if value is not None and len(value) == UPRIGHT else box, ring
        if entry.get("obb") is not None:
            text = f"expected five numbers [x, y, width, height, radians], not {shown(entry['obb'])}"
            self.log.add("box-shape", where + pointer("obb"), text)
            return [0.0] * 4, []
        return self._by_numbers(entry, value, where)

    def _by_numbers(self, entry: Mapping[str, Any], value: list[float] | None, where: str) -> tuple[list[float], list[float]]:
        """What the numbers of ``bbox`` are, by their number; a mask needs none."""
        if not _boxed(entry) and _mask_text(entry.get("segmentation")):
            return [0.0] * 4, []
        if value is not None and len(value) == UPRIGHT:
            return value, []
        if value is not None and len(value) == TURNED:
            return _turned([*value[:4], -math.radians(value[4])])
        if value is not None and len(value) == CORNERS:
            return _outlined(value)
        if "bbox" not in entry:
            self.log.add("missing-key", where, "the key 'bbox' is missing", help=did_you_mean("bbox", entry))
        else:
            text = f"expected four numbers [x, y, width, height], not {shown(entry['bbox'])}"
            help = "five numbers are centre, size and degrees; eight are corners"
            self.log.add("box-shape", where + pointer("bbox"), text, help=help)
        return [0.0] * 4, []


def _boxed(entry: Mapping[str, Any]) -> bool:
    """Whether an entry has a box at all: an empty list is none, as for COCO's own tools."""
    return entry.get("bbox") not in (None, []) or entry.get("obb") is not None


def _mask_text(value: Any) -> bytes:
    """A segmentation as JSON; nothing for none and for an empty list."""
    if value is None or value == []:
        return b""
    if isinstance(value, Mapping) and isinstance(value.get("counts"), bytes):
        value = {**value, "counts": value["counts"].decode("latin-1")}
    try:
        return json.dumps(value, default=list).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError):
        return b"0"  # no mask, and named as such


UPRIGHT, TURNED, CORNERS = 4, 5, 8
"""How many numbers a box has: an upright one, one that is turned about its centre, and one given by its corners."""


def _numbers(value: Any) -> list[float] | None:
    if not isinstance(value, list) or not all(_is_number(item) for item in value):
        return None
    return [float(max(min(item, 1e308), -1e308)) if isinstance(item, int) else item for item in value]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _turned(values: list[float]) -> tuple[list[float], list[float]]:
    """The box around a turned box and its ring; what has no size or angle that is a number stays a box that is none."""
    x, y, width, height, angle = values
    if not math.isfinite(angle) or width < 0 or height < 0:
        return [x, y, min(width, -1.0), height], []
    if angle == 0:
        return [x - width / 2, y - height / 2, width, height], []
    return _outlined(turned_box(x, y, width, height, angle))


def _outlined(points: list[float]) -> tuple[list[float], list[float]]:
    left, top, right, bottom = around(points)
    ring = without_repeats(points)
    drawn = [] if is_upright_box(ring) else [value for point in ring for value in point]
    return [left, top, right - left, bottom - top], drawn
