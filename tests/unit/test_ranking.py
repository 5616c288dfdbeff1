"""Rows by class and score, of one part or of many, beside one plain sort; and the parts of weighted numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calque import ConfigError, Corpus, Detection, Evaluator, Table
from calque.evaluation.document_sums import DocumentTallies, mean_over_rows, share, tied_rows
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.metric_names import direction
from calque.evaluation.storage import ranking
from calque.evaluation.storage.ranking import Ranking, RankRange, Rows
from calque.statistics.bootstrap import Resampling, repeat_documents, resample


def part(dice: np.random.Generator, size: int, ties: range | list[int]) -> Rows:
    labels, scores = dice.integers(-1, 3, size).astype(np.int32), dice.integers(0, 4, size) / 4
    tie = np.sort(dice.choice(np.array(ties), size)).astype(np.int64)
    return Rows(labels, scores, (tie.copy(), np.stack([scores, -scores], axis=1)), lambda: tie)


def through(ranked: Ranking, only: int | None = None) -> tuple[list[tuple[int, float, int]], int]:
    """Class, score and tie-breaker of each row by rank, and the number of ranges."""
    rows: list[tuple[int, float, int]] = []
    ranges = list(ranked.ranges(only))
    for each in ranges:
        assert np.array_equal(each.order.order, np.arange(len(each.scores)))
        assert np.array_equal(each.columns[1][:, 1], -each.scores)
        columns = each.classes(), each.scores, each.columns[0]
        rows += zip(*(column.tolist() for column in columns), strict=True)
    return rows, len(ranges)


@pytest.mark.parametrize("most", [4, 64, 1 << 19])
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_parts_are_merged_as_one_sort_would(most: int, interleaved: bool, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "RANGE_ROWS", most)
    dice = np.random.default_rng(5)
    spans = [list(range(n, 90, 3)) for n in range(3)] if interleaved else [range(30 * n, 30 * n + 30) for n in range(3)]
    parts = [part(dice, 25, span) for span in spans[:count]]
    ranked = Ranking(parts, 3)
    every = [(int(label), float(score), int(tie)) for rows in parts
             for label, score, tie in zip(rows.labels, rows.scores, rows.ties(), strict=True) if label >= 0]  # fmt: skip
    found, ranges = through(ranked)
    assert found == sorted(every, key=lambda row: (row[0], -row[1], row[2]))
    assert through(ranked)[0] == found
    assert (ranges > 1) is (most < 64 and count > 1)
    for label in range(3):
        assert [row for row in through(ranked, label)[0] if row[0] == label] == [row for row in found if row[0] == label]


def test_ranges_are_about_as_long_as_they_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when all scores are equal: the tie-breaker decides where to cut."""
    monkeypatch.setattr(ranking, "RANGE_ROWS", 1000)
    for scores in (np.random.default_rng(1).random(20_000), np.full(20_000, 1.0)):
        halves = [
            Rows(np.zeros(10_000, np.int32), scores[first::2].copy(), (), lambda first=first: np.arange(first, 20_000, 2))  # type: ignore[misc]
            for first in (0, 1)
        ]
        lengths = [len(each.scores) for each in Ranking(halves, 1).ranges()]
        assert sum(lengths) == 20_000
        assert max(lengths) < 2000


def test_parts_without_ranked_rows_have_one_empty_range() -> None:
    dice = np.random.default_rng(2)
    none = [Rows(np.full(5, -1, np.int32), np.ones(5), part(dice, 5, range(5)).columns, lambda: np.arange(5)) for _ in range(2)]
    assert through(Ranking(none, 3)) == ([], 1)


class Kept:
    """The counts before each range."""

    def __init__(self, before: list[list[int] | None]) -> None:
        self.before = before

    def join(self, other: Kept) -> Kept:
        return Kept(self.before + other.before)


def test_every_range_receives_the_counts_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def count(ranked: RankRange) -> Any:
        return np.bincount(ranked.classes(), minlength=3)

    def accumulate(ranked: RankRange, before: Any) -> Any:
        return Kept([None if before is None else before.tolist()])

    monkeypatch.setattr(ranking, "RANGE_ROWS", 8)
    dice = np.random.default_rng(1)
    first, second = part(dice, 20, range(20)), part(dice, 20, range(20, 40))
    assert Ranking([first], 3).fold(count, accumulate).before == [None]
    ranked = Ranking([first, second], 3)
    counts = [count(each) for each in ranked.ranges()]
    assert len(counts) > 2
    assert ranked.fold(count, accumulate).before == [
        np.sum([np.zeros(3, int), *counts[:n]], axis=0).tolist() for n in range(len(counts))
    ]


@pytest.mark.parametrize("far", [1, 1000])
def test_sheets_add_up_by_group_and_weight(far: int) -> None:
    """Dense and sparse pairs of document and group go two ways to the same sums."""
    unit, group = np.array([0, 0, 1, 2 * far, 0]), np.array([1, 1, 0, 1, 0])
    sheet = DocumentTallies()
    sheet.count("rows", unit, group, 2)
    sheet.count("values", unit, group, 2, np.array([5, 6, 7, 8, 9]))
    sheet.fractions("shares", np.array([0.5, 0.25, 1.0, 2.0, 4.0]), unit, group, 2, 0.25)
    weights = np.zeros((2 * far + 1, 2), np.int32)
    weights[0], weights[1], weights[2 * far] = (1, 2), (1, 0), (1, 3)
    sums = sheet.sums(weights)
    assert sums["rows"].tolist() == [[2, 2], [3, 7]]
    assert sums["values"].tolist() == [[16, 18], [19, 46]]
    assert sums["shares"].tolist() == [[5.0, 8.0], [2.75, 7.5]]


def test_shares_means_and_ties() -> None:
    assert share(np.array([1, 0]), np.array(4)).tolist() == [0.25, 0.0]
    assert np.isnan(share(np.array([1]), np.array([0]))).all()
    values = np.array([[0.5, np.nan], [1.0, np.nan]])
    means = mean_over_rows(values, np.array([[1, 1], [3, 1]]))
    assert means[0] == 0.875
    assert np.isnan(means[1])
    assert tied_rows([np.array([1, 1, 2, 2]), np.array([1, 1, 1, 2])]).tolist() == [0, 1, 0, 0]


def test_documents_occur_as_often_as_their_weights_say() -> None:
    rows = Table({UNIT: np.array([0, 0, 2], dtype=np.int32), "n": np.array([5, 6, 7])})
    made = repeat_documents(Ledger(units=("a", "b", "c"), tables={"rows": rows}), np.array([2, 1, 1]))
    assert made.units == (0, 1, 2, 3)
    assert made.table("rows").array(UNIT).tolist() == [0, 0, 1, 1, 3]
    assert made.table("rows").array("n").tolist() == [5, 6, 5, 6, 7]


@pytest.mark.parametrize(
    "options",
    [
        {"replicates": 99},
        {"replicates": 100.0},
        {"seed": -1},
        {"seed": 2**64},
        {"seed": 0.5},
        {"confidence": 0},
        {"confidence": 1},
    ],
)
def test_limits_of_resampling(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Resampling(**options)
    Resampling(replicates=100, seed=2**64 - 1, confidence=0.5)


@pytest.mark.parametrize("weights", [[1, 1], [[1]], [[1, 1, 1]], [[0.5, 1]], [[-1, 1]], [[2**31, 1]]])
def test_weights_are_whole_numbers_one_for_each_document(weights: Any) -> None:
    truth = Corpus.from_arrays([[0, 0, 9, 9]] * 2, ["x"] * 2, documents=["a", "b"])
    result = Evaluator(Detection()).update(truth, truth.select(["a"])).compute()
    with pytest.raises(ValueError, match="weights must"):
        resample(result, weights)
    assert resample(result, [[2**31 - 1, 0]], ["recall"])["recall@0.5"].tolist() == [1.0]
    assert [direction(result.task, name) for name in ("fp@0.5", "recall@0.5")] == [-1, 1]
