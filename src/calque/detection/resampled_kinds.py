"""Error kinds for weighted documents: how many there are of each, and what a repair would be worth for F1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calque.core.columns import Array, Floats
from calque.core.ledger import UNIT, Ledger
from calque.core.resampling.resampled import Counted, Replicates, Sheet, Tallies
from calque.detection.kinds.numbers import FOUND_KINDS, REPAIRS, TRUTH_KINDS, VIEWS, Repair, View
from calque.kernels.structs import Kind

if TYPE_CHECKING:
    from calque.detection.task import Detection


def kind_tallies(task: Detection, ledger: Ledger) -> Tallies:
    """What each document adds to the counts of kinds."""
    sheet, labels = Sheet(), ledger.names["label"]
    for side in ("truth", "found"):
        table = ledger.table(side)
        rows = np.flatnonzero(table.array("kind") != Kind.NONE)
        cells = table.array("label")[rows].astype(np.int64) * len(Kind) + table.array("kind")[rows]
        sheet.count(side, table.array(UNIT)[rows], cells, len(labels) * len(Kind))
    view, shown = VIEWS[task.errors], [code for code, name in enumerate(labels) if not task.labels or name in task.labels]

    def numbers(sums: Mapping[str, Array]) -> Replicates:
        grids = {side: sums[side].reshape(len(labels), len(Kind), sums[side].shape[1]) for side in ("truth", "found")}
        found: Replicates = {}
        for name, (side, kind) in _named(view).items():
            found[name] = grids[side][:, kind].sum(axis=0).astype(np.float64)
            for code in shown:
                found[f"{name}/{labels[code]}"] = grids[side][code, kind].astype(np.float64)
        per_truth, per_found = (grids[side].sum(axis=0) for side in ("truth", "found"))
        for kind, name in view.repairs.items():
            found[f"delta_f1/{name}"] = _delta_f1(per_truth, per_found, REPAIRS[kind])
        return found

    everything = Counted(np.ones(len(ledger.units), np.bool_))
    objects = np.zeros(len(ledger.units), np.bool_)
    for side in ("truth", "found"):
        objects[ledger.table(side).array(UNIT)[ledger.table(side).array("kind") != Kind.NONE]] = True
    counts = [f"{name}{label}" for name in _named(view) for label in ("", *(f"/{labels[code]}" for code in shown))]
    return Tallies(
        sheet,
        {**dict.fromkeys(counts, everything), **{f"delta_f1/{name}": Counted(objects) for name in view.repairs.values()}},
        numbers,
    )


def _named(view: View) -> dict[str, tuple[str, Kind]]:
    """The kinds that have a measure name, and the side that the name means."""
    sides = (("truth", TRUTH_KINDS, view.truth), ("found", FOUND_KINDS, view.found))
    return {kind.name: (side, kind) for side, kinds, names in sides for kind in kinds if names.get(kind) == kind.name}


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
