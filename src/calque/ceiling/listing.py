"""Suspects as they are listed: by how many systems agree, then by kind and place."""

from __future__ import annotations

from typing import Any

import numpy as np

from calque.ceiling.boxes.suspects import KINDS
from calque.ceiling.units import Level
from calque.core.columns import Array, Ints
from calque.core.ledger import UNIT

LISTED = 1000
"""How many are listed where nobody asks for more; all are counted."""


def suspects(level: Level) -> dict[str, Any]:
    """How many there are of each kind, and the first of them."""
    if level.task.kind == "fields":
        return _of_fields(level)
    ledger = level.ledger
    table = ledger.table("suspects")
    rows = np.flatnonzero(table.array("level") == level.level)
    unit, kind, systems = (table.array(name)[rows] for name in (UNIT, "kind", "systems"))
    counts = np.bincount(kind, minlength=len(KINDS)).tolist()
    wanted = max(LISTED, level.task.suspects)
    rows = rows[_first(kind.astype(np.int64) - len(KINDS) * systems, unit, wanted)]
    unit, kind, systems = (table.array(name)[rows] for name in (UNIT, "kind", "systems"))
    page = ledger.table("pages").array("page_index")[ledger.absolute("pages", unit, table.array("page")[rows])]
    box = table.array("box")[rows]
    order = np.lexsort((*box.T[::-1], page, unit, kind, -systems))[:wanted]
    labels = (*ledger.names["label"], "")
    others = (*ledger.names["other"], "")
    listed = []
    for place in order.tolist():
        row = int(rows[place])
        name = KINDS[kind[place]]
        entry: dict[str, Any] = {
            "document": ledger.units[unit[place]],
            "page": int(page[place]),
            "label": labels[table.array("label")[row]],
            "kind": name,
        }
        if name == "label":
            entry["other"] = others[table.array("other")[row]]
        entry["systems"] = int(systems[place])
        if name == "agreed":
            entry["covers"] = int(table.array("covers")[row])
        if name == "unfound":
            entry["best_iou"] = float(table.array("best_iou")[row])
        listed.append({**entry, "box": box[place].tolist()})
    return {**dict(zip(KINDS, counts, strict=True)), "listed": listed}


def _first(rank: Array, unit: Array, wanted: int) -> Ints:
    """The rows that may be among the first so many: by rank, then by document, whole documents at a time.

    Rows stand in the order of their documents, so that most need not be sorted.
    """
    order = np.argsort(rank.astype(np.int16), kind="stable")
    if len(order) <= wanted:
        return order
    last = order[wanted - 1]
    here = order[wanted:]
    more = np.flatnonzero((rank[here] != rank[last]) | (unit[here] != unit[last]))
    return order[: wanted + (int(more[0]) if len(more) else len(here))]


def _of_fields(level: Level) -> dict[str, Any]:
    """Suspects among fields: by document and path where boxes have a place."""
    from calque.ceiling.fields.scoring import KINDS

    table = level.ledger.table("suspects")
    columns = [table.array(name).tolist() for name in ("systems", "kind", UNIT)]
    every = sorted((-systems, kind, unit, path) for systems, kind, unit, path in zip(*columns, table["path"], strict=True))
    rows = every[: max(LISTED, level.task.suspects)]
    listed = [
        {"document": level.ledger.units[unit], "path": path, "kind": KINDS[kind], "systems": -systems}
        for systems, kind, unit, path in rows
    ]
    return {name: sum(kind == place for _, kind, _, _ in every) for place, name in enumerate(KINDS)} | {"listed": listed}
