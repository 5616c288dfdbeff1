"""Checks for people, for servers that run suites, and for other tools: what failed and why, and the JSON Schema of a result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calque.base.wording import counted, joined, percent, some
from calque.checks.evaluators.outcome import Status, is_failure
from calque.checks.numbers import COUNTED
from calque.checks.task import STATUSES, VERDICTS
from calque.evaluation.presentation.ci_servers import CiTestCase, annotation
from calque.evaluation.presentation.report_data import Finding, Phrase, Sentence
from calque.evaluation.presentation.result_schema import (
    COUNT,
    FLAG,
    NUMBER,
    SHARE,
    TEXT,
    UNIT_ID,
    Schema,
    list_of,
    map_of,
    object_of,
    result_of,
)
from calque.evaluation.presentation.sections import Section
from calque.evaluation.slices import SliceView

if TYPE_CHECKING:
    from calque.checks.suites.runner import Row

COLUMNS = {
    "evaluator": "The evaluator of the suite that judged.",
    "cases": "How many cases it judged.",
    "pass": "Cases that pass.",
    "partial": "Cases that pass in part: the score is between the two thresholds.",
    "fail": "Cases that fail.",
    "error": "Cases that could not be judged.",
    "case": "The id of the case; and N more failed in the same way.",
    "verdict": "What the evaluator decided: fail, or error when it could not judge.",
    "reasoning": "Why, in the evaluator's own words.",
}
LISTED = 50
"""How many failures a table lists before it only counts."""


def sentence(numbers: Mapping[str, Any]) -> str:
    """How many cases pass, and what became of the others."""
    summary = numbers["summary"]
    cases = summary["cases"]
    if not cases:
        return "No case was judged."
    if summary["pass"] == cases:
        return "The only case passes." if cases == 1 else f"All {cases:,} cases pass."
    told = {"pass": "pass", "partial": "pass in part", "fail": "fail", "error": "could not be judged"}
    parts = [f"{summary[name]:,} {text}" for name, text in told.items() if summary[name]]
    return f"Of {counted(cases, 'case')} {joined(parts)}."


def brief(numbers: Mapping[str, Any]) -> list[Section]:
    """All evaluators together."""
    return [_evaluators({"all": numbers["summary"]})]


SLICES = SliceView(("summary", "evaluators"), ("summary",), {"score": "score", "pass_rate": "pass rate"})
"""What a slice shows."""


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
    return [
        _overview(numbers["summary"]),
        _evaluators(numbers["evaluators"]),
        *_failures(numbers["results"]),
        *SLICES.sections(numbers),
    ]


def _overview(summary: Mapping[str, Any]) -> Section:
    tally = ", ".join(f"{summary[name]:,} {name}" for name in COUNTED)
    short = summary["partial_failed"]
    rule = [f"{short:,} of the partial failed: a threshold was given (partial: pass in the suite allows that)"] if short else []
    return Section(title="Checks", notes=[f"{counted(summary['cases'], 'case')}: {tally}", *rule])


def _evaluators(evaluators: Mapping[str, Any]) -> Section:
    head = ("evaluator", "cases", *COUNTED, "score")
    rows = [(name, entry["cases"], *(entry[key] for key in COUNTED), entry["score"]) for name, entry in evaluators.items()]
    return Section(title="", head=head, rows=rows)


def _failures(results: list[Mapping[str, Any]]) -> list[Section]:
    """What failed; evaluators that say the same of a case, and cases that failed in the same way, are one row."""
    failed = [row for row in results if is_failure(row)]
    if not failed:
        return []
    said: dict[tuple[Any, ...], list[str]] = {}
    for row in failed:
        verdict = "error" if row["status"] == "error" else row["verdict"]
        said.setdefault((row["id"], verdict, row["score"], row.get("reasoning", "")), []).append(row["evaluator"])
    alike: dict[tuple[Any, ...], list[str]] = {}
    for (case, *told), evaluators in said.items():
        alike.setdefault((some(evaluators, 1), *told), []).append(str(case))
    rows = [(some(cases, 1), *told) for told, cases in list(alike.items())[:LISTED]]
    left = sum(len(cases) for cases in list(alike.values())[LISTED:])
    more = [f"… and {left:,} more"] if left else []
    return [Section(title="Failures", head=("case", "evaluator", "verdict", "score", "reasoning"), rows=rows, notes=more)]


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each evaluator, and one for all."""
    every = {"all": numbers["summary"], **numbers["evaluators"]}
    return [{"evaluator": name, **entry} for name, entry in every.items()]


def result_schema() -> Schema:
    """The schema of what ``calque check --format json`` prints, and `calque merge` of states of checks."""
    tally = {"cases": COUNT, **dict.fromkeys((*COUNTED, "partial_failed"), COUNT), "score": SHARE, "pass_rate": SHARE}
    judged = {
        "id": UNIT_ID,
        "evaluator": TEXT,
        "score": NUMBER,
        "verdict": {"enum": list(VERDICTS)},
        "status": {"enum": list(STATUSES)},
    }
    told = {"failed": FLAG, "hits": list_of(TEXT), "misses": list_of(TEXT), "reasoning": TEXT, "metadata": {"type": "object"}}
    numbers = {
        "summary": object_of(tally),
        "evaluators": map_of(object_of(tally)),
        "results": list_of(object_of(judged, told)),
    }
    return result_of("checks", numbers, SLICES.schema(numbers))


TOLD = (
    ("fail", "fail", "fails"),
    ("partial", "pass in part", "passes in part"),
    ("error", "could not be judged", "could not be judged"),
)
"""What became of cases that do not pass: of many, and of one."""
STRONG, WEAK = 0.9, 0.8
"""From where on a share is a strength, and below which it is a weakness."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How many checks pass, and what became of the others."""
    summary = numbers["summary"]
    cases = Phrase("cases", counted(summary["cases"], "case"))
    if not summary["cases"] or summary["pass_rate"] is None:
        return ["Nothing was judged: ", cases, "."]
    rate = summary["pass_rate"]
    passed = Phrase("pass_rate", percent(rate), "good" if rate >= STRONG else "bad" if rate < WEAK else "")
    if summary["pass"] == summary["cases"]:
        one = summary["cases"] == 1
        return ["The " if one else "All ", cases, " passes: " if one else " pass: ", passed, "."]
    told: list[str | Phrase] = []
    for name, many, one in TOLD:
        if number := summary[name]:
            said = Phrase(name, f"{number:,}", "bad" if name == "fail" else "")
            told += [", " if told else "", said, f" {one if number == 1 else many}"]
    return [passed, " of ", cases, " pass; ", *told, "."]


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Cases that fail, pass in part or could not be judged, and the evaluator that is hardest."""
    summary = numbers["summary"]
    lines = [
        Finding(
            name, f"{counted(summary[name], 'case')} {one if summary[name] == 1 else many}", {"outcome": name}, summary[name]
        )
        for name, many, one in TOLD
        if summary[name]
    ]
    scores = {name: entry["score"] for name, entry in numbers["evaluators"].items() if entry["score"] is not None}
    if len(scores) > 1:
        worst = min(scores, key=lambda name: scores[name])
        lines.append(Finding("class", f"Hardest evaluator: {worst}, score {scores[worst]:.3f}", {"class": worst}))
    return lines


def tests(results: Sequence[Mapping[str, Any]], suite: str) -> list[CiTestCase]:
    """One test for each result in its JSON form: wrong outputs are failures, what could not be judged is an error."""
    return [_test(row, suite) for row in results]


def _test(row: Mapping[str, Any], suite: str) -> CiTestCase:
    group, name = f"{suite}.{row['evaluator']}", str(row["id"])
    if not is_failure(row):
        return CiTestCase(group, name)
    kind = "error" if row["status"] == "error" else "failure"
    return CiTestCase(group, name, kind, row.get("reasoning", ""), row.get("misses", []))


_LINE = re.compile(r"line (\d+)(?: column (\d+))?")


def annotated(rows: Sequence[Row], file: str) -> Iterator[str]:
    """One line for each result that failed or could not be had."""
    for row in rows:
        if row.failed:
            what = "could not be judged" if row.outcome.status is Status.ERROR else "failed"
            title = f"{row.case.id}: {row.evaluator} {what}"
            yield annotation(title, row.outcome.reasoning, file=file, **_place(row.case.place))


def _place(text: str) -> dict[str, str]:
    match = _LINE.match(text)
    if match is None:
        return {}
    return {key: value for key, value in (("line", match[1]), ("col", match[2])) if value}
