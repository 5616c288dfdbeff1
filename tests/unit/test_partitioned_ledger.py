"""Ledgers in parts: nothing is lost, nothing comes twice, and no more is in memory than may be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.base.columns import Strings, Table
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.storage.partitioned import SMALL, PartCollector, PartitionedLedger, size_of

Units = list[int]


def ledger(unit: int) -> Ledger:
    table = Table(
        {
            UNIT: np.zeros(2, dtype=np.int32),
            "label": np.array([1, 0], dtype=np.int32),
            "value": np.array([unit, -unit]),
            "word": Strings.pack([f"{unit:02}", "é"]),
        }
    )
    return Ledger(units=(unit,), names={"label": ("all", f"only {unit}")}, tables={"rows": table})


def parts(units: Units, most_bytes: int | None = None) -> PartCollector:
    made = PartCollector(most_bytes)
    for unit in units:
        made.add(ledger(unit))
    return made


def contents(made: PartCollector) -> list[tuple[int, int, str, str]]:
    """The rows of everything, with their documents and labels."""
    whole = made.ledger()
    rows = whole.table("rows")
    units = [whole.units[code] for code in rows.array(UNIT).tolist()]
    labels = [whole.names["label"][code] for code in rows.array("label").tolist()]
    words = rows["word"]
    assert isinstance(words, Strings)
    return list(zip(units, rows.array("value").tolist(), words.tolist(), labels, strict=True))  # type: ignore[arg-type]


@pytest.mark.parametrize("calls", [1, 2, 3, 64, 500])
def test_many_small_ledgers_become_few_with_work_that_grows_with_their_number(calls: int) -> None:
    """Each document is moved once for every doubling, and what is held grows with the doublings."""
    doublings = calls.bit_length()
    made, moved = PartCollector(), 0
    concat = Ledger.concat

    def counted(ledgers: Sequence[Ledger]) -> Ledger:
        nonlocal moved
        moved += sum(len(each.units) for each in ledgers)
        return concat(ledgers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "concat", staticmethod(counted))
        for unit in range(calls):
            made.add(ledger(unit))
            assert len(made._recent) <= doublings
    assert moved <= calls * doublings
    assert contents(made) == [
        (unit, sign * unit, word, label)
        for unit in range(calls)
        for sign, word, label in ((1, f"{unit:02}", f"only {unit}"), (-1, "é", "all"))
    ]


def test_long_ledgers_are_not_moved_before_somebody_asks() -> None:
    made = PartCollector()
    for unit in range(4):
        rows = Table({UNIT: np.zeros(SMALL, dtype=np.int32), "value": np.full(SMALL, unit)})
        made.add(Ledger(units=(unit,), tables={"rows": rows}))
    assert len(made._recent) == 4


LIMITS = st.sampled_from([None, 0, 3 * size_of(ledger(0)), 1 << 30])
"""In memory; all in a file; three in memory; in memory, with a file that nobody needs."""


@given(units=st.permutations(range(8)), cut=st.integers(1, 7), mine=LIMITS, theirs=LIMITS)
def test_nothing_is_lost_and_nothing_comes_twice(units: Units, cut: int, mine: int | None, theirs: int | None) -> None:
    joined, other = parts(units[:cut], mine), parts(units[cut:], theirs)
    joined.extend(other)
    expected = [
        (unit, sign * unit, word, label)
        for unit in range(8)
        for sign, word, label in ((1, f"{unit:02}", f"only {unit}"), (-1, "é", "all"))
    ]
    assert sorted(chain.from_iterable(joined.units())) == list(range(8))
    assert contents(joined) == expected
    assert contents(other) == [row for row in expected if row[0] in units[cut:]]


@given(cut=st.integers(0, 8), mine=LIMITS, theirs=LIMITS)
def test_what_takes_in_something_is_not_empty(cut: int, mine: int | None, theirs: int | None) -> None:
    joined = parts([], mine)
    assert not joined
    joined.extend(parts(list(range(cut)), theirs))
    assert bool(joined) == (cut > 0)


def test_what_is_taken_in_counts_towards_the_limit() -> None:
    """Merging many small evaluations must not fill the memory that one long one spares."""
    most = 3 * size_of(ledger(0))
    joined = PartCollector(most)
    for unit in range(12):
        joined.extend(parts([unit]))
        assert sum(map(size_of, joined._recent)) <= most
    assert isinstance(joined.ledger(), PartitionedLedger)
    assert [row[0] for row in contents(joined)] == sorted([*range(12)] * 2)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not list open files")
def test_merged_evaluations_keep_one_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    before = open_files()
    joined = parts([0], 0)
    for unit in range(1, 20):
        joined.extend(parts([unit], 0))
    whole = joined.ledger()
    assert isinstance(whole, PartitionedLedger)
    assert len(whole.parts) > 10
    assert sum(piece.ledger.table("rows").height for piece in whole.pieces()) == 40
    assert open_files() <= before + 1


@pytest.mark.parametrize("limit", [0, 1 << 30])
def test_what_was_taken_in_outlives_where_it_came_from(limit: int) -> None:
    joined = parts([1], 0)
    other = parts([2, 3], limit)
    joined.extend(other)
    del other
    assert [row[0] for row in contents(joined)] == [1, 1, 2, 2, 3, 3]


def test_tables_of_a_partitioned_ledger_are_those_of_all_parts() -> None:
    whole = parts([3, 1, 2], 0).ledger()
    assert isinstance(whole, PartitionedLedger)
    assert (list(whole.tables), len(whole.tables)) == (["rows"], 1)
    with pytest.raises(KeyError):
        whole.table("others")
    renamed = whole.called({"again": "rows"})
    assert (
        renamed.table("again").array("value").tolist() == whole.table("rows").array("value").tolist() == [1, -1, 2, -2, 3, -3]
    )
    assert sorted(value for chunk in whole.chunks("rows", "value") for value in chunk.array("value").tolist()) == [
        -3, -2, -1, 1, 2, 3,
    ]  # fmt: skip
    groups = whole.split(np.array([1, 0, 1]), 3)
    assert [group.units for group in groups] == [(2,), (1, 3), ()]
    assert [group.table("rows").array("value").tolist() for group in groups] == [[2, -2], [1, -1, 3, -3], []]
