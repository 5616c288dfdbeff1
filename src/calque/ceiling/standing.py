"""How a ceiling stands: which units a selection of all systems finds, and which share of each document's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calque.ceiling.outcomes import outcome_of
from calque.ceiling.units import Level
from calque.core.columns import Strings
from calque.core.ledger import Ledger
from calque.core.resampling.resampled import share
from calque.core.standing import NO_ALARMS, Standing, Truths, numbered, positions

if TYPE_CHECKING:
    from calque.ceiling.task import Ceiling


def standing(task: Ceiling, ledger: Ledger) -> Standing:
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
    truths = Truths(
        unit, places, pages, shown,
        [labels[code] for code in truth.array("label")[level.rows].tolist()],
        outcome_of(level),
        level.selected.tolist(),
    )  # fmt: skip
    total = np.bincount(level.document, minlength=len(ledger.units))
    found = np.bincount(level.document[level.selected], minlength=len(ledger.units))
    return Standing(truths, NO_ALARMS, share(found, total))
