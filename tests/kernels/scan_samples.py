"""Small clean files of each kind, and ways to write them."""

from __future__ import annotations

import json
from typing import Any

TRUTH: dict[str, Any] = {
    "info": {"year": 2024, "note": "caf\u00e9 \u4e2d \U0001f600"},
    "licenses": [{"id": 1, "deep": [[[]], {}, [{"a": [1, -2.5e3, True, False, None]}]]}],
    "images": [
        {"id": 7, "width": 640, "height": 480.5, "file_name": "a.png", "doc_id": "d\u00e9", "doc_name": "first"},
        {"id": 3, "file_name": 'b\\"\n.png', "doc_id": 12},
        {"id": -2, "width": None, "height": 1e3, "coco_url": "http://x/y"},
    ],
    "annotations": [
        {
            "id": 1,
            "image_id": 7,
            "category_id": 1,
            "bbox": [0.1, 2, 3.25, 1e-7],
            "area": 12.5,
            "iscrowd": 0,
            "segmentation": [[1, 2.5, -3]],
        },
        {
            "id": 2,
            "image_id": 3,
            "category_id": 2,
            "bbox": [-0.0, 0, 123456789.123456789, 5],
            "area": None,
            "iscrowd": 1,
            "score": 0.5,
        },
        {
            "id": 9,
            "image_id": 7,
            "category_id": 1,
            "bbox": [1, 2, 3, 4],
            "ignore": True,
            "segmentation": {"counts": "abc", "size": [1, 2]},
        },
    ],
    "categories": [{"id": 1, "name": "Figure"}, {"id": 2, "name": "Table"}],
}

RESULTS: list[Any] = [
    {"image_id": 17, "category_id": 3, "bbox": [12.34, 5.6, 100.25, 33.0], "score": 0.873},
    {"image_id": 17, "category_id": 4, "bbox": [0, 1, 2, 3], "score": None},
    {"image_id": 18, "category_id": 3, "bbox": [0.30000000000000004, 1e22, 5e-324, 1.7976931348623157e308], "score": 1},
    {"image_id": 9223372036854775807, "category_id": -9223372036854775808, "bbox": [1, 2, 3, 4], "extra": {"a": []}},
]

NAMED_RESULTS: list[Any] = [
    {"image_id": 5, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5},
    {"image_id": "5", "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5},
    {"image_id": "p\u00e4ge", "category_id": "Table", "bbox": [1, 2, 3, 4], "score": 0.5},
    {"image_id": 5, "category_id": "Table", "bbox": [1, 2, 3, 4], "score": 0.5},
    {"image_id": "", "category_id": "\ud800", "bbox": [1, 2, 3, 4], "score": 0.5},
]

SNAPSHOT: dict[str, Any] = {
    "info": {"schema_version": "1.3", "type": "prediction", "run_id": None, "model": {"name": "m"}},
    "label_map": {"1": "Figure", "2": "Table", "10": "T\u00eate"},
    "documents": [
        {"doc_id": "d1", "doc_name": "one", "doc_path": "x/1.pdf"},
        {"doc_path": "x/2.pdf", "doc_id": "d2", "doc_name": "two"},
    ],
    "predictions": [
        {
            "page_id": "p1",
            "doc_id": "d2",
            "page_index": 0,
            "objects": [
                {"id": "o1", "label": "Table", "bbox": [0.1, 0.2, 0.3, 0.4], "score": 0.9},
                {"id": "o2", "label": "Figure", "bbox": [0, 0, 1, 1], "score": None, "attributes": {"a": [1, {"b": None}]}},
            ],
        },
        {"objects": [], "page_index": 3, "doc_id": "d1", "page_id": "p2"},
        {
            "page_id": "p3",
            "doc_id": "d2",
            "page_index": 1,
            "objects": [{"bbox": [0.5, 0.5, 0.75, 1.0], "label": "Table", "id": "o1"}],
        },
    ],
}

SAMPLES = {"truth": TRUTH, "results": RESULTS, "named": NAMED_RESULTS, "snapshot": SNAPSHOT, "empty": []}

STYLES: dict[str, dict[str, Any]] = {
    "default": {},
    "compact": {"separators": (",", ":")},
    "indent2": {"indent": 2},
    "indent4": {"indent": 4},
    "tabs": {"indent": "\t"},
    "spacious": {"separators": (" ,  ", "  :   ")},
    "long gaps": {"indent": 60},
}


def write(tree: Any, style: str = "default", *, ascii_only: bool = True) -> bytes:
    return json.dumps(tree, ensure_ascii=ascii_only, **STYLES[style]).encode("utf-8", "surrogatepass")
