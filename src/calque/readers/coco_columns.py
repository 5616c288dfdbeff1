"""The columns of COCO files, whoever read them: the compiled scanner or the exact reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from calque.core.columns import Bytes, Floats, Strings
from calque.core.corpus import UnitId
from calque.core.frozen import Frozen
from calque.kernels.scanning import Scanned
from calque.readers.ids import Ids
from calque.readers.json_tree import parse

DOCUMENT_KEYS = ("doc_id", "doc_name")
"""Keys of an image entry that group images into documents, if every image has one."""


class TruthColumns(Frozen, kw_only=True, eq=False):
    """A ground-truth file: its images, its annotations, and its categories as parsed JSON."""

    images: Ids
    sizes: Floats
    """Width and height of each image; NaN where absent."""
    documents: list[UnitId] | None
    """The document of each image, where the file groups them."""
    image_entries: Callable[[], list[Any]]
    """The image entries as parsed JSON, for keys that are rarely asked for."""
    mentions: Callable[[str], bool]
    """Whether a key may occur in an image entry; much cheaper than looking."""
    categories: Any
    ids: Ids | None
    image: Ids
    category: Ids
    boxes: Floats
    areas: Floats
    """NaN where absent."""
    crowd: Bytes
    ignore: Bytes
    scores: Floats | None


class ResultColumns(Frozen, kw_only=True, eq=False):
    """A results file: a list of detections."""

    image: Ids
    category: Ids
    boxes: Floats
    scores: Floats
    """NaN where absent."""


def scanned_truth(columns: Mapping[str, Any], file: Scanned) -> TruthColumns:
    """The ground truth that the compiled scanner read."""
    images, annotations, spans = columns["images"], columns["annotations"], columns["spans"]
    return TruthColumns(
        images=Ids.scanned(images["id"]),
        sizes=np.stack([images["width"], images["height"]], axis=1),
        documents=_documents(images),
        image_entries=lambda: list(parse(file.part(spans["images"]), file.path)),
        mentions=lambda key: f'"{key}"'.encode() in file.part(spans["images"]),
        categories=parse(file.part(spans["categories"]), file.path) if "categories" in spans else None,
        ids=None if annotations["id"] is None else Ids.scanned(annotations["id"]),
        image=Ids.scanned(annotations["image_id"]),
        category=Ids.scanned(annotations["category_id"]),
        boxes=annotations["bbox"],
        areas=annotations["area"],
        crowd=annotations["iscrowd"],
        ignore=annotations["ignore"],
        scores=annotations["score"],
    )


def _documents(images: Mapping[str, Any]) -> list[UnitId] | None:
    for key in DOCUMENT_KEYS:
        column = images[key]
        if column is not None and column["present"].all():
            names: list[UnitId] = list(Strings(column["data"], column["offsets"]))
            whole = images["doc_id_is_int"] if key == "doc_id" else np.zeros(len(names))
            return [int(name) if is_int else name for name, is_int in zip(names, whole, strict=True)]
    return None


def scanned_results(columns: Mapping[str, Any]) -> ResultColumns:
    """The results that the compiled scanner read."""
    return ResultColumns(
        image=Ids.scanned(columns["image_id"]),
        category=Ids.scanned(columns["category_id"]),
        boxes=columns["bbox"],
        scores=columns["score"],
    )
