"""The JSON Schema of a fields result."""

from __future__ import annotations

from calque.core.result_schema import (
    COUNT,
    MEASURE,
    NUMBER,
    SHARE,
    TEXT,
    UNIT_ID,
    Schema,
    list_of,
    map_of,
    object_of,
    result_of,
)

_COUNTED = {
    **dict.fromkeys(("tp", "fa", "fd", "fp", "tn", "fn"), COUNT),
    **dict.fromkeys(("cm_precision", "cm_recall", "cm_f1", "cm_accuracy"), SHARE),
}


def result_schema() -> Schema:
    """The schema of what ``calque fields --format json`` prints."""
    joint = {"correct": COUNT, **dict.fromkeys(("precision", "recall", "f1"), SHARE)}
    return result_of(
        "fields",
        {
            "overall": object_of({**_COUNTED, "weighted_overall_score": NUMBER}),
            "fields": map_of(object_of(_COUNTED, {"mean_score": NUMBER})),
            "bbox_map_metrics": _boxes(),
            "joint": map_of(object_of(joint)),
            "confidence_metrics": _confidences(),
            "acceptance": _acceptance(),
            "document_count": COUNT,
            "unaccounted_boxes": COUNT,
            "boxes": object_of(dict.fromkeys(("truth", "predicted", "ignored"), COUNT)),
            "documents": object_of(dict.fromkeys(("only_truth", "only_predictions"), list_of(UNIT_ID))),
        },
    )


def _coverage(part: str) -> Schema:
    return object_of({part: COUNT, "fields_total": COUNT, "ratio": SHARE})


def _boxes() -> Schema:
    """Average precision of boxes."""
    ratios = dict.fromkeys(("ap", "ap_50", "ap_75", "mean_iou"), SHARE)
    return object_of({
        **dict.fromkeys(("mean_ap", "map_50", "map_75"), SHARE),
        "iou_thresholds": list_of(NUMBER),
        "fields": map_of(object_of({**ratios, "num_gt": COUNT, "num_detections": COUNT})),
        "coverage": _coverage("fields_with_bbox"),
    })  # fmt: skip


def _confidences() -> Schema:
    """Calibration, over everything and for each key."""
    calibration_bin = {"range": list_of(NUMBER), "count": COUNT, "accuracy": SHARE, "mean_confidence": SHARE}
    budget = {
        "fields_reviewed": COUNT,
        "errors_found": COUNT,
        "pct_errors_caught": SHARE,
        "pct_errors_random": SHARE,
        "gain": NUMBER,
    }
    block = object_of({
        "auroc": object_of({"value": SHARE}),
        "brier_score": object_of({"value": SHARE}),
        "ece": object_of({"value": SHARE, "bins": list_of(object_of(calibration_bin))}),
        "error_capture_at_budget": object_of({"value": MEASURE, "budgets": map_of(object_of(budget))}),
    })  # fmt: skip
    return object_of({"overall": block, "fields": map_of(block), "coverage": _coverage("fields_with_confidence")})


def _acceptance() -> Schema:
    point = object_of(dict.fromkeys(("confidence", "precision", "recall", "accepted"), SHARE))
    block: dict[str, Schema] = {"operating_point": point, "meaning": TEXT, "sweep": list_of(point)}
    return object_of({"target_precision": SHARE, **block, "fields": map_of(object_of(block))})
