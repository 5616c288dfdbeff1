"""Lists with more pairs than fit into memory: the optimum, or a proven bound."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from calque import Evaluator, Fields
from calque.corpus.records import RecordCorpus
from calque.fields.comparison.cells import RecordSide
from calque.fields.comparison.distinct_values import distinct_fields, item_scores
from calque.fields.comparison.item_similarities import ItemSide, similarities
from calque.fields.comparison.lists import pair_items, pair_values
from calque.fields.comparison.long_lists import LongLists, pair_long

LEAVES = {"text": {"type": "str"}, "amount": {"type": "float"}}
SCHEMA = {"fields": {"lines": {"type": "list[object]", "fields": LEAVES}, "tags": {"type": "list[str]"}}}


LITTLE_ROOM = {"MOST_CELLS": 900, "MOST_HELD": 900, "MOST_WORK": 1_000, "MOST_LOOKED_UP": 1_000}


@given(st.integers(1, 7), st.integers(1, 7), st.sampled_from([0, 10, 40, 10_000]), st.randoms(use_true_random=False))
def test_the_total_is_the_best_possible_or_within_the_bound(rows: int, columns: int, work: int, chance: random.Random) -> None:
    scores = np.array([[chance.choice([0, 0.25, 0.5, 0.75, chance.random(), 1]) for _ in range(columns)] for _ in range(rows)])
    words: list[list[list[Hashable]]] = [[[chance.randrange(4)] for _ in range(count)] for count in (rows, columns)]
    equal = [(place, place) for place in range(min(rows, columns)) if scores[place, place] == 1.0]
    lists = LongLists(rows, columns, lambda a, b: scores[np.ix_(a, b)], equal, lambda: (words[0], words[1]), 6, work)
    paired = pair_long(lists)
    best = float(scores[linear_sum_assignment(scores, maximize=True)].sum())
    total = sum(scores[pair] for pair in paired.pairs)
    assert len({row for row, _ in paired.pairs}) == len({column for _, column in paired.pairs}) == min(rows, columns)
    assert best - paired.shortfall - 1e-9 <= total <= best + 1e-9
    assert paired.shortfall == 0.0 or work < 10_000


def test_rows_that_all_want_the_same_columns_change_places_until_nothing_is_better() -> None:
    """Chains of exchanges follow one another, and each needs the prices that the earlier ones left."""
    dice = np.random.default_rng(0)
    words: tuple[list[list[Hashable]], list[list[Hashable]]] = ([], [])
    for _ in range(30):
        scores = np.clip(0.6 * dice.random(14) + 0.4 * dice.random((12, 14)), 0, 1)
        lists = LongLists(12, 14, lambda a, b, known=scores: known[np.ix_(a, b)], [], lambda: words, 168, 10**6)
        pairs = pair_long(lists).pairs
        best = scores[linear_sum_assignment(scores, maximize=True)].sum()
        assert sum(scores[pair] for pair in pairs) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("place", range(3))
def test_equal_items_have_each_other_where_nothing_else_is_looked_at(place: int) -> None:
    scores = np.full((3, 4), 0.5)
    scores[place, place] = 1.0
    words: tuple[list[list[Hashable]], list[list[Hashable]]] = [["shared"]] * 3, [["shared"]] * 4
    paired = pair_long(LongLists(3, 4, lambda a, b: scores[np.ix_(a, b)], [(place, place)], lambda: words, 12, 0))
    assert (place, place) in paired.pairs


def documents(size: int, chance: random.Random) -> tuple[Any, Any]:
    words = ["steel", "bolt", "red", "pipe", "valve", "glass"]
    lines = [
        {"text": f"{chance.choice(words)} {chance.choice(words)} {number}", "amount": chance.randrange(50)}
        for number in range(size)
    ]
    found = [dict(line) for line in lines]
    for line in chance.sample(found, size // 10):
        line["text"] = line["text"].replace("e", "o", 1)
    for line in chance.sample(found, size // 20):
        line["amount"] += 1
    chance.shuffle(found)
    tags = [f"tag {chance.randrange(size // 2)}" for _ in range(size)]
    return {"lines": lines, "tags": tags}, {"lines": found[: size - 3], "tags": tags[5:]}


def test_short_lists_and_the_same_lists_in_blocks_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, found = documents(120, random.Random("short"))  # data, not secrets
    whole = Evaluator(Fields(schema=SCHEMA)).update([truth], [found]).compute()
    monkeypatch.setattr("calque.fields.comparison.lists.MOST_CELLS", 4_000)
    for held in (9_000_000, 4_000):
        monkeypatch.setattr("calque.fields.comparison.lists.MOST_HELD", held)
        blocks = Evaluator(Fields(schema=SCHEMA)).update([truth], [found]).compute()
        assert blocks.issues == ()
        assert blocks.numbers["fields"] == whole.numbers["fields"]
        assert blocks.numbers["overall"] == whole.numbers["overall"]


ANY_ITEMS = {
    "fields": {
        "lines": {
            "type": "list[object]",
            "fields": {
                "text": {"type": "str"},
                "note": {"type": "str", "comparator": "ignore"},
                "to": {
                    "type": "object",
                    "threshold": 0.6,
                    "weight": 2.0,
                    "fields": {
                        "name": {"type": "str"},
                        "skip": {"type": "str", "comparator": "ignore"},
                        "at": {
                            "type": "object",
                            "threshold": 0.5,
                            "fields": {"town": {"type": "str"}, "zip": {"type": "code"}},
                        },
                        "all": {"type": "object", "whole": True, "fields": {"a": {"type": "int"}, "b": {"type": "int"}}},
                    },
                },
                "marks": {"type": "list[str]"},
            },
        },
        "tags": {"type": "list[str]"},
    }
}


def any_documents(size: int, chance: random.Random) -> tuple[Any, Any]:
    """Items with objects in objects, lists, fields that nobody compares, and values of another type than they should be."""

    def line(number: int) -> Any:
        if number % 17 == 0:
            return "no object"
        to = {
            "name": f"{chance.choice(['Ann', 'Bob', 'Cyd'])} {number % 7}",
            "skip": str(chance.random()),
            "at": {"town": chance.choice(["Ulm", "Bonn", None]), "zip": str(number % 5)},
            "all": {"a": number % 3, "b": chance.randrange(2)},
        }
        return {
            "text": f"item {number % 23}" if number % 11 else ["a", "list"],
            "note": str(chance.random()),
            "to": to if number % 13 else None,
            "marks": ["x", str(number % 2)] if number % 3 else None,
        }

    def changed(item: Any) -> Any:
        if not isinstance(item, dict) or chance.random() < 0.7:
            return item
        return {**item, "text": "item 7", "to": {**(item["to"] or {}), "all": {"a": 1, "b": 1}}}

    lines = [line(number) for number in range(size)]
    tags = [chance.choice(["red", "blue", 5, ["odd"], None]) for _ in range(size)]
    found = [changed(item) for item in lines]
    chance.shuffle(found)
    return {"lines": lines, "tags": tags}, {"lines": found, "tags": tags[::-1]}


def test_items_of_any_kind_are_paired_in_blocks_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By turns held and not, the pairs are worth as much in all, and every value is counted."""
    truth, found = any_documents(70, random.Random("any"))  # data, not secrets
    plan = Fields(schema=ANY_ITEMS).plan()
    sides = [RecordSide(plan, side, lambda *_: None).record.cells for side in (truth, found)]
    lists = [(plan.fields[place], sides[0][place].value, sides[1][place].value) for place in range(2)]

    def worth() -> list[float]:
        items, values = (pair(*given).pairs for pair, given in zip((pair_items, pair_values), lists, strict=True))
        assert [len(pairs) for pairs in (items, values)] == [70, 70]
        return [sum(pair.similarity for pair in pairs) for pairs in (items, values)]

    at_once = worth()
    monkeypatch.setattr("calque.fields.comparison.lists.MOST_CELLS", 900)
    for held in (9_000_000, 900):
        monkeypatch.setattr("calque.fields.comparison.lists.MOST_HELD", held)
        assert worth() == pytest.approx(at_once, abs=1e-6)


def test_2100_items_give_what_2000_give() -> None:
    truth, found = documents(2_100, random.Random("long"))  # data, not secrets
    result = Evaluator(Fields(schema=SCHEMA), keep="numbers").update([truth], [found]).compute()
    assert (result.issues, result["tp/lines"], result["fn/lines"]) == ((), 2_030, 3)
    assert result["tp/tags"] == 2_095


def test_a_list_that_is_too_alike_is_paired_in_blocks_with_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LITTLE_ROOM.items():
        monkeypatch.setattr(f"calque.fields.comparison.lists.{name}", value)
    chance = random.Random("alike")  # data, not secrets
    truth = {"lines": [{"text": f"aaa{chance.randrange(9)}", "amount": chance.randrange(3)} for _ in range(100)]}
    found = {"lines": [{"text": f"aab{chance.randrange(9)}", "amount": chance.randrange(3)} for _ in range(100)]}
    sources = [RecordCorpus(documents=("d",), records=[side], source=name) for name, side in (("t", truth), ("p", found))]
    result = Evaluator(Fields(schema=SCHEMA)).update(*sources).compute()
    (issue,) = result.issues
    assert (issue.file, issue.pointer) == ("t", "document d: lines")
    assert (issue.code, result.incomplete) == ("list-paired-in-blocks", True)
    lost = float(issue.message.partition("up to ")[2].split()[0])
    monkeypatch.undo()
    plan = Fields(schema=SCHEMA).plan().fields[0]
    sides = [RecordSide(Fields(schema=SCHEMA).plan(), side, lambda *_: None).record.cells[0].value for side in (truth, found)]
    totals = {"at once": sum(pair.similarity for pair in pair_items(plan, *sides).pairs)}
    for name, value in LITTLE_ROOM.items():
        monkeypatch.setattr(f"calque.fields.comparison.lists.{name}", value)
    totals["in blocks"] = sum(pair.similarity for pair in pair_items(plan, *sides).pairs)
    assert totals["at once"] - lost - 1e-6 <= totals["in blocks"] <= totals["at once"] + 1e-6


@pytest.mark.parametrize("room", [9_000_000, 30, 0])
def test_distinct_values_are_as_alike_as_all_of_them(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    monkeypatch.setattr("calque.fields.comparison.distinct_values.MOST_KNOWN", room)
    chance = random.Random("distinct")  # data, not secrets
    texts = ["steel bolt of 5 mm", "steel bolt of 6 mm", "steal bolt of 5 mm", "", "pipe", None]
    schema = {"fields": {"lines": {"type": "list[object]", "fields": {
        "text": {"type": "text"}, "amount": {"type": "amount", "weight": 0.3}, "code": {"type": "code", "weight": 2.0},
    }}}}  # fmt: skip
    plan = Fields(schema=schema).plan()

    def line() -> dict[str, Any]:
        amounts = [5, 5.0, "5,00", -0.0, 0.0, None]
        return {"text": chance.choice(texts), "amount": chance.choice(amounts), "code": chance.choice(["a", "A", None])}

    sides = [RecordSide(plan, {"lines": [line() for _ in range(60)]}, lambda *_: None).record.cells[0].value for _ in range(2)]
    record = plan.fields[0].record
    assert record is not None
    truth, found = (ItemSide([cell.value for cell in side if cell.value is not None]) for side in sides)
    fields = distinct_fields(record, truth, found)
    assert fields is not None
    assert [values.is_held for _, values in fields].count(True) == {9_000_000: 3, 30: 2, 0: 0}[room]
    rows, columns = (np.array(chance.choices(range(len(side.items)), k=count)) for side, count in ((truth, 7), (found, 30)))
    expected = similarities(record, truth, found, {})
    assert np.array_equal(item_scores(fields)(rows, columns), expected[np.ix_(rows, columns)])
    every = np.arange(len(truth.items)), np.arange(len(found.items))
    assert np.array_equal(item_scores(fields)(*every), expected)


@pytest.mark.long
def test_lines_that_are_hardly_told_apart_are_paired_at_their_best() -> None:
    chance = random.Random("hardly")  # data, not secrets
    words = ["bolt", "nut", "washer", "gear", "pipe"]
    truth = [
        {"text": f"{chance.choice(words)} {chance.choice(words)} steel", "amount": chance.randrange(20)} for _ in range(3_200)
    ]
    found = [dict(line, amount=line["amount"] + (chance.random() < 0.1)) for line in truth]
    chance.shuffle(found)
    result = Evaluator(Fields(schema=SCHEMA), keep="numbers").update([{"lines": truth}], [{"lines": found}]).compute()
    kinds = [(line["text"], line["amount"]) for line in truth], [(line["text"], line["amount"]) for line in found]
    same = sum((Counter(kinds[0]) & Counter(kinds[1])).values())
    assert result.issues == ()
    assert result["tp/lines.amount"] >= same  # whoever has an equal partner has it, or one that is as good
