"""What comparisons of checks rest on: the verdict of each case under each evaluator, and the numbers for weighted cases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calque.base.columns import Array
from calque.checks.numbers import COUNTED, case_rows
from calque.evaluation.document_sums import DocumentTallies, Replicates, Support, TalliedMetrics, WeightedMetrics, share
from calque.evaluation.item_outcomes import NO_FALSE_POSITIVES, RunOutcomes, TruthOutcomes, numbered
from calque.evaluation.ledger import Ledger

if TYPE_CHECKING:
    from calque.checks.task import Checks


def run_outcomes(_task: Checks, ledger: Ledger) -> RunOutcomes:
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
    truths = TruthOutcomes(
        units, numbered(units, names), [None] * len(units), names, names, verdicts, [v == "pass" for v in verdicts]
    )
    return RunOutcomes(truths, NO_FALSE_POSITIVES, np.array([math.nan if one is None else one for one in cases.score]))


WHOLE = (*COUNTED, "partial_failed")


def resampled(_task: Checks, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
    """The verdict and the score of each case, in all and under each evaluator."""
    sheet = DocumentTallies()
    counted: dict[str, Support] = {}
    everything = Support(np.ones(len(ledger.units), np.bool_))
    for label, rows in case_rows(ledger).items():
        unit = np.array(rows.unit, np.int64)
        together = np.zeros(len(unit), np.int64)
        sheet.count(f"cases{label}", unit, together, 1)
        for name in COUNTED:
            sheet.count(f"{name}{label}", unit, together, 1, np.array([one == name for one in rows.verdict], np.int64))
        sheet.count(f"partial_failed{label}", unit, together, 1, np.array(rows.short, np.int64))
        scored = np.array([place for place, score in enumerate(rows.score) if score is not None], np.int64)
        scores = np.array([score for score in rows.score if score is not None], np.float64)
        sheet.fractions(f"score{label}", scores, unit[scored], together[scored], 1)
        sheet.count(f"scored{label}", unit[scored], together[scored], 1)
        there, known = np.zeros((2, len(ledger.units)), np.bool_)
        there[unit] = known[unit[scored]] = True
        counted |= {f"{name}{label}": everything if not label else Support(there) for name in ("cases", *WHOLE)}
        counted |= {f"score{label}": Support(known), f"pass_rate{label}": Support(there)}
    labels = list(case_rows(ledger))
    return (TalliedMetrics(sheet, counted, lambda sums: _numbers(labels, sums)),)


def _numbers(labels: list[str], sums: Mapping[str, Array]) -> Replicates:
    found: Replicates = {}
    for label in labels:
        cases = sums[f"cases{label}"][0]
        # An evaluator that judges no case of a replicate is not there; a suite without cases still has counts.
        absent = (cases == 0) & bool(label)
        for name in ("cases", *WHOLE):
            found[f"{name}{label}"] = np.where(absent, np.nan, sums[f"{name}{label}"][0])
        found[f"score{label}"] = share(sums[f"score{label}"][0], sums[f"scored{label}"][0])
        found[f"pass_rate{label}"] = share(sums[f"pass{label}"][0], cases)
    return found
