"""The units one by one: which systems have each, and what could be made of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.ceiling.numbers import EDGES
from calque.ceiling.units import Level, levels_of
from calque.core.columns import Column, Strings, Table
from calque.core.corpus import distinct_names
from calque.core.ledger import Ledger

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
