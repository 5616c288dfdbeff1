"""What the name of a field and the shape of its values say about what it holds; each answer comes with its evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from statistics import median
from typing import Any, NamedTuple

from calque.comparators.date import ZONES, DateComparator, Day
from calque.comparators.slips import LONG_CHARACTERS
from calque.comparators.written_numbers import written

MOST = 0.95
"""The share of values that must have a shape; single oddities such as "n/a" are compared as text."""
LONG_WORDS = 12
"""From here on, at the median, a text is long, or from its characters."""

_CODES = frozenset((
    "id", "ids", "uid", "uuid", "guid", "code", "codes", "sku", "iban", "bic", "swift", "ean", "upc", "gtin", "isbn",
    "issn", "vin", "imei", "asin", "vat", "vatin", "tin", "ein", "ssn", "tax_id", "phone", "telephone", "tel", "fax",
    "mobile", "cell", "email", "mail", "zip", "zipcode", "postcode", "postalcode", "plz", "no", "nr", "num", "number",
    "reference", "ref", "barcode", "serial", "account", "acct", "routing", "passport", "licence", "license", "plate",
    "url", "uri", "website", "homepage", "link", "hash", "token", "key", "po", "currency", "country_code", "lang",
    "language", "locale", "mime", "status", "state_code", "cusip", "isin", "lei", "duns", "siret", "siren", "abn",
    "gstin", "pan", "nif", "cif", "version", "ver", "revision", "rev", "release", "checksum", "digest", "filename",
))  # fmt: skip
_GROUPED = frozenset((
    "iban", "isbn", "issn", "ean", "upc", "gtin", "vat", "vatin", "tin", "ein", "ssn", "tax_id", "siret", "siren", "abn",
    "gstin", "phone", "telephone", "tel", "fax", "mobile", "cell", "card", "card_number", "imei",
))  # fmt: skip
"""Codes that people part into groups as they like, to be read more easily."""
_AMOUNTS = frozenset((
    "amount", "total", "subtotal", "price", "cost", "sum", "balance", "fee", "gross", "net", "tax", "discount", "deposit",
    "salary", "income", "revenue", "quantity", "qty",
))  # fmt: skip
_DATES = frozenset(["date", "dated", "datum", "dob", "birthday", "birthdate"])
_MOMENTS = frozenset(["datetime", "timestamp"])
_ADDED = frozenset(["address", "value", "text", "raw", "string", "str"])
"""Last words that say nothing: an e-mail address is an e-mail."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\.?"
_DAY = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?[ .-]+{_MONTH},?[ -]+\d{{4}}|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? +\d{{4}}",
    re.IGNORECASE,
)
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[ap]\.?m\.?)?"
_ZONE = rf"(?: ?(?:z|utc|gmt|{'|'.join(ZONES)}|[+-]\d{{2}}:?\d{{2}}))?"
_TIME = re.compile(_CLOCK + _ZONE, re.IGNORECASE)
_MOMENT = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}[t ]{_CLOCK}{_ZONE}", re.IGNORECASE)
_TWO_NUMBERS_FIRST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.]\d{2,4}")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?)")
_CARD = re.compile(r"\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5}|\d{13,19}")
_PHONE = re.compile(r"(?:\+|\(|0)[\d\s()./-]{6,}\d|\d{3}[-. ]\d{3}[-. ]\d{4}")
_NAMED_SHAPES: tuple[tuple[str, Callable[[str], Any], bool], ...] = (
    ("e-mail addresses", _MAIL.fullmatch, False),
    ("addresses of pages", _LINK.fullmatch, False),
    ("IBANs", _IBAN.fullmatch, True),
    ("numbers as on cards", _CARD.fullmatch, True),
    ("telephone numbers", _PHONE.fullmatch, True),
)
"""What values look like, and whether it does not count how their characters are grouped."""


FREE_TEXT, LONG_TEXT = {"same_words": True}, {"same_numbers": True}
"""Slips in free text are forgiven, other words and numbers are not; in long text other numbers are not."""
STRICT_NUMBER, WHOLE_TREE = {"strict": True}, {"strict": True}
"""What is no number has no number in it; of a tree every leaf must be right."""
UNGROUPED = {"ungrouped": True}
"""An IBAN with blanks is the same without."""
WHOLE_OBJECT = "an object: right when all of it is"


class Finding(NamedTuple):
    """A type, options of its comparator, and why."""

    type: str
    evidence: str
    params: dict[str, Any] = {}  # noqa: RUF012  # a named tuple, whose default is never changed


def settled(found: Finding) -> dict[str, Any]:
    """A finding as a field of the plain form."""
    field: dict[str, Any] = {"type": found.type}
    if found.params:
        field["params"] = dict(found.params)
    if found.type == "any" and found.params:
        field["threshold"] = 1.0  # a tree of which a leaf is wrong is not right
    return {**field, "evidence": found.evidence} if found.evidence else field


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case.

    >>> words_of("invoiceNumber"), words_of("IBAN_of_payee"), words_of("e-mail")
    (['invoice', 'number'], ['iban', 'of', 'payee'], ['email'])
    """
    return [word.lower() for word in _WORD.findall(name.replace("e-mail", "email").replace("E-Mail", "email"))]


def by_name(name: str) -> Finding | None:
    """What a name says of a text: a code, an amount, a date; nothing where it says nothing.

    >>> by_name("invoice_number").type, by_name("dueDate").type, by_name("email_address").type, by_name("vendor_name")
    ('code', 'date', 'code', None)
    """
    words = words_of(name)
    while len(words) > 1 and words[-1] in _ADDED:
        words.pop()
    last, told = (words[-1] if words else ""), f"its name, {name}"
    joined = "_".join(words[-2:])
    grouped = {last, joined} & _GROUPED or (last in ("id", "no", "nr", "num", "number") and {*words[-2:-1]} & _GROUPED)
    if {last, joined} & _CODES or grouped:
        return Finding("code", f"{told}: right or wrong as a whole", UNGROUPED if grouped else {})
    if last in _MOMENTS or words[-1:] == ["at"]:
        return Finding("datetime", told)
    if last in _DATES:
        return Finding("date", told)
    return Finding("amount", told) if last in _AMOUNTS else None


def by_values(name: str, values: Sequence[Any]) -> Finding:
    """What values, none of them absent and none of them nested, are like."""
    kinds = {type(value) for value in values}
    count = f"by the look of {len(values):,} {'value' if len(values) == 1 else 'values'}"
    if kinds == {bool}:
        return Finding("bool", f"true or false, {count}")
    if kinds <= {int, float, Decimal}:
        whole = kinds == {int}
        return Finding("int" if whole else "float", f"{'whole ' if whole else ''}numbers, {count}", STRICT_NUMBER)
    if bool in kinds:
        return Finding("any", f"values of several types, {count}", WHOLE_TREE)
    texts = [str(value).strip() for value in values]
    return _by_shape(name, texts, count)


def _by_shape(name: str, texts: Sequence[str], count: str) -> Finding:
    named = by_name(name)
    found = _dates(texts, count) or _addresses(texts, count)
    if found is not None:
        return found
    if named is not None and named.type in ("date", "datetime") and _most(texts, _is_day):
        return Finding(named.type, f"its name, {name}, and dates, {count}")
    says_code = named is not None and named.type == "code"
    says_amount = named is not None and named.type == "amount"
    if _most(texts, written) and not (says_code or _are_codes(texts) or (_are_versions(texts) and not says_amount)):
        return Finding("amount", f"numbers as people write them, {count}", _decimal_comma(texts))
    if named is not None and says_code and not _is_prose(texts):
        return named
    if _most(texts, _is_code):
        return Finding("code", f"codes without blanks and with digits, {count}")
    long = median(map(len, texts)) >= LONG_CHARACTERS or median(len(text.split()) for text in texts) >= LONG_WORDS
    return Finding("text", f"long text, {count}", LONG_TEXT) if long else Finding("str", f"free text, {count}", FREE_TEXT)


def _addresses(texts: Sequence[str], count: str) -> Finding | None:
    for told, fits, grouped in _NAMED_SHAPES:
        if _most([" ".join(text.split()) for text in texts], fits):
            return Finding("code", f"{told}, {count}", UNGROUPED if grouped else {})
    return None


def _most(texts: Sequence[str], fits: Callable[[str], Any]) -> bool:
    return sum(fits(text) is not None and fits(text) is not False for text in texts) >= MOST * len(texts)


def _are_codes(texts: Sequence[str]) -> bool:
    """Whether digits alone are a code: they have leading zeros, or all the same length of five or more."""
    plain = [text for text in texts if text.isdecimal()]
    if len(plain) < len(texts):
        return False
    return any(text[0] == "0" and len(text) > 1 for text in plain) or (
        len({len(text) for text in plain}) == 1 and len(plain[0]) >= 5
    )


def _are_versions(texts: Sequence[str]) -> bool:
    """Whether texts are written as decimals and yet as no numbers are: 1.9 beside 1.10. Amounts have as many digits each."""
    parts = [text.split(".") for text in texts]
    if not all(len(each) <= 2 and all(part.isdecimal() for part in each) for each in parts):
        return False
    behind = [each[1] for each in parts if len(each) == 2]
    return len({len(digits) for digits in behind}) > 1 and any(digits[-1] == "0" for digits in behind)


def _is_code(text: str) -> bool:
    """Whether a text has no blanks, some digits, and hardly anything but letters, digits and marks between them."""
    if not text or any(char.isspace() for char in text) or not any(char.isdigit() for char in text):
        return False
    return sum(char.isdigit() for char in text) >= 0.2 * len(text)


def _is_prose(texts: Sequence[str]) -> bool:
    """Whether texts are sentences or names, whatever the field is called."""
    words = median(len(text.split()) for text in texts)
    digits = sum(char.isdigit() for text in texts for char in text) / max(sum(map(len, texts)), 1)
    return words >= 3 and digits < 0.2


def _dates(texts: Sequence[str], count: str) -> Finding | None:
    if _most(texts, _MOMENT.fullmatch):
        return Finding("datetime", f"dates with a time, {count}")
    if _most(texts, _TIME.fullmatch):
        return Finding("time", f"times of day, {count}")
    if not _most(texts, _DAY.fullmatch):
        return None
    day_first, told = _order(texts)
    params = {} if day_first is None else {"dayfirst": day_first}
    return Finding("date", f"dates{told}, {count}", params)


def _is_day(text: str) -> bool:
    """Whether a text can be read as one day of one year."""
    readings = DateComparator().prepare(text)
    return any(isinstance(read, Day) and read.has_year and read.has_month and read.has_day for read in readings)


def _order(texts: Sequence[str]) -> tuple[bool | None, str]:
    """Whether the day comes before the month in dates such as 13/02/2025, as far as they show it."""
    numbers = [(int(match[1]), int(match[2])) for text in texts if (match := _TWO_NUMBERS_FIRST.fullmatch(text))]
    if not numbers:
        return None, ""
    day_first, month_first = any(first > 12 for first, _ in numbers), any(second > 12 for _, second in numbers)
    if day_first == month_first:
        return None, " that do not show whether the day comes first"
    return day_first, f" with the {'day' if day_first else 'month'} first"


def _decimal_comma(texts: Sequence[str]) -> dict[str, Any]:
    """The option that "1,234" is a little more than one, when other values show that the comma is the decimal mark."""
    readings = [(written(text), written(text, decimal_comma=True), text) for text in texts if "," in text or "." in text]
    sure = [text for point, comma, text in readings if point is not None and point == comma]
    marks = {text[max(text.rfind(","), text.rfind("."))] for text in sure}
    return {"decimal_comma": True} if marks == {","} else {}
