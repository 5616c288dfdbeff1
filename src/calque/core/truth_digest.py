"""What the truth of each document is, in eight bytes: so that runs against another truth are not compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from calque.core.columns import Table
from calque.core.corpus import Corpus, UnitId
from calque.core.ledger import UNIT, Ledger

TABLE = "truth_digest"


def with_digests(ledger: Ledger, truth: Corpus) -> Ledger:
    """The ledger with the digest of each document that the truth has; the same where a corpus tells none."""
    digests = truth.digests()
    return noted(ledger, dict(zip(truth.units(), digests, strict=True))) if digests is not None else ledger


def noted(ledger: Ledger, digests: Mapping[UnitId, int]) -> Ledger:
    """The ledger with these digests."""
    rows = [row for row, unit in enumerate(ledger.units) if unit in digests]
    table = Table({
        UNIT: np.array(rows, dtype=np.int32),
        "digest": np.array([digests[ledger.units[row]] for row in rows], dtype=np.int64),
    })  # fmt: skip
    return replace(ledger, tables={**ledger.tables, TABLE: table})


def digests_of(ledger: Ledger) -> dict[UnitId, int]:
    """The digests that a ledger has, by document."""
    if TABLE not in ledger.tables:
        return {}
    table = ledger.table(TABLE)
    rows = zip(table.array(UNIT).tolist(), table.array("digest").tolist(), strict=True)
    return {ledger.units[unit]: value for unit, value in rows}
