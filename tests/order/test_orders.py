"""Reading orders: laws that hold for any page, and pairs counted one by one."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError, ContractError, Evaluator, Order
from calque.corpus.orders import Group, OrderCorpus, OrderPage
from calque.order import compare
from calque.order.page_orders import BREAKS, agreement, longest_rise
from calque.readers.orders.files import read_orders
from tests.laws.order import pages
from tests.order.one_page import one_page

PAGES = st.booleans().flatmap(lambda boxes: st.tuples(pages(boxes=boxes), pages(boxes=boxes)))
HOW = st.sampled_from(["cover", "iou", "id"])


@given(st.lists(st.integers(0, 9), max_size=12))
def test_agreement_is_what_looking_at_every_pair_finds(values: list[int]) -> None:
    rising, falling = agreement(np.array(values, dtype=np.int64))
    for place, value in enumerate(values):
        before, after = values[:place], values[place + 1 :]
        assert rising[place] == sum(other < value for other in before) + sum(other > value for other in after)
        assert falling[place] == sum(other > value for other in before) + sum(other < value for other in after)


@given(st.permutations(range(7)))
def test_the_longest_rise_is_the_longest_of_all_subsequences(ranks: list[int]) -> None:
    rises = (size for size in range(8) for chosen in combinations(ranks, size) if list(chosen) == sorted(chosen))
    assert longest_rise(np.array(ranks)) == max(rises)


def before(group: Group, first: int, second: int) -> bool | None:
    """Whether the first of two blocks comes first, looked up in the smallest group that holds both; None where it is open."""
    for member in group.members:
        if isinstance(member, Group) and {first, second} <= set(member.blocks()):
            return before(member, first, second)
    if not group.ordered:
        return None
    return group.blocks().index(first) < group.blocks().index(second)


@given(PAGES, HOW)
def test_pairs_are_those_of_every_two_blocks(both: tuple[OrderPage, OrderPage], how: str) -> None:
    truth, found = both
    made = one_page(truth, found, how)
    listed = found.order.blocks()
    placed = {block: there for block, there in made.places.items() if there in listed}
    counts = dict.fromkeys(("concordant", "discordant", "open", "pairs_merged"), 0)
    for first, second in combinations(placed, 2):
        ours = before(truth.order, first, second)
        if ours is None:
            continue
        if placed[first] == placed[second]:
            counts["pairs_merged"] += 1
            continue
        theirs = before(found.order, placed[first], placed[second])
        counts["open" if theirs is None else "concordant" if ours == theirs else "discordant"] += 1
    assert {name: made.counts[name] for name in counts} == counts


@given(PAGES, HOW)
def test_what_always_adds_up(both: tuple[OrderPage, OrderPage], how: str) -> None:
    truth, found = both
    counts = one_page(truth, found, how).counts
    assert counts["truth"] == counts["placed"] + counts["unplaced"] + counts["missing"]
    assert counts["truth"] + counts["unordered"] == len(truth.ids)
    assert sum(counts[kind] for kind in BREAKS) == counts["links_predicted"] - counts["links_right"]
    assert 0 <= counts["displacement"] <= counts["largest"]
    assert counts["edits"] <= max(counts["truth"], counts["placed"])
    assert 0 <= counts["moves"] < max(counts["placed"], 1)


@given(PAGES, HOW)
def test_all_numbers_are_shares(both: tuple[OrderPage, OrderPage], how: str) -> None:
    truth, found = (OrderCorpus(pages={"d": {0: page}}) for page in both)
    numbers = Evaluator(Order(pair=how)).update(truth, found).compute().numbers
    for scope in ("micro", "macro"):
        assert all(not isinstance(value, float) or 0 <= value <= 1 for value in numbers[scope].values())


@given(pages(boxes=False))
def test_the_truth_against_itself_is_all_right(page: OrderPage) -> None:
    counts = one_page(page, page, "id").counts
    assert counts["discordant"] == counts["open"] == counts["displacement"] == counts["edits"] == counts["moves"] == 0
    assert counts["links_right"] == counts["links_required"] == counts["links_predicted"]


@given(st.integers(2, 9))
def test_a_reversed_line_is_all_wrong(size: int) -> None:
    names = [f"b{place}" for place in range(size)]
    found = compare(names, names[::-1])
    assert (found.pairs, found.successors, found.footrule) == (0, 0, 0)
    assert found.moves == size - 1


@given(PAGES)
def test_names_labels_and_places_do_not_matter(both: tuple[OrderPage, OrderPage]) -> None:
    truth, found = both
    if truth.boxes is None or found.boxes is None:
        return
    other = OrderPage(tuple(range(len(truth.ids))), truth.order, truth.boxes * 4 + 8, ())
    there = OrderPage(tuple(range(100, 100 + len(found.ids))), found.order, found.boxes * 4 + 8, ())
    names = ("concordant", "discordant", "open", "displacement", "edits", "links_right", "links_predicted")
    one, two = (one_page(a, b).counts for a, b in ((truth, found), (other, there)))
    assert [one[name] for name in names] == [two[name] for name in names]


def test_a_hundred_thousand_blocks_are_no_matter_of_every_pair() -> None:
    size = 20_000
    names = [f"b{place}" for place in range(size)]
    halves = names[size // 2 :] + names[: size // 2]
    found = compare(names[:2000], halves[:1] + names[:2000])
    assert found.pairs == 1
    positions = np.concatenate([np.arange(size // 2, size), np.arange(size // 2)])
    assert int(agreement(positions)[1].sum()) // 2 == (size // 2) ** 2


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ({"sorted": ["a"]}, "is no order"),
        ({"unordered": ["a"], "more": 1}, "is no order"),
        ([[{"unordered": 3}]], "is no order"),
    ],
)
def test_orders_of_an_unknown_shape_are_refused(order: Any, told: str, tmp_path: Path) -> None:
    (tmp_path / "t.ndjson").write_text(json.dumps({"doc_id": "d", "order": order}) + "\n")
    with pytest.raises(ContractError, match=told):
        read_orders(str(tmp_path / "t.ndjson"))


def test_a_page_only_in_the_prediction_is_counted_and_not_judged() -> None:
    truth = [{"doc_id": "d", "order": ["a", "b"]}]
    found = [*truth, {"doc_id": "d", "page_index": 1, "order": ["x", "y"]}]
    counts = Evaluator(Order()).update(truth, found).compute().numbers["counts"]
    assert (counts["pages"], counts["pred"], counts["truth"]) == (1, 4, 2)


@pytest.mark.parametrize("settings", [{"pair": "name"}, {"iou": 0}, {"iou": 1.5}])
def test_wrong_settings(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Order(**settings)


@pytest.mark.parametrize(("ours", "theirs", "kept"), [((600, 800), None, (600.0, 800.0)), (None, (60, 80), (60.0, 80.0)),
    ((600, 800), (60, 80), (600.0, 800.0))])  # fmt: skip
def test_the_size_of_a_page_is_the_truths_or_else_the_other(ours: Any, theirs: Any, kept: tuple[float, float]) -> None:
    """Whole numbers as well: what is kept of two shards can be put together."""
    sides = [OrderCorpus(pages={"d": {0: OrderPage(("a",), Group((0,)), None, ("x",), size)}}) for size in (ours, theirs)]
    table = Evaluator(Order()).update(*sides).compute().ledger.table("pages")
    assert [(table.array(name).dtype, *table.array(name).tolist()) for name in ("width", "height")] == [
        (np.float64, kept[0]), (np.float64, kept[1])
    ]  # fmt: skip
