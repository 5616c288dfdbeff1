"""From the rows of a ledger to the numbers of a suite."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

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


class Judged(NamedTuple):
    """What is counted: cases in all, or the results of one evaluator."""

    unit: Sequence[int]
    verdict: Sequence[str]
    score: Sequence[float | None]
    """``None`` where nothing weighs."""
    short: Sequence[bool]
    """Whether it passed in part, which is not enough."""


def case_rows(ledger: Ledger) -> dict[str, Judged]:
    """All cases under ``""``, and the results of each evaluator under ``/NAME``."""
    table = ledger.table(TABLE)
    unit, evaluator = table.array(UNIT).tolist(), table.array("evaluator").tolist()
    score, weight = table.array("score").tolist(), table.array("weight").tolist()
    verdict = [
        "error" if STATUSES[status] == "error" else VERDICTS[code]
        for status, code in zip(table.array("status").tolist(), table.array("verdict").tolist(), strict=True)
    ]
    by_case = _groups(unit, len(ledger.units))
    short = _failed_in_part(table, unit)
    worst = [max((verdict[row] for row in rows), key=COUNTED.index) for rows in by_case]
    judged = {
        "": Judged(
            range(len(by_case)),
            worst,
            [_mean([score[row] for row in rows], [weight[row] for row in rows]) for rows in by_case],
            [word == "partial" and any(short[row] for row in rows) for word, rows in zip(worst, by_case, strict=True)],
        )
    }
    for name, rows in zip(ledger.names["evaluator"], _groups(evaluator, len(ledger.names["evaluator"])), strict=True):
        columns: Iterator[Any] = ([column[row] for row in rows] for column in (unit, verdict, score, short))
        judged[f"/{name}"] = Judged(*columns)
    return judged


def numbers(ledger: Ledger) -> dict[str, Any]:
    """The tree of a checks result."""
    judged = case_rows(ledger)
    cases = judged.pop("")
    known = [value for value in cases.score if value is not None]
    return {
        "summary": {
            "cases": len(ledger.units),
            **{name: cases.verdict.count(name) for name in COUNTED},
            "partial_failed": sum(cases.short),
            "score": math.fsum(known) / len(known)
            if known
            else Undefined("every evaluator weighs 0" if cases.verdict else "no cases"),
            "pass_rate": cases.verdict.count("pass") / len(cases.verdict) if cases.verdict else Undefined("no cases"),
        },
        "evaluators": {
            label[1:]: _of_evaluator(rows.verdict, [score for score in rows.score if score is not None], sum(rows.short))
            for label, rows in judged.items()
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
        "score": math.fsum(scores) / len(scores) if scores else Undefined("no cases"),
        "pass_rate": verdicts.count("pass") / len(verdicts) if verdicts else Undefined("no cases"),
    }


def _mean(values: Sequence[float], weights: Sequence[float]) -> float | None:
    """The weighted mean, the same bits for any order; ``None`` when nothing weighs."""
    total = math.fsum(weights)
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / total if total > 0 else None
