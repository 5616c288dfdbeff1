"""Numbers as people write them, read strictly: what is not wholly a number, perhaps with a currency or a unit, is none."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import NamedTuple

from calque.comparators.units import unit_of

_SIGNS: dict[str, frozenset[str]] = {
    "$": frozenset(("$", "USD")),
    "kr": frozenset(("kr",)),
    "¥": frozenset(("¥", "JPY")),
    "£": frozenset(("GBP",)),
    "€": frozenset(("EUR",)),
    "us$": frozenset(("USD",)),
    "c$": frozenset(("CAD",)),
    "ca$": frozenset(("CAD",)),
    "a$": frozenset(("AUD",)),
    "au$": frozenset(("AUD",)),
    "nz$": frozenset(("NZD",)),
    "hk$": frozenset(("HKD",)),
    "s$": frozenset(("SGD",)),
    "r$": frozenset(("BRL",)),
    "fr": frozenset(("CHF",)),
    "sfr": frozenset(("CHF",)),
    "rs": frozenset(("Rs", "INR")),
    "₹": frozenset(("INR",)),
    "zł": frozenset(("PLN",)),
    "kč": frozenset(("CZK",)),
    "ft": frozenset(("HUF",)),
    "lei": frozenset(("RON",)),
    "rmb": frozenset(("CNY",)),
    "euro": frozenset(("EUR",)),
    "euros": frozenset(("EUR",)),
}
"""What signs mean. One that several countries use is itself, and the currency that bears it without a letter: $12 is 12 USD
and neither C$12 nor 12 CAD; which crowns kr means nobody can tell."""
_CODES = frozenset((
    "AED", "ARS", "AUD", "BDT", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR", "GBP", "HKD",
    "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KES", "KRW", "KWD", "LKR", "MAD", "MXN", "MYR", "NGN", "NOK", "NZD", "PEN",
    "PHP", "PKR", "PLN", "QAR", "RON", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD", "VND", "ZAR",
))  # fmt: skip
_SHAPE = re.compile(
    r"(?P<open>\()?\s*(?P<sign>[+\-−])?\s*(?P<before>[^\d\s().,+\-−][^\d\s(),+\-−]*)?\s*(?P<inner>[+\-−])?\s*"
    r"(?P<digits>\d(?:[\d.,'’_\s]*\d)?|[.,]\d+)\s*(?P<after>[^\d\s().,+\-−][^\d\s(),+\-−]*)?\s*(?P<trail>[\-−])?\s*(?P<close>\))?"
)
_BLANK = re.compile(r"[\s'’_]")
_GROUPS = re.compile(r"\d{1,3}(?:G\d{3})+|\d{1,2}(?:G\d{2})*G\d{3}")
"""Thousands in threes, or as in India; G stands for what parts them."""
LONGEST = 400


class Written(NamedTuple):
    """A number, and the currency or unit that it was written with; several where a sign may be written as a code."""

    number: Decimal
    unit: frozenset[str] = frozenset()

    def may_be(self, other: Written) -> bool:
        """Whether both can be of one currency, where one that names none is of any, and of the same unit: 5 is not 5 %.

        >>> written("$5").may_be(written("5")), written("5 %").may_be(written("5")), written("5 kg").may_be(written("5 g"))
        (True, False, False)
        """
        if self.is_measure or other.is_measure:
            return self.unit == other.unit
        return not self.unit or not other.unit or bool(self.unit & other.unit)

    @property
    def is_measure(self) -> bool:
        """Whether it has a unit, and that is no currency."""
        return any(unit_of(each) == each for each in self.unit)


def written(text: str, *, decimal_comma: bool = False) -> Written | None:
    """The number that a text is, if it is nothing else. ``decimal_comma`` decides what "1,234" and "1.234" are.

    >>> written("(1,500.00 USD)").number, written("1.234,50 €").number, written("12,5").number, written("A12")
    (Decimal('-1500.00'), Decimal('1234.50'), Decimal('12.5'), None)
    >>> written("1,234").number, written("1,234", decimal_comma=True).number
    (Decimal('1234'), Decimal('1.234'))
    """
    if len(text) > LONGEST:
        return None
    shape = _SHAPE.fullmatch(text.strip())
    if shape is None or bool(shape["open"]) != bool(shape["close"]):
        return None
    minus = [bool(shape["open"]), *(shape[name] in ("-", "−") for name in ("sign", "inner", "trail"))]
    units = [read(shape[name]) for name, read in (("before", _currency), ("after", _unit)) if shape[name]]
    digits = _plain_digits(shape["digits"], decimal_comma)
    if digits is None or sum(minus) > 1 or len(units) > 1 or None in units:
        return None
    number = Decimal(digits)
    unit = units[0] if units else None
    return Written(-number if any(minus) else number, unit or frozenset())


def _unit(word: str) -> frozenset[str] | None:
    """What stands behind a number: a unit, or a currency."""
    measure = unit_of(word)
    return _currency(word) if measure is None else frozenset((measure,))


def is_currency(word: str) -> bool:
    """Return whether a word names a currency."""
    return _currency(word) is not None


def _currency(word: str) -> frozenset[str] | None:
    """What stands before a number, too."""
    folded = word.casefold().rstrip(".")
    if folded.upper() in _CODES:
        return frozenset((folded.upper(),))
    if folded in _SIGNS:
        return _SIGNS[folded]
    return frozenset((word,)) if len(word) == 1 and unicodedata.category(word) == "Sc" else None


def _plain_digits(text: str, decimal_comma: bool) -> str | None:
    """The digits with a point as decimal mark and nothing between thousands."""
    last = max(text.rfind("."), text.rfind(","))
    if last < 0:
        return _ungrouped(text)
    mark = text[last]
    other = "," if mark == "." else "."
    whole, fraction = text[:last], text[last + 1 :]
    alone = text.count(mark) == 1 and other not in text
    usual = mark == ("," if decimal_comma else ".")
    if alone and not usual and _groups(text):
        return text.replace(mark, "")  # "1,234" where a comma parts thousands
    if text.count(mark) > 1:
        return text.replace(mark, "") if other not in text and _groups(text) else None
    plain = _ungrouped(whole) if whole else "0"
    return None if plain is None or not fraction.isdecimal() else f"{plain}.{fraction}"


def _groups(text: str) -> bool:
    marks = set(re.findall(r"\D", text))
    return len(marks) == 1 and _GROUPS.fullmatch(text.replace(marks.pop(), "G")) is not None


def _ungrouped(text: str) -> str | None:
    """Digits whose thousands are parted by one mark or not at all."""
    if text.isdecimal():
        return text
    evened = _BLANK.sub(" ", text)
    return re.sub(r"\D", "", evened) if _groups(evened) else None
