"""The comparator of dates: many spellings, one calendar day; ranges and tolerance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from calque.base.errors import ConfigError
from calque.comparators.base import BaseComparator

PARTIAL_YEAR = 0.7
"""The score of two dates that agree where one of them leaves the year out, when that is allowed."""
INSIDE = 0.5
"""The score of a single day within a range, when ranges are graded."""

_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_YEAR_FIRST = re.compile(r"\d{4}[-/.]")
_SEPARATORS = (" to ", " through ", " - ", "–")
_LONGEST = 256
ZONES = {
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "WET": 0, "WEST": 1, "BST": 1,
    "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3,
}  # fmt: skip
"""What the clocks of zones that go by a name are ahead of Greenwich."""


LEAP_YEAR = 2000
"""A year that has every day."""


class Day(NamedTuple):
    """A date and which of its parts were written."""

    when: datetime
    has_year: bool = True
    has_month: bool = True
    has_day: bool = True
    has_time: bool = False

    @property
    def is_dated(self) -> bool:
        """Whether it is more than a time of day."""
        return self.has_year or self.has_month or self.has_day

    @property
    def parts(self) -> tuple[bool, bool]:
        """How fine it is, the year apart."""
        return self.has_month, self.has_day

    def midnight(self, *, utc: bool = False) -> datetime:
        """Its day where it was written (or in Greenwich), without time and time zone."""
        when = self.when.astimezone(UTC) if utc and self.when.tzinfo is not None else self.when
        return when.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)


class Span(NamedTuple):
    """Two dates, the first not after the second."""

    start: Day
    end: Day


Parsed: TypeAlias = Day | Span | None


@dataclass(frozen=True)
class DateComparator(BaseComparator):
    """1.0 for the same day, however it is written; what cannot be read as a date scores 0.0, even against itself.

    A day is that of the place where it was written: 2024-03-05T23:30-05:00 is the 5th. Dates must be equally fine:
    "Jan 2024" is not "1 Jan 2024". An ambiguous "01/02/2025" is read both ways and the
    better reading counts, unless ``dayfirst`` says. ``tolerance`` is in days. A range against a range scores the share
    of days in common, a day inside a range 0.5 (``range_mode="graded"``), 1.0 (``"contains"``) or nothing
    (``"strict"``, where ranges must be equal). With ``times`` the time of day counts as well, and may stand alone; one with a
    zone is not one without.

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
    times: bool = False
    same_text: bool = False
    """Whether what cannot be read as a date is compared as text, blanks around it apart."""
    utc: bool = False
    """Whether a date with a time zone counts as the day that it is in Greenwich, as in stickler."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.tolerance, timedelta):
            object.__setattr__(self, "tolerance", self.tolerance / timedelta(days=1))
        if isinstance(self.tolerance, bool) or not isinstance(self.tolerance, Real) or not self.tolerance >= 0:
            raise ConfigError(f"date: tolerance must be days from 0, not {self.tolerance!r}")
        if self.range_mode not in ("strict", "contains", "graded"):
            raise ConfigError(f"date: range_mode must be strict, contains or graded, not {self.range_mode!r}")
        if self.utc and self.only_moments:
            raise ConfigError(
                "date: with times and strict ranges moments are compared; utc, which says whose day it is, decides nothing"
            )

    @property
    def only_moments(self) -> bool:
        """Whether it never matters on which day something is."""
        return self.times and self.range_mode == "strict"

    def prepare(self, value: Any) -> tuple[Parsed, ...] | str:
        """The ways to read a value; its text when there is none, and texts are compared."""
        readings = (False, True) if self.dayfirst is None else (self.dayfirst,)
        if isinstance(value, date):
            timed = isinstance(value, datetime)
            when = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
            return (Day(when, has_time=timed),) * len(readings)
        text = str(value).strip()
        read = tuple(self._wanted(_parse(text, day_first, self.times)) for day_first in readings)
        return text if self.same_text and not any(read) else read

    def _wanted(self, read: Parsed) -> Parsed:
        """What was read; where times do not count, hours of one day are that day, and a mere time of day is nothing."""
        if self.times:
            return read
        if isinstance(read, Span) and read.start.midnight() == read.end.midnight():
            read = read.start
        return None if isinstance(read, Day) and not read.is_dated else read

    def _compare(self, truth: tuple[Parsed, ...] | str, found: tuple[Parsed, ...] | str) -> float:
        if isinstance(truth, str) or isinstance(found, str):
            return 1.0 if truth == found else 0.0
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
        if truth.parts != found.parts or truth.is_dated != found.is_dated:
            return False
        if truth.has_year and found.has_year and truth.has_month and truth.has_day:
            return self._near(truth.when, found.when)
        first, second = truth.when, found.when
        if truth.has_year != found.has_year:  # the one that is not written may be the other's
            first, second = first.replace(year=LEAP_YEAR), second.replace(year=LEAP_YEAR)
        if self.times and not _same_moment(first, second):
            return False
        if truth.has_year and found.has_year and first.year != second.year:
            return False
        if truth.has_month and first.month != second.month:
            return False
        return not truth.has_day or first.day == second.day

    def _near(self, first: datetime, second: datetime) -> bool:
        if self.times and not self.tolerance:
            return _same_moment(first, second)
        if not float(self.tolerance).is_integer() or self.times:
            first, second = _alike(first, second)
            return abs(first - second) <= timedelta(days=self.tolerance)
        if not self.utc and _same_moment(first, second):
            return True
        days = _in_greenwich(first, second) if self.utc else (first, second)
        early, late = (day.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None) for day in days)
        return abs(early - late) <= timedelta(days=self.tolerance)

    def _inside(self, span: Span, day: Day) -> float:
        comparable = (
            span.start.parts == span.end.parts == day.parts and span.start.has_year == span.end.has_year == day.has_year
        )
        if self.range_mode == "strict" or not comparable:
            return 0.0
        inside = span.start.midnight(utc=self.utc) <= day.midnight(utc=self.utc) <= span.end.midnight(utc=self.utc)
        return (1.0 if self.range_mode == "contains" else INSIDE) if inside else 0.0

    def _spans(self, truth: Span, found: Span) -> float:
        years = {day.has_year for day in (*truth, *found)}
        if truth.start.parts != found.start.parts or truth.end.parts != found.end.parts or len(years) > 1:
            return 0.0
        if self.times and [day.when.tzinfo is None for day in truth] != [day.when.tzinfo is None for day in found]:
            return 0.0
        (start, end), (other_start, other_end) = self._ends(truth, found)
        if self.range_mode != "graded":
            return float(start == other_start and end == other_end)
        last = timedelta(days=0 if self.times else 1)  # a range of days ends with the last of them
        common = min(end, other_end) - max(start, other_start) + last
        return max(common / (max(end, other_end) - min(start, other_start) + last), 0.0)

    def _ends(self, truth: Span, found: Span) -> list[tuple[datetime, datetime]]:
        """The ends of two ranges on one clock: days, or moments where times count."""
        if not self.times:
            return [(span.start.midnight(utc=self.utc), span.end.midnight(utc=self.utc)) for span in (truth, found)]
        placed = all(day.when.tzinfo is not None for day in (*truth, *found))
        zone = UTC if placed else None
        start, end, *others = (
            (day.when.astimezone(zone) if placed else day.when).replace(tzinfo=None) for day in (*truth, *found)
        )
        return [(start, end), (others[0], others[1])]


def _alike(first: datetime, second: datetime) -> tuple[datetime, datetime]:
    """Two moments on one clock: that of Greenwich, or of the place of the one that names it."""
    if (first.tzinfo is None) != (second.tzinfo is None):
        return first.replace(tzinfo=None), second.replace(tzinfo=None)
    return (first, second) if first.tzinfo is None else (first.astimezone(UTC), second.astimezone(UTC))


def _in_greenwich(first: datetime, second: datetime) -> tuple[datetime, datetime]:
    """Two moments on the clock of Greenwich, where one that names no place is from the other's."""
    zone = first.tzinfo or second.tzinfo
    if zone is None:
        return first, second
    early, late = (when if when.tzinfo is not None else when.replace(tzinfo=zone) for when in (first, second))
    return early.astimezone(UTC), late.astimezone(UTC)


def _same_moment(first: datetime, second: datetime) -> bool:
    """Whether both are one moment; one that names its zone and one that does not may be hours apart."""
    if (first.tzinfo is None) != (second.tzinfo is None):
        return False
    early, late = _alike(first, second)
    return early == late


@lru_cache(maxsize=4096)
def _parse(text: str, day_first: bool, times: bool = False) -> Parsed:
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
            start, end = (_parse_day(part.strip(), day_first, times) for part in (first, second))
            if start is not None and end is not None:
                return _span(start, end)
    if text[0] == "-" or text[-1] == "-" or any(separator in text for separator in _SEPARATORS):
        return None
    return _parse_day(text, day_first, times)


def _span(start: Day, end: Day) -> Parsed:
    first, last = start.midnight(), end.midnight()
    if first == last and start[1:4] == end[1:4]:
        early, late = _alike(start.when, end.when)
        return start if early == late else Span(start, end) if early < late else None
    return Span(start, end) if first < last else None


def _zone(name: str | None, offset: int | None) -> timezone | None:
    """The zone of a name or an offset in seconds; one that is unknown makes the text no date."""
    if offset is not None:
        return timezone(timedelta(seconds=offset))
    if name is None:
        return None
    if name not in ZONES:
        raise ValueError(f"unknown zone {name}")
    return timezone(timedelta(hours=ZONES[name]))


def _offset(name: str | None, offset: int | None) -> timezone | None:  # noqa: ARG001  # where only days count names do not
    return None if offset is None else timezone(timedelta(seconds=offset))


def _parse_day(text: str, day_first: bool, times: bool) -> Day | None:
    from dateutil.parser import parse

    day_first = day_first and _YEAR_FIRST.match(text) is None
    try:
        # What the text leaves out is taken from the default: two defaults that share nothing show what was written.
        zones = _zone if times else _offset
        low = parse(text, default=datetime(1900, 1, 1), dayfirst=day_first, tzinfos=zones)
        high = parse(text, default=datetime(2099, 6, 15, 13, 37), dayfirst=day_first, tzinfos=zones)
    except (ValueError, OverflowError, TypeError):
        return None
    timed = (low.hour, low.minute) == (high.hour, high.minute)
    day = Day(low, low.year == high.year, low.month == high.month, low.day == high.day, timed)
    return day if day.is_dated or day.has_time else None
