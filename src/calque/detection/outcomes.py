"""One row for each object: where it is, what happened to it, and with whom it is paired."""

from __future__ import annotations

import numpy as np

from calque.base.columns import Array, Column, Flags, Floats, Strings, Table
from calque.corpus.boxes import distinct_names
from calque.detection.kinds.numbers import KINDS, SUBTYPE_NAMES, View
from calque.detection.scoring import EXCLUDED, IGNORED, INVALID, STATUS_NAMES, Status
from calque.evaluation.ledger import UNIT, Ledger


def outcomes(ledger: Ledger, threshold: float, *, lowest: float, view: View = KINDS) -> Table:
    """Truths first, then predictions.

    ``outcome`` is tp, fn, fp, ignored, excluded or invalid; ``reason`` says why an object does not count. ``kind`` is the
    kind of error at its own limits, ``subtype`` says more about some kinds, ``kind_partner`` is the object that explains it.
    """
    if threshold < lowest:
        raise ValueError(f"boxes were paired at IoU {lowest} and above; outcomes at {threshold} are not known")
    truth, found = _side(ledger, "truth", threshold, view), _side(ledger, "found", threshold, view)
    columns: dict[str, Column] = {}
    for name, first in truth.items():
        second = found[name]
        if isinstance(first, list):
            columns[name] = Strings.pack([*first, *second])
        else:
            columns[name] = np.concatenate([first, second])
    return Table(columns)


def _side(ledger: Ledger, name: str, threshold: float, view: View) -> dict[str, list[str] | Array]:
    table = ledger.table(name)
    other = "found" if name == "truth" else "truth"
    unit, status = table.array(UNIT), table.array("status")
    iou = table.array("iou")
    paired: Flags = iou >= threshold
    pages = ledger.table("pages").array("page_index")
    partner = np.where(paired, ledger.absolute(other, unit, table.array("match")), -1)
    missing: Floats = np.full(table.height, np.nan)
    names = distinct_names(ledger.units)
    columns: dict[str, list[str] | Array] = {
        "document": [names[position] for position in unit.tolist()],
        "page": pages[ledger.absolute("pages", unit, table.array("page"))],
        "side": ["truth" if name == "truth" else "prediction"] * table.height,
        "id": _ids(table),
        "label": [(*ledger.names["label"], "")[code] for code in table.array("label").tolist()],
        "score": table.array("score") if "score" in table else missing,
        "outcome": _outcome(name, table, paired, threshold),
        "reason": ["" if code == Status.COUNTED else STATUS_NAMES[code] for code in status.tolist()],
        "iou": np.where(paired, iou, np.nan),
        "partner": _partner_ids(ledger.table(other), partner),
    }
    if "kind" in table:
        columns["kind"] = _kind(table, view)
        columns["subtype"] = _subtype(table)
        explained = table.array("partner") >= 0
        explaining = np.where(explained, ledger.absolute(other, unit, table.array("partner")), -1)
        columns["kind_partner"] = _partner_ids(ledger.table(other), explaining)
    if "box" in table:
        columns["box"] = table.array("box")
    return columns


def _kind(table: Table, view: View) -> list[str]:
    names = view.names
    return [names[code] for code in table.array("kind").tolist()]


def _subtype(table: Table) -> list[str]:
    if "subtype" not in table:
        return [""] * table.height
    return [SUBTYPE_NAMES[code] for code in table.array("subtype").tolist()]


def _ids(table: Table) -> list[str]:
    ids = table.get("id")
    if isinstance(ids, Strings):
        return ids.tolist()
    return [str(number) for number in (range(table.height) if ids is None else ids.tolist())]


def _partner_ids(other: Table, partner: Array) -> list[str]:
    ids = _ids(other)
    return ["" if row < 0 else ids[row] for row in partner.tolist()]


def _outcome(name: str, table: Table, paired: Flags, threshold: float) -> list[str]:
    status = table.array("status")
    outcome = np.full(table.height, "fn" if name == "truth" else "fp", dtype="<U8")
    if name == "found":
        outcome[table.array("absorbed") >= threshold] = "ignored"
    outcome[np.isin(status, IGNORED)] = "ignored"
    outcome[np.isin(status, EXCLUDED)] = "excluded"
    outcome[np.isin(status, INVALID)] = "invalid"
    outcome[paired] = "tp"
    return list(outcome.tolist())
