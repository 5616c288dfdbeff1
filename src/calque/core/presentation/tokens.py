"""The colours that reports, notebooks and plots share: each in light and in dark mode."""

from __future__ import annotations

TOKENS = {
    "paper": ("#FBFAF7", "#15181C"),
    "panel": ("#FFFFFF", "#1C2025"),
    "sunk": ("#F3F1EB", "#111417"),
    "ink": ("#1B1F24", "#ECEAE4"),
    "ink-2": ("#535C67", "#B3BAC3"),
    "ink-3": ("#646D78", "#8F98A3"),
    "line": ("#E2DED4", "#2D333A"),
    "line-2": ("#CFCABE", "#434B55"),
    "link": ("#0B5C9E", "#7DB7F0"),
    "tp": ("#0072B2", "#5A89C1"),
    "fn": ("#B84A00", "#DB7C26"),
    "fp": ("#5C1668", "#E2B0E5"),
    "wrong": ("#14171A", "#F6F7E7"),
    "ignored": ("#646D78", "#8F98A3"),
    "cut": ("#E69F00", "#E69F00"),
    "cut-line": ("#8A5F00", "#E69F00"),
}
"""The page of a report has them as variables of the same names; outcomes are called as its rows call them."""


def in_both(name: str) -> str:
    """A colour as a style has it that follows the mode.

    >>> in_both("ink")
    'light-dark(#1B1F24,#ECEAE4)'
    """
    return f"light-dark({','.join(TOKENS[name])})"


def on_paper(name: str) -> str:
    """A colour on paper, which is light whatever the mode."""
    return TOKENS[name][0]
