"""Parts of headlines and findings that all tasks share: the tone of a fraction, and the weakest class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.base.wording import percent
from calque.evaluation.presentation.report_data import Phrase

STRONG, WEAK = 0.9, 0.8


def tone(fraction: float, strong: float = STRONG, weak: float = WEAK) -> str:
    """Return whether a fraction is good or bad news; empty in between.

    >>> tone(0.95), tone(0.85), tone(0.5)
    ('good', '', 'bad')
    """
    return "good" if fraction >= strong else "bad" if fraction < weak else ""


def rated(metric: str, fraction: float, text: str = "", *, strong: float = STRONG, weak: float = WEAK) -> Phrase:
    """Return a fraction inside a sentence, with its tone; as a percentage unless the text says it.

    >>> rated("recall", 0.5), rated("recall", 1.0, "all 4 blocks").text
    (Phrase(measure='recall', text='50 %', tone='bad', run=None), 'all 4 blocks')
    """
    return Phrase(metric, text or percent(fraction), tone(fraction, strong, weak))


def weakest(blocks: Mapping[str, Mapping[str, Any]], metric: str) -> str:
    """Return the class with the lowest value; empty unless two classes have a value and one of them is below 1.

    >>> weakest({"text": {"recall": 1.0}, "image": {"recall": 0.5}, "table": {"recall": None}}, "recall")
    'image'
    """
    known = {name: block[metric] for name, block in blocks.items() if isinstance(block[metric], float | int)}
    worst = min(known, key=lambda name: known[name], default="")
    return worst if len(known) > 1 and known[worst] < 1 else ""
