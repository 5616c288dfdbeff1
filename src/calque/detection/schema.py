"""The JSON Schema of a detection result, for those who read results with other tools."""

from __future__ import annotations

from typing import Any

from calque.detection.coco import NAMES
from calque.detection.numbers import RATIOS, SCOPES
from calque.detection.views import VIEWS

_COUNT = {"type": "integer", "minimum": 0}
_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_UNIT_IDS = {"type": "array", "items": {"type": ["string", "integer"]}}


def _object(properties: dict[str, Any], *, required: bool = True) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": list(properties)} if required else schema


def _map_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": schema}


def _coco() -> dict[str, Any]:
    averages = {name: _SHARE for name in NAMES if not name.startswith("AR1")}
    per_class = _map_of(_object(dict.fromkeys(("AP", "AP50", "AP75"), _SHARE)))
    curve = _map_of({"type": "array", "items": {"type": "number"}})
    curves = _object({"recall": {"type": "array"}, "precision": _map_of(curve)}, required=False)
    # AR1, AR10 and AR100 carry the limits that were asked for in their names.
    return {**_object({**averages, "per_class": per_class, "curves": curves}), "patternProperties": {"^AR[0-9]+$": _SHARE}}


def _errors() -> dict[str, Any]:
    counted, shares = _map_of(_COUNT), _map_of(_SHARE)
    change = {"type": ["number", "null"], "minimum": -1, "maximum": 1}
    document = {"document": {"type": ["string", "integer"]}, "errors": _COUNT, "predictions": counted, "truth": counted}
    schema = _object({
        "predictions": counted,
        "truth": counted,
        "area_share": _object({"predictions": shares, "truth": shares}),
        "impact": _map_of(_object({"delta_f1": change, "delta_ap": change})),
        "per_class": _map_of(_object({"predictions": counted, "truth": counted})),
        "worst_documents": {"type": "array", "items": _object(document)},
    })  # fmt: skip
    # Only calque's own kinds have subtypes and flags.
    return {**schema, "properties": {**schema["properties"], "subtypes": counted, "flags": counted}}


def result_schema() -> dict[str, Any]:
    """The schema of what ``calque detect --format json`` prints."""
    ratios = {ratio.name: _SHARE for ratio in RATIOS}
    counted = _object({"tp": _COUNT, "fp": _COUNT, "fn": _COUNT, **ratios})
    scopes = {scope: counted if scope == "micro" else _object(ratios) for scope in SCOPES}
    empty_pages = _object({"pages": _COUNT, "pages_with_fp": _COUNT, "fp": _COUNT})
    source = {"type": "array", "items": _object({"file": {"type": "string"}, "model": {"type": "string"}})}
    issue = _object({
        "code": {"type": "string"},
        "severity": {"enum": ["error", "loss", "note"]},
        "file": {"type": "string"},
        "pointer": {"type": "string"},
        "message": {"type": "string"},
        "help": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
    })  # fmt: skip
    sizes = dict.fromkeys(("documents", "pages", "truths", "predictions"), _COUNT)
    not_counted = {"truths_not_counted": _map_of(_COUNT), "predictions_not_counted": _map_of(_COUNT)}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "calque detection result",
        **_object({
            "task": {"const": "detection"},
            "version": {"type": "string"},
            "signature": {"type": "string"},
            "settings": _map_of({"type": "string"}),
            "sources": _object({"truth": source, "predictions": source}),
            "thresholds": {"type": "array", "items": {"type": "number"}, "minItems": 1},
            "metrics": _map_of(_object({**scopes, "per_class": _map_of(counted), "empty_pages": empty_pages})),
            "coco": _coco(),
            "counts": _object({**sizes, **not_counted}),
            "documents": _object({"only_truth": _UNIT_IDS, "only_predictions": _UNIT_IDS}),
            "undefined": _map_of({"type": "string"}),
            "issues": {"type": "array", "items": issue},
        }),
    }  # fmt: skip
    schema["properties"]["errors"] = _errors()  # not required: --errors none leaves it out
    # A view is there when it was asked for, and null when it cannot be computed.
    schema["properties"] |= {name: {"type": ["object", "null"]} for name in VIEWS}
    return schema
