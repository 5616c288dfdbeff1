"""Rows by rank, in stretches: the order of a plain sort, however the rows come and wherever they are cut."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.fields.confidence import ranking
from calque.fields.confidence.ranking import Ranked, Ranking, stretch_of

ties = st.integers(0, 3) | st.sampled_from([1 << 15, 1 << 16, (1 << 16) + 1, 3 << 32, (1 << 48) - 1])
rows = st.lists(st.tuples(st.sampled_from([-0.5, -0.0, 0.0, 0.25, 1.0]), ties), max_size=40)


def ranked(rows: list[tuple[float, int]], first: int = 0) -> Ranked:
    number, tie = (np.array([row[place] for row in rows], dtype=kind) for place, kind in ((0, np.float64), (1, np.int64)))
    return Ranked(number, tie, (np.arange(first, first + len(rows)),))


@given(rows, st.integers(1, 50), st.integers(1, 10))
def test_rows_come_in_the_order_of_a_plain_sort(rows: list[tuple[float, int]], most: int, size: int) -> None:
    def chunks() -> Iterator[Ranked]:
        return (ranked(rows[start : start + size], start) for start in range(0, len(rows), size))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "MOST_ROWS", most)
        order = Ranking(chunks, len(rows))
        gone_through = [[int(row) for stretch in order for row in stretch.values[0]] for _ in range(2)]
    assert gone_through == [sorted(range(len(rows)), key=rows.__getitem__)] * 2


@given(rows, rows)
def test_a_row_belongs_behind_all_cuts_that_do_not_rank_higher(
    rows: list[tuple[float, int]], cuts: list[tuple[float, int]]
) -> None:
    cuts = sorted(cuts)
    assert stretch_of(ranked(rows), ranked(cuts)).tolist() == [sum(cut <= row for cut in cuts) for row in rows]


def test_stretches_are_about_as_long_as_they_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "MOST_ROWS", 1000)
    for number in (np.random.default_rng(1).random(20_000), np.full(20_000, 1.0)):
        chunk = Ranked(number, np.arange(20_000) % 5000, ())
        lengths = [len(stretch.number) for stretch in Ranking(lambda chunk=chunk: iter([chunk]), 20_000)]  # type: ignore[misc]
        assert sum(lengths) == 20_000
        assert max(lengths) < 2000
