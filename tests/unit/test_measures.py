"""Names of measures, sums that no order changes, means, and what is undefined."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.evaluation.measures import (
    ExactSum,
    Mean,
    MeasureName,
    Ratio,
    Undefined,
    counts,
    fraction_sums,
    number,
    settle,
    weighted_mean,
)

shares = st.floats(0, 1)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("recall@0.5", MeasureName("recall", threshold=0.5)),
        ("recall@0.5/Table", MeasureName("recall", threshold=0.5, label="Table")),
        ("macro_documents.recall@0.5", MeasureName("recall", "macro_documents", 0.5)),
        ("AP", MeasureName("AP")),
        ("AP50/Table", MeasureName("AP50", label="Table")),
        ("mean_ap", MeasureName("mean_ap")),
        ("f1/a/b @ c.d", MeasureName("f1", label="a/b @ c.d")),
    ],
)
def test_measure_names_are_read_and_spelt(text: str, name: MeasureName) -> None:
    assert MeasureName.parse(text) == name
    assert str(name) == text


@pytest.mark.parametrize("text", ["", "@0.5", "recall@", "recall@x", "a.b.c", "re\ncall", ".recall", "recall@1.2.3"])
def test_what_is_no_measure_name(text: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        MeasureName.parse(text)


@given(st.lists(st.tuples(shares, st.integers(0, 2)), max_size=50), st.randoms(use_true_random=False))
def test_sums_of_shares_are_right_and_the_same_in_any_order(rows: list[tuple[float, int]], rng: random.Random) -> None:
    def sums(of: list[tuple[float, int]]) -> list[float]:
        values = np.array([value for value, _ in of], dtype=np.float64)
        groups = np.array([group for _, group in of], dtype=np.int32)
        return fraction_sums(values, groups, 3).tolist()  # type: ignore[no-any-return]

    shuffled = rows.copy()
    rng.shuffle(shuffled)
    assert sums(shuffled) == sums(rows)
    for group, total in enumerate(sums(rows)):
        exact = math.fsum(value for value, of in rows if of == group)
        assert total == pytest.approx(exact, abs=len(rows) * 2**-54 + 2**-50)


@given(st.lists(st.floats(0.25, 1), min_size=1, max_size=50))
def test_sums_of_values_from_a_quarter_are_exact(values: list[float]) -> None:
    assert fraction_sums(np.array(values), np.zeros(len(values), dtype=np.int32), 1)[0] == math.fsum(values)
    mean = Mean()
    for value in values:
        mean.add(np.array([value, math.nan]))
    assert mean.value("nothing") == math.fsum(values) / len(values)


@given(st.lists(st.tuples(shares, st.integers(0, 3)), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_weighted_means_do_not_depend_on_order(pairs: list[tuple[float, int]], rng: random.Random) -> None:
    shuffled = pairs.copy()
    rng.shuffle(shuffled)
    means = [weighted_mean([v for v, _ in p], [float(w) for _, w in p], "none") for p in (pairs, shuffled)]
    assert means[0] == means[1]
    if sum(w for _, w in pairs):
        assert means[0] == pytest.approx(sum(v * w for v, w in pairs) / sum(w for _, w in pairs))
    else:
        assert means[0] == Undefined("none")


def test_undefined_values_leave_the_mean() -> None:
    assert weighted_mean([Undefined("x"), 0.5], [100.0, 1.0], "none") == 0.5
    assert weighted_mean([Undefined("x")], [1.0], "none") == Undefined("none")
    assert weighted_mean([], [], "none") == Undefined("none")


def test_ratios_are_undefined_where_nothing_is_divided_by() -> None:
    ratio = Ratio[tuple[list[int], list[int]]](
        "half", "half", "", "", "", "nothing there", lambda t: np.array(t[0]), lambda t: np.array(t[1])
    )
    assert ratio.numbers(([1, 0, 0], [2, 3, 0])) == [0.5, 0.0, Undefined("nothing there")]
    assert number(0.5, "x") == 0.5
    assert number(math.nan, "x") == Undefined("x")


def test_counts_and_settling() -> None:
    assert counts(np.array([0, 2, 2]), 4).tolist() == [1, 0, 2, 0]
    assert counts(np.array([], dtype=np.int32), 2).tolist() == [0, 0]
    tree = {"a": {"b": Undefined("why"), "c": [1]}, "d": Undefined("so")}
    assert settle(tree) == ({"a": {"b": None, "c": [1]}, "d": None}, {"a.b": "why", "d": "so"})


@given(st.lists(st.floats(-1e16, 1e16), max_size=60), st.randoms(use_true_random=False))
def test_exact_sums_are_the_same_in_any_order_and_split(values: list[float], rng: random.Random) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calque.evaluation.measures.MOST_PARTS", 8)
        total, rest = ExactSum(), list(values)
        rng.shuffle(rest)
        while rest:
            size = rng.randint(1, 12)
            total.add(rest[:size])
            rest = rest[size:]
        assert total.value() == math.fsum(values)
