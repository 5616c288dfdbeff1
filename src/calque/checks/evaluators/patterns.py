"""Regular expressions that cannot run away: every search has its time."""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import dataclass
from typing import Any

from calque.checks.shapes.coordinates import shown
from calque.engines import has_alarms, with_timeout

LONGEST = 2_000
"""How many characters a pattern may have; compiling takes time, too."""
TEXTS = 10
"""All searches of one case together may take as long as this many texts."""
_ELSEWHERE = """
import json, re, sys
pattern, flags, text, full = json.load(sys.stdin)
found = re.compile(pattern, flags)
print("yes" if (found.fullmatch if full else found.search)(text) else "no")
"""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that compiles.

    >>> Pattern.compile("[0-9]+").fits("INV 12", full=False, ignore_case=False, seconds=1)
    True
    """

    text: str

    @classmethod
    def compile(cls, text: Any) -> Pattern:
        """The pattern; `ValueError` when it is none."""
        if not isinstance(text, str):
            raise ValueError(f"a pattern must be text, not {shown(text)}")
        if len(text) > LONGEST:
            raise ValueError(f"a pattern may have {LONGEST:,} characters, and this one has {len(text):,}")
        try:
            re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"{shown(text)} is not a regular expression: {error}") from None
        return cls(text)

    def fits(self, text: str, *, full: bool, ignore_case: bool, seconds: float) -> bool:
        """Whether a part of the text fits, or all of it; `TimeoutError` when that cannot be said in time."""
        found = re.compile(self.text, re.IGNORECASE if ignore_case else 0)
        search = found.fullmatch if full else found.search
        if has_alarms():  # an alarm interrupts a search, too
            return with_timeout(lambda: search(text) is not None, seconds) is True
        from calque.engines import run_program

        question = json.dumps([self.text, int(found.flags & re.IGNORECASE), text, full]).encode()
        told = run_program([sys.executable, "-I", "-c", _ELSEWHERE], question, seconds=seconds + 5)
        if told.code:
            raise TimeoutError  # it ended without an answer: there was no room for one
        return told.out.strip() == b"yes"


class PatternClock:
    """Counts the seconds that the patterns of one case take, and stops them when there were too many."""

    def __init__(self, seconds: float) -> None:
        self._for_one = seconds
        self._left = seconds * TEXTS

    def fits(self, pattern: Pattern, text: str, *, full: bool, ignore_case: bool) -> bool:
        """As `Pattern.fits`; `TimeoutError` when this text, or all texts of the case together, take too long."""
        if self._left <= 0:
            raise TimeoutError
        begun = time.monotonic()
        try:
            return pattern.fits(text, full=full, ignore_case=ignore_case, seconds=min(self._for_one, self._left))
        finally:
            self._left -= time.monotonic() - begun
