"""One row for each word: where it is, whether it is found, missed or extra, and with which word it is paired."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Array, Strings, Table
from calque.core.ledger import UNIT, Ledger
from calque.words.scoring import STATUS_NAMES, Status


def outcomes(ledger: Ledger) -> Table:
    """True words (tp or fn), predicted words (tp or fp), then documents that are not part of the test (ignored)."""
    if "word" not in ledger.table("truth"):
        raise ValueError('the words were let go of (keep="numbers"): evaluate again and keep outcomes')
    truth, found = ledger.table("truth"), ledger.table("found")
    ours, theirs = _places(ledger, "truth"), _places(ledger, "found")
    ignored = np.flatnonzero(ledger.table("documents").array("status") != Status.HELD_OUT)
    nowhere = np.full(len(ignored), -1)
    unit = np.concatenate([truth.array(UNIT), found.array(UNIT), ignored])
    match = np.concatenate([truth.array("match"), found.array("match"), nowhere])
    status = ledger.table("documents").array("status")
    return Table({
        "document": Strings.pack(str(ledger.units[row]) for row in unit.tolist()),
        "side": _repeated([("truth", truth.height), ("prediction", found.height), ("document", len(ignored))]),
        "position": np.concatenate([ours, theirs, nowhere]),
        "word": Strings.pack([*_words(ledger, truth), *_words(ledger, found), *[""] * len(ignored)]),
        "outcome": Strings.pack([
            *("tp" if partner >= 0 else "fn" for partner in truth.array("match").tolist()),
            *("tp" if partner >= 0 else "fp" for partner in found.array("match").tolist()),
            *["ignored"] * len(ignored),
        ]),
        "partner": match,
        "reason": Strings.pack([*[""] * (truth.height + found.height), *(STATUS_NAMES[status[row]] for row in ignored)]),
    })  # fmt: skip


def _places(ledger: Ledger, table: str) -> Array:
    units = ledger.table(table).array(UNIT)
    return np.arange(len(units)) - ledger.offsets(table)[units]


def _words(ledger: Ledger, table: Table) -> list[str]:
    vocabulary = ledger.names["word"]
    return [vocabulary[code] for code in table.array("word").tolist()]


def _repeated(parts: list[tuple[str, int]]) -> Strings:
    return Strings.pack(text for text, times in parts for _ in range(times))
