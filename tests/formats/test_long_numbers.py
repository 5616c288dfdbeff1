"""Numbers of thousands of digits, which Python refuses to convert, and other texts that only look like numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

Command = Callable[..., Run]
LONG = "9" * 5000


def docling(pages: str = "1", reference: str = "#/texts/0") -> str:
    prov = [{"page_no": 1, "bbox": {"l": 0, "t": 0, "r": 9, "b": 9, "coord_origin": "TOPLEFT"}}]
    tree = {
        "schema_name": "DoclingDocument", "name": "d", "body": {"children": [{"$ref": "#/texts/0"}, {"$ref": reference}]},
        "texts": [{"prov": prov, "label": "text"}], "pages": {pages: {"size": {"width": 10, "height": 10}}},
        "tables": [{"prov": prov, "data": {"num_rows": 0, "num_cols": 0, "table_cells": []}}], "groups": [], "pictures": [],
    }  # fmt: skip
    return json.dumps(tree)


@pytest.mark.parametrize("command", ["order", "tables", "detect"])
@pytest.mark.parametrize("key", [LONG, "x", "-1", "0", "²"])
def test_docling_page_that_is_no_number_is_refused(tmp_path: Path, calque: Command, command: str, key: str) -> None:
    (tmp_path / "d.json").write_text(docling(pages=key))
    run = calque(command, "d.json", "d.json")
    assert run.code == 2
    assert "wrong-type" in run.err or "page number" in run.err


@pytest.mark.parametrize("place", [LONG, "²", "-1", "1"])
def test_docling_reference_to_nothing_is_a_loss(tmp_path: Path, calque: Command, place: str) -> None:
    (tmp_path / "d.json").write_text(docling(reference=f"#/texts/{place}"))
    run = calque("order", "d.json", "d.json", "--format", "json")
    assert run.code == 3
    assert "unknown-block" in {issue["code"] for issue in run.json["issues"]}


def page_xml(index: str) -> str:
    regions = "".join(
        f'<TextRegion id="r{place}"><Coords points="0,{place}0 9,{place}0 9,{place}9 0,{place}9"/>'
        f"<TextEquiv><Unicode>w{place}</Unicode></TextEquiv></TextRegion>"
        for place in (1, 2)
    )
    order = f'<RegionRefIndexed index="{index}" regionRef="r1"/><RegionRefIndexed index="5" regionRef="r2"/>'
    return (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">'
        f'<Page imageWidth="100" imageHeight="100"><ReadingOrder><OrderedGroup id="g">{order}</OrderedGroup></ReadingOrder>'
        f"{regions}</Page></PcGts>"
    )


@pytest.mark.parametrize(
    ("index", "first"), [(LONG, "w2"), ("²", "w2"), ("--5", "w2"), ("x", "w2"), ("-1", "w1"), ("7", "w2"), ("1", "w1")]
)
def test_page_xml_with_any_index_is_read(tmp_path: Path, calque: Command, index: str, first: str) -> None:
    pytest.importorskip("lxml")
    (tmp_path / "d.xml").write_text(page_xml(index))
    (tmp_path / "d.txt").write_text(first)
    assert calque("order", "d.xml", "d.xml").code == 0
    words: Any = calque("words", "d.xml", "d.xml", "--format", "jsonl").out.splitlines()
    assert json.loads(words[0])["word"] == first


@pytest.mark.parametrize("fold", [f"{LONG}/3", f"0/{LONG}", "²/3"])
def test_words_fold_that_is_no_fold_is_refused(tmp_path: Path, calque: Command, fold: str) -> None:
    (tmp_path / "d.txt").write_text("a")
    assert calque("words", "d.txt", "d.txt", "--fold", fold).code == 2


@pytest.mark.parametrize("to", ["coco", "omnidocbench"])
def test_convert_of_an_id_of_many_digits_keeps_it_as_text(tmp_path: Path, calque: Command, to: str) -> None:
    row = {"doc_id": "d", "boxes": [[0, 0, 5, 5]], "labels": ["t"], "ids": [LONG], "width": 10, "height": 10}
    (tmp_path / "d.ndjson").write_text(json.dumps(row) + "\n")
    run = calque("convert", "d.ndjson", "out.json", "--to", to)
    assert run.code == 0, run.err
    assert LONG in (tmp_path / "out.json").read_text()
