"""Work in threads: results in order, and the first failure once all have ended."""

from __future__ import annotations

import threading

import pytest

from calque.core.side_by_side import WORTH_A_THREAD, side_by_side, threads_for


@pytest.mark.parametrize("jobs", [1, 2, 0])
def test_results_come_in_order(jobs: int) -> None:
    assert side_by_side(jobs, *(lambda number=number: number**2 for number in range(5))) == [0, 1, 4, 9, 16]
    assert side_by_side(jobs, lambda: "alone") == ["alone"]


def test_pieces_run_at_the_same_time() -> None:
    met = threading.Barrier(2, timeout=30)
    assert sorted(side_by_side(2, met.wait, met.wait)) == [0, 1]


def test_the_first_failure_is_raised_after_all_have_ended() -> None:
    ended = []

    def fail(text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError, match="one"):
        side_by_side(2, lambda: ended.append(0), lambda: fail("one"), lambda: fail("two"), lambda: ended.append(3))
    assert sorted(ended) == [0, 3]


def test_few_rows_are_worth_one_thread() -> None:
    assert [threads_for(rows, 4) for rows in (0, WORTH_A_THREAD - 1, WORTH_A_THREAD)] == [1, 1, 4]
