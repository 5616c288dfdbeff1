"""What is wrong with orders, from the command line: what is left out is named and ends with 3, what is no order with 2."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

Command = Callable[..., Run]
SPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
PAGE = f'<PcGts xmlns="{SPACE}"><Page imageFilename="d.png">{{}}</Page></PcGts>'
REGIONS = "".join(
    f'<TextRegion id="{name}"><Coords points="0,{top} 9,{top} 9,{top + 5} 0,{top + 5}"/></TextRegion>'
    for name, top in (("a", 0), ("b", 10), ("c", 20))
)


def page(*references: str, group: str = "") -> str:
    listed = "".join(f'<RegionRefIndexed index="{at}" regionRef="{name}"/>' for at, name in enumerate(references))
    return PAGE.format(f'<ReadingOrder><OrderedGroup id="g"{group}>{listed}</OrderedGroup></ReadingOrder>{REGIONS}')


def docling(*references: str, groups: Any = (), children: Any = ()) -> dict[str, Any]:
    corners = [{"l": 0, "t": top, "r": 9, "b": top + 5, "coord_origin": "TOPLEFT"} for top in (0, 10, 20)]
    return {
        "schema_name": "DoclingDocument", "version": "1", "name": "d", "pages": {"1": {"size": {"width": 9, "height": 30}}},
        "texts": [{"label": "text", "prov": [{"page_no": 1, "bbox": box}]} for box in corners], "groups": list(groups),
        "body": {"children": [*({"$ref": f"#/{name}"} for name in references), *children]},
    }  # fmt: skip


def row(order: Any, **more: Any) -> dict[str, Any]:
    return {"doc_id": "d", "ids": ["a", "b", "c"], "order": order} | more


def ended(calque: Command, truth: Any, found: Any) -> Run:
    paths = []
    for name, content in (("t", truth), ("p", found)):
        text = content if isinstance(content, str) else json.dumps(content)
        paths.append(Path(f"{name}{'.xml' if text.startswith('<') else '.json'}"))
        paths[-1].write_text(text)
    return calque("order", *paths)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([row(["a", "z", "b", "c"])], '"z" is no block of this page, and is left out of its order'),
        ([row(["a", None, "b", "c"])], "null is no block of this page"),
        ([row(["a", ["b", "a"], "c"])], 'block "a" comes twice; its first place counts'),
        ([row([{"unordered": ["a", "z"]}, "b", "c"])], '"z" is no block of this page'),
        (page("a", "z", "b", "c"), '"z" is no block of this page'),
        (page("a", "b", "a", "c"), 'block "a" comes twice; its first place counts'),
        (page("a", "b", "c", group=' regionRef="gone"'), 'is said to be in region "gone", which is not on this page'),
        (docling("texts/0", "texts/7", "texts/1", "texts/2"), "#/texts/7 in the body tree leads to nothing"),
        (docling("texts/0", "texts/1", "texts/0", "texts/2"), "#/texts/0 comes twice in the body tree; its first place counts"),
        (docling("texts/0", "texts/1", "texts/2", children=["texts/1"]), '"texts/1" among the children is no reference'),
        (docling("texts/0", "texts/1", "texts/2", children=[{"cref": "#/texts/1"}]), "among the children is no reference"),
        ([row(["a", "b", "c"], ids=["a", "b", "c", "a"])], 'two blocks are called "a"; an order means the first'),
        (page("a", "b", "c").replace("</Page>", REGIONS.replace('"b"', '"d"').replace('"c"', '"e"') + "</Page>"), 'called "a"'),
    ],
)
def test_what_is_left_out_is_named(calque: Command, found: Any, told: str) -> None:
    truth = [row(["a", "b", "c"])] if isinstance(found, list) else page("a", "b", "c")
    run = ended(calque, truth, found)
    assert run.code == 3
    assert told in run.out
    assert "1 page, 3 blocks in order, 3 placed, 0 missing" in run.out
    assert "Reads all 3 blocks in their order" in run.out


def nested(levels: int) -> Any:
    order: Any = "a"
    for _ in range(levels):
        order = [order]
    return order


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([row({"sorted": ["a"]})], "is no order; an order is a list of ids, of lists, and of"),
        ([row(["a", {"unordered": ["b"], "key": 1}])], "is no order"),
        ([row(["a", {"unordered": "b"}])], "is no order"),
        ([row(["a", {}])], "is no order"),
        ([row("abc")], '"abc" is no order'),
        ([row(3)], "3 is no order"),
        ([row(nested(300))], "groups are nested more than 200 deep"),
        (docling("groups/0", groups=[{"children": [{"$ref": "#/groups/0"}]}]), "#/groups/0 is inside itself in the body tree"),
        (docling("body"), "#/body is inside itself in the body tree"),
        (
            docling("groups/0", groups=[{"children": [{"$ref": "#/groups/1"}]}, {"children": [{"$ref": "#/groups/0"}]}]),
            "#/groups/0 is inside itself in the body tree",
        ),
        ("<alto/>", "calque words"),
        ({"what": 1}, "calque fields"),
        ("nothing", "is not JSON"),
    ],
)
def test_what_is_no_order_is_refused(calque: Command, found: Any, told: str) -> None:
    run = ended(calque, [row(["a", "b", "c"])], found)
    assert (run.code, run.out) == (2, "")
    assert told in run.err


def test_pages_on_one_side() -> None:
    """One only in the prediction is counted and not judged; the blocks of one only in the truth are missing."""
    from calque import Evaluator, Order

    one, other = row(["a", "b", "c"]), row(["a", "b", "c"], page_index=1)
    counts = Evaluator(Order()).update([one], [one, other]).compute().to_dict()["counts"]
    assert (counts["pages"], counts["truth"], counts["pred"], counts["missing"]) == (1, 3, 6, 0)
    counts = Evaluator(Order()).update([one, other], [one]).compute().to_dict()["counts"]
    assert (counts["pages"], counts["truth"], counts["placed"], counts["missing"]) == (2, 6, 3, 3)


def boxed(*boxes: Any) -> list[dict[str, Any]]:
    return [{"doc_id": "d", "ids": ["a", "b"], "boxes": list(boxes)}]


GOOD = [0, 0, 9, 5], [0, 10, 9, 15]


@pytest.mark.parametrize("box", [[9, 10, 0, 15], [0, 15, 9, 10], [0, 10, 9, float("nan")], [0, 10, float("inf"), 15]])
def test_boxes_that_nothing_can_be_compared_with_are_named(calque: Command, box: list[float]) -> None:
    for run in (ended(calque, boxed(GOOD[0], box), boxed(*GOOD)), ended(calque, boxed(*GOOD), boxed(GOOD[0], box))):
        assert run.code == 3
        assert """the box of block "b" on page 0 of 'd' is not finite, or of negative size""" in run.out


def test_a_note_where_nothing_of_one_side_is_anything_of_the_other(calque: Command) -> None:
    told = 'no block of the truth is any block of the prediction; check that ids are alike (1 and "1" are two)'
    numbers, texts = [{"doc_id": "d", "order": [1, 2]}], [{"doc_id": "d", "order": ["1", "2"]}]
    run = ended(calque, numbers, texts)
    assert run.code == 0
    assert told in run.out
    assert told not in ended(calque, numbers, [{"doc_id": "d", "order": [2]}]).out
    assert told not in ended(calque, numbers, [{"doc_id": "d", "order": []}]).out
    assert told in ended(calque, boxed(*GOOD), boxed([100, 0, 109, 5], [100, 10, 109, 15])).out
