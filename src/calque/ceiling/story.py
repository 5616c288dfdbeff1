"""What the numbers of a ceiling say: one sentence, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation.pictured import Finding, Phrase, Sentence
from calque.core.presentation.wording import counted, percent


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """What the best system has, and what the best choice of all of them could have."""
    level, block = next(iter(numbers["levels"].items()))
    at = "" if level == "value" else f"@{level}"
    if not block["truth"]:
        return ["There is nothing to find: no truths count."]
    best = Phrase(f"best.recall{at}", percent(block["best"]["recall"]))
    reached = Phrase(f"recall{at}", percent(block["select"]["recall"]), "good" if block["select"]["recall"] >= 0.9 else "")
    names = numbers["systems"]
    if len(names) == 1:
        return [f"{names[0]} finds ", best, "; the best choice of its own boxes finds ", reached, "."]
    return [f"{block['best']['system']}, the best, finds ", best, f"; all {len(names)} together could find ", reached, "."]


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """What nobody finds, and what shares its boxes with others."""
    block = next(iter(numbers["levels"].values()))
    missed, suspects = block["missed"], block["suspects"]
    lines = []
    if missed["unfound"]:
        lines.append(Finding("fn", f"{counted(missed['unfound'], 'truth')} that nobody finds", {"outcome": "fn"}))
    if suspects.get("label"):
        text = f"{counted(suspects['label'], 'truth')} that systems have under another label"
        lines.append(Finding("class", text, {"outcome": "fn", "kind": "label"}))
    if missed.get("contested"):
        text = f"{counted(missed['contested'], 'truth')} whose boxes serve others"
        lines.append(Finding("wrong", text, {"outcome": "wrong"}))
    return lines
