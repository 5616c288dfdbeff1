"""What boxes and confidences are worth for weighted documents: average precision, AUROC, calibration."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints
from calque.evaluation.document_sums import (
    DocumentTallies,
    Replicates,
    Support,
    TalliedMetrics,
    WeightedMetrics,
    mean_over_rows,
    share,
    tied_rows,
)
from calque.evaluation.ledger import UNIT, Ledger
from calque.fields.confidence.average_precision import MASK_BITS
from calque.fields.confidence.calibration import EDGES
from calque.fields.confidence.reliability import BINS
from calque.geometry.forms import DECIMAL_RECALL_POINTS
from calque.kernels import kernels

if TYPE_CHECKING:
    from calque.fields.task import Fields

SINGLE = {"50": 0.5, "75": 0.75}


def averages(task: Fields, ledger: Ledger) -> WeightedMetrics:
    """Mean average precision, and what is said of the boxes of each class."""
    return BoxAverages(ledger, task.iou)


class BoxAverages(WeightedMetrics):
    """Boxes by class and confidence, sorted once."""

    def __init__(self, ledger: Ledger, thresholds: tuple[float, ...]) -> None:
        self._labels = ledger.names["label"]
        self._thresholds = thresholds
        boxes = ledger.table("boxes")
        self._sheet, size = DocumentTallies(), len(self._labels)
        tables: list[Flags] = []
        for side in ("truth", "found"):
            rows = np.flatnonzero(boxes.array(f"has_{side}"))
            unit, label = boxes.array(UNIT)[rows], boxes.array("label")[rows]
            self._sheet.count(side, unit, label, size)
            table = np.zeros((len(ledger.units), size), np.bool_)
            table[unit, label] = True
            tables.append(table)
        self._sheet.fractions("iou", boxes.array("iou")[rows], unit, label, size)
        self._shown = [code for code in range(size) if tables[0][:, code].any() or tables[1][:, code].any()]
        self._set_rows(boxes.array("confidence")[rows], unit, label, boxes.array("iou")[rows], size)
        self._counted = self._counts(*tables)

    def _set_rows(self, confidence: Floats, unit: Array, label: Array, iou: Floats, size: int) -> None:
        known = np.where(np.isnan(confidence), 1.0, confidence)
        order = np.lexsort((np.arange(len(unit)), unit, -known, label))
        columns: list[Array] = [label[order], known[order], unit[order]]
        self._tied: Bytes = tied_rows(columns)
        self._unit: Codes = unit[order].astype(np.int32)
        self._offsets: Ints = np.searchsorted(columns[0], np.arange(size + 1)).astype(np.int64)
        self._met = np.searchsorted(self._thresholds, iou[order], side="right")

    def _counts(self, truth: Flags, found: Flags) -> dict[str, Support]:
        present = {self._labels[code]: truth[:, code] for code in self._shown if truth[:, code].any()}
        mean = Support.over(present, len(truth))
        counted = dict.fromkeys(("mean_ap", *(f"map_{name}" for name in SINGLE)), mean)
        everything = Support(np.ones(len(truth), np.bool_))
        for code in self._shown:
            label = self._labels[code]
            counted |= dict.fromkeys((f"ap/{label}", *(f"ap_{name}/{label}" for name in SINGLE)), Support(truth[:, code]))
            counted[f"mean_iou/{label}"] = Support(found[:, code])
            counted |= dict.fromkeys((f"num_gt/{label}", f"num_detections/{label}"), everything)
        return counted

    def measures(self) -> Mapping[str, Support]:
        """The names of the numbers; truth boxes decide which documents averages are about."""
        return self._counted

    def replicates(self, weights: Codes, names: Collection[str], jobs: int = 1) -> Replicates:  # noqa: ARG002  # one walk for all
        """All numbers of boxes."""
        sums = self._sheet.sums(weights)
        ap = self._precisions(sums["truth"], weights, jobs)
        at = {name: self._thresholds.index(limit) for name, limit in SINGLE.items() if limit in self._thresholds}
        nothing = np.full(weights.shape[1], np.nan)
        means = [mean_over_rows(one, np.ones((len(one), 1))) for one in ap]
        found: Replicates = {"mean_ap": np.mean(means, axis=0)}
        found |= {f"map_{name}": means[at[name]] if name in at else nothing for name in SINGLE}
        for code in self._shown:
            label, truths, detections = self._labels[code], sums["truth"][code], sums["found"][code]
            there = (truths > 0) | (detections > 0)
            found[f"ap/{label}"] = ap[:, code].mean(axis=0)
            found |= {f"ap_{name}/{label}": ap[at[name], code] if name in at else nothing for name in SINGLE}
            overlap = np.nan_to_num(share(sums["iou"][code], detections), nan=0.0)
            for name, values in (("mean_iou", overlap), ("num_gt", truths), ("num_detections", detections)):
                found[f"{name}/{label}"] = np.where(there, values, np.nan)
        return found

    def _precisions(self, truths: Ints, weights: Codes, jobs: int) -> Floats:
        """By threshold, class and replicate; NaN without truth boxes. Rounded as the plain number is."""
        parts = []
        for start in range(0, len(self._thresholds), MASK_BITS):
            bits = min(MASK_BITS, len(self._thresholds) - start)
            matched = ((1 << np.clip(self._met - start, 0, bits)) - 1).astype(np.uint16)
            precision, _ = kernels().weighted_precision(
                self._unit, self._tied, self._offsets, matched, np.zeros_like(matched), bits, truths,
                np.array(DECIMAL_RECALL_POINTS), weights, jobs,
            )  # fmt: skip
            parts.append(np.where(precision < 0, np.nan, np.round(precision, 15)))
        return np.concatenate(parts)


def calibration(ledger: Ledger) -> TalliedMetrics:
    """Brier score and expected calibration error, of everything and of each key."""
    ratings, keys = ledger.table("ratings"), ledger.names["key"]
    unit, key = ratings.array(UNIT), ratings.array("key").astype(np.int64)
    match, confidence = ratings.array("match"), ratings.array("confidence")
    sheet, size = DocumentTallies(), len(keys)
    sheet.fractions("squares", (confidence - match) ** 2, unit, key, size)
    cell = key * BINS + np.minimum(np.searchsorted(EDGES, confidence, side="right"), BINS - 1)
    sheet.count("in bin", unit, cell, size * BINS)
    sheet.count("right in bin", unit, cell, size * BINS, match)
    sheet.fractions("confidence", confidence, unit, cell, size * BINS)
    groups = _groups(ledger)

    def numbers(sums: Mapping[str, Array]) -> Replicates:
        tables = [sums[name].reshape(size, BINS, sums[name].shape[1]) for name in ("in bin", "right in bin", "confidence")]
        found: Replicates = {}
        for label, (codes, _) in groups.items():
            in_bin, right, summed = (table[codes].sum(axis=0) for table in tables)
            rows = in_bin.sum(axis=0)
            found[f"brier_score{label}"] = share(sums["squares"][codes].sum(axis=0), rows)
            error = np.zeros(len(rows))
            for place in range(BINS):
                apart = np.abs(share(right[place], in_bin[place]) - share(summed[place], in_bin[place]))
                error += np.nan_to_num(share(in_bin[place], rows) * apart, nan=0.0)
            found[f"ece{label}"] = np.where(rows > 0, error, np.nan)
        return found

    counted = {f"{name}{label}": Support(flags) for label, (_, flags) in groups.items() for name in ("brier_score", "ece")}
    return TalliedMetrics(sheet, counted, numbers)


def _groups(ledger: Ledger) -> dict[str, tuple[slice, Flags]]:
    """Everything under ``""`` and each key under ``/KEY``: which keys, and the documents that have ratings of them."""
    ratings = ledger.table("ratings")
    table = np.zeros((len(ledger.units), len(ledger.names["key"])), np.bool_)
    table[ratings.array(UNIT), ratings.array("key")] = True
    alone = {f"/{name}": slice(code, code + 1) for code, name in enumerate(ledger.names["key"]) if table[:, code].any()}
    return {label: (codes, np.asarray(table[:, codes].any(axis=1))) for label, codes in {"": slice(None), **alone}.items()}


def auroc(ledger: Ledger) -> WeightedMetrics:
    """How well confidences tell right from wrong."""
    return Auroc(ledger)


class Auroc(WeightedMetrics):
    """Rated fields by rising confidence, sorted once: everything together, then key by key."""

    def __init__(self, ledger: Ledger) -> None:
        ratings = ledger.table("ratings")
        self._groups = _groups(ledger)
        key, confidence = ratings.array("key"), ratings.array("confidence")
        together, by_key = np.argsort(confidence, kind="stable"), np.lexsort((confidence, key))
        rows = np.concatenate([together, by_key])
        size = len(ledger.names["key"])
        bounds = len(together) + np.searchsorted(key[by_key], np.arange(size + 1))
        self._offsets = np.concatenate([[0], bounds]).astype(np.int64)
        self._unit = ratings.array(UNIT)[rows].astype(np.int32)
        self._right = ratings.array("match")[rows].astype(np.uint8)
        level = confidence[rows]
        self._rises = np.append(True, level[1:] != level[:-1])[: len(rows)].astype(np.uint8)
        self._codes = {"": 0, **{f"/{name}": code + 1 for code, name in enumerate(ledger.names["key"])}}

    def measures(self) -> Mapping[str, Support]:
        """The names of the numbers; documents with ratings count."""
        return {f"auroc{label}": Support(flags) for label, (_, flags) in self._groups.items()}

    def replicates(self, weights: Codes, names: Collection[str], jobs: int = 1) -> Replicates:  # noqa: ARG002  # one walk for all
        """All areas under the curve."""
        areas = kernels().weighted_auroc(self._unit, self._right, self._rises, self._offsets, weights, jobs)
        return {f"auroc{label}": np.where(areas[code] < 0, np.nan, areas[code])
                for label, code in self._codes.items() if label in self._groups}  # fmt: skip
