"""The signature: every setting that can change a number, and calque's version, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from calque import __version__
from calque.base.short_repr import one_line

NUMBERS = "0.1"
"""The first version that gives today's numbers. Raised when, and only when, a number changes."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What two results must share to be added up or compared.

    >>> print(Signature("detection", {"iou": "0.5,0.75", "missing": "penalize"}, version="0.1.0"))
    calque 0.1.0 | detection | iou:0.5,0.75 | missing:penalize
    """

    task: str
    settings: Mapping[str, str]
    """Every setting that can change a number."""
    quiet: frozenset[str] = frozenset()
    """Settings at their defaults that the line leaves out."""
    version: str = __version__
    numbers: str = NUMBERS

    def __repr__(self) -> str:
        return one_line(f"<Signature {self}>")

    def __str__(self) -> str:
        shown = [f"{key}:{value}" for key, value in self.settings.items() if key not in self.quiet]
        return " | ".join([f"calque {self.version}", self.task, *shown])

    def differences(self, other: Signature) -> list[str]:
        """What keeps the two apart, one line each; empty when they may be added up."""
        if self.task != other.task:
            return [f"task: {self.task} and {other.task}"]
        lines = []
        if self.numbers != other.numbers:
            lines.append(f"calque: numbers of {self.numbers} and of {other.numbers}")
        for key in {**self.settings, **other.settings}:
            mine, theirs = self.settings.get(key, "(not set)"), other.settings.get(key, "(not set)")
            if mine != theirs:
                lines.append(f"{key}: {mine} and {theirs}")
        return lines

    def to_dict(self) -> dict[str, object]:
        """The JSON form, as in a state file."""
        return {
            "task": self.task,
            "settings": dict(self.settings),
            "quiet": sorted(self.quiet),
            "version": self.version,
            "numbers": self.numbers,
        }
