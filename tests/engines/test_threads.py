"""Work in threads: pieces at once, one that is begun, and reading ahead."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from calque import engines
from calque.engines.threads import ROWS_WORTH_THREADS


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_results_come_in_order(jobs: int) -> None:
    assert engines.run_parallel(jobs, *(lambda number=number: number**2 for number in range(5))) == [0, 1, 4, 9, 16]
    assert engines.run_parallel(jobs, lambda: "alone") == ["alone"]
    assert engines.run_parallel(jobs) == []


def test_pieces_run_at_the_same_time() -> None:
    met = threading.Barrier(2, timeout=30)
    assert sorted(engines.run_parallel(2, met.wait, met.wait)) == [0, 1]


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_first_failure_is_raised_after_those_that_were_begun_have_ended(jobs: int) -> None:
    def fail(text: str) -> None:
        raise ValueError(text)

    ended: list[int] = []
    with pytest.raises(ValueError, match="one"):
        engines.run_parallel(jobs, lambda: ended.append(0), lambda: fail("one"), lambda: fail("two"), lambda: fail("three"))
    assert ended == [0]


def test_of_failures_at_the_same_time_the_first_piece_s_is_raised() -> None:
    met = threading.Barrier(3, timeout=30)

    def fail(text: str) -> None:
        met.wait()
        raise ValueError(text)

    with pytest.raises(ValueError, match="one"):
        engines.run_parallel(3, lambda: fail("one"), lambda: fail("two"), lambda: fail("three"))


def test_run_parallel_after_a_failure_starts_no_more_pieces() -> None:
    go_on = threading.Event()
    begun: list[int] = []

    def fail() -> None:
        raise ValueError

    def last() -> None:
        go_on.wait(1)
        begun.append(1)

    with pytest.raises(ValueError):
        engines.run_parallel(2, fail, *[last] * 50)
    assert len(begun) < 10


def test_few_rows_are_worth_one_thread() -> None:
    assert [engines.threads_for(rows, 4) for rows in (0, ROWS_WORTH_THREADS - 1, ROWS_WORTH_THREADS)] == [1, 1, 4]


def test_begun_work_tells_its_result_or_its_failure() -> None:
    def fail() -> None:
        raise KeyError("x")

    go = threading.Event()
    begun = engines.run_in_background(lambda: go.wait(30))
    with pytest.raises(TimeoutError):
        begun.result(0.001)
    assert not begun.done()
    go.set()
    assert begun.result() is True
    assert begun.done()
    failed = engines.run_in_background(fail)
    for _ in range(2):
        with pytest.raises(KeyError):
            failed.result()


def test_reading_ahead_stays_within_its_bound() -> None:
    drawn: list[int] = []
    enough = threading.Event()

    def parts() -> Iterator[int]:
        for number in range(50):
            drawn.append(number)
            if len(drawn) == 4:
                enough.set()
            yield number

    with engines.Prefetch(parts(), weight=lambda _: 1, limit=3) as reading:
        assert enough.wait(30)  # three wait to be asked for, and the fourth for room
        asked = []
        for part in reading:
            asked.append(part)
            assert len(drawn) <= len(asked) + 4
    assert asked == list(range(50))


def test_reading_ahead_tells_an_error_where_its_part_would_come() -> None:
    def parts() -> Iterator[int]:
        yield 1
        yield 2
        raise ValueError("broken")

    with engines.Prefetch(parts(), weight=int, limit=100) as reading:
        asked = iter(reading)
        assert [next(asked), next(asked)] == [1, 2]
        with pytest.raises(ValueError, match="broken"):
            next(asked)


def test_reading_ahead_ends_when_nobody_asks_any_more() -> None:
    closed = threading.Event()

    def parts() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    with engines.Prefetch(parts(), weight=int, limit=2) as reading:
        assert next(iter(reading)) == 1
    assert closed.wait(30)
