"""What comparisons of layout runs rest on: what became of each block, and the numbers for weighted documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Flags, Strings
from calque.evaluation.document_sums import DocumentTallies, Replicates, Support, TalliedMetrics, WeightedMetrics, share
from calque.evaluation.item_outcomes import NO_FALSE_POSITIVES, FalsePositives, RunOutcomes, TruthOutcomes, positions
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation.report_data import corners_of, page_rows
from calque.layout.numbers import NAMES, used_by, verdicts

if TYPE_CHECKING:
    from calque.layout.task import Layout


def run_outcomes(task: Layout, ledger: Ledger) -> RunOutcomes:
    """Only blocks that count; a prediction that no block takes is a false alarm."""
    truth, labels = ledger.table("truth"), ledger.names["label"]
    valid, matched, right = verdicts(truth, task.iou)
    rows = np.flatnonzero(valid)
    unit = truth.array(UNIT)
    place = positions(ledger.offsets("truth"), unit)
    kinds = np.select([right, matched], ["correct", "wrong"], "unmatched")
    at = ledger.absolute("pages", unit[rows], truth.array("page")[rows])
    ids = truth.get("id")
    chosen = rows.tolist()
    truths = TruthOutcomes(
        unit[rows].tolist(),
        [place[row] for row in chosen],
        ledger.table("pages").array("page_index")[at].tolist(),
        [place[row] if ids is None else ids[row] if isinstance(ids, Strings) else int(ids[row]) for row in chosen],
        [labels[code] for code in truth.array("label")[rows].tolist()],
        kinds[rows].tolist(),
        right[rows].tolist(),
    )
    total, correct = (np.bincount(unit[flags], minlength=len(ledger.units)) for flags in (valid, right))
    return RunOutcomes(truths, _alarms(ledger, matched), share(correct, total))


def _alarms(ledger: Ledger, matched: Flags) -> FalsePositives:
    """Predictions that no matched block takes; nothing where it was let go of which block takes which."""
    found = ledger.table("found")
    if "match" not in ledger.table("truth") or "box" not in found:
        return NO_FALSE_POSITIVES
    rows = np.flatnonzero(found.array("valid") & ~used_by(ledger, matched))
    page, labels = page_rows(ledger, "found"), ledger.names["label"]
    return FalsePositives(
        found.array(UNIT)[rows].tolist(),
        ledger.table("pages").array("page_index")[page[rows]].tolist(),
        [labels[code] for code in found.array("label")[rows].tolist()],
        corners_of(ledger, "found", page)[rows],
    )


def resampled(task: Layout, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
    """Blocks, matched blocks and right ones of each document, by class."""
    truth, labels = ledger.table("truth"), ledger.names["label"]
    sheet, tables = DocumentTallies(), []
    for name, flags in zip(("total", "matched", "correct"), verdicts(truth, task.iou), strict=True):
        rows = np.flatnonzero(flags)
        unit, label = truth.array(UNIT)[rows], truth.array("label")[rows]
        sheet.count(name, unit, label, len(labels))
        table = np.zeros((len(ledger.units), len(labels)), np.bool_)
        table[unit, label] = True
        tables.append(table)
    return (TalliedMetrics(sheet, _counted(labels, tables[0], tables[1]), lambda sums: _numbers(labels, sums)),)


def _counted(labels: tuple[str, ...], total: Flags, matched: Flags) -> dict[str, Support]:
    """Accuracy is about documents with matched blocks, all else about those with blocks."""
    counted: dict[str, Support] = {}
    for label, codes in (("", slice(None)), *((f"/{name}", slice(code, code + 1)) for code, name in enumerate(labels))):
        there, found = (Support(np.asarray(table[:, codes].any(axis=1))) for table in (total, matched))
        counted |= {f"{name}{label}": found if name == "layout_classification_accuracy" else there for name in NAMES}
    return counted


def _numbers(labels: tuple[str, ...], sums: Mapping[str, Array]) -> Replicates:
    found: Replicates = {}
    for label, codes in (("", slice(None)), *((f"/{name}", slice(code, code + 1)) for code, name in enumerate(labels))):
        total, matched, correct = (sums[name][codes].sum(axis=0) for name in ("total", "matched", "correct"))
        values = total, matched, correct, share(correct, matched), share(correct, total)
        found |= {f"{name}{label}": value.astype(np.float64) for name, value in zip(NAMES, values, strict=True)}
    return found
