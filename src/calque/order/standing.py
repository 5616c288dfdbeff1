"""How a run stands: what became of each true block, and how well each document was read."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Strings
from calque.core.ledger import UNIT, Ledger
from calque.core.resampling.resampled import share
from calque.core.standing import NO_ALARMS, Standing, Truths
from calque.order.numbers import Pages
from calque.order.scoring import Status


def standing(ledger: Ledger) -> Standing:
    """A block is right when it is placed and no pair with it is reversed; a document goes as well as its pairs do."""
    blocks, pages = ledger.table("blocks"), Pages(ledger)
    rows = np.flatnonzero(blocks.array("status") != Status.UNORDERED)
    status = blocks.array("status")[rows]
    reversed_pairs = blocks.array("discordant")[rows] if "discordant" in blocks else np.zeros(len(rows), np.int64)
    right = (status == Status.PLACED) & (reversed_pairs == 0)
    kinds = np.select(
        [right, status == Status.PLACED, status == Status.UNPLACED], ["in_order", "out_of_order", "unplaced"], "missing"
    )
    ids, labels = blocks.get("id"), blocks.get("label")
    page = blocks.array("page")[rows].tolist()
    names = [ids[row] for row in rows.tolist()] if isinstance(ids, Strings) else [str(row) for row in rows.tolist()]
    told = [labels[row] for row in rows.tolist()] if isinstance(labels, Strings) else [""] * len(rows)
    truths = Truths(
        blocks.array(UNIT)[rows].tolist(),
        list(zip(page, names, strict=True)),
        page,
        names,
        told,
        kinds.tolist(),
        right.tolist(),
    )
    above, below = pages.parts["pairs"]
    size = len(ledger.units)
    scores = share(
        np.bincount(pages.unit, weights=above, minlength=size), np.bincount(pages.unit, weights=below, minlength=size)
    )
    return Standing(truths, NO_ALARMS, scores)
