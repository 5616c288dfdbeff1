"""Every argument of every comparator decides something, in every combination with the others, or is refused."""

from __future__ import annotations

import dataclasses
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from calque import Evaluator, Fields
from calque.base.errors import ConfigError
from calque.comparators import (
    ANLSComparator,
    ANLSStarComparator,
    BBoxIoUComparator,
    DateComparator,
    ExactComparator,
    FuzzyComparator,
    IgnoreComparator,
    LevenshteinComparator,
    NormalizedComparator,
    NumericComparator,
    OneOfComparator,
    PhoneComparator,
)
from calque.comparators.base import BUILT_IN, BaseComparator

OTHERS: dict[type[BaseComparator], dict[str, tuple[Any, ...]]] = {
    ANLSComparator: {"floor": (0.0, 0.95)},
    ANLSStarComparator: {"floor": (0.0, 0.95), "strict": (True,), "leaf_threshold": (0.0, 0.95)},
    BBoxIoUComparator: {},
    DateComparator: {
        "tolerance": (1, 1.5),
        "dayfirst": (True, False),
        "allow_partial_year": (True,),
        "range_mode": ("strict", "contains"),
        "times": (True,),
        "same_text": (True,),
        "utc": (True,),
    },
    ExactComparator: {"case_sensitive": (False,), "trim": (True,), "ungrouped": (True,)},
    FuzzyComparator: {"method": ("partial_ratio", "token_sort_ratio", "token_set_ratio"), "normalize": (False,)},
    IgnoreComparator: {},
    LevenshteinComparator: {"normalize": (False,), "same_numbers": (True,), "same_words": (True,)},
    NormalizedComparator: {"case_sensitive": (True,), "ignore_whitespace": (False,), "ignore_punctuation": (False,)},
    NumericComparator: {
        "relative_tolerance": (0.5,),
        "absolute_tolerance": (0.01, 700.0),
        "decimal_comma": (True,),
        "tolerance": (0.01, 700.0),
        "strict": (True,),
    },
    OneOfComparator: {"inner": (ExactComparator(), NumericComparator(tolerance=1))},
    PhoneComparator: {"region": ("GB",)},
}
"""For each argument values beside its default."""

TEXTS = [
    "Acme Corp", "acme corp", "corp acme", " Acme  Corp ", "acme-corp", "AcmeCorp", "acme corp ltd", "acme cord", "unit 5",
    "unit 6", "unit 5.", "category a", "category b", "caf\u00e9", "cafe\u0301", "true", "soon", "Soon ", "020 7946 0958",
    "+44 20 7946 0958",
]  # fmt: skip
NUMBERS = [
    "12", 12, 12.005, "12.005", "12 USD", "$12", "1.500,25", "1,500.25", 1500.25, "1.500", 1500, 1000, "x", True, 1, "(5)", -5,
    0.001, 0.005, 8000, 10_000,
]  # fmt: skip
DATES = [
    "2024-03-05", "March 5, 2024", "2024-03-06", "05/03/2024", "03/05/2024", "2024-03-05T09:00", "2024-03-05T21:00",
    "2024-03-05T23:30-05:00", "2024-03-06T04:30+00:00", "2024-03-06T23:00-05:00", "5 March", "2024-03-01 to 2024-03-10",
    "2024-03-01 to 2024-03-05", "2024-03-05T10:00 to 2024-03-05T23:30", "2024-03-04T22:00-05:00", "2024-03-05T01:00",
    "2024-03-04T22:00-05:00 to 2024-03-09T22:00-05:00", "2024-03-05T00:00+00:00 to 2024-03-10T00:00+00:00", "soon",
]  # fmt: skip
TREES = [
    {"a": "acme corp", "b": 12},
    {"a": "acme cord", "b": 12},
    {"a": "acmXXXord", "b": 12},
    {"a": "acme corp", "b": 13},
    {"a": "Xc XeXoXX", "b": 12},
]
POOLS: dict[type[BaseComparator], list[Any]] = {
    DateComparator: DATES,
    NumericComparator: NUMBERS,
    ANLSStarComparator: TREES,
    OneOfComparator: [["12"], "13", "12"],
}
"""Values that tell arguments apart; texts for the others."""


def combinations(kind: type[BaseComparator]) -> list[dict[str, Any]]:
    """Every choice of values for some of the arguments."""
    choices = [[(), *((name, value) for value in values)] for name, values in OTHERS[kind].items()]
    return [dict(each for each in chosen if each) for chosen in product(*choices)]


def scores(made: BaseComparator) -> list[float]:
    values = POOLS.get(type(made), TEXTS)
    return [made.compare(truth, found) for truth, found in combinations_with_replacement(values, 2)]


def test_every_comparator_and_every_argument_is_walked() -> None:
    assert {kind.name for kind in OTHERS} == set(BUILT_IN)
    for kind, arguments in OTHERS.items():
        assert {field.name for field in dataclasses.fields(kind)} == {*arguments, "threshold"}, kind


@pytest.mark.parametrize("kind", OTHERS, ids=lambda kind: kind.name)
def test_an_argument_decides_something_or_is_refused(kind: type[BaseComparator]) -> None:
    known: dict[str, list[float]] = {}
    for given in combinations(kind):
        try:
            made = kind(**given)
        except ConfigError as error:
            assert any(name in str(error) for name in given)
            continue
        known[repr(sorted(given.items()))] = mine = scores(made)
        for name in given:
            rest = repr(sorted((key, value) for key, value in given.items() if key != name))
            assert known.get(rest) != mine, f"{name} decides nothing in {given}"


def test_a_threshold_where_nothing_is_held_to_it_is_refused() -> None:
    with pytest.raises(ConfigError, match="ignore: what is not compared has no threshold"):
        IgnoreComparator(threshold=0.5)
    with pytest.raises(ConfigError, match="one_of: the threshold of inner decides nothing; give it to one_of"):
        OneOfComparator(inner=ExactComparator(threshold=0.5))
    with pytest.raises(ConfigError, match="one_of: inner compares; with ignore any value would be one of them"):
        OneOfComparator(inner=IgnoreComparator())
    wrong: Any = "exact"
    with pytest.raises(ConfigError, match="one_of: inner must be a comparator, not 'exact'"):
        OneOfComparator(inner=wrong)
    assert BBoxIoUComparator(threshold=0.5).binary_compare([0, 0, 2, 1], [0, 0, 1, 1]) == (1, 0)


@pytest.mark.parametrize("kind", [ANLSComparator, ANLSStarComparator])
@pytest.mark.parametrize("floor", [-0.1, 1.5, True, "half", float("nan")])
def test_a_floor_is_a_similarity(kind: Any, floor: Any) -> None:
    with pytest.raises(ConfigError, match="floor must be a number from 0 to 1"):
        kind(floor=floor)


def test_in_paired_accounting_moments_need_no_day() -> None:
    field = {"type": "str", "comparator": "date", "params": {"times": True, "range_mode": "strict"}}
    task = Fields(schema={"fields": {"when": field}}, accounting="paired")
    moments = {"id": 1, "when": "2024-03-05T23:30-05:00"}, {"id": 1, "when": "2024-03-06T04:30+00:00"}
    assert Evaluator(task).update([moments[0]], [moments[1]]).compute()["cm_f1"] == 1.0
