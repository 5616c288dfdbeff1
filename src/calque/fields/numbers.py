"""The numbers of fields: counts and scores by field, boxes, confidences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.columns import Array
from calque.core.ledger import Ledger
from calque.core.measures import Measure
from calque.fields.average_precision import box_metrics, joint_metrics
from calque.fields.book import OUTCOME_NAMES
from calque.fields.calibration import Ranked, acceptance, confidence_metrics

if TYPE_CHECKING:
    from calque.fields.task import Fields

SEED = "Bounding Box mAP Metrics (stickler)"


def measure(task: Fields, ledger: Ledger) -> dict[str, Any]:
    """The tree of numbers, in the shape of the JSON."""
    documents = ledger.table("documents")
    counted = documents.array("counted")

    def total(name: str) -> int:
        return int(documents.array(name).sum())

    fields = field_counts(task, ledger)
    ranked = Ranked.of(ledger.table("ratings"))
    in_truth, in_found = documents.array("in_truth"), documents.array("in_found")
    return {
        "overall": overall(task, ledger, fields),
        "fields": fields,
        "bbox_map_metrics": box_metrics(
            ledger.table("boxes"), ledger.names["label"], (total("with_box"), total("total")), task.iou
        ),
        "joint": joint_metrics(ledger.table("boxes"), task.iou),
        "confidence_metrics": confidence_metrics(ranked, ledger.names["key"], total("rated")),
        "acceptance": acceptance(ranked, ledger.names["key"], task.target_precision),
        "document_count": int(counted.sum()),
        "unaccounted_boxes": total("unaccounted"),
        "boxes": {
            "truth": total("truth_boxes"),
            "predicted": total("found_boxes"),
            "ignored": total("ignored_boxes"),
        },
        "documents": {
            "only_truth": _units(ledger, in_truth & ~in_found),
            "only_predictions": _units(ledger, in_found & ~in_truth),
        },
    }


def _units(ledger: Ledger, chosen: Array) -> list[int | str]:
    return [ledger.units[position] for position in np.flatnonzero(chosen)]


def field_counts(task: Fields, ledger: Ledger) -> dict[str, dict[str, Any]]:
    """For each field of the schema that occurs: its outcomes, the ratios made of them, and its mean score."""
    table = ledger.table("counts")
    names = ledger.names["field"]
    field = table.array("field")
    columns = {
        name: np.bincount(field, weights=table.array(name), minlength=len(names)).astype(np.int64) for name in OUTCOME_NAMES
    }
    result = {}
    for code in np.flatnonzero(np.bincount(field)).tolist():
        rows = field == code
        entry = with_ratios({name: int(column[code]) for name, column in columns.items()}, recall_with_fd=task.recall_with_fd)
        scored = int(table.array("scored")[rows].sum())
        if scored:
            entry["mean_score"] = math.fsum(table.array("score")[rows].tolist()) / scored
        result[names[code]] = entry
    return result


def overall(task: Fields, ledger: Ledger, fields: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The outcomes of the fields at the root, where lists count their items, and of predicted keys without a field."""
    roots = [each.path for each in task.plan().fields if each.path in fields]
    totals = {name: sum(fields[path][name] for path in roots) for name in OUTCOME_NAMES}
    documents = ledger.table("documents")
    totals["fa"] += int(documents.array("unknown").sum())
    scores = documents.array("score")[documents.array("counted")].tolist()
    entry = with_ratios(totals, recall_with_fd=task.recall_with_fd)
    return {**entry, "weighted_overall_score": math.fsum(scores) / len(scores) if scores else 0.0}


def with_ratios(outcomes: Mapping[str, int], *, recall_with_fd: bool) -> dict[str, Any]:
    """Counts with precision, recall, F1 and accuracy; 0/0 is 0.0 here, as teams with a history expect."""
    tp, fa, fd, fn, tn = (outcomes[name] for name in ("tp", "fa", "fd", "fn", "tn"))
    fp = fa + fd
    precision = _share(tp, tp + fp)
    recall = _share(tp, tp + fn + (fd if recall_with_fd else 0))
    return {
        "tp": tp,
        "fa": fa,
        "fd": fd,
        "fp": fp,
        "tn": tn,
        "fn": fn,
        "cm_precision": precision,
        "cm_recall": recall,
        "cm_f1": 2 * (precision * recall) / (precision + recall) if precision + recall > 0 else 0.0,
        "cm_accuracy": _share(tp + tn, tp + tn + fp + fn),
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


_ROWS = (
    ("cm_precision", "precision", "The share of what was predicted that is right; a wrong value counts against it.",
     "TP / (TP + FA + FD)", "nothing predicted (0.0 in the JSON)"),
    ("cm_recall", "recall", "The share of what is true that was found; --recall-with-fd counts wrong values as not found.",
     "TP / (TP + FN), or TP / (TP + FN + FD)", "nothing to find (0.0 in the JSON)"),
    ("cm_f1", "F1", "The harmonic mean of precision and recall.",
     "2·P·R / (P + R)", "both are 0 (0.0 in the JSON)"),
    ("cm_accuracy", "accuracy", "The share of fields that are right, those rightly left empty included.",
     "(TP + TN) / (TP + TN + FA + FD + FN)", "no fields (0.0 in the JSON)"),
    ("weighted_overall_score", "score", "The weighted mean of a document's field scores, averaged over documents.",
     "mean of Σ w·score / Σ w", "no documents (0.0 in the JSON)"),
    ("mean_ap", "mAP", "How well fields are located: average precision over recall points, IoU thresholds and classes.",
     "mean over thresholds of mean over classes of AP", "no truth boxes"),
    ("map_50", "mAP@.50", "The mean over classes of AP at IoU 0.5.", "mean over classes of AP50", "no truth boxes"),
    ("map_75", "mAP@.75", "The mean over classes of AP at IoU 0.75.", "mean over classes of AP75", "no truth boxes"),
    ("auroc", "AUROC", "How often a right field has a higher confidence than a wrong one.",
     "P(right > wrong) + ½ P(equal)", "all fields right, or all wrong"),
    ("brier_score", "Brier", "The mean squared difference between confidence and outcome.",
     "mean of (c − [right])²", "no confidences"),
    ("ece", "ECE", "How far confidences are from accuracy, over ten equal bins.",
     "Σ n/N · |accuracy − mean confidence|", "no confidences"),
)  # fmt: skip
MEASURES = tuple(Measure(name, title, text, formula, SEED, undefined) for name, title, text, formula, undefined in _ROWS)
