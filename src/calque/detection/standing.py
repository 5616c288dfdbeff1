"""How a detection run stands: what became of each truth at the lowest threshold, the false alarms, F1 of each document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calque.core.columns import Floats, Ints, Strings, Table
from calque.core.ledger import UNIT, Ledger
from calque.core.standing import Alarms, Standing, Truths, positions
from calque.detection.kinds.numbers import KINDS, VIEWS
from calque.detection.numbers import F1, Cut, empty_pages
from calque.detection.scoring import Status
from calque.geometry.boxes import corners
from calque.geometry.forms import FORMS
from calque.kernels.structs import Kind

if TYPE_CHECKING:
    from calque.detection.task import Detection

MISSED = "FN"
"""A truth that is not found, where kinds do not say more."""


def standing(task: Detection, ledger: Ledger) -> Standing:
    """At the lowest threshold; only truths that count."""
    cut = Cut(ledger, task.iou[0], empty_pages(task, ledger))
    scores = F1.values(cut.tally(UNIT, len(ledger.units)))
    return Standing(_truths(task, ledger, cut), _alarms(ledger, cut), scores)


def _truths(task: Detection, ledger: Ledger, cut: Cut) -> Truths:
    truth = cut.truth
    rows = np.flatnonzero(truth.array("status") == Status.COUNTED)
    right = truth.array("iou")[rows] >= task.iou[0]
    names = VIEWS.get(task.errors, KINDS).names
    unit = truth.array(UNIT)
    place = positions(ledger.offsets("truth"), unit)
    kinds = truth.array("kind")[rows].tolist() if "kind" in truth else [Kind.NONE] * len(rows)
    labels = ledger.names["label"]
    return Truths(
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


def _alarms(ledger: Ledger, cut: Cut) -> Alarms:
    found, rows = cut.found, cut.wrong
    labels = (*ledger.names["label"], "")
    names = [labels[code] for code in found.array("label")[rows].tolist()]
    boxes = _corners(found, rows) if "box" in found and "form" in found else None
    return Alarms(found.array(UNIT)[rows].tolist(), _pages(ledger, found, rows), names, boxes)


def _corners(found: Table, rows: Ints) -> Floats:
    boxes, form = found.array("box")[rows], found.array("form")[rows]
    ends = np.empty_like(boxes)
    for code in np.unique(form).tolist():
        ends[form == code] = corners(boxes[form == code], FORMS[code])
    return ends
