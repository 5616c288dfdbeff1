"""What the numbers of tables say: one sentence, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation.pictured import Finding, Phrase, Sentence
from calque.core.presentation.wording import counted, percent
from calque.tables.presentation import SAID, TITLES, sentence

STRONG, WEAK = 0.9, 0.7
"""From where on a mean is a strength, and below which it is a weakness."""
MOST = 5
"""How many things there are to look at."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How many tables were found and how well they were read, with the measure in the sentence."""
    told = sentence(numbers)
    for name in ("teds", "grits_con", "grits_top"):
        value = numbers["mean"].get(name)
        spelt = f"{TITLES[name]} of {value:.4f}" if isinstance(value, float) else ""
        if spelt and spelt in told:
            before, _, after = told.partition(spelt)
            tone = "good" if value >= STRONG else "bad" if value < WEAK else ""
            return [before + f"{TITLES[name]} of ", Phrase(name, f"{value:.3f}", tone), after]
    return [told]


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Missed and spurious tables, the kinds that cost most, tables that TEDS flatters, and the worst table."""
    counts = numbers["counts"]
    lines = []
    if counts["missed"]:
        lines.append(
            Finding("fn", f"{counts['missed']:,} of {counted(counts['truth'], 'table')} are missed", {"outcome": "fail"})
        )
    if counts["spurious"]:
        lines.append(Finding("fp", f"{counted(counts['spurious'], 'predicted table')} for nothing", {"outcome": "fail"}))
    losses = {
        kind: block["loss"] for kind, block in numbers.get("errors", {}).items() if kind in SAID and kind != "table_missed"
    }
    for kind, loss in sorted(losses.items(), key=lambda item: -item[1])[:2]:
        if loss > 0:
            lines.append(Finding("wrong", f"{percent(loss)} of TEDS is lost to {SAID[kind]}", {"outcome": "partial"}))
    if numbers["apart"]:
        count = counted(len(numbers["apart"]), "table")
        lines.append(
            Finding("note", f"{count}: values stand under the wrong headings", {"doc": str(numbers["apart"][0]["document"])})
        )
    if numbers["worst"]:
        worst = numbers["worst"][0]
        lines.append(Finding("class", f"Worst table: {worst['document']}", {"doc": str(worst["document"])}))
    return lines[:MOST]
