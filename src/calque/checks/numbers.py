"""From the rows of a ledger to the numbers of a suite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from calque.checks.task import STATUSES, TABLE, VERDICTS
from calque.core.columns import Table
from calque.core.ledger import UNIT, Ledger
from calque.core.measures import Measure, Undefined

COUNTED = (*VERDICTS, "error")
SOURCE = "checks contract"
MEASURES = (
    Measure(
        "score",
        "score",
        "The mean score of all cases; the score of a case is the weighted mean over its evaluators.",
        "Σ score(case) / cases",
        SOURCE,
        "every evaluator weighs 0",
    ),
    Measure("pass_rate", "pass rate", "The share of cases that pass under every evaluator.", "pass / cases", SOURCE, "never"),
)


def numbers(ledger: Ledger) -> dict[str, Any]:
    """The tree of a checks result."""
    table = ledger.table(TABLE)
    unit, evaluator = table.array(UNIT).tolist(), table.array("evaluator").tolist()
    score, weight = table.array("score").tolist(), table.array("weight").tolist()
    verdict = [
        "error" if STATUSES[status] == "error" else VERDICTS[code]
        for status, code in zip(table.array("status").tolist(), table.array("verdict").tolist(), strict=True)
    ]
    by_case = _groups(unit, len(ledger.units))
    by_evaluator = _groups(evaluator, len(ledger.names["evaluator"]))
    case_scores = [_mean([score[row] for row in rows], [weight[row] for row in rows]) for rows in by_case]
    short = _failed_in_part(table, unit)
    known = [value for value in case_scores if value is not None]
    worst = [max((verdict[row] for row in rows), key=COUNTED.index) for rows in by_case]
    return {
        "summary": {
            "cases": len(ledger.units),
            **{name: worst.count(name) for name in COUNTED},
            "partial_failed": sum(
                word == "partial" and any(short[row] for row in rows) for word, rows in zip(worst, by_case, strict=True)
            ),
            "score": math.fsum(known) / len(known) if known else Undefined("every evaluator weighs 0" if worst else "no cases"),
            "pass_rate": worst.count("pass") / len(worst) if worst else Undefined("no cases"),
        },
        "evaluators": {
            name: _of_evaluator([verdict[row] for row in rows], [score[row] for row in rows], sum(short[row] for row in rows))
            for name, rows in zip(ledger.names["evaluator"], by_evaluator, strict=True)
        },
    }


def _groups(codes: Sequence[int], size: int) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(size)]
    for row, code in enumerate(codes):
        rows[code].append(row)
    return rows


def _failed_in_part(table: Table, units: Sequence[int]) -> list[bool]:
    """For each row whether it passed in part, which is not enough; states of earlier versions do not tell."""
    return table.array("failed_in_part").tolist() if "failed_in_part" in table else [False] * len(units)


def _of_evaluator(verdicts: Sequence[str], scores: Sequence[float], partial_failed: int) -> dict[str, Any]:
    return {
        "cases": len(scores),
        **{name: verdicts.count(name) for name in COUNTED},
        "partial_failed": partial_failed,
        "score": math.fsum(scores) / len(scores),
        "pass_rate": verdicts.count("pass") / len(verdicts),
    }


def _mean(values: Sequence[float], weights: Sequence[float]) -> float | None:
    """The weighted mean, the same bits for any order; ``None`` when nothing weighs."""
    total = math.fsum(weights)
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / total if total > 0 else None
