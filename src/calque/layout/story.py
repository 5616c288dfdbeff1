"""What the numbers of layout say: one sentence, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation.pictured import Finding, Phrase, Sentence
from calque.core.presentation.wording import counted, percent
from calque.layout.numbers import UNMATCHED

STRONG, WEAK = 0.9, 0.8
"""From where on a share is a strength, and below which it is a weakness."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How many blocks are found, and how many of those have the right name."""
    blocks, matched, correct = (numbers[f"layout_{name}_blocks"] for name in ("total", "matched", "correct"))
    whole = Phrase("layout_total_blocks", f"{blocks:,}")
    if not blocks:
        return ["There is nothing to find: ", whole, " true blocks count."]
    share = matched / blocks
    found = Phrase("layout_matched_blocks", f"{matched:,}", _tone(share))
    if not matched:
        return ["Finds ", found, " of ", whole, " blocks."]
    accuracy = Phrase("layout_classification_accuracy", percent(correct / matched), _tone(correct / matched))
    joint = ", and names " if correct / matched >= STRONG else ", but names only "
    return ["Finds ", found, " of ", whole, " blocks", joint, accuracy, " of them right."]


def _tone(share: float) -> str:
    return "good" if share >= STRONG else "bad" if share < WEAK else ""


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """What is not found, what has another name, what nothing took, and the class that fares worst."""
    blocks, matched, correct = (numbers[f"layout_{name}_blocks"] for name in ("total", "matched", "correct"))
    lines = []
    if matched < blocks:
        lines.append(Finding("fn", f"{blocks - matched:,} of {counted(blocks, 'block')} are not found", {"outcome": "fn"}))
    if correct < matched:
        lines.append(Finding("wrong", f"{counted(matched - correct, 'block')} found under another name", {"outcome": "wrong"}))
    labels = list(numbers["confusion"])
    swapped = [
        (count, name, column)
        for name, row in numbers["confusion"].items()
        for column, count in row.items()
        if column not in (name, UNMATCHED)
    ]
    if swapped:
        count, name, column = max(swapped, key=lambda entry: entry[0])
        told = f"{name} is taken for {column} {'once' if count == 1 else f'{count:,} times'}"
        lines.append(Finding("class", told, {"cell": f"{labels.index(name)}>{labels.index(column)}"}))
    rates = {name: block["layout_accuracy_over_total"] for name, block in numbers["per_class"].items()}
    known = {name: rate for name, rate in rates.items() if rate is not None}
    if len(known) > 1:
        worst = min(known, key=lambda label: known[label])
        lines.append(
            Finding("class", f"Weakest class: {worst}, {percent(known[worst])} found and named right", {"class": worst})
        )
    return lines
