"""The JSON Schema of a layout result."""

from __future__ import annotations

from calque.core.result_schema import COUNT, SHARE, UNIT_ID, Schema, list_of, map_of, object_of, result_of
from calque.layout.numbers import NAMES


def result_schema() -> Schema:
    """The schema of what ``calque layout --format json`` prints."""
    block = {name: COUNT if name.endswith("_blocks") else SHARE for name in NAMES}
    sizes = object_of(dict.fromkeys(("documents", "pages", "truths", "predictions", "invalid"), COUNT))
    return result_of(
        "layout",
        {
            **block,
            "per_class": map_of(object_of(block)),
            "documents": map_of(object_of(block)),
            "confusion": map_of(map_of(COUNT)),
            "counts": sizes,
            "only_truth": list_of(UNIT_ID),
            "only_predictions": list_of(UNIT_ID),
        },
    )
