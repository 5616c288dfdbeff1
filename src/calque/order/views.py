"""What can be looked at beside the numbers of reading order: every true block, and every step that leaves the path."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Strings, Table
from calque.core.corpus import distinct_names
from calque.core.ledger import UNIT, Ledger
from calque.order.one_page import BREAKS
from calque.order.scoring import STATUS_NAMES


def outcomes(ledger: Ledger) -> Table:
    """True blocks with their rank, where they are read and in which block; then breaks, from one block to the next."""
    blocks, breaks = ledger.table("blocks"), ledger.table("breaks")
    if "id" not in blocks:
        raise ValueError('the blocks were let go of (keep="numbers"): evaluate again and keep outcomes')
    names = distinct_names(ledger.units)
    ids, labels, found_ids = (blocks.columns[name] for name in ("id", "label", "found_id"))
    first = {
        place: row
        for row, place in reversed(
            list(enumerate(zip(blocks.array(UNIT).tolist(), blocks.array("page").tolist(), strict=True)))
        )
    }
    steps = [
        (first[unit, page] + before, first[unit, page] + after)
        for unit, page, before, after in zip(
            *(breaks.array(name).tolist() for name in (UNIT, "page", "before", "after")), strict=True
        )
    ]
    nowhere = np.full(breaks.height, -1, dtype=np.int64)
    units = [*blocks.array(UNIT).tolist(), *breaks.array(UNIT).tolist()]
    return Table({
        "document": Strings.pack(names[unit] for unit in units),
        "page": np.concatenate([blocks.array("page"), breaks.array("page")]),
        "what": Strings.pack(["block"] * blocks.height + ["break"] * breaks.height),
        "id": Strings.pack([*ids, *(ids[before] for before, _ in steps)]),
        "to": Strings.pack([*[""] * blocks.height, *(ids[after] for _, after in steps)]),
        "label": Strings.pack([*labels, *(labels[before] for before, _ in steps)]),
        "outcome": Strings.pack([
            *(STATUS_NAMES[code] for code in blocks.array("status").tolist()),
            *(BREAKS[code] for code in breaks.array("kind").tolist()),
        ]),
        **{name: np.concatenate([blocks.array(name), nowhere]) for name in ("rank", "position")},
        "found": Strings.pack([*found_ids, *[""] * breaks.height]),
        "discordant": np.concatenate([blocks.array("discordant"), np.zeros(breaks.height, dtype=np.int64)]),
    })  # fmt: skip
