"""How a layout run stands: what became of each block, which predictions no block takes, and how well each document went."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Flags, Strings
from calque.core.ledger import UNIT, Ledger
from calque.core.presentation.pictured import corners_of, page_rows
from calque.core.resampling.resampled import share
from calque.core.standing import NO_ALARMS, Alarms, Standing, Truths, positions
from calque.layout.numbers import used_by, verdicts


def standing(ledger: Ledger, threshold: float) -> Standing:
    """Only blocks that count; a prediction that no block takes is a false alarm."""
    truth, labels = ledger.table("truth"), ledger.names["label"]
    valid, matched, right = verdicts(truth, threshold)
    rows = np.flatnonzero(valid)
    unit = truth.array(UNIT)
    place = positions(ledger.offsets("truth"), unit)
    kinds = np.select([right, matched], ["correct", "wrong"], "unmatched")
    at = ledger.absolute("pages", unit[rows], truth.array("page")[rows])
    ids = truth.get("id")
    chosen = rows.tolist()
    truths = Truths(
        unit[rows].tolist(),
        [place[row] for row in chosen],
        ledger.table("pages").array("page_index")[at].tolist(),
        [place[row] if ids is None else ids[row] if isinstance(ids, Strings) else int(ids[row]) for row in chosen],
        [labels[code] for code in truth.array("label")[rows].tolist()],
        kinds[rows].tolist(),
        right[rows].tolist(),
    )
    total, correct = (np.bincount(unit[flags], minlength=len(ledger.units)) for flags in (valid, right))
    return Standing(truths, _alarms(ledger, matched), share(correct, total))


def _alarms(ledger: Ledger, matched: Flags) -> Alarms:
    """Predictions that no matched block takes; nothing where it was let go of which block takes which."""
    found = ledger.table("found")
    if "match" not in ledger.table("truth") or "box" not in found:
        return NO_ALARMS
    rows = np.flatnonzero(found.array("valid") & ~used_by(ledger, matched))
    page, labels = page_rows(ledger, "found"), ledger.names["label"]
    return Alarms(
        found.array(UNIT)[rows].tolist(),
        ledger.table("pages").array("page_index")[page[rows]].tolist(),
        [labels[code] for code in found.array("label")[rows].tolist()],
        corners_of(ledger, "found", page)[rows],
    )
