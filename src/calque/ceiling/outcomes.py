"""What a ceiling lists one by one: units with the systems that have each, and suspects, by how many systems agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Column, Ints, Strings, Table
from calque.ceiling.boxes.suspects import KINDS
from calque.ceiling.units import EDGES, Level, levels_of
from calque.corpus.boxes import distinct_names
from calque.evaluation.ledger import UNIT, Ledger

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling

FOUND, CONTESTED, UNFOUND = "found", "contested", "unfound"


def outcomes(task: Ceiling, ledger: Ledger, threshold: float | None = None) -> Table:
    """One row for each unit that counts."""
    place = 0 if threshold is None or task.kind == "fields" else list(task.iou).index(threshold)
    level = Level(task, ledger, place)
    return Table({
        **_places(level),
        "outcome": Strings.pack(outcome_of(level)),
        "mask": level.masks.astype(np.int64),
        "hits": level.hits.astype(np.int64),
        **_reached(level),
    })  # fmt: skip


def outcome_of(level: Level) -> list[str]:
    """What a selection of all systems' boxes makes of each unit."""
    return np.select([level.selected, level.masks > 0], [FOUND, CONTESTED], UNFOUND).tolist()  # type: ignore[no-any-return]  # texts


def _places(level: Level) -> dict[str, Column]:
    ledger, rows = level.ledger, level.rows
    truth, names, labels = ledger.table("truth"), distinct_names(ledger.units), ledger.names["label"]
    columns: dict[str, Column] = {
        "document": Strings.pack(names[unit] for unit in level.document.tolist()),
        "label": Strings.pack(labels[code] for code in truth.array("label")[rows].tolist()),
    }
    if level.task.kind == "fields":
        path = truth["path"]
        return {**columns, "path": Strings.pack(path[row] for row in rows.tolist())}
    page = ledger.absolute("pages", level.document, truth.array("page")[rows])
    columns["page"] = ledger.table("pages").array("page_index")[page]
    return {**columns, **({"box": truth.array("box")[rows]} if "box" in truth else {})}


def _reached(level: Level) -> dict[str, Column]:
    if level.task.kind == "fields":
        return {}
    reached = level.ledger.table("truth").array("reached")[level.rows]
    return {name: np.ascontiguousarray(reached[:, place]) for place, name in enumerate(EDGES)}


def listed(task: Ceiling, ledger: Ledger) -> Iterator[dict[str, Any]]:
    """One unit a line: where it is, the systems that have it at each level by name and as a mask, and three IoUs."""
    levels = list(levels_of(task, ledger))
    columns = [(level.masks.tolist(), level.hits.tolist(), outcome_of(level)) for level in levels]
    table = Table({**_places(levels[0]), **_reached(levels[0])})
    for row, shown in enumerate(table.rows()):
        at = {
            name: {
                "outcome": said[row],
                "mask": masks[row],
                "hits": hits[row],
                "systems": [system for place, system in enumerate(task.systems) if hits[row] >> place & 1],
            }
            for name, (masks, hits, said) in zip(task.levels, columns, strict=True)
        }
        yield {**shown, "levels": at}


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
