"""How a words run stands: what became of each true word, predicted words that match none, recall of each document."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Table
from calque.core.ledger import UNIT, Ledger
from calque.core.resampling.resampled import share
from calque.core.standing import Alarms, Standing, Truths, positions
from calque.words.scoring import Status


def standing(ledger: Ledger) -> Standing:
    """Words by their places in the truth; without the words themselves their labels are empty."""
    truth, found = ledger.table("truth"), ledger.table("found")
    unit = truth.array(UNIT)
    place = positions(ledger.offsets("truth"), unit)
    right = truth.array("found").tolist()
    kinds = ["tp" if one else "fn" for one in right]
    truths = Truths(unit.tolist(), place, truth.array("page").tolist(), place, _words(ledger, truth), kinds, right)
    documents = ledger.table("documents")
    held = documents.array("status") == Status.HELD_OUT
    scores = np.where(held, share(documents.array("matches"), documents.array("n_ref")), np.nan)
    if "match" not in found:
        return Standing(truths, Alarms((), (), ()), scores)
    alone = np.flatnonzero(found.array("match") < 0)
    words = _words(ledger, found)
    alarms = Alarms(found.array(UNIT)[alone].tolist(), [0] * len(alone), [words[row] for row in alone.tolist()])
    return Standing(truths, alarms, scores)


def _words(ledger: Ledger, table: Table) -> list[str]:
    if "word" not in table:
        return [""] * table.height
    vocabulary = ledger.names["word"]
    return [vocabulary[code] for code in table.array("word").tolist()]
