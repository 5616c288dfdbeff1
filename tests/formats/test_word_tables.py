"""Tables of words as Parquet, by the same rules as TSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from calque.base.errors import ContractError
from calque.readers.text.texts import read_texts

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def written(path: Path, **columns: Any) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


def refused(path: Path) -> list[tuple[str, str]]:
    with pytest.raises(ContractError) as caught:
        read_texts(path)
    return [(issue.code, issue.pointer) for issue in caught.value.issues]


GOOD: dict[str, Any] = {"docid": ["d", "d"], "wordid": [0, 1], "word": ["a", "b"]}
BAD = [
    ({"docid": ["d", None]}, "wrong-type"),
    ({"word": ["a", None]}, "wrong-type"),
    ({"wordid": [0, None]}, "wrong-wordid"),
    ({"docid": [1.0, 1.5]}, "wrong-type"),
    ({"docid": [1.0, float("nan")]}, "wrong-type"),
    ({"docid": [b"d", b"\xff"]}, "wrong-type"),
    ({"word": [[], ["a"]]}, "wrong-type"),
    ({"wordid": [0.0, 0.5]}, "wrong-wordid"),
    ({"wordid": [0.0, float("inf")]}, "wrong-wordid"),
    ({"wordid": [0, -1]}, "wrong-wordid"),
    ({"wordid": [0, 10**18]}, "wrong-wordid"),
    ({"wordid": ["0", "-1"]}, "wrong-wordid"),
    ({"wordid": [False, True]}, "wrong-wordid"),
]


@pytest.mark.parametrize(("columns", "code"), BAD, ids=[str(columns) for columns, _ in BAD])
def test_parquet_words_with_a_bad_value_are_refused_with_the_row(tmp_path: Path, columns: Any, code: str) -> None:
    issues = refused(written(tmp_path / "w.parquet", **{**GOOD, **columns}))
    assert {found for found, _ in issues} == {code}
    assert issues[-1][1] == "row 2"


def test_parquet_words_with_several_bad_rows_are_refused_with_all_of_them(tmp_path: Path) -> None:
    path = written(tmp_path / "w.parquet", docid=["d", None, "d"], wordid=[-1, 0, 1.5], word=["a", "b", None])
    assert refused(path) == [
        ("wrong-wordid", "row 1"),
        ("wrong-type", "row 2"),
        ("wrong-type", "row 3"),
        ("wrong-wordid", "row 3"),
    ]


def test_parquet_words_with_whole_floats_and_numbers_are_those_of_tsv(tmp_path: Path) -> None:
    (tmp_path / "w.tsv").write_text("docid\twordid\tword\n7\t0\ta\n7\t1\t12\n")
    path = written(tmp_path / "w.parquet", docid=[7.0, 7.0], wordid=[0.0, 1.0], word=[b"a", b"12"])
    one, two = (dict(read_texts(each).by_document()) for each in (tmp_path / "w.tsv", path))  # type: ignore[union-attr]
    assert one == two == {"7": ["a", "12"]}


def test_parquet_words_with_an_id_twice_are_refused_with_the_row(tmp_path: Path) -> None:
    assert refused(written(tmp_path / "w.parquet", **{**GOOD, "wordid": [0, 0]})) == [("duplicate-word", "row 2")]
