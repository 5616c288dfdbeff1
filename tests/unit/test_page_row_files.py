"""What is special about NDJSON, line by line, and about Parquet, column by column."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calque import ContractError, MissingExtra, read
from calque.base.columns import Strings
from calque.readers.boxes.conventions import Rules
from calque.readers.page_rows import ndjson, parquet, streams
from calque.readers.page_rows.files import looks_like_ndjson
from tests.pages import BOX, read_boxes, refused, row, table, write_ndjson, write_parquet

# NDJSON.


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = write_ndjson(
        tmp_path / "p.ndjson", [row("a"), "{", "", "[1]", '{"doc_id": 1, "doc_id": 2, "boxes": [], "labels": []}']
    )
    assert refused(path) == [("not-json", "2 column 2"), ("wrong-type", "4"), ("duplicate-key", "5 /doc_id")]


def test_a_key_that_is_missing_is_guessed(tmp_path: Path) -> None:
    path = write_ndjson(tmp_path / "p.ndjson", ['{"doc_id": 1, "boxes": [], "label": []}', '{"doc_id": 1}'])
    with pytest.raises(ContractError, match="did you mean 'label'"):
        read(path)
    assert refused(path) == [("missing-key", "1"), ("missing-key", "2"), ("missing-key", "2")]


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("doc_id", True, "/doc_id"), ("doc_id", 1.5, "/doc_id"), ("boxes", {}, "/boxes"),
        ("boxes", [["0", 0, 1, 1]], "/boxes/0/0"), ("boxes", [[True, 0, 1, 1]], "/boxes/0/0"),
        ("labels", [1], "/labels/0"), ("scores", ["1"], "/scores/0"),
        ("ids", [None], "/ids/0"), ("crowd", ["no"], "/crowd/0"), ("area", [[]], "/area/0"), ("page_index", "1", "/page_index"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_named(tmp_path: Path, key: str, value: Any, place: str) -> None:
    path = write_ndjson(tmp_path / "p.ndjson", [row("a", [BOX]) | {key: value}])
    assert ("wrong-type", f"1 {place}") in refused(path)


def test_numbers_beyond_every_float_are_losses(tmp_path: Path) -> None:
    path = write_ndjson(tmp_path / "p.ndjson", [row("a", [[0, 0, 10**400, 1], [0, 0, 1, 1]])])
    assert [issue.code for issue in read_boxes(path).issues] == ["looks-normalized", "box-invalid"]


def test_ids_of_both_kinds_are_texts(tmp_path: Path) -> None:
    corpus = read_boxes(write_ndjson(tmp_path / "p.ndjson", [row("a", [BOX], ids=[1]), row("b", [BOX], ids=["x"])]))
    assert isinstance(corpus.ids, Strings)
    assert corpus.ids.tolist() == ["1", "x"]


def test_a_line_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ndjson, "LONGEST_LINE", 100)
    path = write_ndjson(tmp_path / "p.ndjson", [row("a"), row("b", [BOX] * 20)])
    assert refused(path) == [("line-too-long", "")]


@pytest.mark.parametrize("room", [1, 60, 64, 200, 1 << 19])
def test_lines_are_counted_across_the_pieces_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    monkeypatch.setattr(ndjson, "PART", room)
    pages = [row(name, [BOX]) for name in "abcdefgh"]
    assert read(write_ndjson(tmp_path / "fine.ndjson", pages)).units() == tuple("abcdefgh")
    path = write_ndjson(tmp_path / "broken.ndjson", [*pages[:3], "{", *pages[3:], "", "[1]"])
    assert refused(path) == [("not-json", "4 column 2"), ("wrong-type", "11")]


def test_content_decides_before_the_name(tmp_path: Path) -> None:
    line = json.dumps(row("a", [BOX]))
    (tmp_path / "pages.json").write_text("\ufeff" + line, "utf-8")
    assert read(tmp_path / "pages.json").units() == ("a",)
    (tmp_path / "marked.jsonl").write_text(f"\ufeff{line}\n[1]\n", "utf-8")
    assert refused(tmp_path / "marked.jsonl") == [("wrong-type", "2")], "the mark before the first line is no part of it"
    (tmp_path / "broken.jsonl").write_text("{\n", "utf-8")
    assert refused(tmp_path / "broken.jsonl") == [("not-json", "1 column 2")]
    long = json.dumps(row("a", [BOX] * 5000))
    (tmp_path / "long.txt").write_text(long, "utf-8")
    assert len(read_boxes(tmp_path / "long.txt")) == 5000
    (tmp_path / "named.txt").write_text('{"kind": "x", "doc_id": 1, "boxes": [], "labels": []}', "utf-8")
    assert read(tmp_path / "named.txt", format="ndjson").units() == (1,)
    write_parquet(tmp_path / "pages.bin", [row("b")])
    assert read(tmp_path / "pages.bin").units() == ("b",)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.ndjson") == [("no-such-file", "")]
    assert refused(tmp_path / "none.ndjson", format="ndjson") == [("no-such-file", "")]
    assert refused(tmp_path / "none.parquet", format="parquet") == [("not-parquet", "")]


# Parquet.


@pytest.mark.parametrize(
    "types",
    [
        {"boxes": pa.list_(pa.list_(pa.float32(), 4)), "scores": pa.list_(pa.float32())},
        {"boxes": pa.large_list(pa.large_list(pa.float64())), "labels": pa.large_list(pa.large_string())},
        {"boxes": pa.list_(pa.list_(pa.int16())), "labels": pa.list_(pa.dictionary(pa.int8(), pa.string()))},
        {"doc_id": pa.dictionary(pa.int32(), pa.string()), "width": pa.int32(), "page_index": pa.uint8()},
        {"doc_id": pa.large_string(), "area": pa.list_(pa.int64())},
    ],
)
def test_any_sensible_types_are_read(tmp_path: Path, types: dict[str, pa.DataType]) -> None:
    pages = [
        row(name, [(1, 2, 3 + k, 4)], [label], page_index=k, width=10, scores=[0.5], area=[9])
        for k, (name, label) in enumerate([("a", "Table"), ("b", "Figure"), ("é", "Table"), ("d", "")])
    ]
    path = write_parquet(tmp_path / "p.parquet", pages, row_group_size=2, **types)
    corpus = read_boxes(path)
    assert corpus.documents == ("a", "b", "é", "d")
    assert corpus.boxes.tolist() == [[1, 2, 3, 4], [1, 2, 4, 4], [1, 2, 5, 4], [1, 2, 6, 4]]
    assert [corpus.labels[code] for code in corpus.label.tolist()] == ["Table", "Figure", "Table", ""]
    assert corpus.given_areas is not None
    assert corpus.given_areas.tolist() == [9, 9, 9, 9]


def test_labels_of_a_dictionary_that_nobody_uses_are_no_labels(tmp_path: Path) -> None:
    pages = table([row("a", [BOX], ["Table"])])
    names = pa.DictionaryArray.from_arrays(pa.array([1], pa.int32()), pa.array(["Formula", "Table"]))
    labels = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), names)
    pq.write_table(pages.set_column(2, "labels", labels), tmp_path / "p.parquet")
    assert read_boxes(tmp_path / "p.parquet").labels == ("Table",)


def test_wrong_and_missing_columns_are_told_at_once(tmp_path: Path) -> None:
    pages = pa.table({"doc_id": [1.5], "boxes": [[0.0, 0.0, 1.0, 1.0]], "label": [["Table"]], "score": [[0.5]]})
    pq.write_table(pages, tmp_path / "p.parquet")
    with pytest.raises(ContractError, match="column labels: the column is missing; did you mean 'label'") as caught:
        read(tmp_path / "p.parquet", side="prediction")
    assert [(issue.code, issue.pointer) for issue in caught.value.issues] == [
        ("missing-key", "column labels"), ("wrong-type", "column doc_id"), ("wrong-type", "column boxes"),
    ]  # fmt: skip


def test_a_column_of_scores_that_is_missing_is_told_once(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "p.parquet", [row(k, [BOX], score=1) for k in range(9)], row_group_size=2)
    with pytest.raises(ContractError, match="did you mean 'score'") as caught:
        read(path, side="prediction")
    assert [(issue.code, issue.pointer) for issue in caught.value.issues] == [("score-missing", "column scores")]


def test_columns_have_names_of_their_own(tmp_path: Path) -> None:
    pages = table([row("a")])
    pq.write_table(pages.append_column("doc_id", pages.column(0)), tmp_path / "p.parquet")
    assert refused(tmp_path / "p.parquet") == [("duplicate-key", "doc_id")]


def test_nulls_where_a_value_must_be_are_named(tmp_path: Path) -> None:
    nulls = [
        ({"boxes": [None], "labels": ["x"]}, "box-shape", {"boxes": pa.list_(pa.null())}),
        ({"boxes": [None], "labels": ["x"]}, "box-shape", {}),
        ({"boxes": [BOX], "labels": ["x"], "ids": [None]}, "wrong-type", {"ids": pa.list_(pa.string())}),
    ]
    for more, code, types in nulls:
        write_parquet(tmp_path / "p.parquet", [{"doc_id": "a", **more}], **types)
        assert [issue[0] for issue in refused(tmp_path / "p.parquet")] == [code]


def test_large_unsigned_ids_are_texts(tmp_path: Path) -> None:
    write_parquet(tmp_path / "p.parquet", [row("a", [BOX], ids=[2**64 - 1])], ids=pa.list_(pa.uint64()))
    ids = read_boxes(tmp_path / "p.parquet").ids
    assert isinstance(ids, Strings)
    assert ids.tolist() == [str(2**64 - 1)]


def test_metadata_of_any_scalar_type(tmp_path: Path) -> None:
    import datetime

    day = datetime.date(2024, 2, 29)
    write_parquet(tmp_path / "p.parquet", [row("a", day=day, share=0.5, flag=True, count=3, text="x", data=b"\0")],
                  text=pa.dictionary(pa.int8(), pa.string()))  # fmt: skip
    corpus = read_boxes(tmp_path / "p.parquet", metadata=True)
    assert {name: values["a"] for name, values in corpus.metadata.items()} == {
        "day": "2024-02-29", "share": 0.5, "flag": True, "count": 3, "text": "x",
    }  # fmt: skip
    assert [issue.code for issue in corpus.issues] == ["column-unused"]


@pytest.mark.parametrize("cut", [4, 60, 200])
def test_a_cut_off_file_is_refused(tmp_path: Path, cut: int) -> None:
    data = write_parquet(tmp_path / "p.parquet", [row("a", [BOX])]).read_bytes()
    (tmp_path / "p.parquet").write_bytes(data[:-cut])
    assert refused(tmp_path / "p.parquet") == [("not-parquet", "")]


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_parquet(tmp_path / "p.parquet", [row("a")])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'calque-eval\[parquet\]'"):
        read(path)


def test_reading_does_not_import_pandas(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "p.parquet", [row("a", [BOX], crowd=[True], ids=["x"])])
    code = "import calque, sys; calque.read(sys.argv[1]); print('pandas' in sys.modules or 'pyarrow.compute' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_pages_of_a_large_row_group_come_in_parts(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "p.parquet", [row(k, [BOX] * 5) for k in range(40)])
    opened = parquet.Opened(str(path), 20, 100, Rules())
    reader = streams.PageStream(str(path), "parquet", Rules()).started().reader
    assert {len(part) for part in opened.blocks(reader)} == {20}


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (b'{"doc_id": 1, "boxes": [[1, 2', "pages.json", True),
        (b'{ "boxes" : [[1, 2], {"a": 3}', "pages.json", True),
        (b'{"images": [{"id": 1}', "coco.json", False),
        (b'{"images": [], "doc_id": {}}\n{', "pages.txt", True),
        (b'{"doc_id": 1]}', "pages.txt", True),
        (b'{"images": 1]}', "pages.txt", False),
        (b'"boxes"', "text.json", False),
        (b'[{"doc_id": 1}]', "list.json", False),
        (b"{", "anything.jsonl", True),
        (b"[", "anything.jsonl", False),
    ],
)
def test_a_file_of_pages_is_told_by_how_it_begins(head: bytes, name: str, expected: bool) -> None:
    assert looks_like_ndjson(head, name) is expected
