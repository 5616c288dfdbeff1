"""NDJSON, Parquet and compressed files on the command line: converted both ways, evaluated, and refused."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.pages import Row, row, write_coco, write_ndjson, write_parquet
from tests.snapshots import valid_predictions, valid_truth, write

FORMATS = ["ndjson", "parquet"]
BOX = [0.0, 0.0, 10.0, 10.0]


def coco(folder: Path) -> None:
    """Ground truth and results of three images: crowds, areas, an empty page, something known of each image."""
    sizes: Row = {"width": 50, "height": 60}
    boxes = [[1.25, 2.5, 30.0, 20.0], [5.0, 5.0, 10.0, 10.0]]
    truth = [
        row(7, boxes, ["Table", "Figure"], ids=[3, 4], crowd=[False, True], area=[12.5, None], language="de", **sizes),
        row(9, ids=[], crowd=[], area=[], language="fr", **sizes),
        row(11, boxes[:1], ["Table"], ids=[5], crowd=[False], area=[None], **sizes),
    ]
    found = [row(page["doc_id"], boxes, ["Table", "Figure"], scores=[0.5, 0.25], **sizes) for page in truth]
    write_coco(folder, truth, found)


def numbers(run: Run) -> dict[str, Any]:
    """The part of a result that the data decides."""
    assert run.code == 0, run.err
    return {key: run.json[key] for key in ("metrics", "coco", "counts", "errors", "slices", "documents")}


@pytest.mark.parametrize("format", FORMATS)
def test_coco_converted_to_page_rows_gives_the_same_result(calque: Callable[..., Run], tmp_path: Path, format: str) -> None:
    coco(tmp_path)
    wanted = numbers(calque("detect", "truth.json", "found.json", "--by", "language", "--format", "json"))
    run = calque("convert", "truth.json", f"t.{format}")
    assert run.code == 0
    assert "not-carried" not in run.err
    # Results have no names of their own: they are told with their truth.
    names = {"1": "Figure", "2": "Table"}
    write(tmp_path / "names.json", names)
    run = calque("convert", "found.json", f"f.{format}", "--as", "predictions", "--class-map", "names.json")
    assert run.code == 0, run.err
    # Both files state that their boxes have sizes.
    got = calque("detect", f"t.{format}", f"f.{format}", "--by", "language", "--format", "json")
    assert numbers(got) == wanted
    assert set(wanted["slices"]["language"]["values"]) == {"de", "fr"}


@pytest.mark.parametrize("first", FORMATS)
@pytest.mark.parametrize("second", FORMATS)
def test_a_round_trip_keeps_every_column(calque: Callable[..., Run], tmp_path: Path, first: str, second: str) -> None:
    pages = [
        row("b", [BOX, [1.0, 2.0, 3.5, 4.5]], ["Table", "é"], page_index=2, width=10.0, height=20.0,
            scores=[0.5, None], ids=["x", "y"], crowd=[True, False], area=[1.5, None], language="de"),
        row("b", page_index=0, width=11.0, height=21.0, scores=[], ids=[], crowd=[], area=[], language="de"),
        row("a", [BOX], page_index=0, scores=[1.0], ids=["z"], crowd=[False], area=[None]),
    ]  # fmt: skip
    writer = {"ndjson": write_ndjson, "parquet": write_parquet}[first]
    writer(tmp_path / f"in.{first}", pages)
    assert calque("convert", f"in.{first}", f"there.{second}").code == 0
    assert calque("convert", f"there.{second}", "back.ndjson").code == 0
    lines = [json.loads(line) for line in (tmp_path / "back.ndjson").read_text("utf-8").splitlines()]
    assert lines == pages


def test_documents_of_both_kinds_become_text_in_parquet(calque: Callable[..., Run], tmp_path: Path) -> None:
    write_ndjson(tmp_path / "in.ndjson", [row(7, [BOX], year=1999), row("a", [BOX], year="MM")])
    run = calque("convert", "in.ndjson", "out.parquet")
    assert "a document would come back from parquet under another name, such as 7 as '7'" in run.err
    assert calque("convert", "out.parquet", "out.ndjson").code == 0
    lines = [json.loads(line) for line in (tmp_path / "out.ndjson").read_text("utf-8").splitlines()]
    assert [(line["doc_id"], line["year"]) for line in lines] == [("7", "1999"), ("a", "MM")]


def test_a_document_without_pages_is_written_with_an_empty_one(calque: Callable[..., Run], tmp_path: Path) -> None:
    tree = valid_truth()
    tree["documents"].append({"doc_id": "bare", "doc_name": "bare", "doc_path": "bare"})
    write(tmp_path / "t.json", tree)
    assert calque("convert", "t.json", "t.ndjson").code == 0
    last = json.loads((tmp_path / "t.ndjson").read_text("utf-8").splitlines()[-1])
    assert last == {"doc_id": "bare", "page_index": 0, "boxes": [], "labels": [], "ids": []}


def test_a_bad_line_is_named_counted_and_stops_only_if_asked(calque: Callable[..., Run], tmp_path: Path) -> None:
    write_ndjson(tmp_path / "t.ndjson", [row("a", [BOX]), '{"doc_id": "b", "boxes": [[0, 0, 1', row("c", [BOX])])
    write_ndjson(tmp_path / "p.ndjson", [row(name, [BOX], scores=[0.5]) for name in "ac"])
    run = calque("detect", "t.ndjson", "p.ndjson")
    assert run.code == 3
    assert "t.ndjson: line 2 column 35: is not JSON: the text ends too early; the line is left out" in run.out + run.err
    listed = calque("detect", "t.ndjson", "p.ndjson", "--format", "json")
    assert [(issue["code"], issue["severity"], issue["count"]) for issue in listed.json["issues"]] == [("not-json", "loss", 1)]
    assert listed.json["metrics"]["0.5"]["micro"]["recall"] == 1.0
    strict = calque("detect", "t.ndjson", "p.ndjson", "--strict", "-o", "out.json")
    assert strict.code == 2
    assert "t.ndjson: line 2 column 35" in strict.err
    assert not (tmp_path / "out.json").exists()
    assert calque("convert", "t.ndjson", "t2.parquet").code == 3
    assert calque("convert", "t.ndjson", "t3.parquet", "--strict").code == 2
    assert calque("validate", "t.ndjson").code == 3  # as detect and convert
    assert calque("validate", "t.ndjson", "--strict").code == 2


def test_compressed_files_are_read_by_every_verb(calque: Callable[..., Run], tmp_path: Path) -> None:
    for name, tree in (("t", valid_truth()), ("p", valid_predictions())):
        (tmp_path / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(tree).encode()))
        write(tmp_path / f"{name}.json", tree)
    packed, plain = (calque("detect", f"t.{end}", f"p.{end}", "--format", "json") for end in ("json.gz", "json"))
    assert numbers_of(packed) == numbers_of(plain)
    assert calque("validate", "t.json.gz", "p.json.gz").code == 0
    assert calque("convert", "t.json.gz", "t.parquet").code == 0
    assert calque("layout", "t.json.gz", "p.json.gz").code == 0
    (tmp_path / "cut.json.gz").write_bytes((tmp_path / "t.json.gz").read_bytes()[:-20])
    assert "the compressed data is damaged" in calque("detect", "cut.json.gz", "p.json").err


def numbers_of(run: Run) -> dict[str, Any]:
    return {key: value for key, value in run.json.items() if key != "sources"}
