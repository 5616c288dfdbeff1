"""What comparisons of detection rest on: what became of each object, and the numbers for weighted documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Floats, Ints, Strings, Table
from calque.detection.kinds.numbers import KINDS, VIEWS
from calque.detection.numbers import F1, RATIOS, Cut, EmptyPages, Tally
from calque.detection.scoring import Status
from calque.evaluation.document_sums import (
    DocumentTallies,
    Replicates,
    Support,
    TalliedMetrics,
    WeightedMetrics,
    mean_over_rows,
    share,
)
from calque.evaluation.item_outcomes import FalsePositives, RunOutcomes, TruthOutcomes, positions
from calque.evaluation.ledger import UNIT, Ledger
from calque.geometry.boxes import corners
from calque.geometry.forms import FORMS
from calque.kernels.structs import Kind

if TYPE_CHECKING:
    from calque.detection.task import Detection


MISSED = "FN"
"""A truth that is not found, where kinds do not say more."""


def run_outcomes(task: Detection, ledger: Ledger) -> RunOutcomes:
    """At the lowest threshold; only truths that count."""
    cut = Cut(ledger, task.iou[0], EmptyPages.of(task, ledger))
    scores = F1.values(cut.tally(UNIT, len(ledger.units)))
    return RunOutcomes(_truths(task, ledger, cut), _alarms(ledger, cut), scores)


def _truths(task: Detection, ledger: Ledger, cut: Cut) -> TruthOutcomes:
    truth = cut.truth
    rows = np.flatnonzero(truth.array("status") == Status.COUNTED)
    right = truth.array("iou")[rows] >= task.iou[0]
    names = VIEWS.get(task.errors, KINDS).names
    unit = truth.array(UNIT)
    place = positions(ledger.offsets("truth"), unit)
    kinds = truth.array("kind")[rows].tolist() if "kind" in truth else [Kind.NONE] * len(rows)
    labels = ledger.names["label"]
    return TruthOutcomes(
        unit[rows].tolist(),
        [place[row] for row in rows.tolist()],
        _pages(ledger, truth, rows),
        _ids(truth, rows, place),
        [labels[code] for code in truth.array("label")[rows].tolist()],
        [
            names[Kind.TP] if found else names[kind] if kind not in (Kind.NONE, Kind.TP) else MISSED
            for found, kind in zip(right.tolist(), kinds, strict=True)
        ],
        right.tolist(),
    )


def _ids(table: Table, rows: Ints, place: list[int]) -> list[int | str]:
    """The objects' own ids, or where they stand in their documents."""
    ids = table.get("id")
    if ids is None:
        return [place[row] for row in rows.tolist()]
    return [ids[row] for row in rows.tolist()] if isinstance(ids, Strings) else ids[rows].tolist()


def _pages(ledger: Ledger, table: Table, rows: Ints) -> list[int]:
    at = ledger.absolute("pages", table.array(UNIT)[rows], table.array("page")[rows])
    return list(ledger.table("pages").array("page_index")[at].tolist())


def _alarms(ledger: Ledger, cut: Cut) -> FalsePositives:
    found, rows = cut.found, cut.wrong
    labels = (*ledger.names["label"], "")
    names = [labels[code] for code in found.array("label")[rows].tolist()]
    boxes = _corners(found, rows) if "box" in found and "form" in found else None
    return FalsePositives(found.array(UNIT)[rows].tolist(), _pages(ledger, found, rows), names, boxes)


def _corners(found: Table, rows: Ints) -> Floats:
    boxes, form = found.array("box")[rows], found.array("form")[rows]
    ends = np.empty_like(boxes)
    for code in np.unique(form).tolist():
        ends[form == code] = corners(boxes[form == code], FORMS[code])
    return ends


COUNTS = ("tp", "fp", "fn")
SHARES = ("iou", "coverage", "purity")
ON_EMPTY_PAGES = ("pages", "pages_with_fp", "fp")


def resampled(task: Detection, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
    """All that has a quick way; the worth of repairs for AP has none."""
    from calque.detection.resampled import averages, kind_tallies

    parts: list[WeightedMetrics] = [ThresholdTallies(task, ledger, threshold).part() for threshold in task.iou]
    if task.errors != "none":
        parts.append(kind_tallies(task, ledger))
    return (*parts, *averages(task, ledger))


class ThresholdTallies:
    """What each document adds to the numbers at one IoU threshold."""

    def __init__(self, task: Detection, ledger: Ledger, threshold: float) -> None:
        self._ledger = ledger
        self._threshold = threshold
        self._labels = ledger.names["label"]
        self._shown = [code for code, name in enumerate(self._labels) if not task.labels or name in task.labels]
        given = dict(task.class_weight)
        self._class_weights = np.array([given.get(self._labels[code], 1.0) for code in self._shown])[:, None]
        self._cut = Cut(ledger, threshold, EmptyPages.of(task, ledger))
        self._sheet = DocumentTallies()

    def part(self) -> TalliedMetrics:
        """The tallies, and the numbers that are made of them."""
        cut, size = self._cut, len(self._labels)
        for name, table, rows in (("tp", cut.truth, cut.pairs), ("fp", cut.found, cut.wrong), ("fn", cut.truth, cut.missed)):
            self._sheet.count(name, table.array(UNIT)[rows], table.array("label")[rows], size)
        unit, label = cut.truth.array(UNIT)[cut.pairs], cut.truth.array("label")[cut.pairs]
        for name in SHARES:
            self._sheet.fractions(name, cut.spatial[name], unit, label, size)
        documents = cut.tally(UNIT, len(self._ledger.units))
        for ratio in RATIOS:
            values = ratio.values(documents)
            defined = np.flatnonzero(~np.isnan(values))
            everything = np.zeros(len(defined), np.int64)
            self._sheet.fractions(f"document {ratio.name}", values[defined], defined, everything, 1)
            self._sheet.count(f"documents with {ratio.name}", defined, everything, 1)
        self._on_empty_pages()
        return TalliedMetrics(self._sheet, dict(self._counted(documents)), self._numbers)

    def _on_empty_pages(self) -> None:
        """How many pages without truths each document has, how many of them have false positives, and how many those are."""
        cut, pages = self._cut, self._ledger.table("pages")
        wrong = cut.wrong_on_empty_pages()
        unit, one_group = pages.array(UNIT), np.zeros(pages.height, np.int64)
        for name, values in zip(ON_EMPTY_PAGES, (cut.empty.flags, wrong > 0, wrong), strict=True):
            self._sheet.count(f"empty {name}", unit, one_group, 1, values)

    def _name(self, name: str, scope: str = "", label: str | None = None) -> str:
        return f"{scope and scope + '.'}{name}@{self._threshold!r}{'' if label is None else f'/{label}'}"

    def _counted(self, documents: Tally) -> Iterator[tuple[str, Support]]:
        """For every number the documents that count in its denominator."""
        units, size = len(self._ledger.units), len(self._labels)
        everything = Support(np.ones(units, np.bool_))
        cells = self._by_document_and_class(units, size)
        for name in COUNTS:
            yield self._name(name), everything
            yield from ((self._name(name, label=self._labels[code]), everything) for code in self._shown)
        for ratio in RATIOS:
            below = np.asarray(ratio.denominator(cells)) > 0
            classes = {self._labels[code]: below[:, code] for code in self._shown}
            yield self._name(ratio.name), Support(np.asarray(ratio.denominator(documents)) > 0)
            yield self._name(ratio.name, "macro_documents"), Support(~np.isnan(ratio.values(documents)))
            for scope in ("macro_classes", "weighted_classes"):
                yield self._name(ratio.name, scope), Support.over(classes, units)
            yield from ((self._name(ratio.name, label=label), Support(flags)) for label, flags in classes.items())
        yield from ((self._name(name, "empty_pages"), everything) for name in ON_EMPTY_PAGES)

    def _by_document_and_class(self, units: int, size: int) -> Tally:
        cut = self._cut
        nothing = np.zeros((units, size))

        def table(rows_of: Table, rows: Ints) -> Array:
            cells = rows_of.array(UNIT)[rows].astype(np.int64) * size + rows_of.array("label")[rows]
            return np.bincount(cells, minlength=units * size).reshape(units, size)

        tp, fp, fn = (table(*chosen) for chosen in ((cut.truth, cut.pairs), (cut.found, cut.wrong), (cut.truth, cut.missed)))
        return Tally(tp, fp, fn, nothing, nothing, nothing)

    def _numbers(self, sums: Mapping[str, Array]) -> Replicates:
        by_class = Tally(**{name: sums[name] for name in (*COUNTS, *SHARES)})
        everything = Tally(**{name: sums[name].sum(axis=0) for name in (*COUNTS, *SHARES)})
        support = self._class_weights * (by_class.tp + by_class.fn)[self._shown]
        found: Replicates = {}
        for name in COUNTS:
            found[self._name(name)] = getattr(everything, name).astype(np.float64)
            for code in self._shown:
                found[self._name(name, label=self._labels[code])] = getattr(by_class, name)[code].astype(np.float64)
        for ratio in RATIOS:
            values = ratio.values(by_class)[self._shown]
            found[self._name(ratio.name)] = ratio.values(everything)
            found[self._name(ratio.name, "macro_classes")] = mean_over_rows(values, self._class_weights)
            found[self._name(ratio.name, "weighted_classes")] = mean_over_rows(values, support)
            documents = sums[f"document {ratio.name}"][0], sums[f"documents with {ratio.name}"][0]
            found[self._name(ratio.name, "macro_documents")] = share(*documents)
            for row, code in enumerate(self._shown):
                found[self._name(ratio.name, label=self._labels[code])] = values[row]
        for name in ON_EMPTY_PAGES:
            found[self._name(name, "empty_pages")] = sums[f"empty {name}"][0].astype(np.float64)
        return found
