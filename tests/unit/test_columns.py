"""Strings, columns and tables."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import MissingExtra
from calque.base.columns import TOGETHER, Strings, Table, concat, numbered, take, where_else

texts = st.lists(st.text(st.characters(codec=None, categories=None), max_size=6), max_size=8)


@given(texts)
def test_strings_give_back_what_was_packed_half_characters_included(strings: list[str]) -> None:
    packed = Strings.pack(strings)
    assert packed.tolist() == strings
    assert [packed[k] for k in range(len(packed))] == strings
    assert len(packed) == len(strings)


@given(texts, st.data())
def test_taking_rows_is_indexing(strings: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=8)) if strings else []
    assert Strings.pack(strings).take(rows).tolist() == [strings[row] for row in rows]


@given(st.lists(texts, min_size=1, max_size=4))
def test_concatenation(parts: list[list[str]]) -> None:
    joined = Strings.concat([Strings.pack(part) for part in parts])
    assert joined.tolist() == [text for part in parts for text in part]


@pytest.mark.parametrize("words", [["a", "", "long text"], ["", ""], ["\u00fc", "b"]])
def test_more_strings_than_are_handled_together_are_taken_and_unpacked_alike(words: list[str]) -> None:
    strings = [words[place % len(words)] * (place % 3) for place in range(2 * TOGETHER + 5)]
    packed = Strings.pack(strings)
    rows = np.random.default_rng(3).integers(0, len(strings), len(strings))
    assert packed.tolist() == list(packed) == strings
    assert packed.take(rows).tolist() == [strings[row] for row in rows]


@given(st.lists(st.lists(st.text(max_size=3))))
def test_numbered_texts_are_the_texts(columns: list[list[str]]) -> None:
    texts, codes = numbered(*(Strings.pack(column) if place % 2 else column for place, column in enumerate(columns)))
    assert len(set(texts)) == len(texts)
    assert [[texts[code] for code in column] for column in codes] == columns


def test_strings_index_from_the_end_and_end() -> None:
    packed = Strings.pack(["a", "bc"])
    assert packed[-1] == "bc"
    with pytest.raises(IndexError):
        packed[2]


def test_take_and_concat_work_on_both_kinds_of_column() -> None:
    names, numbers = Strings.pack(["x", "y"]), np.array([1, 2])
    rows = np.array([1, 0])
    assert isinstance(taken := take(names, rows), Strings)
    assert taken.tolist() == ["y", "x"]
    assert np.asarray(take(numbers, rows)).tolist() == [2, 1]
    assert isinstance(joined := concat([names, names]), Strings)
    assert len(joined) == 4
    assert np.asarray(concat([numbers, numbers])).tolist() == [1, 2, 1, 2]


TABLE = Table({
    "name": Strings.pack(["x", "y"]),
    "iou": np.array([0.5, np.nan]),
    "box": np.array([[0.0, 1.0], [2.0, 3.0]]),
    "hit": np.array([True, False]),
})  # fmt: skip


def test_a_table_is_a_mapping_of_columns() -> None:
    assert list(TABLE) == ["name", "iou", "box", "hit"]
    assert len(TABLE) == 4
    assert TABLE.height == 2
    assert Table({}).height == 0
    assert "iou" in TABLE


def test_rows_hold_python_values_and_none_for_nan() -> None:
    assert list(TABLE.rows()) == [
        {"name": "x", "iou": 0.5, "box": [0.0, 1.0], "hit": True},
        {"name": "y", "iou": None, "box": [2.0, 3.0], "hit": False},
    ]
    assert [row["name"] for row in TABLE.take(np.array([1, 1])).rows()] == ["y", "y"]


def test_numeric_columns_are_told_from_strings() -> None:
    assert TABLE.array("hit").tolist() == [True, False]
    with pytest.raises(TypeError, match="column 'name' holds strings"):
        TABLE.array("name")


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        Table({"a": np.zeros(1), "b": np.zeros(2)})


def test_frames() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    frame = TABLE.to_pandas()
    assert frame["name"].tolist() == ["x", "y"]
    assert frame["box"].tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert TABLE.to_polars()["hit"].to_list() == [True, False]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_frame_library_is_named_with_the_command_that_installs_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"{package} frame needs {package}.*pip install 'calque-eval\[frames\]'"):
        getattr(TABLE, f"to_{package}")()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=8))
def test_where_else_replaces_what_is_not_flagged_and_leaves_the_column_alone(rows: list[tuple[bool, int]]) -> None:
    flags, column = np.array([flag for flag, _ in rows], np.bool_), np.array([value for _, value in rows], np.int32)
    chosen = where_else(flags, column, -1)
    assert chosen.tolist() == [value if flag else -1 for flag, value in rows]
    assert chosen.dtype == column.dtype
    assert column.tolist() == [value for _, value in rows]
    assert (chosen is column) == all(flags)
