"""A list pair score under 0.01 counts 0: at 0.01 it counts, and float noise does not decide."""

from __future__ import annotations

from typing import Any

import pytest

from calque import Evaluator, Fields


def list_score(rest: float, items: int = 1) -> float | None:
    """The score of a list whose pairs agree in a field of weight 1 and differ in one that weighs the rest.

    Documents are compared one by one where outcomes are kept, and column by column where not.
    """
    leaf: dict[str, Any] = {"type": "str", "comparator": "exact", "threshold": 1.0}
    fields = {"right": {**leaf, "weight": 1.0}, "wrong": {**leaf, "weight": rest}}
    schema = {"fields": {"lines": {"type": "list[object]", "fields": fields}}}
    truth = {"lines": [{"right": f"item {n}", "wrong": "x"} for n in range(items)]}
    found = {"lines": [{"right": f"item {n}", "wrong": "y"} for n in range(items)]}
    one_by_one, in_columns = (
        Evaluator(Fields(schema=schema, keep_outcomes=kept)).update([truth], [found]).compute()["weighted_overall_score"]
        for kept in (True, False)
    )
    assert one_by_one == in_columns
    return one_by_one


@pytest.mark.parametrize("items", [1, 2, 20])
@pytest.mark.parametrize("rest", [1.0, 3.0, 49.0, 98.0])
def test_a_pair_above_the_limit_counts_what_it_scores(rest: float, items: int) -> None:
    assert list_score(rest, items) == pytest.approx(1 / (1 + rest), abs=1e-12)


@pytest.mark.parametrize("items", [1, 2, 20])
def test_a_pair_at_the_limit_counts(items: int) -> None:
    assert list_score(99.0, items) == pytest.approx(0.01, abs=1e-12)


@pytest.mark.parametrize("items", [1, 2, 20])
@pytest.mark.parametrize("rest", [99.01, 100.0, 1000.0])
def test_a_pair_below_the_limit_counts_nothing(rest: float, items: int) -> None:
    assert list_score(rest, items) == 0.0


def test_noise_below_the_limit_counts_up_to_a_tenth_of_a_billionth() -> None:
    assert list_score(99.0 + 5e-7) == pytest.approx(0.01, abs=1e-10)
    assert list_score(99.0 + 2e-6) == 0.0
