"""What a report draws of tables: both grids of every table, cell by cell, with what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.columns import Array, Strings
from calque.core.corpus import distinct_names
from calque.core.ledger import UNIT, Ledger
from calque.core.presentation import pictured as columns
from calque.core.presentation.pictured import Number, Overview, Part, Pictured
from calque.core.presentation.wording import counted
from calque.tables.scoring import KIND_NAMES, STATUS_NAMES

if TYPE_CHECKING:
    from calque.tables.task import Tables

TITLES = {
    "teds": ("TEDS", "mean over true tables"),
    "teds_struct": ("TEDS-Struct", "texts ignored"),
    "grits_top": ("GriTS-Top", "extent of cells"),
    "grits_con": ("GriTS-Con", "texts in their places"),
    "grits_loc": ("GriTS-Loc", "boxes of cells"),
    "exact": ("Exact", "nothing differs"),
}


def pictured(task: Tables, ledger: Ledger, numbers: Mapping[str, Any]) -> Pictured | None:  # noqa: ARG001  # as all tasks
    """The cells of both sides and the numbers; nothing when the cells were let go of."""
    cells = ledger.table("cells")
    texts = cells.get("text")
    if not isinstance(texts, Strings):
        return None
    tables = ledger.table("tables")
    names = distinct_names(ledger.units)
    head = {
        "kind": "grids",
        "documents": list(names),
        "kinds": list(KIND_NAMES),
        "tables": {
            "document": tables.array(UNIT).tolist(),
            "number": _numbers(ledger).tolist(),
            "status": [STATUS_NAMES[code] for code in tables.array("status").tolist()],
            "teds": _values(tables.get("teds"), tables.height),
        },
        "numbers": {"overviews": [_overview(numbers).to_dict()]},
    }
    table = ledger.offsets("tables")[cells.array(UNIT)] + cells.array("table")
    places = table * 2 + cells.array("side")
    drawn: dict[str, Array] = {
        "start": np.searchsorted(places, np.arange(2 * tables.height + 1)).astype(np.uint32),
        "text": np.asarray(texts.data, dtype=np.uint8),
        "text_size": columns.narrow(np.diff(texts.offsets)),
        **{name: columns.narrow(cells.array(name)) for name in ("row", "column", "rowspan", "colspan", "header", "kind")},
        "partner": cells.array("partner").astype(np.int32),
    }
    return Pictured(head, drawn)


def _numbers(ledger: Ledger) -> Array:
    """The place of each table among those of its document."""
    units = ledger.table("tables").array(UNIT)
    return np.asarray(np.arange(len(units)) - ledger.offsets("tables")[units])


def _values(column: Any, height: int) -> list[float | None]:
    if column is None:
        return [None] * height
    return [None if np.isnan(value) else float(value) for value in column.tolist()]


def _overview(numbers: Mapping[str, Any]) -> Overview:
    """The first view."""
    counts, means = numbers["counts"], numbers["mean"]
    shown = [Number(title, name, means[name], note) for name, (title, note) in TITLES.items() if name in means]
    return Overview(
        line=[
            "Tables",
            counted(counts["documents"], "document"),
            counted(counts["truth"], "true table"),
            f"{counts['pred']:,} predicted",
        ],
        parts=[
            Part("tp", counts["paired"], "paired"),
            Part("fn", counts["missed"], "missed"),
            Part("fp", counts["spurious"], "spurious"),
        ],
        numbers=shown[:6],
    )
