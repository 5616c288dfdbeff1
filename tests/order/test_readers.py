"""Orders as formats write them: what is a block, what has a place, what is left out, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calque.base.errors import ContractError, IssueLog, Severity
from calque.corpus.orders import Group, OrderCorpus, OrderPage
from calque.readers.orders.building import DEEPEST, of_names
from calque.readers.orders.files import read_orders, read_sides


def only(corpus: OrderCorpus) -> OrderPage:
    ((page,),) = (pages.values() for pages in corpus.pages.values())
    return page


def saved(path: Path, tree: Any) -> str:
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree))
    return str(path)


def row(**more: Any) -> dict[str, Any]:
    return {"doc_id": "d", "page_index": 0, "ids": ["a", "b", "c"], **more}


@pytest.mark.parametrize(
    ("given", "order"),
    [
        (row(), Group(range(3))),
        (row(order=["c", "a"]), Group((2, 0))),
        (row(order=["c", ["a", {"unordered": ["b"]}]]), Group((2, Group((0, Group((1,), ordered=False)))))),
        (row(order=[]), Group(())),
    ],
)
def test_rows(given: dict[str, Any], order: Group) -> None:
    page = only(read_orders([given]))
    assert (page.ids, page.order, page.boxes) == (("a", "b", "c"), order, None)


def test_names_that_are_no_blocks_and_names_that_come_again_are_left_out() -> None:
    corpus = read_orders([row(order=["a", "z", ["a"], "b"])])
    assert only(corpus).order == Group((0, Group(()), 1))
    assert [(issue.code, issue.pointer) for issue in corpus.issues] == [
        ("unknown-block", "/0/order/1"),
        ("block-twice", "/0/order/2/0"),
    ]
    unordered = read_orders([row(order=[{"unordered": ["z"]}])])
    assert unordered.issues[0].pointer == "/0/order/0/unordered/0"


def test_boxes_labels_and_sizes() -> None:
    page = only(read_orders([row(boxes=[[0, 0, 1, 1]] * 3, labels=["x", 2, "y"], width=100, height=50)]))
    assert page.boxes is not None
    assert (page.boxes.shape, page.labels, page.size) == ((3, 4), ("x", "2", "y"), (100.0, 50.0))
    assert only(read_orders([row(width=0, height=50)])).size is None
    assert only(read_orders([row(width=100)])).size is None
    unnamed = only(read_orders([{"doc_id": "d", "boxes": [[0, 0, 1, 1]] * 2}]))
    assert (unnamed.ids, unnamed.order) == ((0, 1), Group(range(2)))
    assert only(read_orders([{"doc_id": "d", "order": ["q", ["r", "q"]]}])).ids == ("q", "r")
    log = IssueLog("")
    names, order = of_names(["a", {"unordered": ["b", ["a"]]}, None, True, 3], "", log)
    assert (names, order) == (("a", "b", 3), Group((0, Group((1, Group(())), ordered=False), 2)))
    assert [issue.code for issue in log] == ["block-twice", "unknown-block", "unknown-block"]


@pytest.mark.parametrize(
    ("given", "code", "place"),
    [
        (row(labels=["x"]), "wrong-length", "/0/labels"),
        (row(ids="abc"), "wrong-length", "/0/ids"),
        (row(boxes=[[0, 0, 1, 1]] * 2), "wrong-length", "/0/ids"),
        (row(boxes=[[0, 0, 1, 1], [0, 0, 1], [0] * 4]), "box-shape", "/0/boxes/1"),
        (row(order="a"), "order-shape", "/0/order"),
        (row(order=[{"unordered": ["a"], "x": 1}]), "order-shape", "/0/order/0"),
        (row(order=[{"x": ["a"]}]), "order-shape", "/0/order/0"),
        (7, "wrong-type", "/0"),
    ],
)
def test_rows_that_are_refused(given: Any, code: str, place: str) -> None:
    with pytest.raises(ContractError) as raised:
        read_orders([given])
    assert (raised.value.issues[0].code, raised.value.issues[0].pointer) == (code, place)


def test_groups_are_nested_so_deep_and_no_deeper() -> None:
    def nested(depth: int) -> Any:
        return ["a"] if not depth else [nested(depth - 1)]

    assert only(read_orders([row(order=nested(DEEPEST))])).order.blocks() == [0]
    with pytest.raises(ContractError, match=f"groups are nested more than {DEEPEST} deep"):
        read_orders([row(order=nested(DEEPEST + 1))])


def prov(page: int = 1, origin: str = "TOPLEFT", **more: Any) -> dict[str, Any]:
    return {"page_no": page, "bbox": {"l": 1, "t": 2, "r": 3, "b": 4, "coord_origin": origin}, **more}


def docling(**more: Any) -> dict[str, Any]:
    return {
        "schema_name": "DoclingDocument", "version": "1", "name": "doc", "pages": {"1": {"size": {"width": 10, "height": 20}}},
        "texts": [], "body": {"children": []}, **more,
    }  # fmt: skip


def refs(*names: str) -> list[dict[str, str]]:
    return [{"$ref": f"#/{name}"} for name in names]


def test_docling_reads_the_body_depth_first() -> None:
    texts = [
        {"label": "a", "prov": [prov()]},
        {"label": "b", "prov": [prov(origin="BOTTOMLEFT")], "children": refs("texts/3")},
        {"label": "footer", "prov": [prov()], "content_layer": "furniture"},
        {"label": "inner", "prov": [prov(), prov()]},
        {"label": "caption", "prov": [prov()]},
        {"label": "in the picture", "prov": [prov()]},
    ]
    pictures = [{"label": "p", "prov": [prov()], "children": refs("texts/5", "texts/4"), "captions": refs("texts/4")}]
    body = {"children": refs("texts/1", "texts/2", "pictures/0", "texts/0", "texts/99", "nothing/0")}
    page = only(read_orders_of(docling(texts=texts, pictures=pictures, body=body)))
    assert [page.labels[block] for block in page.order.blocks()] == ["b", "inner", "inner", "p", "caption", "a"]
    assert page.size == (10.0, 20.0)
    assert page.boxes is not None
    assert page.boxes[page.labels.index("b")].tolist() == [1, 18, 3, 16]
    assert page.boxes[page.labels.index("a")].tolist() == [1, 2, 3, 4]
    assert page.ids[page.order.blocks()[2]] == "#/texts/3/1"


def read_orders_of(tree: dict[str, Any]) -> OrderCorpus:
    from calque.base.errors import IssueLog
    from calque.readers.orders.files import _corpus, _of_tree

    log = IssueLog("")
    return _corpus(_of_tree(tree, "stem", log), log, "")


def test_docling_documents_and_pages_have_names() -> None:
    assert list(read_orders_of(docling(origin={"filename": "x.pdf"})).pages) == ["x.pdf"]
    assert list(read_orders_of(docling()).pages) == ["doc"]
    assert list(read_orders_of(docling(name="")).pages) == ["stem"]
    sizes = {"1": {}, "999999999": {"size": 3}, "2": {"size": {"width": 1, "height": 1}}}
    pages = read_orders_of(docling(pages=sizes)).pages["doc"]
    assert {number: page.size for number, page in pages.items()} == {0: None, 1: (1.0, 1.0), 999999998: None}


@pytest.mark.parametrize(
    ("tree", "code"),
    [
        (docling(pages={"0": {}}), "wrong-type"),
        (docling(pages={"x": {}}), "wrong-type"),
        (docling(groups=[{"children": refs("groups/0")}], body={"children": refs("groups/0")}), "order-shape"),
        (docling(body={"children": refs("body")}), "order-shape"),
        (docling(texts=[{"prov": [prov(page=2, origin="BOTTOMLEFT")]}]), "page-size"),
        (docling(texts=[{"prov": [{"page_no": 1, "bbox": {"l": 1, "t": 2, "r": 3}}]}]), "box-shape"),
        (docling(texts=[{"prov": [prov(page=0)]}]), "box-shape"),
        (docling(texts=[{"prov": [{"page_no": 1}]}]), "box-shape"),
        (docling(texts=[{"prov": [{"page_no": 1, "bbox": [1, 2, 3, 4]}]}]), "box-shape"),
    ],
)
def test_docling_that_is_refused(tree: dict[str, Any], code: str) -> None:
    with pytest.raises(ContractError) as raised:
        read_orders_of(tree)
    assert raised.value.issues[0].code == code


def test_docling_names_what_leads_nowhere_and_what_comes_again() -> None:
    texts = [{"label": name, "prov": [prov()]} for name in "ab"]
    body = {"children": refs("groups/0", "texts/9", "texts/1", "texts/0", "groups/0")}
    corpus = read_orders_of(docling(texts=texts, groups=[{"children": refs("texts/0")}], body=body))
    page = only(corpus)
    assert [page.labels[place] for place in page.order.blocks()] == ["a", "b"]
    assert [(issue.code, issue.pointer, issue.severity) for issue in corpus.issues] == [
        ("unknown-block", "#/texts/9", Severity.LOSS),
        ("block-twice", "#/texts/0", Severity.LOSS),
        ("block-twice", "#/groups/0", Severity.LOSS),
    ]


def block(order: Any, **more: Any) -> dict[str, Any]:
    return {"poly": [0, 0, 9, 0, 9, 5], "anno_id": f"n{order}", "category_type": "text", "order": order, **more}


def omni(*blocks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"page_info": {"image_path": "scan_3.png", "width": 10, "height": 20}, "layout_dets": list(blocks)}]


def test_omnidocbench_goes_by_numbers_and_equal_ones_are_unordered() -> None:
    page = only(read_orders(omni(block(2), block(1), block(2, anno_id="again"), block(None), block(0, ignore=True))))
    assert page.ids == ("n2", "n1", "again", "nNone", "n0")
    assert page.order == Group((1, Group((0, 2), ordered=False)))
    assert page.boxes is not None
    assert (page.boxes[0].tolist(), page.size, page.image) == ([0, 0, 9, 5], (10.0, 20.0), "scan_3.png")
    assert only(read_orders(omni(block(1, anno_id=None)))).ids == (0,)


@pytest.mark.parametrize("poly", [[0, 0, 1, 1], [0, 0, 1, 1, 2], "x", None])
def test_omnidocbench_needs_outlines(poly: Any) -> None:
    with pytest.raises(ContractError, match="expected points x, y, x, y"):
        read_orders(omni(block(1, poly=poly)))
    with pytest.raises(ContractError, match="expected a number"):
        read_orders(omni(block("first")))
    with pytest.raises(ContractError):
        read_orders([{"layout_dets": []}])


def test_a_plain_list_is_its_order() -> None:
    entries = [{"bbox": [0, 0, 1, 1], "id": "x"}, {"box": [0, 0, 2, 2]}, {"bbox": [0, 0, 1, 1], "doc_id": "e", "page_index": 4}]
    corpus = read_orders(entries)
    assert {unit: list(pages) for unit, pages in corpus.pages.items()} == {"document": [0], "e": [4]}
    assert corpus.pages["document"][0].ids == ("x", 1)
    with pytest.raises(ContractError, match="expected an object with bbox, doc_id and page_index"):
        read_orders([{"bbox": [0, 0, 1]}])


def test_two_single_files_are_two_readings_of_one_document(tmp_path: Path) -> None:
    one, other = (saved(tmp_path / f"{name}.json", [row(doc_id=name)]) for name in ("a", "b"))
    truth, found = read_sides(one, other)
    assert list(truth.pages) == list(found.pages) == ["a"]
    two = saved(tmp_path / "two.json", [row(doc_id="b"), row(doc_id="c")])
    assert list(read_sides(one, two)[1].pages) == ["b", "c"]
    assert list(read_sides([row(doc_id="a")], other)[1].pages) == ["b"]
    bad = saved(tmp_path / "bad.json", [row(labels=["x"])])
    with pytest.raises(ContractError) as raised:
        read_sides(bad, bad)
    assert len(raised.value.issues) == 2


def test_folders(tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    folder.mkdir()
    with pytest.raises(ContractError, match="the folder has no orders"):
        read_orders(folder)
    saved(folder / "a.json", [row(doc_id="a")])
    saved(folder / "b.jsonl", json.dumps(row(doc_id="b")) + "\n\n" + json.dumps(row(doc_id="b", page_index=1)))
    saved(folder / "notes.txt", "x")
    saved(folder / ".hidden", "x")
    corpus = read_orders(folder)
    assert {unit: sorted(pages) for unit, pages in corpus.pages.items()} == {"a": [0], "b": [0, 1]}
    assert [issue.code for issue in corpus.issues] == ["not-read"]
    assert corpus.model == "orders"
    saved(folder / "c.json", [row(doc_id="a")])
    with pytest.raises(ContractError, match="page 0 of document 'a' is in two files"):
        read_orders(folder)
    with pytest.raises(ContractError, match="page 0 of document 'd' comes twice"):
        read_orders([row(), row()])
    with pytest.raises(TypeError, match="cannot read orders from a int"):
        read_orders(3)


def test_omnidocbench_names_every_page_without_a_picture() -> None:
    good = {"page_info": {"image_path": "a.png"}, "layout_dets": []}
    with pytest.raises(ContractError) as caught:
        read_orders([{"page_info": {}, "layout_dets": []}, good, {**good, "page_info": 3}, {**good, "page_info": None}])
    assert [issue.pointer.split("/")[1] for issue in caught.value.issues] == ["0", "2", "3"]


@pytest.mark.parametrize("oddity", ['"note": NaN', '"note": 1e999', '"note": "\\ud800"', f'"note": {"9" * 400}'])
def test_a_line_that_only_python_reads_is_a_page_like_others(oddity: str, tmp_path: Path) -> None:
    """What is quick to read and what is not say the same, line by line."""
    usual = '{"doc_id": "d", "page_index": %d, "ids": ["a", "b"], "order": ["b", "a"]}'
    lines = [usual % 0, (usual % 1)[:-1] + f", {oddity}}}", usual % 2]
    (tmp_path / "o.ndjson").write_text("\n".join(lines) + "\n")
    pages = read_orders(tmp_path / "o.ndjson").pages["d"]
    assert {number: (page.ids, page.order.blocks()) for number, page in pages.items()} == dict.fromkeys(
        range(3), (("a", "b"), [1, 0])
    )


@pytest.mark.parametrize(
    ("ids", "read"),
    [
        (["a", ""], ("a", 1)),
        ([1, 2], (1, 2)),
        ([1.0, "b"], (1, "b")),
        ([True, "b"], (0, "b")),
        ([None, None], (0, 1)),
        (["", ""], (0, 1)),
    ],
)
@pytest.mark.parametrize("boxes", [True, False])
def test_ids_of_rows_are_the_same_with_boxes_and_without(
    ids: list[Any], read: tuple[Any, ...], boxes: bool, tmp_path: Path
) -> None:
    """What is no id is called by its place."""
    row = {
        "doc_id": "d",
        "page_index": 0,
        "ids": ids,
        "order": list(read),
        **({"boxes": [[0, 0, 1, 1], [2, 2, 3, 3]]} if boxes else {}),
    }
    (tmp_path / "o.ndjson").write_text(json.dumps(row) + "\n")
    page = read_orders(tmp_path / "o.ndjson").pages["d"][0]
    assert (page.ids, page.order.blocks()) == (read, [0, 1])
