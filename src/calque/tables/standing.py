"""How a tables run stands: what became of each true table, tables that are not there, mean TEDS of each document."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Strings
from calque.core.ledger import Ledger
from calque.core.resampling.resampled import share
from calque.core.standing import Alarms, Standing, Truths
from calque.tables.numbers import Rows


def standing(ledger: Ledger) -> Standing:
    """A true table is right when nothing differs; a document goes as well as its tables do on average."""
    rows = Rows(ledger)
    value = next((rows.values[name] for name in ("teds", "grits_con", "grits_top") if name in rows.values), None)
    measured = np.full(len(rows.unit), np.nan) if value is None else value
    places = np.flatnonzero(rows.true)
    right = (rows.paired & (measured == 1))[places]
    kinds = np.select([right, rows.paired[places]], ["exact", "different"], "missed")
    number = rows.table.array("truth")[places].tolist()
    ids = rows.table.get("id")
    names = (
        [ids[row] or str(number[place]) for place, row in enumerate(places.tolist())] if isinstance(ids, Strings) else number
    )
    page = [None if each < 0 else each for each in rows.table.array("page")[places].tolist()]
    truths = Truths(rows.unit[places].tolist(), number, page, names, ["table"] * len(places), kinds.tolist(), right.tolist())
    alone = np.flatnonzero(rows.spurious)
    pages = [max(each, 0) for each in rows.table.array("page")[alone].tolist()]
    alarms = Alarms(rows.unit[alone].tolist(), pages, ["table"] * len(alone))
    known = rows.true & ~np.isnan(measured)
    sums = np.bincount(rows.unit[known], weights=measured[known], minlength=len(rows.units))
    return Standing(truths, alarms, share(sums, np.bincount(rows.unit[known], minlength=len(rows.units))))
