"""What the numbers of reading order say: one sentence, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation.pictured import Finding, Phrase, Sentence
from calque.core.presentation.wording import counted, percent
from calque.order.presentation import WORDS, sentence

STRONG, WEAK = 0.95, 0.8
"""From where on a share is a strength, and below which it is a weakness."""
MOST = 5
"""How many things there are to look at."""
SAID = {
    "furniture": "at headers and footers",
    "interleaved": "between interleaved columns",
    "column_jump": "to another column",
    "skip": "over something that is left out",
    "back": "back within a column",
}


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How much of the order is right, with the measures in the sentence."""
    told: list[str | Phrase] = [sentence(numbers)]
    for name in ("pairs", "successors"):
        value = numbers["micro"][name]
        spelt = percent(value) if isinstance(value, float) else ""
        rest = told.pop()
        if spelt and isinstance(rest, str) and spelt in rest:
            before, _, after = rest.partition(spelt)
            told += [before, Phrase(name, spelt, "good" if value >= STRONG else "bad" if value < WEAK else ""), after]
        else:
            told.append(rest)
    return told


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Where the path is left, most often first; blocks without a place; and the document that is read worst."""
    counts, breaks = numbers["counts"], numbers["breaks"]
    lines = [
        Finding("wrong", f"{counted(count, 'step')} {SAID[kind]}", {"kind": WORDS.get(kind, kind)})
        for kind, count in sorted(breaks.items(), key=lambda item: -item[1])
        if count
    ][: MOST - 2]
    if lost := counts["missing"] + counts["unplaced"]:
        lines.append(
            Finding(
                "fn",
                f"{lost:,} of {counted(counts['truth'], 'block')} {'has' if lost == 1 else 'have'} no place",
                {"outcome": "fn"},
            )
        )
    judged = {name: block["pairs"] for name, block in numbers["documents"].items() if isinstance(block["pairs"], float)}
    if len(judged) > 1:
        worst = min(judged, key=lambda name: (judged[name], str(name)))
        text = f"Read worst: {worst}, {percent(judged[worst])} of its pairs in order"
        lines.append(Finding("class", text, {"view": "pages", "doc": str(worst)}))
    return lines[:MOST]
