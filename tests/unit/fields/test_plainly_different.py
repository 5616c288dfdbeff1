"""Without a schema, and with one that says only "text", no value is ever called right that is another, in whatever spelling."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calque import Evaluator, Fields

TEXT = {"properties": {"x": {"type": "string"}}}


class Value(NamedTuple):
    """What a value means, and how it is written."""

    meaning: Any
    spelled: Any


def plain(texts: st.SearchStrategy[Any]) -> st.SearchStrategy[Value]:
    """Values that can be written in one way."""
    return texts.map(lambda text: Value(text, text))


def written(meanings: st.SearchStrategy[Any], *spellings: Callable[[Any], Any]) -> st.SearchStrategy[Value]:
    """Values that can be written in several ways."""
    return st.builds(lambda meaning, spelling: Value(meaning, spelling(meaning)), meanings, st.sampled_from(spellings))


def shaped(pattern: str) -> st.SearchStrategy[Value]:
    """Texts of one pattern: 9 stands for a digit, A and a for letters."""
    kinds = {"9": string.digits, "A": string.ascii_uppercase, "a": string.ascii_lowercase}
    letters = [st.sampled_from(kinds[char]) if char in kinds else st.just(char) for char in pattern]
    return plain(st.tuples(*letters).map("".join))


def german(cents: int) -> str:
    return f"{cents / 100:,.2f}".translate(str.maketrans(",.", ".,"))


def bracketed(cents: int) -> str:
    return f"({-cents / 100:,.2f})" if cents < 0 else f"{cents / 100:,.2f}"


def behind(cents: int) -> str:
    return f"{-cents / 100:.2f}-" if cents < 0 else f"{cents / 100:.2f}"


UNITS = ("kg", "g", "mg", "mm", "cm", "m", "m²", "m³", "l", "ml", "kWh", "MW", "mW", "°C", "°F", "%", "‰", "min", "h")
ACCENTED = ("Müller", "José", "Łukasz", "Zoë", "François", "Ängström", "Nuñez", "Søren", "Bérénice", "Đorđe")
PEOPLE = ("John Smith", "Joan Smith", "J. Smith", "K. Smith", "John A. Smith", "John B. Smith", "Maria Schmidt",
          "Marie Schmidt", "Anna Meier", "Anna Meyer", "Stephen Hart", "Stephan Hart", "Eric Olsen", "Erik Olsen")  # fmt: skip
TURNED = ("the goods are {}accepted by us", "the tenant is {}liable for any damage that occurs to the property while the lease "
          "lasts, nor for what others do")  # fmt: skip
CURRENCIES = {
    "USD": ("$ {}", "US$ {}", "{} USD", "USD {}", "{} usd"), "CAD": ("C$ {}", "CA$ {}", "{} CAD"), "AUD": ("A$ {}", "{} AUD"),
    "BRL": ("R$ {}", "BRL {}"), "EUR": ("€ {}", "{} €", "{} EUR", "{} euros"), "GBP": ("£{}", "{} GBP"), "SEK": ("{} SEK",),
    "NOK": ("{} NOK",), "kr": ("kr {}", "{} kr."), "JPY": ("¥{}", "{} JPY"), "CNY": ("{} CNY", "{} RMB"),
    "INR": ("₹{}", "Rs. {}"), "PKR": ("{} PKR",), "CHF": ("CHF {}", "Fr. {}"), "CZK": ("{} Kč", "{} CZK"),
    "HUF": ("{} Ft", "{} HUF"),
}  # fmt: skip
"""One amount in many currencies, each in its spellings."""
BY_CASE = ("mW", "MW", "mPa", "MPa", "mHz", "MHz", "mΩ", "MΩ", "mJ", "MJ", "mg", "Mg", "ms", "mS", "nm", "Nm", "NM", "Mb", "MB",
           "GB", "Gb", "kN", "kn", "mV", "MV", "mA", "MA", "mm", "Mm", "mbar", "Mbar", "ml", "Ml")  # fmt: skip
"""Units that only their case tells apart."""


def grouped(size: int, mark: str) -> Callable[[str], str]:
    return lambda text: mark.join(text[start : start + size] for start in range(0, len(text), size))


def digits(count: int) -> st.SearchStrategy[str]:
    return st.text(string.digits, min_size=count, max_size=count)


ibans = st.tuples(st.sampled_from(["DE", "GB", "FR"]), digits(2), st.text(string.digits + "ABZ", min_size=14, max_size=18))
amounts = st.integers(-(10**9), 10**9)
days = st.dates(date(1950, 1, 1), date(2049, 12, 31)).filter(lambda day: day.day > 12)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)).map(lambda when: when.replace(microsecond=0))
SPELLINGS: dict[str, tuple[st.SearchStrategy[Any], tuple[Callable[[Any], Any], ...]]] = {
    "amounts": (amounts, (
    lambda cents: cents / 100,
    lambda cents: f"{cents / 100:.2f}",
    lambda cents: f"{cents / 100:,.2f}",
    german,
    bracketed,
    behind,
    lambda cents: f"{german(cents)} €",
    lambda cents: f"EUR {cents / 100:,.2f}",
    lambda cents: f"{cents / 100:,.2f}".replace(",", " "),
    lambda cents: f" {cents / 100:,.2f} ",
    )),
    "days": (days, (
    lambda day: day.isoformat(),
    lambda day: f"{day:%Y/%m/%d}",
    lambda day: f"{day:%d.%m.%Y}",
    lambda day: f"{day:%m/%d/%Y}",
    lambda day: f"{day.day} {day:%B %Y}",
    lambda day: f"{day:%B} {day.day}, {day.year}",
    lambda day: f"{day:%d-%b-%Y}",
    )),
    "moments": (moments, (
    lambda when: when.isoformat(),
    lambda when: when.isoformat(" "),
    lambda when: f"{when:%Y-%m-%d %I:%M:%S %p}",
    )),
    "moments with a zone": (moments, (
    lambda when: f"{when.isoformat()}Z",
    lambda when: f"{when.isoformat(' ')} UTC",
    lambda when: f"{(when + timedelta(hours=2)).isoformat()}+02:00",
    lambda when: f"{(when - timedelta(hours=5)).isoformat(' ')} EST",
    )),
    "measures": (st.tuples(st.integers(1, 10**6), st.sampled_from(UNITS)), (
    lambda measure: f"{measure[0] / 100:.2f} {measure[1]}",
    lambda measure: f"{measure[0] / 100:,.2f}{measure[1]}",
    lambda measure: f" {german(measure[0])} {measure[1]}",
    )),
    "currencies": (st.sampled_from([(code, cents) for code in CURRENCIES for cents in ("12", "12.50", "15")]), (
    lambda money: CURRENCIES[money[0]][0].format(money[1]),
    lambda money: CURRENCIES[money[0]][-1].format(money[1]),
    lambda money: CURRENCIES[money[0]][len(CURRENCIES[money[0]]) // 2].format(money[1]),
    )),
    "IBANs however grouped": (ibans.map("".join), (grouped(4, " "), grouped(40, ""))),
    "cards however grouped": (digits(16).map(lambda number: f"4{number[1:]}"), (
    grouped(4, " "), grouped(4, "-"), grouped(40, ""), grouped(4, "\u00a0"),
    )),
    "telephones however grouped": (digits(8), (
    lambda number: f"+49 30 {number}",
    lambda number: f"+49 (30) {number[:4]}-{number[4:]}",
    lambda number: f"+49.30.{number[:4]}.{number[4:]}",
    lambda number: f"+4930{number}",
    )),
    "units by case": (st.tuples(st.integers(1, 9), st.sampled_from(BY_CASE)), (
    lambda measure: f"{measure[0]} {measure[1]}",
    lambda measure: f"{measure[0]}{measure[1]}",
    )),
    "units by case in a text": (st.tuples(st.integers(1, 9), st.sampled_from(BY_CASE)), (
    lambda measure: f"a source of {measure[0]} {measure[1]} for the bench",
    lambda measure: f"A source of {measure[0]} {measure[1]}, for the bench",
    )),
    "units by case in a long text": (st.tuples(st.integers(1, 9), st.sampled_from(BY_CASE)), (
    lambda measure: f"the device is sold with a source of {measure[0]} {measure[1]} and a spare part for use at the bench",
    lambda measure: f"The device is sold with a source of {measure[0]} {measure[1]}, and a spare part for use at the bench",
    )),
    "names with accents": (st.tuples(*[st.sampled_from(ACCENTED)] * 2).map(" ".join), (
    lambda name: unicodedata.normalize("NFC", name),
    lambda name: unicodedata.normalize("NFD", name).upper(),
    lambda name: f" {name.replace(' ', '  ')}",
    )),
    "sentences": (st.lists(st.sampled_from(ACCENTED), min_size=7, max_size=14).map(" ".join), (
    lambda text: text,
    lambda text: f"{text}.",
    lambda text: text.replace(" ", "\n", 1),
    lambda text: unicodedata.normalize("NFD", text.capitalize()),
    )),
}  # fmt: skip
"""Values that are right however they are written."""

NEIGHBOURS = (
    "Category A", "Category B", "Schedule II", "Schedule III", "approved by both", "not approved by both", "Net 30 days",
    "Net 60 days", "Monthly subscription June", "Monthly subscription July", "value of 5 mg < limit", "value of 5 mg > limit",
    "Warehouse North Gate", "Warehouse South Gate", "Import duty included", "Export duty included", "Total 500 € net",
    "Total 500 $ net", "temperature -5 degrees", "temperature 5 degrees", "internal reference desk", "external reference desk",
)  # fmt: skip
minutes = st.times().map(lambda when: when.replace(microsecond=0, second=0))
WORDS = (
    "delivery",
    "of",
    "goods",
    "not",
    "included",
    "excluded",
    "Monday",
    "Tuesday",
    "red",
    "blue",
    "standard",
    "premium",
    "A",
    "B",
)
KINDS: dict[str, st.SearchStrategy[Value]] = {
    **{name: written(meanings, *spellings) for name, (meanings, spellings) in SPELLINGS.items()},
    "invoice numbers": shaped("INV-9999-9999"),
    "codes of letters": shaped("AAAAAAAAAAAAAA"),
    "words of letters": shaped("aaaaaaaaaaaaaaaa"),
    "IBANs": shaped("DE99 9999 9999 9999 9999 99"),
    "telephone numbers": shaped("+49 (99) 9999-9999"),
    "e-mail addresses": shaped("aaaaaa.aaaaaa@aaaaaaaa.com"),
    "file names": shaped("aaaaaaaa_aaaaaaaa.pdf"),
    "addresses of pages": shaped("https://aaaaaaaaaaaa.com/aaaaaaaa"),
    "plates": shaped("AA 999 9999 99"),
    "UUIDs": plain(st.uuids().map(str)),
    "leading zeros": shaped("000999999999"),
    "whole numbers": written(st.integers(-(10**18), 10**18), int, str),
    "truth values": written(st.booleans(), bool, lambda value: str(value).lower()),
    "times": written(minutes, time.isoformat, lambda when: f"{when:%I:%M %p}"),
    "percentages": written(st.integers(0, 10_000), lambda share: f"{share / 100:.2f} %", lambda share: f"{share / 100:.2f}%"),
    "shares and numbers": written(
        st.tuples(st.integers(1, 99), st.sampled_from(["%", "‰", "", "kg", "g", "MW", "mW"])),
        lambda share: f"{share[0]} {share[1]}".strip(), lambda share: f"{share[0]}.0{share[1]}",
    ),
    "moments and places": written(
        st.tuples(moments, st.sampled_from(["", "+02:00", "-05:00", "Z"])), lambda when: f"{when[0].isoformat()}{when[1]}"
    ),
    "times and places": written(
        st.tuples(minutes, st.sampled_from(["", " EST", " CET", " PST"])), lambda when: f"{when[0]:%H:%M}{when[1]}"
    ),
    "sections": written(
        st.tuples(st.integers(1, 9), st.integers(1, 30)), lambda place: f"{place[0]}.{place[1]}"
    ),
    "people": plain(st.sampled_from(PEOPLE)),
    "contraries": plain(st.sampled_from([text.format(word) for text in TURNED for word in ("", "not ")])),
    "places on earth": shaped("99.9999, -99.9999"),
    "hashes": plain(st.binary(min_size=16, max_size=16).map(bytes.hex)),
    "versions": shaped("v9.99.9"),
    "ranges": shaped("99 – 99"),
    "network addresses": plain(st.ip_addresses(v=4).map(str)),
    "near neighbours": plain(st.sampled_from(NEIGHBOURS)),
    "quantities": shaped("9999.99 aAa"),
    "rows of cells": plain(st.lists(st.sampled_from("abcdefgh"), min_size=12, max_size=12).map(lambda cells: (tuple(cells),))),
}  # fmt: skip


def right(truths: list[Any], founds: list[Any], schema: Any = "") -> int:
    sides = ([{"x": value} for value in values] for values in (truths, founds))
    return int(Evaluator(Fields(schema=schema)).update(*sides).compute()["tp"])


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
def test_another_value_is_never_right(name: str, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(KINDS[name], KINDS[name]), min_size=1, max_size=8))
    differ = [(truth, found) for truth, found in pairs if truth.meaning != found.meaning]
    assume(differ)
    sides = [json_of(truth.spelled) for truth, _ in differ], [json_of(found.spelled) for _, found in differ]
    assert right(*sides) == 0
    if all(isinstance(value, str) for side in sides for value in side):
        assert right(*sides, TEXT) == 0


WITH_DIGITS = ("amounts", "days", "moments", "moments with a zone", "invoice numbers", "IBANs", "telephone numbers", "plates",
               "leading zeros", "times", "percentages", "quantities")  # fmt: skip


@pytest.mark.parametrize("name", WITH_DIGITS)
@given(data=st.data())
def test_another_digit_is_another_value(name: str, data: st.DataObject) -> None:
    truth = data.draw(KINDS[name].map(lambda value: str(value.spelled)))
    place = data.draw(st.sampled_from([index for index, char in enumerate(truth) if char.isdigit()]))
    digit = data.draw(st.sampled_from(string.digits.replace(truth[place], "")))
    found = truth[:place] + digit + truth[place + 1 :]
    assert right([truth], [found]) == right([truth], [found], TEXT) == 0


@pytest.mark.parametrize("schema", ["", TEXT], ids=["no schema", "text"])
@given(st.lists(st.sampled_from(WORDS), min_size=2, max_size=7), st.data())
def test_another_word_is_another_text(schema: Any, words: list[str], data: st.DataObject) -> None:
    """A word that is another, one too many, one missing, or two exchanged."""
    place = data.draw(st.integers(0, len(words) - 1))
    other = data.draw(st.sampled_from([word for word in WORDS if word != words[place]]))
    changed = [
        [*words[:place], other, *words[place + 1 :]],
        [*words[:place], other, *words[place:]],
        words[:place] + words[place + 1 :],
    ]
    swapped = [*words[:place], *words[place : place + 2][::-1], *words[place + 2 :]]
    for found in [*changed, swapped]:
        expected = int(found == words)
        assert right([" ".join(words)], [" ".join(found)], schema) == expected


@given(st.lists(st.sampled_from([word for word in WORDS if len(word) > 5]), min_size=3, max_size=6), st.data())
def test_a_slip_of_the_pen_in_free_text_is_forgiven(words: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words) - 1))
    word, at = words[place], data.draw(st.integers(1, len(words[place]) - 2))
    slip = data.draw(
        st.sampled_from([word[:at] + "q" + word[at + 1 :], word[:at] + word[at + 1 :], word[:at] + "q" + word[at:]])
    )
    assert right([" ".join(words)], [" ".join([*words[:place], slip, *words[place + 1 :]]).title()]) == 1


@pytest.mark.parametrize("name", SPELLINGS)
@given(data=st.data())
def test_the_same_value_is_right_however_it_is_written(name: str, data: st.DataObject) -> None:
    meanings, spellings = SPELLINGS[name]
    values = data.draw(st.lists(meanings, min_size=1, max_size=6))
    truths, founds = ([data.draw(st.sampled_from(spellings))(value) for value in values] for _ in range(2))
    assert right(truths, founds) == len(values)


@pytest.mark.parametrize(
    ("truth", "found"),
    [("1234567890123456", "-1234567890123456"), ("1234567890123456", "(1234567890123456)"), ("INV-1-11", "INV-11-1"),
     ("AB 1 11", "AB 11 1"), ("2024-0017", "20240017"), ("500 ML", "500 ml"), ("$12", "C$12"), ("12 kr", "12 SEK")],
)  # fmt: skip
def test_what_is_left_out_elsewhere_tells_these_apart(truth: str, found: str) -> None:
    assert right([truth], [found]) == right([found], [truth]) == 0


@pytest.mark.parametrize(
    ("truth", "found"),
    [("5 KG", "5 kg"), ("5 MM", "5 mm"), ("250 MG", "250 mg"), ("5 mL", "5 ml"), ("2 ghz", "2 GHz"), ("CABLE 5 M", "Cable 5 m"),
     ("Open until 5 pm or later", "open until 5 PM or later")],
)  # fmt: skip
def test_capitals_alone_tell_nothing_apart(truth: str, found: str) -> None:
    assert right([truth], [found]) == right([found], [truth]) == 1


@given(st.lists(st.integers(1, 12), min_size=1, max_size=12, unique=True))
def test_zeros_at_the_end_count_where_the_column_shows_that_it_holds_no_numbers(places: list[int]) -> None:
    """1.9 beside 1.10 are sections, and 1.1 is another; amounts have as many digits each, and 12.5 is 12.50."""
    truths = [f"3.{place}" for place in (9, 10, *places)]
    assert right(truths, truths) == len(truths)
    assert right(truths, [f"{text}0" for text in truths]) == 0
    amounts = [f"{place}.50" for place in places]
    assert right(amounts, [text[:-1] for text in amounts]) == len(amounts)


def json_of(value: Any) -> Any:
    return [json_of(each) for each in value] if isinstance(value, tuple) else value
