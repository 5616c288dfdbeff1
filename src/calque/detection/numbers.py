"""The numbers of detection: tallies of a ledger, and the ratios that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.columns import Array, Codes, Flags, Floats, Ints
from calque.core.ledger import UNIT, Ledger
from calque.core.measures import Measure, Ratio, Undefined, counts, fraction_sums, weighted_mean
from calque.detection.scoring import Status

if TYPE_CHECKING:
    from calque.detection.task import Detection

SEED = "Document Snapshot Detection, Evaluation Specification 1.3"


@dataclass(frozen=True, slots=True)
class Tally:
    """What happened at one threshold, for each group (a class, a document, or everything)."""

    tp: Ints
    fp: Ints
    fn: Ints
    iou: Floats
    """Sums over the pairs, as the next two."""
    coverage: Floats
    purity: Floats


PRECISION = Ratio[Tally](
    "precision",
    "precision",
    "The share of predictions that are paired with a truth of the same label on the same page.",
    "TP / (TP + FP)",
    f"{SEED}, section 6.4",
    "no predictions",
    lambda t: t.tp,
    lambda t: t.tp + t.fp,
)
RECALL = Ratio[Tally](
    "recall",
    "recall",
    "The share of truths that are paired with a prediction of the same label on the same page.",
    "TP / (TP + FN)",
    f"{SEED}, section 6.5",
    "no truths",
    lambda t: t.tp,
    lambda t: t.tp + t.fn,
)
F1 = Ratio[Tally](
    "f1",
    "F1",
    "The harmonic mean of precision and recall; 0 when nothing is paired and something is there.",
    "2·TP / (2·TP + FP + FN)",
    f"{SEED}, section 6.5 (optional there)",
    "no truths and no predictions",
    lambda t: 2 * t.tp,
    lambda t: 2 * t.tp + t.fp + t.fn,
)
MEAN_IOU = Ratio[Tally](
    "mean_iou",
    "mean IoU",
    "How well paired boxes coincide: intersection over union, averaged over the pairs.",
    "mean of I / (P + G − I)",
    f"{SEED}, section 7.1",
    "no pairs",
    lambda t: t.iou,
    lambda t: t.tp,
)
MEAN_COVERAGE = Ratio[Tally](
    "mean_coverage",
    "coverage",
    "How much of the truth's area the prediction holds, averaged over the pairs. Low: crops lose titles and edges.",
    "mean of I / G",
    f"{SEED}, section 7.2",
    "no pairs",
    lambda t: t.coverage,
    lambda t: t.tp,
)
MEAN_PURITY = Ratio[Tally](
    "mean_purity",
    "purity",
    "How much of the prediction's area belongs to the truth, averaged over the pairs. Low: crops hold too much.",
    "mean of I / P",
    f"{SEED}, section 7.3",
    "no pairs",
    lambda t: t.purity,
    lambda t: t.tp,
)
RATIOS = (PRECISION, RECALL, F1, MEAN_IOU, MEAN_COVERAGE, MEAN_PURITY)
COUNTS = (
    Measure("tp", "TP", "True positives: pairs of a truth and a prediction.", "|pairs|", f"{SEED}, section 6.1", "never"),
    Measure(
        "fp", "FP", "False positives: predictions that count and are not paired.", "|P| − TP", f"{SEED}, section 6.2", "never"
    ),
    Measure("fn", "FN", "False negatives: truths that count and are not paired.", "|G| − TP", f"{SEED}, section 6.3", "never"),
)
MEASURES: tuple[Measure, ...] = (*RATIOS, *COUNTS)

SCOPES = {
    "micro": "counts are added up over all documents and classes, then divided",
    "macro_classes": "the mean of the classes that have a value, with class weights",
    "weighted_classes": "the mean of the classes that have a value, weighted by class weight times number of truths",
    "macro_documents": "the mean of the documents that have a value",
}


def measure(task: Detection, ledger: Ledger) -> dict[str, Any]:
    """The tree of numbers, in the shape of the JSON."""
    rows = _Rows(task, ledger)
    labels = [name for name in ledger.names["label"] if not task.labels or name in task.labels]
    documents = ledger.table("documents")
    return {
        "thresholds": list(task.iou),
        "metrics": {repr(threshold): _at(task, rows, labels, threshold) for threshold in task.iou},
        "counts": rows.sizes(),
        "documents": {
            "only_truth": _unit_list(ledger, documents.array("in_truth") & ~documents.array("in_found")),
            "only_predictions": _unit_list(ledger, documents.array("in_found") & ~documents.array("in_truth")),
        },
    }


def _unit_list(ledger: Ledger, flags: Array) -> list[int | str]:
    return [ledger.units[position] for position in np.flatnonzero(flags)]


class _Rows:
    """The columns of a ledger that numbers need, looked up once for all thresholds and groupings."""

    def __init__(self, task: Detection, ledger: Ledger) -> None:
        truth, found = ledger.table("truth"), ledger.table("found")
        self.ledger = ledger
        self.truth_unit, self.truth_label = truth.array(UNIT), truth.array("label")
        self.found_unit, self.found_label = found.array(UNIT), found.array("label")
        self.truth_status, self.found_status = truth.array("status"), found.array("status")
        self.iou, self.coverage, self.purity = (truth.array(name) for name in ("iou", "coverage", "purity"))
        self.found_iou, self.absorbed = found.array("iou"), found.array("absorbed")
        self.truth_counts: Flags = self.truth_status == Status.COUNTED
        self.found_counts: Flags = self.found_status == Status.COUNTED
        self.pages_in_play = _in_play(task, ledger)[ledger.table("pages").array(UNIT)]

    def tally(self, threshold: float, truth_group: Codes | None, found_group: Codes | None, size: int) -> Tally:
        """TP, FP, FN and spatial sums for each group; without groups everything is one."""
        paired: Flags = self.iou >= threshold
        missed = self.truth_counts & ~paired
        tp_group = _members(truth_group, paired)
        return Tally(
            tp=counts(tp_group, size),
            fp=counts(_members(found_group, self.false_positives(threshold)), size),
            fn=counts(_members(truth_group, missed), size),
            iou=fraction_sums(self.iou[paired], tp_group, size),
            coverage=fraction_sums(self.coverage[paired], tp_group, size),
            purity=fraction_sums(self.purity[paired], tp_group, size),
        )

    def false_positives(self, threshold: float) -> Flags:
        """Predictions that count, are not paired, and do not lie on an ignored truth."""
        return np.asarray(self.found_counts & ~(self.found_iou >= threshold) & ~(self.absorbed >= threshold))

    def on_empty_pages(self, threshold: float) -> dict[str, int]:
        """False positives on pages without any truth: what a model makes up where there is nothing."""
        ledger = self.ledger
        pages = ledger.table("pages").height
        truth_page = ledger.absolute("pages", self.truth_unit, ledger.table("truth").array("page"))
        found_page = ledger.absolute("pages", self.found_unit, ledger.table("found").array("page"))
        empty = self.pages_in_play & (counts(truth_page[self.truth_status <= Status.SMALL], pages) == 0)
        wrong = counts(found_page[self.false_positives(threshold)], pages) * empty
        return {"pages": int(empty.sum()), "pages_with_fp": int((wrong > 0).sum()), "fp": int(wrong.sum())}

    def sizes(self) -> dict[str, Any]:
        """How many of everything there are, and how many do not count and why."""
        names = self.ledger.names["status"]

        def left_out(status: Array) -> dict[str, int]:
            per_status = counts(status, len(names)).tolist()
            return {name: count for name, count in zip(names[1:], per_status[1:], strict=True) if count}

        return {
            "documents": len(self.ledger.units),
            "pages": self.ledger.table("pages").height,
            "truths": len(self.truth_status),
            "predictions": len(self.found_status),
            "truths_not_counted": left_out(self.truth_status),
            "predictions_not_counted": left_out(self.found_status),
        }


def _in_play(task: Detection, ledger: Ledger) -> Flags:
    """For each document whether its objects count: under ``missing="intersect"`` both sides must know it."""
    known = ledger.table("documents")
    both: Flags = known.array("in_truth") & known.array("in_found")
    return both if task.missing == "intersect" else np.ones_like(both)


def _members(group: Codes | None, chosen: Flags) -> Array:
    if group is None:
        return np.zeros(int(chosen.sum()), dtype=np.int32)
    return group[chosen]


def _at(task: Detection, rows: _Rows, labels: Sequence[str], threshold: float) -> dict[str, Any]:
    ledger = rows.ledger
    everything = _blocks(rows.tally(threshold, None, None, 1))[0]
    by_label = _blocks(rows.tally(threshold, rows.truth_label, rows.found_label, len(ledger.names["label"])))
    per_class = {name: block for name, block in zip(ledger.names["label"], by_label, strict=True) if name in labels}
    by_document = rows.tally(threshold, rows.truth_unit, rows.found_unit, len(ledger.units))
    given = dict(task.class_weight)
    weights = [given.get(name, 1.0) for name in per_class]
    support = [weight * (block["tp"] + block["fn"]) for weight, block in zip(weights, per_class.values(), strict=True)]
    return {
        "micro": everything,
        "macro_classes": _mean_over_classes(per_class, weights),
        "weighted_classes": _mean_over_classes(per_class, support),
        "macro_documents": {ratio.name: _mean_over_documents(ratio, by_document) for ratio in RATIOS},
        "per_class": per_class,
        "empty_pages": rows.on_empty_pages(threshold),
    }


def _blocks(tally: Tally) -> list[dict[str, Any]]:
    """For each group of a tally its counts and ratios by name."""
    columns: dict[str, list[Any]] = {"tp": tally.tp.tolist(), "fp": tally.fp.tolist(), "fn": tally.fn.tolist()}
    columns.update((ratio.name, ratio.numbers(tally)) for ratio in RATIOS)
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _mean_over_classes(per_class: dict[str, dict[str, Any]], weights: Sequence[float]) -> dict[str, float | Undefined]:
    return {
        ratio.name: weighted_mean([block[ratio.name] for block in per_class.values()], weights, "no class has a value")
        for ratio in RATIOS
    }


def _mean_over_documents(ratio: Ratio[Tally], tally: Tally) -> float | Undefined:
    values = ratio.values(tally)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Undefined("no document has a value")
    return float(fraction_sums(defined, np.zeros(len(defined), dtype=np.int32), 1)[0] / len(defined))
