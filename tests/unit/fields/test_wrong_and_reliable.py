"""Wrong values as they are shown, parts of calibration beside brute force, lists in blocks, documents of one side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calque import Evaluator, Fields
from calque.corpus.records import RecordCorpus
from calque.evaluation.measures import Undefined, fraction_parts
from calque.fields.accounting.wrong import _similarity, _wrong, shown
from calque.fields.comparison.cells import ABSENT, Cell
from calque.fields.comparison.long_lists import COMMON, _blocks
from calque.fields.comparison.records import Outcome
from calque.fields.confidence.reliability import BINS, EqualMass, brier_parts, risk_by_coverage
from calque.fields.schemas.plain_form import compile_plan

PLAN = compile_plan(
    '{"fields": {"name": {"type": "str", "comparator": "levenshtein", "threshold": 0.9, "weight": 1.0}}}', "complete"
).fields[0]


def test_two_hundred_characters_of_a_value_are_kept() -> None:
    long = "x" * 201
    made = _wrong(PLAN, Outcome.FD, "a", "b", Cell(long), Cell(long[1:]))
    assert (len(made.truth), len(made.found), made.close) == (200, 200, True)
    assert (made.truth_path, made.found_path, made.outcome) == ("a", "b", Outcome.FD)
    assert not _wrong(PLAN, Outcome.FN, "a", "", Cell("x"), ABSENT).close


@pytest.mark.parametrize(
    ("truth", "found", "close"),
    [("abcd", "abcx", True), ("abcd", "abxx", False), ("abcd", "ABC", True), ("abcd", "ab", False), ("abc", "abcd", True)],
)
def test_a_slip_is_close(truth: str, found: str, close: bool) -> None:
    assert _wrong(PLAN, Outcome.FD, "a", "b", Cell(truth), Cell(found)).close is close
    assert (_similarity(truth, found) >= 0.75) is close


@pytest.mark.parametrize(
    ("cell", "text"),
    [(ABSENT, ""), (Cell("a b"), "a b"), (Cell(1.5), "1.5"), (Cell(7), "7"), (Cell(True, raw=True), "true")],
)
def test_values_as_people_read_them(cell: Cell, text: str) -> None:
    assert shown(cell) == text


def rows(seed: int, size: int) -> tuple[Any, Any]:
    dice = np.random.default_rng(seed)
    return np.sort(dice.integers(0, 21, size) / 20), dice.integers(0, 2, size)


def steps(confidence: Any, right: Any) -> tuple[Any, ...]:
    levels = np.unique(confidence)
    below = np.array([np.count_nonzero(confidence < level) for level in levels])
    through = np.array([np.count_nonzero(confidence <= level) for level in levels])
    sums = np.concatenate([[0], np.cumsum(right)])
    return levels, below, sums[below], through, sums[through]


@pytest.mark.parametrize("seed", range(4))
def test_bins_of_equal_mass_beside_brute_force(seed: int) -> None:
    confidence, right = rows(seed, 37)
    made = EqualMass(len(right), int(right.sum()))
    every = steps(confidence, right)
    made.add(*(column[:5] for column in every))
    made.add(*(column[5:] for column in every))
    bins: dict[int, list[int]] = {}
    for _, below, _, through, _ in zip(*every, strict=True):
        place = min(int(BINS * (below + through) // (2 * len(right))), BINS - 1)
        bins.setdefault(place, []).extend(range(below, through))
    expected = [
        {
            "range": [confidence[at].min(), confidence[at].max()],
            "count": len(at),
            "accuracy": right[at].mean(),
            "mean_confidence": pytest.approx(confidence[at].mean()),
        }
        for at in bins.values()
    ]
    told = made.bins()
    assert told["bins"] == expected
    error = sum(len(at) / len(right) * abs(right[at].mean() - confidence[at].mean()) for at in bins.values())
    assert told["value"] == pytest.approx(error)
    accepted = [1 - right[confidence >= each].mean() for each in confidence]
    assert made.area() == pytest.approx(np.mean(accepted))


def test_nothing_has_no_calibration() -> None:
    made = EqualMass(0, 0)
    assert isinstance(made.area(), Undefined)
    assert made.bins()["bins"] == []
    told = brier_parts(np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros((2, 3), np.int64), Undefined("none"))
    assert all(isinstance(value, Undefined) for value in told.values())
    points = [{"confidence": 0.5, "accepted": 0.75, "precision": 0.9}]
    assert risk_by_coverage(points) == [{"confidence": 0.5, "coverage": 0.75, "risk": pytest.approx(0.1)}]


@pytest.mark.parametrize("seed", range(3))
def test_the_parts_of_the_brier_score_add_up(seed: int) -> None:
    confidence, right = rows(seed, 50)
    bins = np.minimum((confidence * 10).astype(int), 9)
    sizes, rights = np.bincount(bins, minlength=10), np.bincount(bins, weights=right, minlength=10).astype(np.int64)
    brier = float(np.mean((confidence - right) ** 2))
    told = brier_parts(sizes, rights, fraction_parts(confidence, bins, 10), brier)
    overall = right.mean()
    here = [
        (np.mean(confidence[bins == place]), np.mean(right[bins == place]), size / 50)
        for place, size in enumerate(sizes)
        if size
    ]
    assert told["reliability"] == pytest.approx(sum(share * (mean - accuracy) ** 2 for mean, accuracy, share in here))
    assert told["resolution"] == pytest.approx(sum(share * (accuracy - overall) ** 2 for _, accuracy, share in here))
    assert told["uncertainty"] == pytest.approx(overall * (1 - overall))
    assert told["within_bins"] == pytest.approx(brier - told["reliability"] + told["resolution"] - told["uncertainty"])
    assert told["value"] == brier


def blocks(truths: list[str], founds: list[str], most: int = 100) -> list[tuple[list[int], list[int]]]:
    made = _blocks([text.split() for text in truths], [text.split() for text in founds], most)
    return sorted((rows.tolist(), columns.tolist()) for rows, columns in made)


def test_items_are_linked_by_the_words_that_they_share() -> None:
    assert blocks(["a b", "c", "d"], ["b", "c x", "e"]) == [([0], [0]), ([1], [1])]
    assert blocks(["a b", "b c"], ["c", "a"]) == [([0, 1], [0, 1])]
    assert blocks(["a a"], ["b"]) == []
    assert blocks(["a", "a"], ["b"]) == []


def test_the_rarest_words_link_first_as_long_as_there_is_room() -> None:
    """A word of three items and one of two: where only one pair fits into a block, the rarer word makes it."""
    assert blocks(["all rare", "all"], ["rare", "all"], most=1) == [([0], [0])]
    assert blocks(["all zz", "all"], ["zz", "all"], most=1) == [([0], [0])]
    assert blocks(["x", "x"], ["x", "x"], most=4) == [([0, 1], [0, 1])]
    assert blocks(["x", "x"], ["x", "x"], most=3) == [([0, 1], [0])]


def test_words_that_nearly_all_have_link_nothing() -> None:
    assert len(blocks(["w"] * (COMMON - 1), ["w"], most=10**6)) == 1
    assert blocks(["w"] * COMMON, ["w"], most=10**6) == []


@pytest.mark.parametrize("accounting", ["complete", "paired"])
@pytest.mark.parametrize("keep_outcomes", [True, False])
def test_documents_of_one_side_count_where_they_are_penalized(accounting: Any, keep_outcomes: bool) -> None:
    def counted(missing: Any) -> tuple[int, int, int, int]:
        task = Fields(schema={"fields": {"a": {"type": "str"}}}, missing=missing, accounting=accounting,
                      keep_outcomes=keep_outcomes)  # fmt: skip
        truth = RecordCorpus(documents=("1", "2"), records=[{"a": "x"}, {"a": "y"}])
        found = RecordCorpus(documents=("1", "3", "4"), records=[{"a": "x"}, {"a": "z"}, {"a": "z"}])
        made = Evaluator(task).update(truth, found).compute()
        return made["tp/a"], made["fn/a"], made["fa/a"], made["fd/a"]

    assert counted("penalize") == (1, 1, 2, 0)
    assert counted("intersect") == (1, 0, 0, 0)


def test_lists_with_nothing_and_odd_values_in_them() -> None:
    task = Fields(schema={"fields": {"tags": {"type": "list[float]"}}})
    made = Evaluator(task).update([{"tags": [1.0, None, 3.0]}], [{"tags": [3.0, "odd", 1.0]}]).compute()
    assert made["tp/tags"] == 2
