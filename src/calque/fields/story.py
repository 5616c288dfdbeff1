"""What the numbers of fields say: one sentence, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation.pictured import Finding, Phrase, Sentence
from calque.core.presentation.wording import counted, percent

STRONG, WEAK = 0.9, 0.8
"""From where on a share is a strength, and below which it is a weakness."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How much of what is there is found, how much of what was read is right, and the weakest field."""
    overall = numbers["overall"]
    if not overall["tp"] + overall["fd"] + overall["fn"]:
        return ["There is nothing to read: ", Phrase("fa", f"{overall['fa']:,}"), " values are made up."]
    opening: list[str | Phrase] = ["Finds ", _phrase("cm_recall", overall), " of the values, and "]
    opening += [_phrase("cm_precision", overall), " of what it reads is right"]
    worst = _worst(numbers)
    if worst is None or numbers["fields"][worst]["cm_f1"] >= STRONG:
        return [*opening, "."]
    f1 = Phrase(f"cm_f1/{worst}", f"{numbers['fields'][worst]['cm_f1']:.3f}", "bad")
    return [*opening, f"; worst is {worst}, F1 ", f1, "."]


def _phrase(name: str, overall: Mapping[str, Any]) -> Phrase:
    share = overall[name]
    return Phrase(name, percent(share), "good" if share >= STRONG else "bad" if share < WEAK else "")


def _worst(numbers: Mapping[str, Any]) -> str | None:
    known = {name: entry["cm_f1"] for name, entry in numbers["fields"].items() if entry["tp"] + entry["fp"] + entry["fn"]}
    return min(known, key=lambda name: known[name]) if len(known) > 1 else None


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Values that are wrong, missing or made up, and the weakest field."""
    overall = numbers["overall"]
    told = (
        ("wrong", overall["fd"], "read wrong", "wrong"),
        ("fn", overall["fn"], "missing", "fn"),
        ("fp", overall["fa"], "made up", "fp"),
    )
    lines = [
        Finding(mark, f"{counted(count, 'value')} {text}", {"outcome": outcome}) for mark, count, text, outcome in told if count
    ]
    worst = _worst(numbers)
    if worst is not None:
        lines.append(Finding("class", f"Weakest field: {worst}, F1 {numbers['fields'][worst]['cm_f1']:.3f}", {"class": worst}))
    return lines
