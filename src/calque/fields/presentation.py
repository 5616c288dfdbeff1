"""The numbers of fields for people and for other tools: tables, rows for spreadsheets, and the JSON Schema of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calque.core.presentation.result_schema import (
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
from calque.core.presentation.sections import Section

FIELD_HEAD = ("field", "TP", "FA", "FD", "FN", "TN", "precision", "recall", "F1", "accuracy", "score")
BOX_HEAD = ("class", "truths", "boxes", "AP", "AP50", "AP75", "mean IoU")
LISTED = 5


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
    shown = [_fields(numbers), _boxes(numbers["bbox_map_metrics"]), _confidences(numbers)]
    return [section for section in shown if section.rows or section.notes]


def _fields(numbers: Mapping[str, Any]) -> Section:
    rows = [_field_row(name, entry) for name, entry in numbers["fields"].items()]
    rows.append(_field_row("all", {**numbers["overall"], "mean_score": numbers["overall"]["weighted_overall_score"]}))
    documents = numbers["documents"]
    notes = [f"{numbers['document_count']:,} documents, {numbers['unaccounted_boxes']:,} boxes unaccounted for"]
    notes += [
        f"{len(names):,} documents only in the {side}: {_some(names)}"
        for side, names in (("truth", documents["only_truth"]), ("predictions", documents["only_predictions"]))
        if names
    ]
    return Section(title="Fields", head=FIELD_HEAD, rows=rows, notes=notes, rule_before=len(rows) - 1)


def _field_row(name: str, entry: Mapping[str, Any]) -> Sequence[Any]:
    tp, fa, fd, fn, tn = (entry[key] for key in ("tp", "fa", "fd", "fn", "tn"))
    # The JSON says 0.0 for 0/0, as its readers expect; people see that there is no number.
    precision = entry["cm_precision"] if tp + fa + fd else None
    recall = entry["cm_recall"] if tp + fn + fd else None
    f1 = entry["cm_f1"] if tp + fa + fd + fn else None
    return name, tp, fa, fd, fn, tn, precision, recall, f1, entry["cm_accuracy"], entry.get("mean_score")


def _boxes(boxes: Mapping[str, Any]) -> Section:
    if not boxes["fields"]:
        return Section(title="")
    rows: list[Sequence[Any]] = [
        (name, entry["num_gt"], entry["num_detections"], entry["ap"], entry["ap_50"], entry["ap_75"], entry["mean_iou"])
        for name, entry in boxes["fields"].items()
    ]
    truths, found = (sum(entry[key] for entry in boxes["fields"].values()) for key in ("num_gt", "num_detections"))
    rows.append(("mean", truths, found, boxes["mean_ap"], boxes["map_50"], boxes["map_75"], ""))
    coverage = boxes["coverage"]
    note = f"{coverage['fields_with_bbox']:,} of {coverage['fields_total']:,} compared fields have a truth box"
    return Section(title="Boxes", head=BOX_HEAD, rows=rows, notes=[note], rule_before=len(rows) - 1)


def _confidences(numbers: Mapping[str, Any]) -> Section:
    metrics = numbers["confidence_metrics"]
    if not metrics["coverage"]["fields_with_confidence"]:
        return Section(title="")
    overall = metrics["overall"]
    rows = [
        ("AUROC", overall["auroc"]["value"]),
        ("Brier score", overall["brier_score"]["value"]),
        ("calibration error", overall["ece"]["value"]),
        ("error capture gain", overall["error_capture_at_budget"]["value"]),
    ]
    return Section(title="Confidences", head=("measure", "value"), rows=rows, notes=[numbers["acceptance"]["meaning"]])


def _some(names: Sequence[int | str]) -> str:
    listed = ", ".join(str(name) for name in names[:LISTED])
    return listed if len(names) <= LISTED else f"{listed} and {len(names) - LISTED:,} more"


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each field, and one for all, with the JSON's own names."""
    names = ("tp", "fa", "fd", "fp", "tn", "fn", "cm_precision", "cm_recall", "cm_f1", "cm_accuracy", "mean_score")
    entries = {**numbers["fields"], "": {**numbers["overall"], "mean_score": numbers["overall"]["weighted_overall_score"]}}
    boxes = numbers["bbox_map_metrics"]["fields"]
    return [
        {"field": field, **{name: entry.get(name) for name in names}, "ap": boxes.get(field, {}).get("ap")}
        for field, entry in entries.items()
    ]


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
            "bbox_map_metrics": _boxes_schema(),
            "joint": map_of(object_of(joint)),
            "confidence_metrics": _confidences_schema(),
            "acceptance": _acceptance(),
            "document_count": COUNT,
            "unaccounted_boxes": COUNT,
            "boxes": object_of(dict.fromkeys(("truth", "predicted", "ignored"), COUNT)),
            "documents": object_of(dict.fromkeys(("only_truth", "only_predictions"), list_of(UNIT_ID))),
        },
    )


def _coverage(part: str) -> Schema:
    return object_of({part: COUNT, "fields_total": COUNT, "ratio": SHARE})


def _boxes_schema() -> Schema:
    """Average precision of boxes."""
    ratios = dict.fromkeys(("ap", "ap_50", "ap_75", "mean_iou"), SHARE)
    return object_of({
        **dict.fromkeys(("mean_ap", "map_50", "map_75"), SHARE),
        "iou_thresholds": list_of(NUMBER),
        "fields": map_of(object_of({**ratios, "num_gt": COUNT, "num_detections": COUNT})),
        "coverage": _coverage("fields_with_bbox"),
    })  # fmt: skip


def _confidences_schema() -> Schema:
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
