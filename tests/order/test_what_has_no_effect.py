"""What changes none of the four numbers: the order inside of an open group, blocks that hold nothing; and orders in PAGE."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calque import Evaluator, Order
from calque.corpus.orders import Group, OrderCorpus, OrderPage
from tests.laws.order import pages
from tests.order.one_page import one_page

PAGES = st.booleans().flatmap(lambda boxes: st.tuples(pages(boxes=boxes), pages(boxes=boxes)))
HOW = st.sampled_from(["cover", "iou", "id"])
JUDGED = (
    "concordant", "discordant", "open", "pairs_merged", "links_required", "links_predicted", "links_right", "displacement",
    "largest", "edits", "moves", "placed", "unplaced", "missing",
)  # fmt: skip


def judged(truth: OrderPage, found: OrderPage, how: str) -> dict[str, int]:
    counts = one_page(truth, found, how).counts
    return {name: counts[name] for name in JUDGED}


@given(pages(boxes=True), HOW)
def test_the_truth_against_itself_is_all_right(page: OrderPage, how: str) -> None:
    truth = OrderCorpus(pages={"d": {0: page}})
    numbers = Evaluator(Order(pair=how)).update(truth, truth).compute().numbers
    expected = [1.0] * 3 if numbers["counts"]["pages_judged"] else []
    for scope in ("micro", "macro"):
        told = numbers[scope]
        assert [told[name] for name in ("pairs", "successors", "footrule") if isinstance(told[name], float)] == expected
        assert told["edit"] == 1 or not numbers["counts"]["truth"]


def shuffled(group: Group, data: st.DataObject) -> Group:
    """The group with the blocks of every open group of blocks alone in another order."""
    if not group.ordered and not any(isinstance(member, Group) for member in group.members):
        return replace(group, members=tuple(data.draw(st.permutations(group.members))))
    return replace(
        group, members=tuple(shuffled(member, data) if isinstance(member, Group) else member for member in group.members)
    )


@given(PAGES, HOW, st.data())
def test_the_order_inside_of_an_open_group_of_blocks(both: tuple[OrderPage, OrderPage], how: str, data: st.DataObject) -> None:
    truth, found = both
    other = replace(truth, order=shuffled(truth.order, data))
    assert judged(other, found, how) == judged(truth, found, how)


@given(PAGES, HOW, st.integers(0, 6))
def test_a_predicted_block_that_holds_no_truth(both: tuple[OrderPage, OrderPage], how: str, at: int) -> None:
    truth, found = both
    far = np.array([[5000.0, 5000.0, 5010.0, 5010.0]])
    new = len(found.ids)
    boxes = None if found.boxes is None else np.concatenate([found.boxes, far])
    members = found.order.members
    order = replace(found.order, members=(*members[:at], new, *members[at:])) if members else Group((new,))
    labels = (*found.labels, "text") if found.labels else ()
    more = OrderPage((*found.ids, "nothing"), order, boxes, labels)
    assert judged(truth, more, how) == judged(truth, found, how)


SPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
REGION = '<TextRegion id="{0}"><Coords points="0,{1} 9,{1} 9,{2} 0,{2}"/></TextRegion>'
REGIONS = "".join(REGION.format(name, 10 * at, 10 * at + 5) for at, name in enumerate("abcd"))


def page_xml(order: str) -> str:
    return f'<PcGts xmlns="{SPACE}"><Page imageFilename="d.png">{order}{REGIONS}</Page></PcGts>'


def ordered(*places: tuple[str, int], more: str = "") -> str:
    listed = "".join(f'<RegionRefIndexed index="{index}" regionRef="{name}"/>' for name, index in places)
    return f'<ReadingOrder><OrderedGroup id="g">{listed}{more}</OrderedGroup></ReadingOrder>'


def told(truth: str, found: str, folder: Path) -> Any:
    for name, order in (("t", truth), ("p", found)):
        (folder / f"{name}.xml").write_text(page_xml(order))
    return Evaluator(Order()).update(str(folder / "t.xml"), str(folder / "p.xml")).compute().numbers


def test_page_references_go_by_index_and_equal_ones_as_they_stand(tmp_path: Path) -> None:
    truth, found = ordered(("a", 1), ("b", 1), ("d", 7), ("c", 0)), ordered(("c", 0), ("a", 1), ("b", 2), ("d", 3))
    numbers = told(truth, found, tmp_path)
    assert numbers["micro"] == {"pairs": 1.0, "successors": 1.0, "footrule": 1.0, "edit": 1.0}
    assert numbers["counts"]["truth"] == 4


def test_the_region_that_holds_a_group_is_no_block(tmp_path: Path) -> None:
    inner = '<OrderedGroupIndexed id="h" index="1" regionRef="d"><RegionRef regionRef="b"/></OrderedGroupIndexed>'
    order = ordered(("a", 0), more=inner)
    counts = told(order, order, tmp_path)["counts"]
    assert (counts["truth"], counts["unordered"], counts["pred"]) == (2, 1, 3)


def test_a_true_page_without_reading_order_has_none(tmp_path: Path) -> None:
    counts = told("", "", tmp_path)["counts"]
    assert (counts["truth"], counts["unordered"], counts["pred"], counts["pages"]) == (0, 4, 4, 0)
