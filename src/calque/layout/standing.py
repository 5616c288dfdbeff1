"""How a layout run stands: what became of each block, and which share of a document's blocks is matched and right."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Strings
from calque.core.ledger import UNIT, Ledger
from calque.core.resampling.resampled import share
from calque.core.standing import NO_ALARMS, Standing, Truths, positions
from calque.layout.numbers import verdicts


def standing(ledger: Ledger, threshold: float) -> Standing:
    """Only blocks that count; predictions that no block takes are not counted here, and so no false alarms."""
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
    return Standing(truths, NO_ALARMS, share(correct, total))
