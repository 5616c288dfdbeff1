"""Comparators at their limits: where a score begins, how long a text may be, what one side leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from calque.base.errors import ConfigError
from calque.comparators import (
    ANLSComparator,
    ANLSStarComparator,
    BBoxIoUComparator,
    DateComparator,
    ExactComparator,
    FuzzyComparator,
    LevenshteinComparator,
    NumericComparator,
    OneOfComparator,
    PhoneComparator,
    register_comparator,
)
from calque.comparators.base import BUILT_IN, BaseComparator, FunctionComparator, adopt, comparator, describe, named_in
from calque.comparators.written_numbers import written


@pytest.mark.parametrize(("floor", "score"), [(0.4, 0.5), (0.5, 0.5), (0.51, 0.0)])
def test_anls_is_nothing_below_its_floor(floor: float, score: float) -> None:
    assert ANLSComparator(floor=floor).compare("ab", "ac") == score
    assert ANLSStarComparator(floor=floor).compare(["ab"], ["ac"]) == score


@pytest.mark.parametrize(
    ("truth", "found", "score"),
    [
        ({"a": ["x", "y"], "b": "q"}, {"a": "x", "b": "q"}, 1 / 3),  # a list is no text: as many are wrong as it has
        ({"a": "x", "b": "q"}, {"a": ["x", "y"], "b": "q"}, 1 / 3),
        ({"a": None, "b": "q"}, {"a": ["x", "y"], "b": "q"}, 1 / 3),
        ({"a": {"x": "1", "y": "2"}, "b": "q"}, {"a": None, "b": "q"}, 1 / 3),
        ({"a": ["1", "2"], "b": "q"}, {"a": "", "b": "q"}, 1 / 3),
        ({"a": {}, "b": "q"}, {"a": [], "b": "q"}, 1 / 2),  # nothing in common, and still one thing
        (["a", {"x": "1", "y": "2"}], ["a"], 1 / 3),
        (["a"], ["a", ["x", "y"]], 1 / 3),
        (["a", "", None], ["a"], 1.0),
        (["aa", "bb", "cc"], ["cc", "aa"], 2 / 3),
        ([("abcd", "abxx")], ["abxy"], 3 / 4),  # the best of what is accepted
        ({"a": "x"}, {"a": "x", "b": ""}, 1.0),
    ],
)
def test_trees_by_the_leaves_that_could_be_right(truth: Any, found: Any, score: float) -> None:
    assert ANLSStarComparator().compare(truth, found) == pytest.approx(score)


@pytest.mark.parametrize(
    ("truth", "found", "options", "score"),
    [
        (-100, -105, {"relative_tolerance": 0.05}, 1.0),
        (-100, -200, {"relative_tolerance": 0.05}, 0.0),
        (100, 106, {"relative_tolerance": 0.05, "absolute_tolerance": 6}, 1.0),
        (100, 107, {"relative_tolerance": 0.05, "absolute_tolerance": 6}, 0.0),
        (0, 0.05, {"relative_tolerance": 0.05}, 1.0),
        ("(5", 5, {}, 1.0),
        ("5)", 5, {}, 1.0),
        ("0" * 399 + "5", 5, {}, 1.0),
        ("0" * 400 + "5", 5, {}, 0.0),
        ("0" * 399 + "5", 5, {"strict": True}, 1.0),
        ("0" * 400 + "5", 5, {"strict": True}, 0.0),
        ("+5.", 5, {}, 1.0),
        ("5 USD", "5 EUR", {"strict": True}, 0.0),
        ("5 USD", "$5", {"strict": True}, 1.0),
        (float("inf"), float("-inf"), {"absolute_tolerance": 1}, 0.0),
        (2**53 + 1, float(2**53), {}, 0.0),
        (2**53, float(2**53), {}, 1.0),
    ],
)
def test_numbers(truth: Any, found: Any, options: dict[str, Any], score: float) -> None:
    each = NumericComparator(**options)
    assert each.compare(truth, found) == score
    one, other = each.prepare_all([truth]), each.prepare_all([found])
    assert each.matrix(one, other).tolist() == [[score]]
    nowhere = np.zeros(1, dtype=np.int32)
    assert each.by_pairs(one, other)(nowhere, nowhere).tolist() == [score]


@pytest.mark.parametrize(
    ("text", "decimal_comma", "number"),
    [
        ("1.234", False, "1.234"),
        ("1.234", True, "1234"),
        ("1,234,567", False, "1234567"),
        ("1.234.567", False, "1234567"),
        ("1,234,567.5", False, "1234567.5"),
        ("1.234,567,8", False, None),
        ("1234,567.5", False, None),
        (",5", False, "0.5"),
        ("1 234 567", False, "1234567"),
        ("1 234'567", False, "1234567"),
        ("12 34,5", False, None),
        ("(5", False, None),
        ("-5-", False, None),
        ("5 ¤", False, "5"),
        ("5 ab", False, None),
        ("USD 5 %", False, None),
    ],
)
def test_written_numbers(text: str, decimal_comma: bool, number: str | None) -> None:
    read = written(text, decimal_comma=decimal_comma)
    assert (read and str(read.number)) == number


@pytest.mark.parametrize(
    ("truth", "found", "options", "score"),
    [
        ("2024-01-01 to 2024-01-10", "2024-01-01", {}, 0.5),
        ("2024-01-10", "2024-01-01 to 2024-01-10", {}, 0.5),
        ("2024-01-01 to 2024-01-10", "2024-01-11", {}, 0.0),
        ("2024-01-01 to 2024-01-10", "Jan 2024", {}, 0.0),
        ("2024-01-01 to 2024-01-10", "Jan 5", {}, 0.0),
        ("2024-01-01 to 2024-01-02", "2024-01-02 to 2024-01-03", {}, 1 / 3),
        ("2024-01-01 to 2024-01-02", "2024-01-03 to 2024-01-04", {}, 0.0),
        ("2024-01-01 to 2024-01-02", "2024-01-01 to 2024-01-02", {"range_mode": "contains"}, 1.0),
        ("2024-01-01 to 2024-01-02", "2024-01-01 to 2024-01-03", {"range_mode": "contains"}, 0.0),
        ("2024-01-01 to 2024-01-03", "2024-01-02 to 2024-01-03", {"range_mode": "contains"}, 0.0),
        ("Jan 5 to Jan 10", "2024-01-05 to 2024-01-10", {}, 0.0),
        ("2024-01-01 through 2024-01-02", "2024-01-01 – 2024-01-02", {}, 1.0),
        ("5 March", "5 March", {}, 1.0),
        ("5 March", "6 March", {}, 0.0),
        ("5 March", "5 April", {}, 0.0),
        ("March", "March", {}, 1.0),
        ("March 2024", "March 2025", {}, 0.0),
        ("March 2024", "April 2024", {}, 0.0),
        ("2024", "2024", {}, 1.0),
        ("5 March 10:30", "5 March 10:31", {}, 1.0),
        ("5 March 10:30", "5 March 10:31", {"times": True}, 0.0),
        ("10:30", "5 March 10:30", {"times": True}, 0.0),
        ("2024-03-05T00:00", "2024-03-05T12:00", {"tolerance": 0.5}, 1.0),
        ("2024-03-05T00:00", "2024-03-05T12:01", {"tolerance": 0.5}, 0.0),
        ("2024-03-05T12:00", "2024-03-06T12:01", {"tolerance": 1}, 1.0),
        ("2024-03-05T12:00", "2024-03-06T12:01", {"tolerance": 1, "times": True}, 0.0),
        ("2024-03-05T23:30-05:00", "2024-03-05T23:30", {"utc": True}, 1.0),
        ("2024-03-05T23:30-05:00", "2024-03-06", {"utc": True}, 1.0),
        ("2024-03-05T23:30-05:00", "2024-03-06T04:30Z", {"utc": True}, 1.0),
        ("2024-03-04 to 2024-03-05", "2024-03-05T23:30-05:00", {}, 0.5),
        ("2024-03-04 to 2024-03-05", "2024-03-05T23:30-05:00", {"utc": True}, 0.0),
        # A time without a zone is that of the other's place.
        ("2024-03-05T10:00+09:00", "2024-03-05T20:00", {"tolerance": 0.5}, 1.0),
        ("2024-03-05T10:00+09:00", "2024-03-05T23:00", {"tolerance": 0.5}, 0.0),
        ("2024-03-05T10:00Z to 2024-03-06T10:00Z", "2024-03-05T10:00 to 2024-03-06T10:00", {"times": True}, 0.0),
        ("2024-03-05T10:00Z to 2024-03-06T10:00Z", "2024-03-05T10:00 to 2024-03-06T10:00", {}, 1.0),
        ("2024-03-05T10:00Z to 2024-03-06T10:00Z", "2024-03-05T11:00+01:00 to 2024-03-06T10:00Z", {"times": True}, 1.0),
        ("2024-05-03", "2024/05/03", {"dayfirst": True}, 1.0),  # a year that comes first is followed by its month
        ("-5 March 2024", "5 March 2024", {}, 0.0),
        ("5 March 2024-", "5 March 2024", {}, 0.0),
        ("soon to 2024-03-05", "2024-03-05", {}, 0.0),
    ],
)
def test_dates(truth: str, found: str, options: dict[str, Any], score: float) -> None:
    assert DateComparator(**options).compare(truth, found) == pytest.approx(score)


def test_texts_keep_what_they_are_told_to_keep() -> None:
    assert FuzzyComparator().compare(" Acme ", "acme") == 1.0
    assert FuzzyComparator(normalize=False).compare(" Acme ", "acme") < 0.7
    assert FuzzyComparator().matrix(["ab"], ["ac"]).tolist() == [[0.5]]
    assert LevenshteinComparator(normalize=False).compare("ACME", "acme") == 0.0
    assert LevenshteinComparator().matrix(["ab"], ["ac"]).tolist() == [[0.5]]
    assert ExactComparator().compare("a ", "a") == 0.0
    assert ExactComparator(case_sensitive=False).compare("STRASSE", "straße") == 1.0
    assert PhoneComparator().compare(" n/a", "n/a ") == 1.0
    assert PhoneComparator().compare("123", "123 ") == 1.0  # too short for a number of telephones, and the same text
    assert OneOfComparator().params() == {}
    assert BBoxIoUComparator().compare("nowhere", "nowhere") == 0.0


@pytest.mark.parametrize("blank", "\t\n\v\f\r\x1c\x1d\x1e\x1f\0")
def test_any_blank_of_many_texts_is_evened_out(blank: str) -> None:
    texts = [f"A{blank}B", "c d"]
    assert LevenshteinComparator().prepare_all(texts) == [" ".join(text.lower().split()) for text in texts]
    for odd in ("a  b", " a", "a "):
        assert LevenshteinComparator().prepare_all(["x", odd, "y"]) == ["x", " ".join(odd.split()), "y"]


@pytest.mark.parametrize("region", ["us", "USA", "U", "ÜS", "UK"])
def test_a_region_is_two_capital_letters(region: str) -> None:
    with pytest.raises(ConfigError, match="two-letter country code"):
        PhoneComparator(region=region)


@pytest.mark.parametrize("score", [-0.01, 1.01])
def test_what_a_function_says_is_a_share(score: float) -> None:
    register_comparator("beyond", lambda truth, found: score)
    with pytest.raises(ConfigError, match="from 0 to 1"):
        comparator("beyond").compare("a", "b")
    for fine in (0.0, 1.0):
        register_comparator("beyond", lambda truth, found, fine=fine: fine)
        assert comparator("beyond").compare("a", "b") == fine


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_a_threshold_may_be_either_end(threshold: float) -> None:
    assert ExactComparator(threshold=threshold).threshold == threshold
    assert comparator("exact", {"threshold": threshold}, 0.5).threshold == threshold
    assert comparator("exact", None, threshold).threshold == threshold
    with pytest.raises(ConfigError, match="from 0 to 1"):
        ExactComparator(threshold=threshold * 1.01 - 0.005)
    assert LevenshteinComparator(threshold=0.5).binary_compare("ab", "ac") == (1, 0)
    assert LevenshteinComparator().binary_compare("ab", "ac") == (1, 0)
    assert LevenshteinComparator().binary_compare("abc", "axx") == (0, 1)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("exact", {"trim": 1}, "comparator 'exact': trim: true or false is expected here, not 1"),
        ("numeric", {"absolute_tolerance": True}, "a number is expected here, not True"),
        ("numeric", {"absolute_tolerance": "1"}, "a number is expected here"),
        ("phone", {"region": 1}, "text is expected here"),
        ("exact", {"xyzzy": 1}, "no option 'xyzzy'; it has threshold, case_sensitive, trim"),
        ("one_of", {"inner": 3}, "comparator 'one_of': inner: a name"),
        ("one_of", {"inner": {"comparator": 3}}, "a name, or"),
        ("zzz", {}, "there are anls"),
    ],
)
def test_options_are_checked(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        comparator(name, options)
    assert comparator("numeric", {"tolerance": None}) == NumericComparator()


def test_pairs_are_compared_once_each() -> None:
    calls = []

    @dataclass(frozen=True)
    class Counting(BaseComparator):
        def _compare(self, truth: Any, found: Any) -> float:
            calls.append((truth, found))
            return 1.0 if truth == found else 0.25

    rows, columns = np.array([0, 1, 0, 1], dtype=np.int32), np.array([2, 0, 2, 1], dtype=np.int32)
    assert Counting().by_pairs("ab", "bca")(rows, columns).tolist() == [1.0, 1.0, 1.0, 0.25]
    assert sorted(calls) == [("a", "a"), ("b", "b"), ("b", "c")]


def test_processes_learn_what_a_schema_names() -> None:
    told = register_comparator("told", lambda truth, found: float(truth == found))
    known = named_in('{"comparator": "told"}')
    assert list(known) == ["told"]
    adopt({"heard": known["told"]})
    assert describe(comparator("heard")) == {"comparator": "told"}
    with pytest.raises(TypeError, match="name must be a text"):
        register_comparator("", told)


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name != "ignore"])  # which takes no threshold at all
def test_every_comparator_refuses_a_threshold_that_is_no_share(name: str) -> None:
    kind = type(comparator(name))
    for odd in (-0.1, 1.1, True, "0.5"):
        with pytest.raises(ConfigError, match="threshold must be from 0 to 1"):
            kind(threshold=odd)
    assert kind(threshold=1).threshold == 1


def test_without_a_function_equal_values_are_alike() -> None:
    assert (FunctionComparator().compare("a", "a"), FunctionComparator().compare("a", "b")) == (1.0, 0.0)
