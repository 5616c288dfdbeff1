"""The comparator of dates: many spellings, one calendar day; ranges and tolerance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from calque.comparators.base import BaseComparator
from calque.core.errors import ConfigError, MissingExtra

PARTIAL_YEAR = 0.7
"""The score of two dates that agree where one of them leaves the year out, when that is allowed."""
INSIDE = 0.5
"""The score of a single day within a range, when ranges are graded."""

_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_YEAR_FIRST = re.compile(r"\d{4}[-/.]")
_SEPARATORS = (" to ", " through ", " - ", "–")
_LONGEST = 256


class Day(NamedTuple):
    """A date and which of its parts were written."""

    when: datetime
    has_year: bool = True
    has_month: bool = True
    has_day: bool = True

    @property
    def parts(self) -> tuple[bool, bool]:
        """How fine it is, the year apart."""
        return self.has_month, self.has_day

    def midnight(self) -> datetime:
        """Its day, without time and time zone."""
        when = self.when if self.when.tzinfo is None else self.when.astimezone(UTC).replace(tzinfo=None)
        return when.replace(hour=0, minute=0, second=0, microsecond=0)


class Span(NamedTuple):
    """Two dates, the first not after the second."""

    start: Day
    end: Day


Parsed: TypeAlias = Day | Span | None


@dataclass(frozen=True)
class DateComparator(BaseComparator):
    """1.0 for the same day, however it is written; what cannot be read as a date scores 0.0, even against itself.

    Dates must be equally fine: "Jan 2024" is not "1 Jan 2024". An ambiguous "01/02/2025" is read both ways and the
    better reading counts, unless ``dayfirst`` says. ``tolerance`` is in days. A range against a range scores the share
    of days in common, a day inside a range 0.5 (``range_mode="graded"``), 1.0 (``"contains"``) or nothing
    (``"strict"``, where ranges must be equal).

    >>> DateComparator().compare("2024-03-05", "March 5, 2024"), DateComparator().compare("soon", "soon")
    (1.0, 0.0)
    >>> DateComparator(tolerance=2).compare("2024-03-05", "2024-03-07")
    1.0
    """

    name: ClassVar[str] = "date"

    tolerance: float = 0
    dayfirst: bool | None = None
    allow_partial_year: bool = False
    range_mode: Literal["strict", "contains", "graded"] = "graded"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.tolerance, timedelta):
            object.__setattr__(self, "tolerance", self.tolerance / timedelta(days=1))
        if isinstance(self.tolerance, bool) or not self.tolerance >= 0:
            raise ConfigError(f"date: tolerance must be days from 0, not {self.tolerance!r}")
        if self.range_mode not in ("strict", "contains", "graded"):
            raise ConfigError(f"date: range_mode must be strict, contains or graded, not {self.range_mode!r}")

    def prepare(self, value: Any) -> tuple[Parsed, ...]:
        """The ways to read a value."""
        readings = (False, True) if self.dayfirst is None else (self.dayfirst,)
        if isinstance(value, date):
            when = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
            return (Day(when),) * len(readings)
        return tuple(_parse(str(value).strip(), day_first) for day_first in readings)

    def _compare(self, truth: tuple[Parsed, ...], found: tuple[Parsed, ...]) -> float:
        return max(self._score(*pair) for pair in zip(truth, found, strict=True))

    def _score(self, truth: Parsed, found: Parsed) -> float:
        if truth is None or found is None:
            return 0.0
        if isinstance(truth, Span) and isinstance(found, Span):
            return self._spans(truth, found)
        if isinstance(truth, Day) and isinstance(found, Day):
            return self._years(truth, found) if self._same_day(truth, found) else 0.0
        span, day = (truth, found) if isinstance(truth, Span) else (found, truth)
        assert isinstance(span, Span) and isinstance(day, Day)  # noqa: PT018, S101  # the cases above leave no other
        return self._inside(span, day)

    def _years(self, truth: Day, found: Day) -> float:
        if truth.has_year == found.has_year:
            return 1.0
        return PARTIAL_YEAR if self.allow_partial_year else 0.0

    def _same_day(self, truth: Day, found: Day) -> bool:
        if truth.parts != found.parts:
            return False
        if truth.has_year and found.has_year and truth.has_month and truth.has_day:
            return self._near(truth.when, found.when)
        first, second = truth.when, found.when
        if truth.has_year and found.has_year and first.year != second.year:
            return False
        if truth.has_month and first.month != second.month:
            return False
        return not truth.has_day or first.day == second.day

    def _near(self, first: datetime, second: datetime) -> bool:
        if first.tzinfo is None and second.tzinfo is not None:
            first = first.replace(tzinfo=second.tzinfo)
        if second.tzinfo is None and first.tzinfo is not None:
            second = second.replace(tzinfo=first.tzinfo)
        if first.tzinfo is not None and second.tzinfo is not None:
            first, second = first.astimezone(UTC), second.astimezone(UTC)
        if float(self.tolerance).is_integer():
            first, second = (when.replace(hour=0, minute=0, second=0, microsecond=0) for when in (first, second))
        return abs(first - second) <= timedelta(days=self.tolerance)

    def _inside(self, span: Span, day: Day) -> float:
        comparable = (
            span.start.parts == span.end.parts == day.parts and span.start.has_year == span.end.has_year == day.has_year
        )
        if self.range_mode == "strict" or not comparable:
            return 0.0
        inside = span.start.midnight() <= day.midnight() <= span.end.midnight()
        return (1.0 if self.range_mode == "contains" else INSIDE) if inside else 0.0

    def _spans(self, truth: Span, found: Span) -> float:
        years = {day.has_year for day in (*truth, *found)}
        if truth.start.parts != found.start.parts or truth.end.parts != found.end.parts or len(years) > 1:
            return 0.0
        (start, end), (other_start, other_end) = (tuple(day.midnight() for day in span) for span in (truth, found))
        if self.range_mode != "graded":
            return float(start == other_start and end == other_end)
        common = (min(end, other_end) - max(start, other_start)).days + 1
        return max(common, 0) / ((max(end, other_end) - min(start, other_start)).days + 1)


@lru_cache(maxsize=4096)
def _parse(text: str, day_first: bool) -> Parsed:
    iso = _ISO.fullmatch(text)
    if iso is not None:
        try:
            return Day(datetime(*map(int, iso.groups())))  # type: ignore[arg-type]  # year, month and day
        except ValueError:
            return None
    if not text or len(text) > _LONGEST:
        return None
    for separator in _SEPARATORS:
        if separator in text:
            first, _, second = text.partition(separator)
            start, end = _parse_day(first.strip(), day_first), _parse_day(second.strip(), day_first)
            if start is not None and end is not None:
                return _span(start, end)
    if text[0] == "-" or text[-1] == "-" or any(separator in text for separator in _SEPARATORS):
        return None
    return _parse_day(text, day_first)


def _span(start: Day, end: Day) -> Parsed:
    first, last = start.midnight(), end.midnight()
    if first == last and start[1:] == end[1:]:
        return start
    return Span(start, end) if first < last else None


def _parse_day(text: str, day_first: bool) -> Day | None:
    try:
        from dateutil.parser import parse
    except ImportError as error:
        raise MissingExtra("python-dateutil", "comparators", f"reading {text!r} as a date") from error
    day_first = day_first and _YEAR_FIRST.match(text) is None
    try:
        # What the text leaves out is taken from the default: two defaults that share nothing show what was written.
        low = parse(text, default=datetime(1900, 1, 1), dayfirst=day_first)
        high = parse(text, default=datetime(2099, 6, 15), dayfirst=day_first)
    except (ValueError, OverflowError, TypeError):
        return None
    day = Day(low, low.year == high.year, low.month == high.month, low.day == high.day)
    return day if day.has_year or day.has_month or day.has_day else None
