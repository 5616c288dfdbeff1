"""What the numbers of checks say: one sentence, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation.pictured import Finding, Phrase, Sentence
from calque.core.presentation.wording import counted, percent

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
        return ["All of ", cases, " pass: ", passed, "."]
    rest = [
        (name, text)
        for name, text in (("fail", "fail"), ("partial", "pass in part"), ("error", "could not be judged"))
        if summary[name]
    ]
    told: list[str | Phrase] = []
    for name, text in rest:
        told += [", " if told else "", Phrase(name, f"{summary[name]:,}", "bad" if name == "fail" else ""), f" {text}"]
    return [passed, " of ", cases, " pass; ", *told, "."]


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Cases that fail, pass in part or could not be judged, and the evaluator that is hardest."""
    summary = numbers["summary"]
    told = (
        ("fail", "fail", "fails"),
        ("partial", "pass in part", "passes in part"),
        ("error", "could not be judged", "could not be judged"),
    )
    lines = [
        Finding(name, f"{counted(summary[name], 'case')} {one if summary[name] == 1 else many}", {"outcome": name})
        for name, many, one in told
        if summary[name]
    ]
    scores = {name: entry["score"] for name, entry in numbers["evaluators"].items() if entry["score"] is not None}
    if len(scores) > 1:
        worst = min(scores, key=lambda name: scores[name])
        lines.append(Finding("class", f"Hardest evaluator: {worst}, score {scores[worst]:.3f}", {"class": worst}))
    return lines
