"""How a checks run stands: the verdict of each case under each evaluator, and the score of each case."""

from __future__ import annotations

import math

import numpy as np

from calque.checks.numbers import case_rows
from calque.core.ledger import Ledger
from calque.core.standing import NO_ALARMS, Standing, Truths, numbered


def standing(ledger: Ledger) -> Standing:
    """One entry for each case and evaluator."""
    judged = case_rows(ledger)
    cases = judged.pop("")
    entries = sorted(
        (unit, label[1:], verdict)
        for label, rows in judged.items()
        for unit, verdict in zip(rows.unit, rows.verdict, strict=True)
    )
    units, names = [unit for unit, _, _ in entries], [name for _, name, _ in entries]
    verdicts = [verdict for _, _, verdict in entries]
    truths = Truths(units, numbered(units, names), [None] * len(units), names, names, verdicts, [v == "pass" for v in verdicts])
    return Standing(truths, NO_ALARMS, np.array([math.nan if one is None else one for one in cases.score]))
