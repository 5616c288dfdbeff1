"""Every format that holds tables becomes the same model, and what is wrong with it is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calque import ContractError, Evaluator, Tables
from calque.base.errors import IssueLog, Severity
from calque.corpus.tables import CellTable, TableCorpus
from calque.readers.tables import files, html, markdown
from calque.readers.tables.cells import table_of
from calque.readers.tables.files import one_table, read_tables
from calque.tables import parse

Cells = list[tuple[int, int, int, int, str, bool]]
SPANNED: Cells = [
    (0, 0, 1, 2, "Head", True), (0, 2, 2, 1, "Side", True), (1, 0, 1, 1, "a", False), (1, 1, 1, 1, "b c", False),
]  # fmt: skip
HTML = (
    "<table><thead><tr><td colspan=2>Head</td><th rowspan='2'>Side</th></tr></thead><tr><td>a</td><td>b<br>c</td></tr></table>"
)


def cells(table: CellTable) -> Cells:
    return list(zip(table.row, table.column, table.rowspan, table.colspan, table.text, table.header, strict=True))


def one(corpus: TableCorpus) -> CellTable:
    ((table,),) = corpus.tables.values()
    return table


def listed(boxes: bool = True) -> list[dict[str, Any]]:
    return [
        {
            "row": row, "column": column, "rowspan": down, "colspan": across, "text": text, "header": header,
            **({"box": [column, row, column + across, row + down]} if boxes else {}),
        }
        for row, column, down, across, text, header in SPANNED
    ]  # fmt: skip


TRANSFORMER = [
    {
        "row_nums": list(range(row, row + down)), "column_nums": list(range(column, column + across)), "cell_text": text,
        "bbox": [column, row, column + across, row + down], "is_column_header": header,
    }
    for row, column, down, across, text, header in SPANNED
]  # fmt: skip
PUBTABNET = {
    "filename": "d.png", "split": "val", "imgid": 1,
    "html": {
        "structure": {"tokens": [
            "<thead>", "<tr>", "<td", ' colspan="2"', ">", "</td>", "<td", ' rowspan="2"', ">", "</td>", "</tr>", "</thead>",
            "<tbody>", "<tr>", "<td>", "</td>", "<td>", "</td>", "</tr>", "</tbody>",
        ]},
        "cells": [
            {"tokens": ["<b>", *"Head", "</b>"], "bbox": [0, 0, 2, 1]}, {"tokens": list("Side"), "bbox": [2, 0, 3, 2]},
            {"tokens": ["a"], "bbox": [0, 1, 1, 2]}, {"tokens": list("b c")},
        ],
    },
}  # fmt: skip
DOCLING = {
    "schema_name": "DoclingDocument",
    "pages": {"1": {"size": {"width": 10, "height": 20}}},
    "tables": [{
        "prov": [{"page_no": 1, "bbox": {"l": 0, "t": 20, "r": 3, "b": 18, "coord_origin": "BOTTOMLEFT"}}],
        "data": {"num_rows": 2, "num_cols": 3, "table_cells": [
            {
                "start_row_offset_idx": row, "end_row_offset_idx": row + down, "start_col_offset_idx": column,
                "end_col_offset_idx": column + across, "text": text, "column_header": header,
                "bbox": {"l": column, "t": row, "r": column + across, "b": row + down, "coord_origin": "TOPLEFT"},
            }
            for row, column, down, across, text, header in SPANNED
        ]},
    }],
}  # fmt: skip
OMNIDOCBENCH = [{
    "page_info": {"image_path": "scan.pdf_3.jpg", "page_no": 3},
    "layout_dets": [
        {"category_type": "table", "html": HTML, "poly": [0, 0, 9, 0, 9, 9, 0, 9]},
        {"category_type": "table", "html": HTML, "ignore": True},
        {"category_type": "text_block", "text": "a"},
    ],
}]  # fmt: skip
ICDAR_2013 = """<document filename="us-001.pdf"><table id="1"><region id="1" page="4">
<cell id="1" start-row="0" start-col="0" end-col="1"><bounding-box x1="0" y1="1" x2="2" y2="0"/><content>Head</content></cell>
<cell id="2" start-row="0" end-row="1" start-col="2"><bounding-box x1="2" y1="2" x2="3" y2="0"/><content>Side</content></cell>
</region><region id="2" page="4" row-increment="1">
<cell id="1" start-row="0" start-col="0"><content> a </content></cell><cell id="2" start-row="0" start-col="1"><content>b
c</content></cell></region></table></document>"""
ICDAR_2019 = """<document filename="t.jpg"><table id="0"><Coords points="0,0 3,0 3,2 0,2"/>
<cell start-row="0" end-row="0" start-col="0" end-col="1"><Coords points="0,0 2,0 2,1 0,1"/></cell>
<cell start-row="0" end-row="1" start-col="2" end-col="2"><Coords points="2,0 3,0 3,2 2,2"/></cell></table></document>"""


@pytest.mark.parametrize(
    "source",
    [HTML, {"html": HTML}, {"cells": listed()}, {"rows": 2, "cells": listed(boxes=False)}, TRANSFORMER, PUBTABNET, DOCLING,
     {"tables": [{"cells": listed()}]}],
    ids=["text", "html", "cells", "cells without boxes", "table-transformer", "PubTabNet", "Docling", "tables"],
)  # fmt: skip
def test_all_formats_are_one_model(source: Any) -> None:
    table = one_table(source)
    assert cells(table) == SPANNED
    assert (table.rows, table.columns, table.nodes, table.slots) == (2, 3, 6, 6)
    assert table.grid().tolist() == [[0, 0, 1], [2, 3, 1]]
    if table.boxes:
        assert table.boxes[0] == (0.0, 0.0, 2.0, 1.0)


def test_a_table_is_written_and_read_back() -> None:
    table = one_table({"id": "t", "page": 3, "box": [0, 0, 9, 9], "cells": listed()})
    again = one_table(json.loads(json.dumps(table.to_dict())))
    assert (again.id, again.page, again.box, cells(again), again.boxes) == ("t", 3, (0, 0, 9, 9), SPANNED, table.boxes)


def test_files_are_told_from_what_they_hold(tmp_path: Path) -> None:
    files = {
        "a.html": HTML, "b.md": HTML, "c.json": json.dumps({"cells": listed()}), "d.jsonl": json.dumps(PUBTABNET) + "\n",
        "e.json": json.dumps(OMNIDOCBENCH), "f.json": json.dumps(DOCLING), "us-001-str.xml": ICDAR_2013,
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    documents = {
        "a": "a.html",
        "b": "b.md",
        "c": "c.json",
        "d.png": "d.jsonl",
        "scan.pdf_3": "e.json",
        "f": "f.json",
        "us-001": "us-001-str.xml",
    }
    for document, name in documents.items():
        corpus = read_tables(tmp_path / name)
        assert corpus.units() == (document,)
        table = one(corpus)
        assert [cell[:5] for cell in cells(table)] == [cell[:5] for cell in SPANNED], name
    assert one(read_tables(tmp_path / "e.json")).box == (0, 0, 9, 9)
    assert one(read_tables(tmp_path / "f.json")).box == (0, 0, 3, 2)
    assert one(read_tables(tmp_path / "f.json")).page == 1
    assert sorted(read_tables(tmp_path).units()) == sorted(documents)


def test_icdar_2019_has_boxes_from_points(tmp_path: Path) -> None:
    (tmp_path / "t.xml").write_text(ICDAR_2019)
    table = one(read_tables(tmp_path / "t.xml"))
    assert (table.box, table.boxes) == ((0, 0, 3, 2), ((0, 0, 2, 1), (2, 0, 3, 2)))
    assert [cell[:4] for cell in cells(table)] == [(0, 0, 1, 2), (0, 2, 2, 1)]


def test_a_table_that_goes_on_in_regions_has_no_one_box(tmp_path: Path) -> None:
    """Its regions may be on several pages; what stands beside them is no region's."""
    (tmp_path / "t.xml").write_text(ICDAR_2013.replace('<table id="1">', '<table id="1"><Coords points="0,0 3,0 3,2 0,2"/>'))
    table = one(read_tables(tmp_path / "t.xml"))
    assert (table.box, table.page) == (None, 4)


def test_mappings_and_lists_of_documents(tmp_path: Path) -> None:
    (tmp_path / "gt.json").write_text(json.dumps({"x.png": {"html": HTML, "type": "complex"}, "y.png": HTML + HTML}))
    corpus = read_tables(tmp_path / "gt.json")
    assert {unit: len(tables) for unit, tables in corpus.tables.items()} == {"x.png": 1, "y.png": 2}
    lines = [
        {"document": "p", "id": "1", "cells": listed()},
        {"document": "p", "id": "2", "cells": listed()},
        {"id": "q", "html": HTML},
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    corpus = read_tables(tmp_path / "t.jsonl")
    assert {unit: [table.id for table in tables] for unit, tables in corpus.tables.items()} == {"p": ["1", "2"], "q": [""]}


def test_empty_files_are_documents_without_tables(tmp_path: Path) -> None:
    for name in ("a.html", "b.md", "c.json", "d.jsonl", "e.xml"):
        (tmp_path / name).write_text(" \n" if name == "b.md" else "")
    assert read_tables(tmp_path).tables == {"a": [], "b": [], "c": [], "d": [], "e": []}


def test_tables_in_memory_are_one_document_unless_they_are_named() -> None:
    table = CellTable.of([(0, 0, 1, 1, "a", False)])
    for given, units in (
        (table, {"document": 1}),
        ((table, table), {"document": 2}),
        ({"d": table, "e": [table]}, {"d": 1, "e": 1}),
    ):
        assert {unit: len(tables) for unit, tables in read_tables(given).tables.items()} == units
    with pytest.raises(TypeError, match="cannot read tables from a int: give a path, a mapping by document or a corpus"):
        read_tables(5)


def test_what_a_folder_holds_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> list[tuple[str, str, str]]:
        with pytest.raises(ContractError) as caught:
            read_tables(tmp_path)
        return [(issue.code, issue.message, issue.help) for issue in caught.value.issues]

    ends = ".html, .htm, .xhtml, .md, .markdown, .mmd, .txt, .text, .json, .jsonl, .ndjson, .xml"
    assert refused() == [("no-documents", "the folder has no documents", f"it should have files that end in {ends}")]
    (tmp_path / "x.bin").write_text("x")
    (tmp_path / "a.html").write_text(HTML)
    corpus = read_tables(tmp_path)
    assert list(corpus.tables) == ["a"]
    assert [(issue.code, issue.severity) for issue in corpus.issues] == [("not-read", Severity.NOTE)]
    assert "x.bin" in corpus.issues[0].message
    (tmp_path / "a.md").write_text("|a|\n|-|\n")
    (tmp_path / "b.json").write_text("{")
    (tmp_path / "b.md").write_text("|a|\n|-|\n")
    named = "a document is a file and is named by its stem"
    assert refused() == [
        ("same-document", "a.html and a.md are both document 'a'", named),
        ("not-json", "is not JSON: the text ends too early", "the file may be cut off: copy or make it again"),
        ("same-document", "b.json and b.md are both document 'b'", named),
    ]
    monkeypatch.setattr(files, "LARGEST", 7)
    large = ("too-large", f"has {len(HTML)} bytes; one file may have 7", "split it into documents")
    assert refused()[0] == large


def test_boxes_that_do_not_go_with_the_cells_are_left(tmp_path: Path) -> None:
    cell = {"tokens": ["a"], "bbox": [0, 0, 1, 1]}
    tokens = ["<tr>", "<td>", "</td>", "</tr>"]
    line = {"html": {"structure": {"tokens": tokens}, "cells": [cell]}}
    assert one(read_tables({"d": line})).boxes == ((0, 0, 1, 1),)
    more = {"html": {"structure": {"tokens": tokens}, "cells": [cell, cell]}}
    bare = {"html": {"structure": {"tokens": tokens}, "cells": [{"tokens": ["a"]}]}}
    for entry in (more, bare):
        assert one(read_tables({"d": entry})).boxes == ()
        assert one(read_tables({"d": entry})).text == ("a",)


@pytest.mark.parametrize("points", ["0,0 3,0 x,2", "0,0 3", "1,1", "0,0 3,0 3"])
def test_points_that_are_no_outline(points: str, tmp_path: Path) -> None:
    (tmp_path / "t.xml").write_text(ICDAR_2019.replace("0,0 3,0 3,2 0,2", points, 1))
    corpus = read_tables(tmp_path / "t.xml")
    assert one(corpus).box is None
    assert [issue.code for issue in corpus.issues] == ["bad-box"]


@pytest.mark.parametrize("comment", ["", "-", "x", " ", "<td>", "a -- b", "\n"])
def test_comments_are_no_text_however_short(comment: str, tmp_path: Path) -> None:
    (tmp_path / "t.html").write_text(f"<table><tr><td>a<!--{comment}-->b</td><td>c</td></tr></table>")
    assert one(read_tables(tmp_path / "t.html")).text == ("ab", "c")


@pytest.mark.parametrize("attributes", ["title='>'", 'title=">"', "title='a>b' x", 'title="<td>"', "a='\"' b='>'"])
def test_text_before_a_tag_stays_whatever_its_attributes_hold(attributes: str, tmp_path: Path) -> None:
    (tmp_path / "t.html").write_text(f"<table><tr><td>one <b {attributes}>two</b> three</td><td>c</td></tr></table>")
    assert one(read_tables(tmp_path / "t.html")).text == ("one two three", "c")


REPAIRS: dict[str, tuple[str, dict[str, int], list[list[str]]]] = {
    "missing end tags": ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", {"unclosed-tag": 6}, [["a", "b"], ["c", "d"]]),
    "the end of the text": ("<table><tr><td>a", {"unclosed-tag": 3}, [["a"]]),
    "loose cells": (
        "<table><td>a</td><td>b</td><tr><td>c</td><td>d</td></tr></table>", {"loose-cell": 1, "unclosed-tag": 1},
        [["a", "b"], ["c", "d"]],
    ),
    "odd spans": ("<table><tr><td colspan='2.0'>a</td><td colspan=x>b</td></tr></table>", {"bad-span": 2}, [["a", "a", "b"]]),
    "a span of nothing": ("<table><tr><td colspan=0>a</td></tr></table>", {"bad-span": 1}, [["a"]]),
    "spans beyond the table": ("<table><tr><td rowspan=9>a</td></tr></table>", {"span-clipped": 1}, [["a"]]),
    "cells on cells": (
        "<table><tr><td>a</td><td rowspan=2>b</td></tr><tr><td colspan=2>c</td></tr></table>",
        {"overlap": 1}, [["a", "b"], ["c", "c"]],
    ),
    "holes": ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", {"ragged": 1}, [["a", "b"], ["c", ""]]),
    "a table in a cell": (
        "<table><tr><td>a<table><tr><td>b<td>c</table>d</td></tr></table>", {"nested-table": 1}, [["a b c d"]],
    ),
    "a table in a table": ("<table><tr><table><tr><td>a</td></tr></table>", {}, [["a"]]),
    "text beside cells": ("<table>x<tr><td>a</td></tr></table>", {"stray-text": 1}, [["a"]]),
    "a caption in a cell": ("<table><tr><td>a<caption>b</caption>c</td></tr></table>", {}, [["a b c"]]),
    "a caption": ("<table><caption>x</caption><colgroup><col></colgroup><tr><td>a</td></tr></table>", {}, [["a"]]),
    "comments and scripts": ("<table><tr><td>a<!-- <td>b --><script>if (1<2) x</script></td></tr></table>", {}, [["a"]]),
    "brackets in attributes": ("<table><tr><td title='a>b' colspan=2>a</td></tr></table>", {}, [["a", "a"]]),
    "entities": ("<table><tr><td>p &lt; 0.05 &amp; &nbsp;x&#233;</td></tr></table>", {}, [["p < 0.05 & xé"]]),
    "block elements": ("<table><tr><td><p>a</p><ul><li>b<li>c</ul><b>d</b>e</td></tr></table>", {}, [["a b c de"]]),
}  # fmt: skip


@pytest.mark.parametrize("name", REPAIRS)
def test_broken_html_is_mended_and_told(name: str) -> None:
    text, repairs, expected = REPAIRS[name]
    table = html.tables_of(text)[-1]
    assert table.repairs == repairs
    assert [[("" if cell < 0 else table.text[cell]) for cell in row] for row in table.grid().tolist()] == expected
    if repairs:
        issues = read_tables({"d": text}).issues
        assert {issue.code for issue in issues} >= set(repairs)
        assert all(issue.severity is Severity.NOTE for issue in issues)


MARKDOWN: dict[str, tuple[str, list[list[list[str]]], dict[str, int]]] = {
    "no outer pipes": ("a | b\n:-: | --\n1 | 2", [[["a", "b"], ["1", "2"]]], {}),
    "rows too short and too long": (
        "|a|b|\n|-|-|\n|1|\n|2|3|4|", [[["a", "b", ""], ["1", "", ""], ["2", "3", "4"]]], {"excess-cells": 1, "ragged": 1},
    ),
    "no header": ("| | |\n|-|-|\n|1|2|", [[["1", "2"]]], {"blank-header": 1}),
    "marks": (
        "|**a**|__b__|*c*|`d`|***e***|\n|-|-|-|-|-|\n|x*y*|**1** **2**|a_b|``|*|",
        [[["a", "b", "c", "d", "e"], ["x*y*", "**1** **2**", "a_b", "``", "*"]]], {},
    ),
    "a line that ends it": ("|a|\n|-|\n|1|\n\ntext\n", [[["a"], ["1"]]], {}),
    "a heading that ends it": ("|a|\n|-|\n|1|\n# Title\n", [[["a"], ["1"]]], {}),
    "a row without pipes": ("|a|\n|-|\nword\n", [[["a"], ["word"]]], {}),
    "two tables and one in HTML": (
        "|a|\n|-|\n\n<table><tr><td>h</td></tr></table>\n\n|b|\n|-|\n", [[["a"]], [["h"]], [["b"]]], {},
    ),
    "code": ("```python\n|a|\n|-|\n```\n```md\n|b|\n|-|\n```\n~~~\n|c|\n|-|\n~~~\n", [[["b"]], [["c"]]], {}),
    "inline HTML": ("|a<br>b|&lt;|\n|-|-|\n", [[["a b", "<"]]], {}),
    "a rule under text": ("text\n---\n", [], {}),
    "a heading with a pipe": ("a | b\n---\n", [], {}),
    "a rule too short": ("|a|b|\n|-|\n|1|2|\n", [[["a", "b"], ["1", "2"]]], {"ragged": 1}),
    "two rules": ("|-|-|\n|-|-|\n|1|2|\n", [], {}),
    "code by indent": ("    |a|\n|-|\n", [], {}),
    "one column": ("|a|\n---\n|1|\n", [[["a"], ["1"]]], {}),
}  # fmt: skip


@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown(name: str) -> None:
    text, expected, repairs = MARKDOWN[name]
    found = markdown.tables_of(text)
    shown = [[[("" if cell < 0 else table.text[cell]) for cell in row] for row in table.grid().tolist()] for table in found]
    assert shown == expected
    if len(found) == 1:
        assert found[0].repairs == repairs


BAD: dict[str, tuple[Any, list[str]]] = {
    "a negative place": ({"cells": [{"row": -1, "column": 0}]}, ["bad-place"]),
    "half a place": ({"cells": [{"row": 0.5, "column": 0}]}, ["bad-place"]),
    "no place": ({"cells": [{"column": 0}]}, ["bad-place"]),
    "no span": ({"cells": [{"row": 0, "column": 0, "rowspan": 0, "colspan": "x"}]}, ["bad-span", "bad-span"]),
    "two cells on a slot": ({"cells": [{"row": 0, "column": 0}, {"row": 0, "column": 0}]}, ["overlap"]),
    "places that are not on end": ({"cells": [{"row_nums": [0, 2], "column_nums": [0], "cell_text": "a"}]}, ["bad-place"]),
    "no cells": ({"cells": 3}, ["wrong-tables"]),
    "no table": ({"a": 3}, ["wrong-tables"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_json_is_refused_with_everything_that_is_wrong(name: str, tmp_path: Path) -> None:
    tree, codes = BAD[name]
    (tmp_path / "t.json").write_text(json.dumps(tree))
    with pytest.raises(ContractError) as caught:
        read_tables(tmp_path / "t.json")
    assert [issue.code for issue in caught.value.issues] == codes


def test_lenient_keeps_the_later_cell_and_leaves_bad_ones_out() -> None:
    later = [{"row": 0, "column": 1, "text": "b"}, {"row": 0, "column": 0, "colspan": 2, "text": "a"}]
    table = one(read_tables({"d": {"cells": later}}, lenient=True))
    assert [table.text[cell] for cell in table.grid()[0].tolist()] == ["a", "a"]
    corpus = read_tables({"d": {"cells": [*later[:1], {"row": -1, "column": 0}]}}, lenient=True)
    assert one(corpus).text == ("b",)
    assert [(issue.code, issue.severity) for issue in corpus.issues] == [("bad-place", Severity.LOSS)]


def test_a_bad_box_is_absent() -> None:
    for box in ([5, 0, 1, 1], [0, 0, 1], ["a", 0, 1, 1], [0, 0, float("nan"), 1], 7):
        corpus = read_tables({"d": {"cells": [{"row": 0, "column": 0, "box": box}]}})
        assert one(corpus).boxes == ()
        assert [issue.code for issue in corpus.issues] == ["bad-box"]


def test_tables_beyond_measure_are_not_evaluated() -> None:
    far = {"cells": [{"row": 3_000_000, "column": 5, "text": "a"}]}
    small = {"cells": [{"row": 0, "column": 0, "text": "a"}]}
    for truth, found in ((far, small), (small, far)):
        result = Evaluator(Tables()).update({"d": truth}, {"d": found}).compute()
        assert result.incomplete
        assert [issue.code for issue in result.issues if issue.severity is Severity.LOSS] == ["too-many-slots"]
        assert result.numbers["counts"]["invalid"] == 1
        assert result.numbers["counts"]["paired"] == 0
    wide = "<table>" + "<tr>" * 5000 + "<td colspan=1000>a" * 3 + "</table>"
    assert [issue.code for issue in read_tables({"d": wide}).issues if issue.severity is Severity.LOSS] == ["too-many-slots"]


def test_a_line_that_holds_no_table_is_told_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(json.dumps({"doc_id": "a", "html": HTML}) + '\n\n{"doc_id": "b", "html": 5}\n')
    with pytest.raises(ContractError, match=r"^\S*t\.jsonl: line 3: an object with 'doc_id', 'html' holds no tables"):
        read_tables(tmp_path / "t.jsonl")


def test_what_is_not_closed_belongs_to_the_section_that_it_began_in() -> None:
    table = one_table("<table><thead><tr><td>a<tbody><tr><td>b</table>")
    assert cells(table) == [(0, 0, 1, 1, "a", True), (1, 0, 1, 1, "b", False)]


@pytest.mark.parametrize(("row", "rowspan", "rows", "clipped"), [(1, 1, 2, 0), (1, 2, 2, 1), (2, 1, 3, 0), (3, 2, 5, 0)])
def test_a_cell_ends_with_the_table_unless_it_begins_beyond_it(row: int, rowspan: int, rows: int, clipped: int) -> None:
    cells = [{"row": 0, "column": 0, "text": "a"}, {"row": row, "column": 1, "rowspan": rowspan, "text": "b"}]
    table = table_of({"rows": 2, "cells": cells}, "", IssueLog("t.json"), lenient=False)
    assert (table.rows, table.columns, table.repairs.get("span-clipped", 0)) == (rows, 2, clipped)
    assert table.rowspan[1] == rowspan - clipped


@pytest.mark.parametrize("html", [None, "", "no table", 5])
def test_a_table_of_omnidocbench_without_html_is_lost_and_one_that_is_ignored_is_not(html: Any, tmp_path: Path) -> None:
    page = json.loads(json.dumps(OMNIDOCBENCH))
    block = page[0]["layout_dets"][0]
    page[0]["layout_dets"] = [block, {**block, "html": html}, {**block, "html": html, "ignore": True}]
    (tmp_path / "pages.json").write_text(json.dumps(page))
    corpus = read_tables(tmp_path / "pages.json")
    assert [len(tables) for tables in corpus.tables.values()] == [1]
    assert [(issue.code, issue.severity) for issue in corpus.issues] == [
        ("no-html", Severity.LOSS), ("ignored-table", Severity.NOTE),
    ]  # fmt: skip


def test_a_hole_is_told_beside_cells_that_lie_on_one_another() -> None:
    """As many slots are covered as there are, one of them twice."""
    rows = ["<td>a</td><td rowspan=2>b</td>", "<td colspan=2>c</td>", "<td>d</td>"]
    assert parse(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>").repairs == {"overlap": 1, "ragged": 1}
    rows[2] = "<td>d</td><td>e</td>"
    assert parse(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>").repairs == {"overlap": 1}
