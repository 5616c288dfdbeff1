"""What comparisons of ceilings rest on: which units a selection of all systems finds, and the rungs that are sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array, Strings
from calque.ceiling.outcomes import outcome_of
from calque.ceiling.units import EDGES, Level, levels_of
from calque.evaluation.document_sums import DocumentTallies, Replicates, Support, TalliedMetrics, WeightedMetrics, share
from calque.evaluation.item_outcomes import NO_FALSE_POSITIVES, RunOutcomes, TruthOutcomes, numbered, positions
from calque.evaluation.ledger import Ledger

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling


def run_outcomes(task: Ceiling, ledger: Ledger) -> RunOutcomes:
    """The units that count, at the lowest level."""
    level = Level(task, ledger, 0)
    truth, labels, rows = ledger.table("truth"), ledger.names["label"], level.rows.tolist()
    unit = level.document.tolist()
    place = positions(ledger.offsets("truth"), truth.array("unit"))
    ids = truth.get("id")
    if task.kind == "fields":
        path = truth["path"]
        names = [path[row] for row in rows]
        places, shown, pages = numbered(unit, names), names, [None] * len(rows)
    else:
        places = [place[row] for row in rows]
        shown = [place[row] if ids is None else ids[row] if isinstance(ids, Strings) else int(ids[row]) for row in rows]
        at = ledger.absolute("pages", level.document, truth.array("page")[level.rows])
        pages = ledger.table("pages").array("page_index")[at].tolist()
    truths = TruthOutcomes(
        unit, places, pages, shown,
        [labels[code] for code in truth.array("label")[level.rows].tolist()],
        outcome_of(level),
        level.selected.tolist(),
    )  # fmt: skip
    total = np.bincount(level.document, minlength=len(ledger.units))
    found = np.bincount(level.document[level.selected], minlength=len(ledger.units))
    return RunOutcomes(truths, NO_FALSE_POSITIVES, share(found, total))


def resampled(task: Ceiling, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
    """One sheet for each level."""
    return tuple(_tallies(level, name) for name, level in zip(task.levels, levels_of(task, ledger), strict=True))


def _tallies(level: Level, name: str) -> TalliedMetrics:
    at = "" if name == "value" else f"@{name}"
    sheet, size = DocumentTallies(), len(level.ledger.units)
    unit, nothing = level.document, np.zeros(len(level.document), np.int64)
    sheet.count("truths", unit, nothing, 1)
    for key, flags in (("selected", level.selected), ("unfound", level.masks == 0)):
        sheet.count(key, unit[flags], nothing[flags], 1)
    cells = np.zeros(len(level.cell_document), np.int64)
    for place, system in enumerate(level.task.systems):
        sheet.count(f"right/{system}", level.cell_document, cells, 1, level.right[:, place])
        sheet.count(f"found/{system}", level.cell_document, cells, 1, level.found[:, place])
    if level.task.kind != "fields":
        reached = level.ledger.table("truth").array("reached")[level.rows]
        for place, edge in enumerate(EDGES):
            there = reached[:, place] >= level.task.iou[level.level]
            sheet.count(edge, unit[there], nothing[there], 1)
            sheet.fractions(f"{edge}:iou", reached[:, place], unit, nothing, 1)
    with_truths = np.bincount(unit, minlength=size) > 0
    with_any = with_truths | (np.bincount(level.cell_document, minlength=size) > 0)
    names = list(_values(level, at, None))
    counted = {key: Support(with_any if ".f1" in key or ".precision" in key else with_truths) for key in names}
    return TalliedMetrics(sheet, counted, lambda sums: _values(level, at, sums))


def _values(level: Level, at: str, sums: Mapping[str, Array] | None) -> Replicates:
    """The numbers of the sums; without any, their names alone."""

    def of(name: str) -> Array:
        return np.zeros(1) if sums is None else sums[name][0].astype(np.float64)

    truths, selected = of("truths"), of("selected")
    found: Replicates = {f"recall{at}": share(selected, truths), f"unfound{at}": of("unfound")}
    if level.task.kind != "layout":
        found[f"f1{at}"] = np.where(truths > 0, share(2 * selected, truths + selected), np.nan)
    if level.task.kind != "fields":
        for edge in EDGES:
            found[f"{edge}.recall{at}"] = share(of(edge), truths)
            found[f"{edge}.mean_iou{at}"] = share(of(f"{edge}:iou"), truths)
    for system in level.task.systems:
        right, made = of(f"right/{system}"), of(f"found/{system}")
        found[f"single.recall{at}/{system}"] = share(right, truths)
        if level.task.kind != "layout":
            found[f"single.precision{at}/{system}"] = share(right, made)
            found[f"single.f1{at}/{system}"] = share(2 * right, truths + made)
    return found
