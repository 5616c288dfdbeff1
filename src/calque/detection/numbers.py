"""The numbers of detection: tallies of a ledger, and the ratios that are made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Flags, Floats, Ints, Table
from calque.detection import average_precision
from calque.detection.kinds import numbers
from calque.detection.scoring import EXCLUDED, INVALID, Status
from calque.engines import run_parallel, threads_for
from calque.evaluation.ledger import UNIT, Ledger, Piece
from calque.evaluation.measures import (
    Mean,
    Measure,
    MeasureName,
    Ratio,
    Undefined,
    counts,
    fraction_parts,
    joined_fractions,
    weighted_mean,
)
from calque.evaluation.task import is_number

if TYPE_CHECKING:
    from calque.detection.task import Detection

SEED = "Document Snapshot Detection, Evaluation Specification 1.3"


@dataclass(frozen=True, slots=True, eq=False)
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
MEASURES: tuple[Measure, ...] = (*RATIOS, *COUNTS, *average_precision.MEASURES, *numbers.MEASURES)

SPATIAL = ("iou", "coverage", "purity")
"""The columns of shares that are summed over pairs."""

SCOPES = {
    "micro": "counts are added up over all documents and classes, then divided",
    "macro_classes": "the mean of the classes that have a value, with class weights",
    "weighted_classes": "the mean of the classes that have a value, weighted by class weight times number of truths",
    "macro_documents": "the mean of the documents that have a value",
}


def measure(task: Detection, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:
    """The tree of numbers, in the shape of the JSON."""
    sizes = ledger.fold(Sizes)
    averages, kinds, *metrics = run_parallel(
        threads_for(sizes.found, jobs),
        lambda: average_precision.measure(task, ledger, jobs),
        lambda: {} if task.errors == "none" else {"errors": numbers.measure(task, ledger, jobs)},
        # The short ones last: they fill what the long ones leave.
        *(partial(_at, task, ledger, threshold) for threshold in task.iou),
    )
    return {
        "thresholds": list(task.iou),
        "metrics": dict(zip(map(repr, task.iou), metrics, strict=True)),
        "coco": averages,
        **kinds,
        "counts": {"documents": len(ledger.units), **sizes.tree()},
        "documents": {
            "only_truth": [ledger.units[place] for place in sorted(sizes.only_truth)],
            "only_predictions": [ledger.units[place] for place in sorted(sizes.only_found)],
        },
    }


@dataclass(frozen=True, slots=True, eq=False)
class EmptyPages:
    """The pages in play without any truth, not even one that is ignored."""

    flags: Flags
    """For each page whether it is one."""
    rows: Ints
    """The predictions on them."""
    pages: Ints
    """The page of each of these."""

    @classmethod
    def of(cls, task: Detection, ledger: Ledger) -> EmptyPages:
        """Those of a ledger."""
        pages, truth, found = (ledger.table(name) for name in ("pages", "truth", "found"))
        there = np.flatnonzero(~np.isin(truth.array("status"), [*EXCLUDED, *INVALID]))
        occupied = counts(_page_rows(ledger, truth)[there], pages.height) > 0
        flags: Flags = ~occupied & _in_play(task, ledger)[pages.array(UNIT)]
        page = _page_rows(ledger, found) if flags.any() else np.zeros(0, np.int64)
        if flags.any():
            flags[page[found.array("status") == Status.NOT_ANNOTATED]] = False
        rows = np.flatnonzero(np.take(flags, page))
        return cls(flags, rows, page[rows])


class Cut:
    """A ledger's outcomes at one threshold: the rows that are pairs, misses and false alarms."""

    def __init__(self, ledger: Ledger, threshold: float, empty: EmptyPages) -> None:
        self.ledger = ledger
        self.empty = empty
        self.truth, self.found = ledger.table("truth"), ledger.table("found")
        truth_counts = self.truth.array("status") == Status.COUNTED
        found_counts = self.found.array("status") == Status.COUNTED
        paired = self.truth.array("iou") >= threshold
        excused = self.found.array("absorbed") >= threshold
        self._is_wrong = found_counts & ~(self.found.array("iou") >= threshold) & ~excused
        self.pairs, self.missed = np.flatnonzero(paired), np.flatnonzero(truth_counts & ~paired)
        self.wrong = np.flatnonzero(self._is_wrong)
        self.spatial = {name: np.take(self.truth.array(name), self.pairs) for name in SPATIAL}

    def tally(self, column: str, size: int) -> Tally:
        """TP, FP, FN and spatial sums for each value of a column."""
        sums = Sums(size)
        sums.add(self, column)
        return sums.tally()

    def counts(self, column: str, size: int) -> list[Ints]:
        """TP, FP and FN for each value of a column."""
        rows = ("truth", self.pairs), ("found", self.wrong), ("truth", self.missed)
        if column == UNIT:  # rows stand document by document
            return [np.diff(np.searchsorted(chosen, self.ledger.offsets(table))) for table, chosen in rows]
        return [counts(np.take(self.ledger.table(table).array(column), chosen), size) for table, chosen in rows]

    def shares(self, column: str, size: int) -> dict[str, Ints]:
        """The spatial sums for each value of a column, as whole numbers that can be added up."""
        group = np.take(self.truth.array(column), self.pairs)
        return {name: fraction_parts(shares, group, size) for name, shares in self.spatial.items()}

    def wrong_on_empty_pages(self) -> Ints:
        """For each page that has no truth its false positives: what a model makes up where there is nothing; 0 elsewhere."""
        return counts(self.empty.pages[self._is_wrong[self.empty.rows]], len(self.empty.flags))

    def on_empty_pages(self) -> dict[str, int]:
        """How many pages without truth there are, on how many of them something is made up, and how much."""
        wrong = self.wrong_on_empty_pages()
        return {"pages": int(self.empty.flags.sum()), "pages_with_fp": int((wrong > 0).sum()), "fp": int(wrong.sum())}


def _page_rows(ledger: Ledger, table: Table) -> Ints:
    """The rows of the pages table that the rows of a table stand on."""
    return ledger.absolute("pages", table.array(UNIT), table.array("page"))


class Sizes:
    """How many of everything there are, how many do not count and why, and which documents only one side knows."""

    def __init__(self, piece: Piece) -> None:
        pages, documents = piece.ledger.table("pages"), piece.ledger.table("documents")
        truth, found = (piece.ledger.table(side).array("status") for side in ("truth", "found"))
        self._names = piece.ledger.names["status"]
        self.pages, self.truths, self.found = pages.height, len(truth), len(found)
        self._statuses = np.stack([counts(status, len(self._names)) for status in (truth, found)])
        in_truth, in_found = documents.array("in_truth"), documents.array("in_found")
        self.only_truth: list[int] = piece.places[np.flatnonzero(in_truth & ~in_found)].tolist()
        self.only_found: list[int] = piece.places[np.flatnonzero(in_found & ~in_truth)].tolist()

    def join(self, other: Sizes) -> Sizes:
        """Of both together."""
        self.pages, self.truths, self.found = self.pages + other.pages, self.truths + other.truths, self.found + other.found
        self._statuses += other._statuses
        self.only_truth += other.only_truth
        self.only_found += other.only_found
        return self

    def tree(self) -> dict[str, Any]:
        """What stands under ``counts`` in the JSON."""
        truths, found = (
            {name: count for name, count in zip(self._names[1:], row[1:], strict=True) if count}
            for row in self._statuses.tolist()
        )
        return {
            "pages": self.pages,
            "truths": self.truths,
            "predictions": self.found,
            "truths_not_counted": truths,
            "predictions_not_counted": found,
        }


def _in_play(task: Detection, ledger: Ledger) -> Flags:
    """For each document whether its objects count: under ``missing="intersect"`` both sides must know it."""
    known = ledger.table("documents")
    both: Flags = known.array("in_truth") & known.array("in_found")
    return both if task.missing == "intersect" else np.ones_like(both)


class AtThreshold:
    """What pieces of a ledger add up to at one threshold: by class, and as means over documents."""

    def __init__(self, task: Detection, threshold: float, piece: Piece) -> None:
        cut = Cut(piece.ledger, threshold, EmptyPages.of(task, piece.ledger))
        self.labels = Sums(len(piece.ledger.names["label"]))
        self.labels.add(cut, "label")
        self.documents = {ratio.name: Mean() for ratio in RATIOS}
        by_document = cut.tally(UNIT, len(piece.ledger.units))
        for ratio in RATIOS:
            self.documents[ratio.name].add(ratio.values(by_document))
        self.on_empty = Counter(cut.on_empty_pages())

    def join(self, other: AtThreshold) -> AtThreshold:
        """Of both together."""
        self.labels.join(other.labels)
        for name, mean in self.documents.items():
            mean.join(other.documents[name])
        self.on_empty.update(other.on_empty)
        return self


def _at(task: Detection, ledger: Ledger, threshold: float) -> dict[str, Any]:
    """The numbers at one threshold."""
    names = ledger.names["label"]
    sums = ledger.fold(partial(AtThreshold, task, threshold))
    everything = _blocks(sums.labels.whole().tally())[0]
    by_label = _blocks(sums.labels.tally())
    per_class = {name: block for name, block in zip(names, by_label, strict=True) if not task.labels or name in task.labels}
    given = dict(task.class_weight)
    weights = [given.get(name, 1.0) for name in per_class]
    support = [weight * (block["tp"] + block["fn"]) for weight, block in zip(weights, per_class.values(), strict=True)]
    return {
        "micro": everything,
        "macro_classes": _mean_over_classes(per_class, weights),
        "weighted_classes": _mean_over_classes(per_class, support),
        "macro_documents": {name: mean.value("no document has a value") for name, mean in sums.documents.items()},
        "per_class": per_class,
        "empty_pages": dict(sums.on_empty),
    }


class Sums:
    """What pieces of a ledger add up to at one threshold, for each group."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._counts = np.zeros((3, size), np.int64)
        self._shares = {name: np.zeros((2, size), np.int64) for name in SPATIAL}

    def add(self, cut: Cut, column: str) -> None:
        """Add the outcomes of a piece, by the values of a column."""
        self._counts += cut.counts(column, self._size)
        for name, parts in cut.shares(column, self._size).items():
            self._shares[name] += parts

    def join(self, other: Sums) -> None:
        """Add what another has."""
        self._counts += other._counts
        for name, parts in other._shares.items():
            self._shares[name] += parts

    def whole(self) -> Sums:
        """All groups as one."""
        whole = Sums(1)
        whole._counts = self._counts.sum(axis=1, keepdims=True)
        whole._shares = {name: parts.sum(axis=1, keepdims=True) for name, parts in self._shares.items()}
        return whole

    def tally(self) -> Tally:
        """Everything so far."""
        tp, fp, fn = self._counts
        return Tally(tp=tp, fp=fp, fn=fn, **{name: joined_fractions(parts) for name, parts in self._shares.items()})


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
