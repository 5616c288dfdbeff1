"""The numbers of detection: tallies of a ledger, and the ratios that are made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.columns import Array, Flags, Floats, Ints, Table
from calque.core.ledger import UNIT, Ledger
from calque.core.measures import Measure, MeasureName, Ratio, Undefined, counts, fraction_mean, fraction_sums, weighted_mean
from calque.core.start_up import Frozen
from calque.core.task import is_number
from calque.detection import average_precision
from calque.detection.kinds import numbers
from calque.detection.scoring import EXCLUDED, INVALID, Status
from calque.engines import at_once, threads_for

if TYPE_CHECKING:
    from calque.detection.task import Detection

SEED = "Document Snapshot Detection, Evaluation Specification 1.3"


class Tally(Frozen):
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
MEASURES: tuple[Measure, ...] = (*RATIOS, *COUNTS, *average_precision.MEASURES, *numbers.MEASURES)

SCOPES = {
    "micro": "counts are added up over all documents and classes, then divided",
    "macro_classes": "the mean of the classes that have a value, with class weights",
    "weighted_classes": "the mean of the classes that have a value, weighted by class weight times number of truths",
    "macro_documents": "the mean of the documents that have a value",
}


def measure(task: Detection, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:
    """The tree of numbers, in the shape of the JSON."""
    documents = ledger.table("documents")
    empty = empty_pages(task, ledger)
    averages, kinds, *metrics = at_once(
        threads_for(ledger.table("found").height, jobs),
        lambda: average_precision.measure(task, ledger, jobs),
        lambda: {} if task.errors == "none" else {"errors": numbers.measure(task, ledger, jobs)},
        # The short ones last: they fill what the long ones leave.
        *(partial(_at, task, ledger, threshold, empty) for threshold in task.iou),
    )
    return {
        "thresholds": list(task.iou),
        "metrics": dict(zip(map(repr, task.iou), metrics, strict=True)),
        "coco": averages,
        **kinds,
        "counts": _sizes(ledger),
        "documents": {
            "only_truth": _unit_list(ledger, documents.array("in_truth") & ~documents.array("in_found")),
            "only_predictions": _unit_list(ledger, documents.array("in_found") & ~documents.array("in_truth")),
        },
    }


def _unit_list(ledger: Ledger, flags: Array) -> list[int | str]:
    return [ledger.units[position] for position in np.flatnonzero(flags)]


class Cut:
    """A ledger's outcomes at one threshold: the rows that are pairs, misses and false alarms."""

    def __init__(self, ledger: Ledger, threshold: float, empty_pages: Flags) -> None:
        self.ledger = ledger
        self.empty_pages = empty_pages
        self.truth, self.found = ledger.table("truth"), ledger.table("found")
        truth_counts = self.truth.array("status") == Status.COUNTED
        found_counts = self.found.array("status") == Status.COUNTED
        paired = self.truth.array("iou") >= threshold
        excused = self.found.array("absorbed") >= threshold
        self.pairs = np.flatnonzero(paired)
        self.missed = np.flatnonzero(truth_counts & ~paired)
        self.wrong = np.flatnonzero(found_counts & ~(self.found.array("iou") >= threshold) & ~excused)
        self.spatial = {name: self.truth.array(name)[self.pairs] for name in ("iou", "coverage", "purity")}

    def tally(self, column: str | None, size: int) -> Tally:
        """TP, FP, FN and spatial sums for each value of a column; without a column everything is one group."""
        pair_group = np.zeros(len(self.pairs), dtype=np.int32) if column is None else self.truth.array(column)[self.pairs]
        return Tally(
            tp=self._count(self.truth, column, self.pairs, size),
            fp=self._count(self.found, column, self.wrong, size),
            fn=self._count(self.truth, column, self.missed, size),
            **{name: fraction_sums(shares, pair_group, size) for name, shares in self.spatial.items()},
        )

    @staticmethod
    def _count(table: Table, column: str | None, rows: Ints, size: int) -> Ints:
        return np.array([len(rows)]) if column is None else counts(table.array(column)[rows], size)

    def on_empty_pages(self) -> dict[str, int]:
        """False positives on pages without any truth: what a model makes up where there is nothing."""
        empty = self.empty_pages
        if not empty.any():
            return {"pages": 0, "pages_with_fp": 0, "fp": 0}
        wrong = counts(page_rows(self.ledger, self.found, self.wrong), len(empty)) * empty
        return {"pages": int(empty.sum()), "pages_with_fp": int((wrong > 0).sum()), "fp": int(wrong.sum())}


def page_rows(ledger: Ledger, table: Table, rows: Ints) -> Ints:
    """The rows of the pages table that these rows stand on."""
    return ledger.absolute("pages", table.array(UNIT)[rows], table.array("page")[rows])


def empty_pages(task: Detection, ledger: Ledger) -> Flags:
    """For each page whether it is in play and has no truth, not even one that is ignored."""
    pages, truth = ledger.table("pages"), ledger.table("truth")
    there = np.flatnonzero(~np.isin(truth.array("status"), [*EXCLUDED, *INVALID]))
    without: Flags = counts(page_rows(ledger, truth, there), pages.height) == 0
    return without & _in_play(task, ledger)[pages.array(UNIT)]


def _sizes(ledger: Ledger) -> dict[str, Any]:
    """How many of everything there are, and how many do not count and why."""
    names = ledger.names["status"]
    truth, found = ledger.table("truth"), ledger.table("found")

    def left_out(status: Array) -> dict[str, int]:
        per_status = counts(status, len(names)).tolist()
        return {name: count for name, count in zip(names[1:], per_status[1:], strict=True) if count}

    return {
        "documents": len(ledger.units),
        "pages": ledger.table("pages").height,
        "truths": truth.height,
        "predictions": found.height,
        "truths_not_counted": left_out(truth.array("status")),
        "predictions_not_counted": left_out(found.array("status")),
    }


def _in_play(task: Detection, ledger: Ledger) -> Flags:
    """For each document whether its objects count: under ``missing="intersect"`` both sides must know it."""
    known = ledger.table("documents")
    both: Flags = known.array("in_truth") & known.array("in_found")
    return both if task.missing == "intersect" else np.ones_like(both)


def _at(task: Detection, ledger: Ledger, threshold: float, empty_pages: Flags) -> dict[str, Any]:
    """The numbers at one threshold."""
    cut = Cut(ledger, threshold, empty_pages)
    labels = [name for name in ledger.names["label"] if not task.labels or name in task.labels]
    everything = _blocks(cut.tally(None, 1))[0]
    by_label = _blocks(cut.tally("label", len(ledger.names["label"])))
    per_class = {name: block for name, block in zip(ledger.names["label"], by_label, strict=True) if name in labels}
    by_document = cut.tally(UNIT, len(ledger.units))
    given = dict(task.class_weight)
    weights = [given.get(name, 1.0) for name in per_class]
    support = [weight * (block["tp"] + block["fn"]) for weight, block in zip(weights, per_class.values(), strict=True)]
    return {
        "micro": everything,
        "macro_classes": _mean_over_classes(per_class, weights),
        "weighted_classes": _mean_over_classes(per_class, support),
        "macro_documents": {ratio.name: _mean_over_documents(ratio, by_document) for ratio in RATIOS},
        "per_class": per_class,
        "empty_pages": cut.on_empty_pages(),
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
    return fraction_mean(defined)


def names(tree: Mapping[str, Any]) -> list[str]:
    """Every measure that the numbers have."""
    return [*_by_threshold(tree), *_averages(tree["coco"]), *_errors(tree.get("errors", {}))]


def compared(tree: Mapping[str, Any]) -> list[str]:
    """Ratios and averages."""
    shown, counted = (*_by_threshold(tree), *_averages(tree["coco"])), [count.name for count in COUNTS]
    return [name for name in shown if name.partition("@")[0] not in counted and not name.startswith("empty_pages.")]


def _by_threshold(tree: Mapping[str, Any]) -> Iterator[str]:
    for threshold, scopes in tree["metrics"].items():
        for scope, block in scopes.items():
            if scope == "per_class":
                yield from (f"{name}@{threshold}/{label}" for label, own in block.items() for name in own)
            else:
                yield from (f"{'' if scope == 'micro' else scope + '.'}{name}@{threshold}" for name in block)


def _averages(coco: Mapping[str, Any]) -> Iterator[str]:
    yield from (name for name, value in coco.items() if is_number(value))
    yield from (f"{name}/{label}" for label, own in coco["per_class"].items() for name in own)


def _errors(errors: Mapping[str, Any]) -> Iterator[str]:
    sides = [side for side in ("predictions", "truth") if side in errors]
    known = (kind for side in sides for kind in errors[side] if numbers.address(MeasureName(kind)) is not None)
    kinds = list(dict.fromkeys(known))
    yield from kinds
    yield from (f"{kind}/{label}" for label in errors.get("per_class", {}) for kind in kinds)
    yield from (f"{name}/{kind}" for kind, worth in errors.get("impact", {}).items() for name in worth)
