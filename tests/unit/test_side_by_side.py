"""Work in threads: results in order, and the first failure once all have ended."""

from __future__ import annotations

import threading

import pytest

from calque.core.side_by_side import side_by_side


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
