"""What a report draws of checks: every case with its verdicts, the reasons, and the shapes of both sides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calque.base.wording import counted
from calque.checks.task import STATUSES, TABLE, VERDICTS
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation.report_data import Breakdown, Number, Overview, Part, ReportData

if TYPE_CHECKING:
    from calque.checks.task import Checks

MOST_LINES = 200
"""How many hits and misses of one case stand in the page."""


def report_data(task: Checks, ledger: Ledger, numbers: Mapping[str, Any]) -> ReportData | None:  # noqa: ARG001  # as all tasks
    """Every case with what each evaluator says of it; nothing when the reasons were let go of."""
    table = ledger.table(TABLE)
    if "detail" not in table:
        return None
    cases: list[dict[str, Any]] = [{"id": str(unit), "rows": []} for unit in ledger.units]
    columns = {key: table.array(key).tolist() for key in (UNIT, "evaluator", "score", "verdict", "status")}
    for row, detail in enumerate(table["detail"]):
        told = json.loads(detail)
        cases[columns[UNIT][row]]["rows"].append({
            "evaluator": columns["evaluator"][row],
            "score": columns["score"][row],
            "verdict": "error" if STATUSES[columns["status"][row]] == "error" else VERDICTS[columns["verdict"][row]],
            "reasoning": told.get("reasoning", ""),
            "hits": told.get("hits", [])[:MOST_LINES],
            "misses": told.get("misses", [])[:MOST_LINES],
            **({"shapes": told["shapes"]} if told.get("shapes") else {}),
        })  # fmt: skip
    head = {
        "kind": "checks",
        "evaluators": list(ledger.names["evaluator"]),
        "cases": cases,
        "numbers": {"overviews": [_overview(numbers, len(ledger.names["evaluator"])).to_dict()], "gate": numbers.get("gate")},
    }
    return ReportData(head, {})


MARKS = (("pass", "tp"), ("partial", "wrong"), ("fail", "fn"), ("error", "ignored"))
"""Verdicts, and the outcomes whose looks they have in bars."""
EVERY = ",".join(name for name, _ in MARKS)
"""The outcomes of all cases."""


def _overview(numbers: Mapping[str, Any], asked: int) -> Overview:
    """The first view; of nothing, too, so many evaluators were asked."""
    summary, evaluators = numbers["summary"], numbers["evaluators"]
    names = ("cases", *(name for name, _ in MARKS), "pass_rate", "score")
    gate = numbers.get("gate")
    return Overview(
        line=[
            "Checks",
            counted(summary["cases"], "case"),
            counted(asked, "evaluator"),
            *([f"the gate {'holds' if gate['passed'] else 'does not hold'}"] if gate else []),
        ],
        parts=[Part(name, summary[name], name, name) for name, _ in MARKS],
        numbers=[
            Number("Pass rate", "pass_rate", summary["pass_rate"], "of all cases"),
            Number("Score", "score", summary["score"], "mean of cases"),
            *(Number(name.capitalize(), name, summary[name], "of the cases", name) for name, _ in MARKS),
        ],
        breakdown=Breakdown(
            title="By evaluator",
            of="evaluator",
            columns=[
                (name.replace("_", " "), name, "" if name in ("pass_rate", "score") else name if name != "cases" else EVERY)
                for name in names
            ],
            marks=[(place + 1, mark) for place, (_, mark) in enumerate(MARKS)],
            rows=[(name, [entry[column] for column in names]) for name, entry in evaluators.items()],
            total=[summary[column] for column in names],
        ),
    )
