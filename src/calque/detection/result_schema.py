"""The JSON Schema of a detection result, for those who read results with other tools."""

from __future__ import annotations

from calque.core.result_schema import (
    COUNT,
    NUMBER,
    SHARE,
    UNIT_ID,
    Schema,
    list_of,
    map_of,
    object_of,
    perhaps,
    result_of,
)
from calque.detection.coco import NAMES
from calque.detection.numbers import RATIOS, SCOPES
from calque.detection.views import ASKED_FOR, view


def result_schema() -> Schema:
    """The schema of what ``calque detect --format json`` prints."""
    ratios = {ratio.name: SHARE for ratio in RATIOS}
    counted = object_of({"tp": COUNT, "fp": COUNT, "fn": COUNT, **ratios})
    scopes = {scope: counted if scope == "micro" else object_of(ratios) for scope in SCOPES}
    empty_pages = object_of({"pages": COUNT, "pages_with_fp": COUNT, "fp": COUNT})
    sizes = dict.fromkeys(("documents", "pages", "truths", "predictions"), COUNT)
    not_counted = dict.fromkeys(("truths_not_counted", "predictions_not_counted"), map_of(COUNT))
    return result_of(
        "detection",
        {
            "thresholds": {**list_of(NUMBER), "minItems": 1},
            "metrics": map_of(object_of({**scopes, "per_class": map_of(counted), "empty_pages": empty_pages})),
            "coco": _coco(),
            "counts": object_of({**sizes, **not_counted}),
            "documents": object_of(dict.fromkeys(("only_truth", "only_predictions"), list_of(UNIT_ID))),
        },
        # --errors none leaves errors out; a view is there when it was asked for, and null when it cannot be computed.
        {"errors": _errors(), **{name: perhaps(view(name).schema()) for name in ASKED_FOR}},
    )


def _coco() -> Schema:
    averages = {name: SHARE for name in NAMES if not name.startswith("AR1")}
    per_class = map_of(object_of(dict.fromkeys(("AP", "AP50", "AP75"), SHARE)))
    curves = object_of({}, {"recall": list_of(NUMBER), "precision": map_of(map_of(list_of(NUMBER)))})
    # AR1, AR10 and AR100 carry the limits that were asked for in their names.
    return {
        **object_of({**averages, "per_class": per_class, "curves": curves}),
        "patternProperties": {"^AR[0-9]+$": SHARE},
    }


def _errors() -> Schema:
    counted, shares = map_of(COUNT), map_of(SHARE)
    change = {"type": ["number", "null"], "minimum": -1, "maximum": 1}
    return object_of(
        {
            "predictions": counted,
            "truth": counted,
            "area_share": object_of({"predictions": shares, "truth": shares}),
            "impact": map_of(object_of({"delta_f1": change, "delta_ap": change})),
            "per_class": map_of(object_of({"predictions": counted, "truth": counted})),
            "worst_documents": list_of(
                object_of({"document": UNIT_ID, "errors": COUNT, "predictions": counted, "truth": counted})
            ),
        },
        # Only calque's own kinds have subtypes and flags.
        {"subtypes": counted, "flags": counted},
    )
