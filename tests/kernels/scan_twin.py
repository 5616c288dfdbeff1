"""The scanner's contract in plain Python: `columns_from_json` builds the same columns from a tree made by `json`."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

INT64 = range(-(2**63), 2**63)


class Reject(Exception):
    """The file is not clean; the scanner must raise ScanError."""


class Int(int):
    """An integer that remembers how it was written: float("-0") is -0.0, float(int("-0")) is not."""

    literal: str

    def __new__(cls, literal: str) -> Int:
        self = super().__new__(cls, literal)
        self.literal = literal
        return self


class Members(list):
    """The members of an object, in order, duplicates included."""


def parse(data: bytes) -> Any:
    if data.startswith(b"\xef\xbb\xbf"):
        raise Reject("byte-order mark")
    try:
        return json.loads(data.decode("utf-8"), parse_int=Int, object_pairs_hook=Members)
    except (ValueError, RecursionError) as error:
        raise Reject(str(error)) from error


def require(condition: bool, why: str) -> None:
    if not condition:
        raise Reject(why)


def record(members: Any, known: set[str], needed: set[str], *, strict: bool = False) -> dict[str, Any]:
    require(isinstance(members, Members), "not an object")
    found: dict[str, Any] = {}
    for key, value in members:
        if key not in known:
            require(not strict, f"unknown key {key}")
            continue
        require(key not in found, f"duplicate key {key}")
        found[key] = value
    require(needed <= found.keys(), "missing key")
    return found


def rows(value: Any) -> list[Any]:
    require(isinstance(value, list) and not isinstance(value, Members), "not an array")
    return value


def number(value: Any) -> float:
    require(isinstance(value, (Int, float)), "not a number")
    if isinstance(value, Int):
        result = float(value.literal)
        require(math.isfinite(result), "an integer beyond floats")
        return result
    return value


def optional_number(record: dict[str, Any], key: str, *, nan: bool = False) -> float:
    value = record.get(key)
    if value is None:
        return math.nan
    require(nan or value == value, "NaN where NaN means absent")
    return number(value)


def box(value: Any) -> list[float]:
    require(len(rows(value)) == 4, "not four numbers")
    return [number(v) for v in value]


def string(value: Any, *, filled: bool = False) -> str:
    require(isinstance(value, str), "not a string")
    require(not filled or value != "", "empty")
    return value


def integer(value: Any) -> int:
    require(isinstance(value, Int), "not an integer")
    require(int(value) in INT64, "beyond 64 bits")
    return int(value)


def ident(value: Any) -> int | str:
    return value if isinstance(value, str) else integer(value)


def flag(value: Any) -> int:
    if value is None:  # null counts as absent
        return 0
    if isinstance(value, bool):
        return int(value)
    require(number(value) in (0.0, 1.0), "neither 0 nor 1")
    return int(number(value))


def ids(values: list[int | str]) -> dict[str, Any]:
    if not any(isinstance(v, str) for v in values):
        return {"ints": np.array(values, np.int64)}
    return names(values)


def names(values: list[Any]) -> dict[str, Any]:
    table: dict[Any, int] = {}
    codes = [table.setdefault(v, len(table)) for v in values]
    return {"codes": np.array(codes, np.int32), "values": list(table)}


def strings(values: list[str | None], *, optional: bool = False) -> dict[str, Any] | None:
    if optional and all(v is None for v in values):
        return None
    encoded = [(v or "").encode("utf-8", "surrogatepass") for v in values]
    result = {
        "data": np.frombuffer(b"".join(encoded), np.uint8),
        "offsets": np.cumsum([0] + [len(e) for e in encoded], dtype=np.int64),
    }
    if optional:
        result["present"] = np.array([v is not None for v in values], np.uint8)
    return result


def floats(values: list[Any], *shape: int) -> np.ndarray:
    return np.array(values, np.float64).reshape(-1, *shape)


def images(value: Any) -> dict[str, Any]:
    found = [record(m, {"id", "width", "height", "file_name", "doc_id", "doc_name"}, {"id"}) for m in rows(value)]
    docs: list[str | None] = []
    for r in found:
        doc = r.get("doc_id")
        require("doc_id" not in r or isinstance(doc, (Int, str)), "doc_id")
        docs.append(str(int(doc)) if isinstance(doc, Int) else doc)
    text = {key: [string(r[key]) if key in r else None for r in found] for key in ("file_name", "doc_name")}
    any_doc = any(d is not None for d in docs)
    return {
        "id": ids([ident(r["id"]) for r in found]),
        "width": floats([optional_number(r, "width") for r in found]),
        "height": floats([optional_number(r, "height") for r in found]),
        "file_name": strings(text["file_name"], optional=True),
        "doc_id": strings(docs, optional=True),
        "doc_id_is_int": np.array([isinstance(r.get("doc_id"), Int) for r in found], np.uint8) if any_doc else None,
        "doc_name": strings(text["doc_name"], optional=True),
    }


def annotations(value: Any) -> dict[str, Any]:
    known = {"id", "image_id", "category_id", "bbox", "area", "iscrowd", "ignore", "score", "obb", "segmentation"}
    found = [record(m, known, {"image_id", "category_id"}) for m in rows(value)]
    with_id = [ident(r["id"]) for r in found if "id" in r]
    require(len(with_id) in (0, len(found)), "only some have an id")
    scored = any(r.get("score") is not None for r in found)
    scores = floats([optional_number(r, "score") for r in found])
    return {
        "id": ids(with_id) if with_id else None,
        "image_id": ids([ident(r["image_id"]) for r in found]),
        "category_id": ids([ident(r["category_id"]) for r in found]),
        "bbox": floats([box_or_mask(r) for r in found], 4),
        "area": floats([optional_number(r, "area") for r in found]),
        "iscrowd": np.array([flag(r.get("iscrowd")) for r in found], np.uint8),
        "ignore": np.array([flag(r.get("ignore")) for r in found], np.uint8),
        "score": scores if scored else None,
        "masks": masks(found),
    }


def has_mask(record: dict[str, Any]) -> bool:
    """Null and an empty list are no mask."""
    value = record.get("segmentation")
    return value is not None and not (value == [] and not isinstance(value, Members))


def box_or_mask(record: dict[str, Any]) -> list[float]:
    require("obb" not in record, "a turned box")
    require("bbox" in record or has_mask(record), "missing key")
    return box(record["bbox"]) if "bbox" in record else [0.0] * 4


def masks(found: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What stands where masks stand, and which rows have no box."""
    if not any(map(has_mask, found)):
        return None
    boxless = [int("bbox" not in r) for r in found]
    values = [r["segmentation"] if has_mask(r) else None for r in found]
    return {"values": values, "boxless": np.array(boxless, np.uint8) if any(boxless) else None}


def coco_truth(tree: Any) -> dict[str, Any]:
    require(isinstance(tree, Members), "not an object")
    top = record(tree, {key for key, _ in tree}, {"images", "annotations", "categories"})
    spans = {key: top[key] for key in ("images", "annotations", "categories", "info") if key in top}
    return {
        "kind": "coco_truth",
        "images": images(top["images"]),
        "annotations": annotations(top["annotations"]),
        "spans": spans,
    }


def coco_results(tree: Any) -> dict[str, Any]:
    needed = {"image_id", "category_id"}
    found = [record(m, needed | {"bbox", "score", "obb", "segmentation"}, needed) for m in rows(tree)]
    return {
        "kind": "coco_results",
        "image_id": ids([ident(r["image_id"]) for r in found]),
        "category_id": ids([ident(r["category_id"]) for r in found]),
        "bbox": floats([box_or_mask(r) for r in found], 4),
        "score": floats([optional_number(r, "score") for r in found]),
        "masks": masks(found),
    }


def label_map(value: Any) -> list[tuple[str, str]]:
    require(isinstance(value, Members) and len(value) > 0, "label_map")
    require(len({key for key, _ in value}) == len(value), "duplicate key")
    require(all(re.fullmatch("[1-9][0-9]*", key) for key, _ in value), "label number")
    return [(key, string(name, filled=True)) for key, name in value]


def snapshot(tree: Any) -> dict[str, Any]:
    keys = {"label_map", "info", "documents", "predictions"}
    top = record(tree, keys, keys, strict=True)
    require(isinstance(top["info"], Members), "info")
    doc_keys = ("doc_id", "doc_name", "doc_path")
    documents = [record(m, set(doc_keys), set(doc_keys), strict=True) for m in rows(top["documents"])]
    require(len(documents) > 0, "no documents")
    page_keys = {"page_id", "doc_id", "page_index", "objects"}
    pages = [record(m, page_keys, page_keys, strict=True) for m in rows(top["predictions"])]
    objects: list[tuple[int, dict[str, Any]]] = []
    for index, page in enumerate(pages):
        for m in rows(page["objects"]):
            r = record(m, {"id", "label", "bbox", "score", "attributes"}, {"id", "label", "bbox"}, strict=True)
            require(isinstance(r.get("attributes", Members()), Members), "attributes")
            objects.append((index, r))
        ids = [string(r["id"], filled=True) for at, r in objects if at == index]
        require(len(set(ids)) == len(ids), "an id occurs twice on one page")
        require(integer(page["page_index"]) >= 0, "negative page index")
    state = [0 if "score" not in r else 1 if r["score"] is None else 2 for _, r in objects]
    return {
        "kind": "snapshot",
        "label_map": label_map(top["label_map"]),
        "info": top["info"],
        "documents": {key: strings([string(r[key], filled=True) for r in documents]) for key in doc_keys},
        "pages": {
            "page_id": strings([string(r["page_id"], filled=True) for r in pages]),
            "doc": names([string(r["doc_id"], filled=True) for r in pages]),
            "page_index": np.array([integer(r["page_index"]) for r in pages], np.int64),
        },
        "objects": {
            "page": np.array([page for page, _ in objects], np.int32),
            "id": strings([string(r["id"], filled=True) for _, r in objects]),
            "label": names([string(r["label"], filled=True) for _, r in objects]),
            "bbox": floats([box(r["bbox"]) for _, r in objects], 4),
            "score": floats([optional_number(r, "score", nan=True) for _, r in objects]),
            "score_state": np.array(state, np.uint8),
        },
    }


def sniff(tree: Any) -> str:
    if isinstance(tree, Members):
        for key, _ in tree:
            if key in ("images", "annotations", "categories"):
                return "coco_truth"
            if key in ("label_map", "documents", "predictions"):
                return "snapshot"
        raise Reject("no key that tells")
    if tree == []:
        return "coco_results"
    require(
        isinstance(tree, list) and isinstance(tree[0], Members) and any(k == "image_id" for k, _ in tree[0]),
        "no list of results",
    )
    return "coco_results"


def columns_from_json(data: bytes, kind: str = "auto") -> dict[str, Any]:
    """The columns of a clean file; raises Reject where the scanner must raise ScanError."""
    tree = parse(data)
    read = {"coco_truth": coco_truth, "coco_results": coco_results, "snapshot": snapshot}
    return read[sniff(tree) if kind == "auto" else kind](tree)


def comparable(value: Any, data: bytes) -> Any:
    """Columns as plain nested data in which equal means identical to the bit; spans become what they point at."""
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], int):
        return comparable(parse(data[value[0] : value[1]]), data)
    if isinstance(value, Members):
        return ("object", [(k, comparable(v, data)) for k, v in value])
    if isinstance(value, dict) and "starts" in value:
        spans = zip(value["starts"].tolist(), value["ends"].tolist(), strict=True)
        values = [parse(data[start:end]) if end > start else None for start, end in spans]
        return comparable({"values": values, "boxless": value["boxless"]}, data)
    if isinstance(value, dict):
        return {k: comparable(v, data) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [comparable(v, data) for v in value]
    if isinstance(value, float):
        return value.hex()
    return (type(value).__name__, value)
