"""Rows, lines and files that are refused or left out: each with the place, the words and the advice that are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import ContractError, Detection, Evaluator, Fields, Order, Words, read
from calque.base.errors import Severity
from calque.corpus.boxes import Flaw
from calque.readers.boxes.conventions import in_pixels, in_shares
from calque.readers.records import as_json
from calque.readers.sources.xml_tree import root_of
from tests.formats.conftest import DOCLING, docling_item, saved

Told = list[tuple[str, str, str, str]]
"""Of each fault its code, its place, the words and the advice."""


def coco(*rows: dict[str, Any], images: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {
        "images": images or [{"id": 1, "file_name": "a.png", "width": 100, "height": 200}],
        "categories": [{"id": 1, "name": "x"}],
        "annotations": [{"id": number, "image_id": 1, "category_id": 1, **row} for number, row in enumerate(rows, start=1)],
    }


def folder(name: str, content: str) -> Callable[[Path], Path]:
    """A folder with one file."""

    def made(root: Path) -> Path:
        (root / "made").mkdir()
        saved(root / "made" / name, content)
        return root / "made"

    return made


def told(error: ContractError) -> Told:
    return [
        (issue.code, issue.pointer, issue.message, issue.help) for issue in error.issues if issue.severity is Severity.ERROR
    ]


FIVE = "expected five numbers [x, y, width, height, radians], not"
DOTA_LINE = "a line is the name of an image, a score, and x1 y1 x2 y2 x3 y3 x4 y4"
YOLO_LINE = "a line is a class and cx cy width height, or the points of an outline; then perhaps a score"
TWICE = "two images have the name 'a' without folder and extension"
BOXES: dict[str, tuple[Any, dict[str, Any], Told]] = {
    "turned boxes of other numbers": (
        coco({"obb": [1, 2, 3]}, {"obb": [1, 2, 3, 4, 0]}, {"obb": "x"}), {},
        [("box-shape", "/annotations/0/obb", f"{FIVE} [1, 2, 3]", ""), ("box-shape", "/annotations/2/obb", f'{FIVE} "x"', "")],
    ),
    "a key twice": (
        lambda root: saved(root / "a.json", '{"images": [{"id": 1, "id": 1}], "annotations": [], "categories": []}'), {},
        [("duplicate-key", "/images/0", "the key 'id' occurs more than once", "keep one of them")],
    ),
    "two images of one name": (
        coco(images=[{"id": k, "file_name": f"{k}/a.{kind}"} for k, kind in ((1, "png"), (2, "jpg"))]),
        {"document_key": "stem"},
        [("document-key", "/images", TWICE, "use --document-key file_name")],
    ),
    "a line of DOTA": (
        folder("Task1_ship.txt", "P 1 0.5 0 0 4 0 4 2 0 2\n\nP1 0.5 0 0\n"), {"format": "dota"},
        [("box-shape", "Task1_ship.txt: line 3", "expected a name and nine numbers, not 'P1 0.5 0 0'", DOTA_LINE)],
    ),
    "lines of YOLO": (
        folder("a.txt", "0 0.5 0.5 0.2 0.2\n\n0 0.5 x 0.2 0.2\n0 0.5 0.5 0.2\n"), {"format": "yolo"},
        [
            ("box-shape", "a.txt: line 3", "expected numbers, not '0 0.5 x 0.2 0.2'", YOLO_LINE),
            ("box-shape", "a.txt: line 4", "expected numbers, not '0 0.5 0.5 0.2'", YOLO_LINE),
        ],
    ),
    "a region of Label Studio without values": (
        [{"id": 1, "data": {"image": "a.png"}, "annotations": [{"result": [{"type": "rectanglelabels", "value": 5}]}]}],
        {"format": "label-studio"},
        [("box-shape", "/0/annotations/0/result/0/value", "expected numbers in percent, not 5", "")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOXES)
def test_bad_boxes_are_told(name: str, tmp_path: Path) -> None:
    source, options, expected = BOXES[name]
    with pytest.raises(ContractError) as refused:
        read(source(tmp_path) if callable(source) else source, **options)
    assert told(refused.value) == expected


def test_an_outline_that_is_read_as_a_box_is_noted_once() -> None:
    upright, odd = [10, 10, 20, 10, 20, 20, 10, 20], [10, 12, 20, 10, 20, 20, 10, 20]
    corpus = read(coco({"bbox": upright}, {"bbox": odd}, {"bbox": [0, 0, 9, 9]}, {"bbox": odd}), on="boxes")
    assert [(issue.code, issue.pointer, issue.count, issue.message) for issue in corpus.issues] == [
        ("outline-boxed", "/annotations/1", 2, "a turned box or an outline was read as the upright box around it")
    ]
    assert corpus.outlines is None
    assert read(coco({"bbox": odd})).outlines is not None


def test_turned_boxes_without_size_or_angle_are_left_out() -> None:
    rows = [[5, 5, -3, 4, 0.5], [5, 5, 3, -4, 0.5], [5, 5, 3, 4, float("nan")], [5, 5, 4, 2, 0]]
    corpus = read(coco(*({"obb": row} for row in rows)))
    assert corpus.flaws.tolist() == [Flaw.BAD_BOX] * 3 + [0]
    assert corpus.boxes[3].tolist() == [3, 4, 4, 2]


def test_what_images_of_a_document_differ_in_is_no_value_of_it() -> None:
    same = {"doc_id": "d", "width": 9, "height": 9, "lang": "de"}
    images = [{"id": number, "file_name": f"{number}.png", "n": number, **same} for number in (1, 2)]
    other = {"id": 3, "file_name": "3.png", "doc_id": "e", "width": 9, "height": 9, "lang": "en"}
    corpus = read(coco(images=[*images, other]), metadata=True)
    assert corpus.metadata["lang"] == {"d": "de", "e": "en"}
    assert corpus.metadata["file_name"] == {"e": "3.png"}
    assert "n" not in corpus.metadata  # no document has one, and nobody misses it
    assert [(issue.code, issue.message) for issue in corpus.issues] == [
        ("metadata-differs", f"documents whose images differ in '{key}' have no value there: 'd'")
        for key in ("id", "file_name")
    ]


def test_a_mask_that_is_none_of_json_is_left_out() -> None:
    truth = coco({"bbox": [0, 0, 9, 9], "segmentation": {"counts": object(), "size": [200, 100]}})
    (issue,) = Evaluator(Detection(on="masks")).update(truth, []).issues()
    assert (issue.code, issue.pointer, issue.severity) == ("mask-counts", "/annotations/0/segmentation", Severity.LOSS)


def test_outlines_from_the_bottom_are_turned_over() -> None:
    for options, size in (({}, 20.0), ({"units": "normalized"}, 1.0), ({"units": "thousand"}, 1000.0)):
        points = np.array([[0.1, 0.2], [0.5, 0.2], [0.5, 0.9]]) * [10 if size == 20.0 else size, size]
        row = {"doc": "d", "category": "a", "bbox": points.ravel().tolist(), "width": 10, "height": 20}
        corpus = read([row], boxes="polygon", origin="bottom_left", **options)
        whole = [10, 20] if not options else [1, 1]
        assert corpus.outlines.points / whole == pytest.approx(np.array([[0.1, 0.8], [0.5, 0.8], [0.5, 0.1]]))


@pytest.mark.parametrize("count", [1, 2])
def test_boxes_that_no_page_makes_so_large_are_named(count: int) -> None:
    rows = [{"doc": "d", "category": "t", "bbox": [0, 0, 0.5, 0.5]}] * count
    shares = read(rows, units="normalized")
    scaled = in_pixels(shares, np.array([[1e200, 10.0]]))
    (issue,) = scaled.issues[len(shares.issues) :]
    few = "1 object" if count == 1 else "2 objects"
    assert (issue.code, issue.message, issue.help, issue.severity) == (
        "box-invalid", f"{few} whose box is beyond all numbers on a page of its size", "check the sizes of the pages",
        Severity.LOSS,
    )  # fmt: skip
    assert scaled.flaws.tolist() == [Flaw.BAD_BOX] * count
    again = in_shares(scaled, np.array([[1e-200, 10.0]]))  # what is known to be bad is not named again
    assert again.issues == scaled.issues
    fine = in_pixels(shares, np.array([[100.0, 10.0]]))
    assert (fine.issues, fine.boxes.tolist()) == (shares.issues, [[0, 0, 50, 5]] * count)


def test_a_category_may_be_a_number_beside_names() -> None:
    rows = [{"doc": "d", "category": "t", "bbox": [0, 0, 9, 9]}, {"doc": "d", "category_id": 7, "bbox": [0, 0, 9, 9]}]
    assert read(rows, format="plain").labels == ("t", "7")


def page_xml(order: str, points: str) -> str:
    region = f'<TextRegion id="r"><Coords points="{points}"/></TextRegion>'
    return f'<PcGts><Page imageFilename="a.png"><ReadingOrder>{order}</ReadingOrder>\n{region}</Page></PcGts>'


NESTED = "".join("<OrderedGroup>" for _ in range(202)) + "".join("</OrderedGroup>" for _ in range(202))
NO_JSON_COLUMN = {"doc_id": ["d", "e"], "order": ["[1", '["a"]'], "ids": [["a"], ["a"]]}
PAGES = [
    '{"order": ["a"]}',
    '{"doc_id": "d", "page_index": -1, "order": ["a"]}',
    '{"doc_id": "d", "ids": ["a"], "order": ["a"]}',
]
OTHERS: dict[str, tuple[Any, str, Any, Told]] = {
    "an order in Parquet": (Order(), "o.parquet", NO_JSON_COLUMN, [("order-shape", "row 0", "the order is no JSON", "")]),
    "pages without names": (
        Order(), "o.jsonl", "\n".join(PAGES),
        [
            ("missing-key", "line 1", "the key 'doc_id' is missing", "add a name"),
            ("wrong-type", "line 2/page_index", "expected a page counted from 0, not number -1", ""),
        ],
    ),
    "a region without points": (
        Order(), "p.xml", page_xml("", "1,2 x,3"),
        [("box-shape", "line 2", "the <TextRegion> has no outline <Coords> of points x,y", "")],
    ),
    "groups in groups": (
        Order(), "p.xml", page_xml(NESTED, "1,2 5,3"),
        [("order-shape", "line 1", "groups are nested more than 200 deep", "")],
    ),
    "words without numbers": (
        Words(), "w.parquet", {"docid": ["d"], "word": ["x"]}, [("no-column", "", "has no column wordid", "")],
    ),
    "a number of a word": (
        Words(), "w.parquet", {"docid": ["d", "d"], "wordid": ["1" * 18, "x"], "word": ["x", "y"]},
        [("wrong-wordid", "row 2", 'wordid "x" is not a whole number from 0 with up to 18 digits', "")],
    ),
    "a long number of a word": (
        Words(), "w.parquet", {"docid": ["d"], "wordid": ["1" * 19], "word": ["x"]},
        [("wrong-wordid", "row 1", f'wordid "{"1" * 19}" is not a whole number from 0 with up to 18 digits', "")],
    ),
    "a word beyond all words": (
        Words(), "w.csv", f'docid,wordid,word\nd,0,a\nd,1,"{"x" * 131_073}"\n',
        [("not-csv", "line 3", "is not CSV: field larger than field limit (131072)", "")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_bad_pages_and_words_are_told_for_each_side(name: str, tmp_path: Path) -> None:
    task, file, content, expected = OTHERS[name]
    path = tmp_path / file
    if isinstance(content, str):
        path.write_text(content)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(content), path)
    with pytest.raises(ContractError) as refused:
        Evaluator(task).update(str(path), str(path))
    assert told(refused.value) == expected * 2


def test_records_that_are_nested_too_deep_are_left_out_or_refused(tmp_path: Path) -> None:
    for name, depth in (("deep", 101), ("fine", 100)):
        (tmp_path / f"{name}.json").write_text('{"a":' * depth + "1" + "}" * depth)
    evaluator = Evaluator(Fields()).update(str(tmp_path), str(tmp_path))
    assert evaluator.ledger().units == ("fine",)
    (issue,) = evaluator.issues()
    assert (issue.code, issue.pointer, issue.message, issue.count) == (
        "broken-file", "deep.json", "is nested more than 100 levels deep", 2,
    )  # fmt: skip
    with pytest.raises(ContractError, match=r"deep\.json: is nested more than 100 levels deep"):
        Evaluator(Fields(strict=True)).update(str(tmp_path), str(tmp_path))


def test_lines_that_begin_as_no_json_are_one_file(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.json", '{"a" 1}\n{"a": 2}\n')
    with pytest.raises(ContractError, match=r"line 1 column 6: is not JSON: expecting ':' delimiter"):
        Evaluator(Fields()).update(str(path), str(path))


def test_a_dataclass_is_a_record() -> None:
    from dataclasses import dataclass

    @dataclass
    class Invoice:
        total: float
        note: str | None = None

    assert as_json(Invoice(2.5)) == {"total": 2.5, "note": None}
    assert as_json(Invoice) is Invoice


def test_xml_beyond_measure_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from calque.readers.sources import xml_tree
    from calque.readers.sources.source import Source

    path = saved(tmp_path / "a.xml", "<a>" + " " * (1 << 20) + "</a>")
    monkeypatch.setattr(xml_tree, "LARGEST", 1 << 20)
    with pytest.raises(ContractError, match=r"a\.xml: is larger than 1 MB; split it into pages"):
        root_of(Source(path))
    monkeypatch.setattr(xml_tree, "LARGEST", Path(path).stat().st_size)
    assert root_of(Source(path)).tag == "a"


@pytest.mark.parametrize(
    "tree", [[1, 2], [], "text", {"predictions": 3}, {"predictions": [3]}, {"predictions": [{"objects": 3}]}]
)
def test_a_snapshot_in_other_units_is_refused_for_what_it_lacks(tree: Any, tmp_path: Path) -> None:
    """Its boxes are looked at before it is known to be one."""
    file = saved(tmp_path / "a.json", json.dumps(tree))
    with pytest.raises(ContractError) as refused:
        read(file, format="snapshot", units="pixels", page_size=(10, 10))
    assert {issue.file for issue in refused.value.issues} == {str(file)}


@pytest.mark.parametrize(
    ("name", "tree", "place", "words"),
    [
        (
            "docling",
            {**DOCLING, "tables": [docling_item("tables", 0, "table", {"page_no": 1, "bbox": {"l": 1, "t": 2, "r": 3}})]},
            "/tables/0/prov/0/bbox",
            "expected l, t, r and b, not",
        ),
        (
            "omnidocbench",
            {"results": [{"bbox": [0, 0, 5, 5], "category_id": 1, "score": 0.5}], "categories": {"1": "Table"}},
            "/results/0",
            "the key 'image_name' is missing",
        ),
        (
            "plain",
            [{"doc_id": ["a"], "category": "x", "bbox": [0, 0, 5, 5], "score": 0.5}],
            "/0",
            "expected the id of a document",
        ),
    ],
)  # fmt: skip
def test_what_an_entry_lacks_is_told_with_its_place(name: str, tree: Any, place: str, words: str) -> None:
    with pytest.raises(ContractError) as refused:
        read(tree, format=name)
    (issue,) = refused.value.issues
    assert issue.pointer.startswith(place)
    assert words in issue.message
