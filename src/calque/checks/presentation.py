"""Checks for people: how many cases pass, what each evaluator says, and what failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation import Section

LISTED = 50
"""How many failures a table lists before it only counts."""
COUNTED = ("pass", "partial", "fail", "error")


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
    return [_overview(numbers["summary"]), _evaluators(numbers["evaluators"]), *_failures(numbers["results"])]


def _overview(summary: Mapping[str, Any]) -> Section:
    counted = ", ".join(f"{summary[name]:,} {name}" for name in COUNTED)
    cases = f"{summary['cases']:,} case{'' if summary['cases'] == 1 else 's'}"
    return Section(title="Checks", notes=[f"{cases}: {counted}"])


def _evaluators(evaluators: Mapping[str, Any]) -> Section:
    head = ("evaluator", "cases", *COUNTED, "score")
    rows = [(name, entry["cases"], *(entry[key] for key in COUNTED), entry["score"]) for name, entry in evaluators.items()]
    return Section(title="", head=head, rows=rows)


def _failures(results: list[Mapping[str, Any]]) -> list[Section]:
    failed = [row for row in results if row["verdict"] == "fail" or row["status"] == "error"]
    if not failed:
        return []
    rows = [
        (
            str(row["id"]),
            row["evaluator"],
            "error" if row["status"] == "error" else row["verdict"],
            row["score"],
            row.get("reasoning", ""),
        )
        for row in failed[:LISTED]
    ]
    more = [f"… and {len(failed) - LISTED:,} more"] if len(failed) > LISTED else []
    return [Section(title="Failures", head=("case", "evaluator", "verdict", "score", "reasoning"), rows=rows, notes=more)]


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each evaluator, and one for all."""
    every = {"all": numbers["summary"], **numbers["evaluators"]}
    return [{"evaluator": name, **entry} for name, entry in every.items()]
