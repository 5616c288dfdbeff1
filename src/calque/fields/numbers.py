"""The numbers of fields: counts and scores by field, boxes, confidences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import grouped_rows
from calque.engines import run_parallel, threads_for
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import ExactSum, Measure
from calque.evaluation.task import is_number
from calque.fields.accounting.rows import OUTCOME_NAMES
from calque.fields.confidence.average_precision import BoxTotals, box_metrics, joint_metrics
from calque.fields.confidence.calibration import Ratings
from calque.fields.failures import failures, wholly_right, worst_documents

if TYPE_CHECKING:
    from calque.fields.task import Fields

COUNTS = ("tp", "fa", "fd", "fp", "tn", "fn", "num_gt", "num_detections")
SLOW = ("error_capture_at_budget",)
"""What depends on how equal confidences are ordered, and is measured anew for every replicate."""
SEED = "Bounding Box mAP Metrics (stickler)"


def measure(task: Fields, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:
    """The tree of numbers, in the shape of the JSON."""
    documents = DocumentTotals(ledger)
    total = documents.sums
    fields = field_counts(task, ledger)

    def boxes() -> dict[str, Any]:
        totals = BoxTotals(ledger, task.iou)
        located = box_metrics(ledger, totals, (total["with_box"], total["total"]), task.iou)
        return {"bbox_map_metrics": located, "joint": joint_metrics(totals, task.iou)}

    def confidences() -> dict[str, Any]:
        ratings = Ratings(ledger, task.target_precision)
        return {
            "confidence_metrics": ratings.confidence_metrics(total["rated"]),
            "acceptance": ratings.acceptance(),
            "calibration": ratings.calibration(),
        }

    located, rated = run_parallel(threads_for(total["total"], jobs), boxes, confidences)
    return {
        "schema": {"inferred_from": json.loads(task.schema).get("inferred")},
        "overall": overall(task, documents, fields),
        "fields": fields,
        **located,
        **rated,
        "failures": failures(ledger),
        "wholly_right": wholly_right(ledger),
        "worst_documents": worst_documents(ledger),
        "not_in_schema": outside(ledger),
        "document_count": total["counted"],
        "unaccounted_boxes": total["unaccounted"],
        "boxes": {
            "truth": total["truth_boxes"],
            "predicted": total["found_boxes"],
            "ignored": total["ignored_boxes"],
        },
        "documents": {
            "only_truth": [ledger.units[unit] for unit in sorted(documents.only_truth)],
            "only_predictions": [ledger.units[unit] for unit in sorted(documents.only_found)],
        },
    }


def outside(ledger: Ledger) -> dict[str, int]:
    """The fields that the schema does not know, and how often they occur, the most frequent first."""
    names = ledger.names["name"]
    totals = np.zeros(len(names), np.int64)
    for rows in ledger.chunks("outside"):
        np.add.at(totals, rows.array("name"), rows.array("count"))
    return dict(sorted(zip(names, totals.tolist(), strict=True), key=lambda each: (-each[1], each[0])))


class DocumentTotals:
    """What the documents add up to."""

    def __init__(self, ledger: Ledger) -> None:
        self.sums: Counter[str] = Counter()
        """Columns of whole numbers."""
        self.only_truth: list[int] = []
        self.only_found: list[int] = []
        score = ExactSum()
        for rows in ledger.chunks("documents"):
            in_truth, in_found = rows.array("in_truth"), rows.array("in_found")
            self.only_truth += rows.array(UNIT)[in_truth & ~in_found].tolist()
            self.only_found += rows.array(UNIT)[in_found & ~in_truth].tolist()
            self.sums.update({name: int(rows.array(name).sum()) for name in rows if name not in (UNIT, "score")})
            score.add(rows.array("score")[rows.array("counted")])
        self.score = score.value()


def field_counts(task: Fields, ledger: Ledger) -> dict[str, dict[str, Any]]:
    """For each field of the schema that occurs: its outcomes, the ratios made of them, and its mean score."""
    names = ledger.names["field"]
    totals = {name: np.zeros(len(names), np.int64) for name in (*OUTCOME_NAMES, "scored")}
    scores = [ExactSum() for _ in names]
    occurs: set[int] = set()
    for rows in ledger.chunks("counts"):
        field = rows.array("field")
        for name in totals:
            totals[name] += np.bincount(field, rows.array(name), len(names)).astype(np.int64)
        for code, here in grouped_rows(field, len(names)):
            occurs.add(code)
            scores[code].add(rows.array("score")[here])
    result = {}
    for code in sorted(occurs):
        outcomes = {name: int(total[code]) for name, total in totals.items()}
        entry = with_ratios(outcomes, recall_with_fd=task.recall_with_fd)
        if outcomes["scored"]:
            entry["mean_score"] = scores[code].value() / outcomes["scored"]
        result[names[code]] = entry
    return result


def overall(task: Fields, documents: DocumentTotals, fields: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The outcomes of the fields at the root, where lists count their items, and of predicted keys without a field."""
    roots = [each.path for each in task.plan().fields if each.path in fields]
    totals = {name: sum(fields[path][name] for path in roots) for name in OUTCOME_NAMES}
    totals["fa"] += documents.sums["unknown"]
    entry = with_ratios(totals, recall_with_fd=task.recall_with_fd)
    counted = documents.sums["counted"]
    return {**entry, "weighted_overall_score": documents.score / counted if counted else 0.0}


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


def names(numbers: Mapping[str, Any]) -> list[str]:
    """Every measure that the numbers have."""
    return list(_names(numbers))


def compared(numbers: Mapping[str, Any]) -> list[str]:
    """Ratios, scores and averages."""
    return [name for name in _names(numbers) if name.partition("/")[0] not in (*COUNTS, *SLOW)]


def _names(numbers: Mapping[str, Any]) -> Iterator[str]:
    yield from _scope(numbers["overall"], numbers["fields"])
    boxes = numbers["bbox_map_metrics"]
    yield from _scope({name: value for name, value in boxes.items() if is_number(value)}, boxes["fields"])
    rated = numbers["confidence_metrics"]
    yield from _scope(rated["overall"], rated["fields"])


def _scope(everything: Mapping[str, Any], each: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from everything
    yield from (f"{name}/{label}" for label, block in each.items() for name in block)


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
    ("error_capture_at_budget", "error capture gain",
     "How many more errors a review of the least sure 30 % finds than one of any fields. Of equal confidences those of the "
     "field that occurs first are reviewed first, then by document and row.",
     "share of errors among the first max(1, ⌊n·b⌋) fields / (that number / n)", "no errors"),
)  # fmt: skip
MEASURES = tuple(Measure(name, title, text, formula, SEED, undefined) for name, title, text, formula, undefined in _ROWS)
