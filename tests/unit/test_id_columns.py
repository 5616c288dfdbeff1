"""Ids are found in a table as a dictionary finds them, wherever the table begins and however it is spread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.readers.boxes.coco_columns import Ids

BEGINNINGS = [-(2**62), -100_001, -7, 0, 1, 99_990, 100_000, 100_001, 10**9, 2**62]
"""Tables that begin below nothing, at the usual 0 and 1, and on both sides of where a table is no longer filled up from 0."""

near = st.integers(0, 12)
far = st.sampled_from([0, 1, 5, 2_000_000, 9_000_000])
"""Steps so wide that a table of all numbers between would be too long."""


@given(
    begin=st.sampled_from(BEGINNINGS),
    table=st.one_of(st.lists(near, unique=True, max_size=6), st.lists(far, unique=True, max_size=5)),
    asked=st.lists(st.one_of(st.integers(-15, 25), far), max_size=12),
)
def test_positions_are_those_of_a_dictionary(begin: int, table: list[int], asked: list[int]) -> None:
    known, ids = [begin + number for number in table], [begin + number for number in asked]
    place = {number: position for position, number in enumerate(known)}
    found = Ids.of(ids).positions_in(Ids.of(known))
    assert found.dtype == np.int32
    assert found.tolist() == [place.get(number, -1) for number in ids]


@pytest.mark.parametrize("begin", BEGINNINGS)
def test_ids_below_and_above_a_table_are_not_in_it(begin: int) -> None:
    table = Ids.of([begin + 2, begin + 1, begin + 3])
    for distance in (1, 2, 3, 99_999, 100_001, 2**40):
        assert Ids.of([begin + 1 - distance]).positions_in(table).tolist() == [-1]
        assert Ids.of([begin + 3 + distance]).positions_in(table).tolist() == [-1]
    assert Ids.of([begin + 3, begin, begin + 1, begin + 4]).positions_in(table).tolist() == [2, -1, 1, -1]


@given(
    table=st.lists(st.one_of(st.integers(-3, 3), st.sampled_from(["a", "1", "é"])), unique=True, max_size=6),
    asked=st.lists(st.one_of(st.integers(-4, 4), st.sampled_from(["a", "1", "-1", "b"])), max_size=10),
)
def test_strings_and_integers_are_told_apart(table: list[int | str], asked: list[int | str]) -> None:
    place = {value: position for position, value in enumerate(table)}
    ids = Ids.of(asked)
    assert ids.positions_in(Ids.of(table)).tolist() == [place.get(value, -1) for value in asked]
    assert ids.tolist() == asked
    assert len(ids) == len(asked)
