"""Numbers in text, read leniently: words around a number do not count, characters between its digits do."""

import pytest

from calque.comparators import NumericComparator

NUMBERS = {
    "$1e3": 1000,
    "1.5E-3 kg": 0.0015,
    "USD 2e+2": 200,
    "$1,500.00 USD": 1500,
    "1'500.25": 1500.25,
    "1 500": 1500,
    "12. 50": 12.5,
    "$.50": 0.5,
    "Rs.500": 500,
    "No. 5": 5,
    "5.": 5,
    "5 %": 5,
    "5 m²": 5,
    "-$5": -5,
    "$-5": -5,
    "− 5 €": -5,
    "–5": -5,
    "5-": -5,
    "5 − EUR": -5,
    "(5)": -5,
    "(-5)": -5,
    "$(5)": -5,
    "pre-tax 5": 5,
    "5 co-op": 5,
    "(5 EUR)": -5,
    "٣٥": 35,
}
NOT_NUMBERS = [
    "1O0", "0x10", "5x7", "1 e 3", "1x10^3", "5 of 7", "5-7", "5–7", "2024-01-05", "1.2.3", "--5", "5½", "A1B2", "20% of 5", "",
    "-",
]  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_lenient_number_of_a_text_with_one_number_is_that_number(text):
    numeric = NumericComparator()
    assert numeric.compare(text, NUMBERS[text]) == 1.0
    assert numeric.compare(text, -NUMBERS[text]) == 0.0


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_lenient_number_of_another_text_is_none(text):
    assert NumericComparator().prepare(text) is None


@pytest.mark.parametrize(("text", "value"), [("1.500,25 €", 1500.25), ("1e3 €", 1000), ("1,5e2", 150), ("5 x 7", None)])
def test_lenient_number_with_a_decimal_comma_reads_the_same_forms(text, value):
    number = NumericComparator(decimal_comma=True).prepare(text)
    assert number is None if value is None else float(number) == value
