"""What the numbers of words say: one sentence, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation.pictured import Finding, Phrase, Sentence
from calque.core.presentation.wording import counted, percent

STRONG, WEAK = 0.9, 0.8
"""From where on a share is a strength, and below which it is a weakness."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How many of the true words were read in order, and how many of those that were read are there."""
    counts, micro = numbers["counts"], numbers["micro"]
    if not counts["words"] or micro["recall"] is None:
        read = counted(counts["predicted_words"], "word")
        return [f"There is nothing to read: the truth has no words, and {read} were predicted."]
    recall = _phrase("recall", micro["recall"])
    opening: list[str | Phrase] = ["Reads ", recall, f" of {counted(counts['words'], 'word')} in order"]
    if micro["precision"] is None:
        return [*opening, ": nothing was predicted."]
    joint = ", and " if micro["precision"] >= STRONG else ", but only "
    return [*opening, joint, _phrase("precision", micro["precision"]), " of what it reads is there."]


def _phrase(name: str, share: float) -> Phrase:
    return Phrase(name, percent(share), "good" if share >= STRONG else "bad" if share < WEAK else "")


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Words that were not read, words that are not there, the worst document, and what a lattice could repair."""
    counts = numbers["counts"]
    missed, extra = counts["words"] - counts["matches"], counts["predicted_words"] - counts["matches"]
    lines = []
    if missed:
        lines.append(Finding("fn", f"{missed:,} of {counted(counts['words'], 'word')} are missing", {"outcome": "fn"}))
    if extra:
        lines.append(
            Finding("fp", f"{counted(extra, 'word')} that {'is' if extra == 1 else 'are'} not there", {"outcome": "fp"})
        )
    recalls = {name: entry["recall"] for name, entry in numbers["documents"].items() if entry["recall"] is not None}
    if len(recalls) > 1:
        worst = min(recalls, key=lambda name: recalls[name])
        lines.append(Finding("class", f"Worst document: {worst}, {percent(recalls[worst])} of its words", {"doc": str(worst)}))
    oracle = numbers.get("oracle", {})
    if oracle.get("recall") is not None:
        lines.append(Finding("note", f"The best path through the lattice has {percent(oracle['recall'])} of the words", {}))
    return lines
