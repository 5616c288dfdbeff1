"""Parts of a ledger, taken in from another evaluation: all of them, each once, in one file, and no more in memory than may."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.base.columns import Strings, Table
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.storage.ledger_parts import SMALL, LedgerParts, size_of
from calque.evaluation.storage.long_ledger import StoredLedger
from calque.evaluation.storage.spool import Spool

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


def parts(units: Units, spool: Spool | None = None, most: int = 0) -> LedgerParts:
    made = LedgerParts(spool, most)
    for unit in units:
        made.add(ledger(unit))
    return made


def contents(made: LedgerParts) -> list[tuple[int, int, str, str]]:
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
    made, moved = LedgerParts(), 0
    concat = Ledger.concat

    def counted(ledgers: Sequence[Ledger]) -> Ledger:
        nonlocal moved
        moved += sum(len(each.units) for each in ledgers)
        return concat(ledgers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "concat", staticmethod(counted))
        for unit in range(calls):
            made.add(ledger(unit))
            assert made.held() <= doublings
    assert moved <= calls * doublings
    assert contents(made) == [
        (unit, sign * unit, word, label)
        for unit in range(calls)
        for sign, word, label in ((1, f"{unit:02}", f"only {unit}"), (-1, "é", "all"))
    ]


def test_long_ledgers_are_not_moved_before_somebody_asks() -> None:
    made = LedgerParts()
    for unit in range(4):
        rows = Table({UNIT: np.zeros(SMALL, dtype=np.int32), "value": np.full(SMALL, unit)})
        made.add(Ledger(units=(unit,), tables={"rows": rows}))
    assert made.held() == 4


LIMITS = st.sampled_from([None, 0, 3 * size_of(ledger(0)), 1 << 30])
"""In memory; all in a file; three in memory; in memory, with a file that nobody needs."""


def holder(units: Units, limit: int | None) -> LedgerParts:
    return parts(units) if limit is None else parts(units, Spool(), limit)


@given(units=st.permutations(range(8)), cut=st.integers(1, 7), mine=LIMITS, theirs=LIMITS)
def test_nothing_is_lost_and_nothing_comes_twice(units: Units, cut: int, mine: int | None, theirs: int | None) -> None:
    joined, other = holder(units[:cut], mine), holder(units[cut:], theirs)
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
    joined = holder([], mine)
    assert not joined
    joined.extend(holder(list(range(cut)), theirs))
    assert bool(joined) == (cut > 0)


def test_what_is_taken_in_counts_towards_the_limit() -> None:
    """Merging many small evaluations must not fill the memory that one long one spares."""
    joined = LedgerParts(Spool(), 3 * size_of(ledger(0)))
    for unit in range(12):
        joined.extend(parts([unit]))
        assert sum(map(size_of, joined._recent)) <= 3 * size_of(ledger(0))
    whole = joined.ledger()
    assert isinstance(whole, StoredLedger)
    assert len(whole.parts) == 2


def test_who_has_no_file_writes_to_that_of_another() -> None:
    joined, theirs = parts([1]), Spool()
    joined.extend(parts([2, 3], theirs))
    joined.extend(parts([4]))
    assert [row[:2] for row in contents(joined)] == [(unit, sign * unit) for unit in (1, 2, 3, 4) for sign in (1, -1)]
    stored = joined.ledger()
    assert isinstance(stored, StoredLedger)
    assert {part.shelf for part in stored.parts} == {theirs}
    assert (list(stored.tables), len(stored.tables)) == (["rows"], 1)
    columns = stored.parts[0].ledger("rows").table("rows").columns
    assert ("value" in columns, "val" in columns, len(columns)) == (True, False, 4)


def test_everything_lies_in_one_file() -> None:
    """Evaluations that are merged must not hold a file each."""
    mine = Spool()
    joined = parts([0], mine)
    for unit in range(1, 5):
        joined.extend(parts([unit], Spool()))
    whole = joined.ledger()
    assert isinstance(whole, StoredLedger)
    assert {id(part.shelf) for part in whole.parts} == {id(mine)}


@pytest.mark.parametrize("limit", [0, 1 << 30])
def test_what_was_taken_in_outlives_where_it_came_from(limit: int) -> None:
    joined = parts([1], Spool())
    other = parts([2, 3], Spool(), limit)
    joined.extend(other)
    del other
    assert [row[0] for row in contents(joined)] == [1, 1, 2, 2, 3, 3]
