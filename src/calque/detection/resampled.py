"""Numbers of detection for weighted documents: COCO's AP and AR, and error kinds with what a repair would be worth for F1."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints, where_else
from calque.detection.average_precision import AREA_RANGES, image_order
from calque.detection.kinds.numbers import REPAIRS, VIEWS, Repair
from calque.evaluation.document_sums import (
    DocumentTallies,
    Replicates,
    Support,
    TalliedMetrics,
    WeightedMetrics,
    mean_over_rows,
    tied_rows,
)
from calque.evaluation.ledger import UNIT, Ledger
from calque.geometry.forms import COCO_THRESHOLDS, RECALL_POINTS
from calque.kernels import kernels
from calque.kernels.structs import Kind, Masks

if TYPE_CHECKING:
    from calque.detection.task import Detection

SINGLE = {"AP50": 0, "AP75": 5}
"""Averages at one threshold, and which."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The predictions of one area range that count at some threshold, by class and score."""

    unit: Codes
    tied: Bytes
    class_offsets: Ints
    matched: Masks
    ignored: Masks


class Averages(WeightedMetrics):
    """The twelve numbers, and AP of each class."""

    def __init__(self, task: Detection, ledger: Ledger) -> None:
        self._labels = ledger.names["label"]
        self._shown = [code for code, name in enumerate(self._labels) if not task.labels or name in task.labels]
        self._limits = task.max_detections
        self._truths = _truth_tables(ledger)
        self._sheet = DocumentTallies()
        ranked = _ranked(ledger, task.most_detections())
        everything = np.ones(len(ranked["rank"]), np.bool_)
        self._rows = [_rows(ranked, area, len(self._labels), everything) for area in range(len(self._truths))]
        hit = (ranked["matched"][:, 0] & ~ranked["ignored"][:, 0]) != 0
        self._first = {
            limit: _rows(ranked, 0, len(self._labels), hit & (ranked["rank"] < limit)) for limit in self._limits[:-1]
        }
        self._count_truths(ledger)
        self._counted = self._counts()

    def _count_truths(self, ledger: Ledger) -> None:
        truth, classes = ledger.table("truth"), len(self._labels)
        for area in range(len(self._truths)):
            rows = np.flatnonzero(truth.array("out_of_range")[:, area] == 0)
            self._sheet.count(f"truths {area}", truth.array(UNIT)[rows], truth.array("label")[rows], classes)

    def _counts(self) -> dict[str, Support]:
        units = self._truths[0].shape[0]
        everything = self._over_classes(0, units)
        counted = dict.fromkeys(("AP", *SINGLE, *(f"AR{limit}" for limit in self._limits)), everything)
        for area, size in enumerate(AREA_RANGES):
            if size:
                known = area < len(self._truths)
                of_size = self._over_classes(area, units) if known else Support(np.zeros(units, np.bool_))
                counted |= dict.fromkeys((f"AP{size}", f"AR{size}"), of_size)
        for code in self._shown:
            of_class = Support(self._truths[0][:, code])
            counted |= {f"{name}/{self._labels[code]}": of_class for name in ("AP", *SINGLE)}
        return counted

    def _over_classes(self, area: int, units: int) -> Support:
        flags = self._truths[area]
        return Support.over({self._labels[code]: flags[:, code] for code in self._shown if flags[:, code].any()}, units)

    def measures(self) -> Mapping[str, Support]:
        """The names of the numbers; truths decide which documents they are about."""
        return self._counted

    def replicates(self, weights: Codes, names: Collection[str], jobs: int = 1) -> Replicates:
        """The numbers; a range of sizes is left out unless somebody asks for it."""
        sums = self._sheet.sums(weights)
        found = {name: np.full(weights.shape[1], np.nan) for name in names}
        for area, size in enumerate(AREA_RANGES):
            if area < len(self._truths) and (not size or {f"AP{size}", f"AR{size}"} & set(names)):
                precision, recall = _curves(self._rows[area], RECALL_POINTS, sums[f"truths {area}"], weights, jobs)
                found |= {f"AP{size}": _mean(precision), f"AR{size or self._limits[-1]}": _mean(recall)}
                if not size:
                    found |= self._single(precision)
        for limit, rows in self._first.items():
            if f"AR{limit}" in names:
                _, recall = _curves(rows, (), sums["truths 0"], weights, jobs)
                found[f"AR{limit}"] = _mean(recall)
        return found

    def _single(self, precision: Floats) -> Replicates:
        found = {name: _mean(precision[[place]]) for name, place in SINGLE.items()}
        for code in self._shown:
            label = self._labels[code]
            found[f"AP/{label}"] = precision[:, code].mean(axis=0)
            found |= {f"{name}/{label}": precision[place, code] for name, place in SINGLE.items()}
        return found


def averages(task: Detection, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
    """The averages, if every prediction that is ranked has a score."""
    found = ledger.table("found")
    scores = found.array("score")
    if np.isnan(scores[found.array("rank") >= 0]).any() or (len(scores) and np.isnan(scores).all()):
        return ()
    return (Averages(task, ledger),)


def _curves(rows: Rows, points: Sequence[float], truths: Ints, weights: Codes, jobs: int) -> tuple[Floats, Floats]:
    """AP and the recall reached, by threshold, class and replicate; NaN without truths."""
    curves = kernels().weighted_precision(
        rows.unit, rows.tied, rows.class_offsets, rows.matched, rows.ignored, len(COCO_THRESHOLDS), truths,
        np.array(points, dtype=np.float64), weights, jobs,
    )  # fmt: skip
    precision, recall = (np.where(table < 0, np.nan, table) for table in curves)
    return precision, recall


def _mean(values: Floats) -> Floats:
    """The mean over classes of the mean over thresholds."""
    by_class = values.mean(axis=0)
    return mean_over_rows(by_class, np.ones((len(by_class), 1)))


def _truth_tables(ledger: Ledger) -> list[Flags]:
    """For each area range whether each document has truths of each class."""
    truth = ledger.table("truth")
    out = truth.array("out_of_range")
    tables = []
    for area in range(out.shape[1]):
        rows = np.flatnonzero(out[:, area] == 0)
        table = np.zeros((len(ledger.units), len(ledger.names["label"])), np.bool_)
        table[truth.array(UNIT)[rows], truth.array("label")[rows]] = True
        tables.append(table)
    return tables


def _ranked(ledger: Ledger, most: int) -> dict[str, Array]:
    """The columns of predictions that have a rank, by class and score; equal scores by document, or by image where there are.

    ``place`` is what copies of a document keep together: the document, or the image.
    """
    found = ledger.table("found")
    rank, unit = found.array("rank"), found.array(UNIT)
    labels = where_else((rank >= 0) & (rank < most), found.array("label"), -1)
    images = image_order(ledger)
    place = unit if images is None else ledger.absolute("pages", unit, found.array("page"))
    columns: dict[str, Array] = {
        "label": labels, "score": found.array("score"), "rank": rank, "matched": found.array("matched"),
        "ignored": found.array("ignored"), "unit": unit, "place": place,
    }  # fmt: skip
    if images is not None:
        columns = {name: column[images] for name, column in columns.items()}
    order, _ = kernels().score_order(columns["label"], columns["score"], len(ledger.names["label"]))
    return {name: column[order] for name, column in columns.items()}


def _rows(ranked: Mapping[str, Array], area: int, classes: int, wanted: Flags) -> Rows:
    """Of the rows that are wanted those that count at some threshold of an area range."""
    every = np.uint16((1 << len(COCO_THRESHOLDS)) - 1)
    kept = np.flatnonzero(wanted & ((ranked["ignored"][:, area] & every) != every))
    same = [ranked[name][kept] for name in ("label", "score", "place")]
    return Rows(
        ranked["unit"][kept].astype(np.int32),
        tied_rows(same),
        np.searchsorted(same[0], np.arange(classes + 1)).astype(np.int64),
        np.ascontiguousarray(ranked["matched"][kept, area]),
        np.ascontiguousarray(ranked["ignored"][kept, area]),
    )


def kind_tallies(task: Detection, ledger: Ledger) -> TalliedMetrics:
    """What each document adds to the counts of kinds."""
    sheet, labels = DocumentTallies(), ledger.names["label"]
    for side in ("truth", "found"):
        table = ledger.table(side)
        rows = np.flatnonzero(table.array("kind") != Kind.NONE)
        cells = table.array("label")[rows].astype(np.int64) * len(Kind) + table.array("kind")[rows]
        sheet.count(side, table.array(UNIT)[rows], cells, len(labels) * len(Kind))
    view, shown = VIEWS[task.errors], [code for code, name in enumerate(labels) if not task.labels or name in task.labels]

    def numbers(sums: Mapping[str, Array]) -> Replicates:
        grids = {side: sums[side].reshape(len(labels), len(Kind), sums[side].shape[1]) for side in ("truth", "found")}
        found: Replicates = {}
        for name, (side, kind) in view.measures().items():
            found[name] = grids[side][:, kind].sum(axis=0).astype(np.float64)
            for code in shown:
                found[f"{name}/{labels[code]}"] = grids[side][code, kind].astype(np.float64)
        per_truth, per_found = (grids[side].sum(axis=0) for side in ("truth", "found"))
        for kind, name in view.repairs.items():
            found[f"delta_f1/{name}"] = _delta_f1(per_truth, per_found, REPAIRS[kind])
        return found

    everything = Support(np.ones(len(ledger.units), np.bool_))
    objects = np.zeros(len(ledger.units), np.bool_)
    for side in ("truth", "found"):
        objects[ledger.table(side).array(UNIT)[ledger.table(side).array("kind") != Kind.NONE]] = True
    counts = [f"{name}{label}" for name in view.measures() for label in ("", *(f"/{labels[code]}" for code in shown))]
    return TalliedMetrics(
        sheet,
        {**dict.fromkeys(counts, everything), **{f"delta_f1/{name}": Support(objects) for name in view.repairs.values()}},
        numbers,
    )


def _delta_f1(per_truth: Array, per_found: Array, repaired: Repair) -> Floats:
    """As `delta_f1`, for many replicates at once."""
    tp = per_truth[Kind.TP]
    wrong, missed = per_found[1:].sum(axis=0) - tp, per_truth[1:].sum(axis=0) - tp
    won, gone = per_truth[list(repaired)].sum(axis=0), per_found[list(repaired)].sum(axis=0)
    gain = _f1(tp + won, wrong - gone, missed - won) - _f1(tp, wrong, missed)
    return np.where(tp + missed > 0, gain, np.nan)


def _f1(tp: Array, wrong: Array, missed: Array) -> Floats:
    below = 2 * tp + wrong + missed
    return np.asarray(np.divide(2 * tp, below, out=np.ones(below.shape), where=below != 0))
