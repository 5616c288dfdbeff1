"""From the rows of a ledger to the numbers of a suite."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from calque.checks.task import STATUSES, TABLE, VERDICTS
from calque.core.columns import Table
from calque.core.ledger import UNIT, Ledger
from calque.core.measures import ExactSum, Measure, Undefined

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
    cases, evaluators = _Count(), {name: _Count() for name in ledger.names["evaluator"]}
    for piece in ledger.pieces():
        for label, judged in case_rows(piece.ledger).items():
            (evaluators[label[1:]] if label else cases).add(judged)
    return {
        "summary": {
            **cases.block("every evaluator weighs 0" if cases.verdicts.total() else "no cases"),
            "cases": len(ledger.units),
        },
        "evaluators": {name: count.block("no cases") for name, count in evaluators.items()},
    }


class _Count:
    """Verdicts and scores, added up to the same bits in any order and split."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self._short = 0
        self._scored = 0
        self._scores = ExactSum()

    def add(self, judged: Judged) -> None:
        """Add cases, or the results of an evaluator."""
        known = [score for score in judged.score if score is not None]
        self.verdicts.update(judged.verdict)
        self._short += sum(judged.short)
        self._scored += len(known)
        self._scores.add(known)

    def block(self, without_score: str) -> dict[str, Any]:
        """The numbers, or why there are none."""
        judged = self.verdicts.total()
        return {
            "cases": self._scored,
            **{name: self.verdicts[name] for name in COUNTED},
            "partial_failed": self._short,
            "score": self._scores.value() / self._scored if self._scored else Undefined(without_score),
            "pass_rate": self.verdicts["pass"] / judged if judged else Undefined("no cases"),
        }


def _groups(codes: Sequence[int], size: int) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(size)]
    for row, code in enumerate(codes):
        rows[code].append(row)
    return rows


def _failed_in_part(table: Table, units: Sequence[int]) -> list[bool]:
    """For each row whether it passed in part, which is not enough; states of earlier versions do not tell."""
    return table.array("failed_in_part").tolist() if "failed_in_part" in table else [False] * len(units)


def _mean(values: Sequence[float], weights: Sequence[float]) -> float | None:
    """The weighted mean, the same bits for any order; ``None`` when nothing weighs."""
    largest = max(weights, default=0.0)
    if largest and not 2.0**-900 < largest < 2.0**900:  # sums would overflow, or products vanish
        exponent = -math.frexp(largest)[1]
        weights = [math.ldexp(weight, exponent) for weight in weights]
    total = math.fsum(weights)
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / total if total > 0 else None
