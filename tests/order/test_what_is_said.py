"""What a result of reading order says in words, and from where on a block holds another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calque import Evaluator, Order
from calque.corpus.orders import Group, OrderPage
from calque.evaluation.presentation.report_data import spoken
from calque.order.presentation import headline, sections
from calque.order.scoring import Status, outcomes
from calque.readers.orders.files import read_orders
from tests.order.one_page import one_page


def numbers(truth: Any, found: Any) -> dict[str, Any]:
    rows = ([{"doc_id": "d", "order": order}] for order in (truth, found))
    return dict(Evaluator(Order(pair="id")).update(*rows).compute().numbers)


def notes(made: dict[str, Any]) -> list[str]:
    return [note for section in sections(made) for note in section.notes]


@pytest.mark.parametrize(
    ("truth", "found", "told"),
    [
        (["a", "b", "c"], ["a", "b", "c"], "Reads all 3 blocks in their order."),
        (["a", "b", "c"], ["a", "b"], "Reads all 2 blocks in their order; 1 block of 3 has no place."),
        (["a", "b", "c", "d"], ["a", "b"], "Reads all 2 blocks in their order; 2 blocks of 4 have no place."),
        (["a", "b"], ["a"], "No two blocks can be held against each other; 1 block of 2 has no place."),
        (
            ["a", "b", "c", "d"],
            ["b", "a", "c", "d"],
            # One skip and one step back: neither is most of them.
            "Reads 83 % of the pairs of blocks in their order, and 33 % of the steps.",
        ),
        (
            ["a", "b", "c", "d", "e", "f"],
            ["a", "b", "d", "c", "e"],
            "Reads 90 % of the pairs of blocks in their order, and 25 % of the steps; most of the 3 breaks are skips; "
            "1 block of 6 has no place.",
        ),
        ([], ["a"], "There is nothing to judge: the truth gives no block a place."),
        # Nobody knows in which order the two stand: half of the pair is right, and no path is left.
        (["a", "b"], [{"unordered": ["a", "b"]}], "Reads 50 % of the pairs of blocks in their order, and 0 % of the steps."),
    ],
)
def test_the_sentence(truth: Any, found: Any, told: str) -> None:
    assert spoken(headline(numbers(truth, found))) == told


def test_a_document_has_numbers_of_its_own() -> None:
    sides = {"d": ["a", "b", "c"], "e": ["a", "b"]}, {"d": ["a", "c", "b"], "e": ["a", "b"]}
    rows = [[{"doc_id": name, "order": order} for name, order in side.items()] for side in sides]
    result = Evaluator(Order()).update(*rows).compute()
    assert (result["pairs/d"], result["pairs/e"], result["pairs"]) == (2 / 3, 1.0, 3 / 4)


def test_blocks_that_are_not_judged_are_named() -> None:
    made = numbers([["a", "b"]], ["a", "b"])
    assert notes(made) == ["1 page, 2 blocks in order, 2 placed, 0 missing"]
    boxes = {"doc_id": "d", "boxes": [[0, 0, 9, 1], [0, 2, 9, 3], [0, 4, 9, 5]]}
    truth = {**boxes, "order": [0, 1]}
    result = Evaluator(Order()).update([truth], [{**boxes, "order": [0]}]).compute()
    assert notes(dict(result.numbers)) == [
        "1 page, 2 blocks in order, 1 placed, 0 missing",
        "in predicted blocks without an order: 1 block",
        "without a place in the truth: 1 block",
    ]
    held = {"doc_id": "d", "boxes": [[0, 0, 9, 3], [0, 4, 9, 5]], "order": [0, 1]}
    merged = Evaluator(Order()).update([{**boxes, "order": [0, 1, 2]}], [held]).compute()
    assert "in one predicted block, and not judged: 1 pair" in notes(dict(merged.numbers))


@pytest.mark.parametrize(
    ("found", "held"),
    [
        ((0.0, 0.0, 10.0, 10.0), True),  # a tenth of it, exactly
        ((0.0, 0.0, 10.0, 9.9), False),  # less than a tenth, though all of the predicted block lies in it
        ((0.0, -10.0, 10.0, 10.0), True),  # half of the smaller, exactly
        ((0.0, -10.5, 10.0, 10.0), False),
        ((0.0, -100.0, 10.0, 0.0), False),  # they touch
    ],
)
def test_a_block_is_held_from_half_of_the_smaller_and_a_tenth_of_itself(
    found: tuple[float, float, float, float], held: bool
) -> None:
    truth = OrderPage(("a",), Group((0,)), np.array([[0.0, 0.0, 10.0, 100.0]]))
    other = OrderPage(("x",), Group((0,)), np.array([found]))
    assert one_page(truth, other).places == ({0: 0} if held else {})


def test_outcomes_name_blocks_and_breaks() -> None:
    rows = ([{"doc_id": "d", "order": order}] for order in (["a", "b", "c"], ["a", "c"]))
    table = outcomes(Evaluator(Order(pair="id")).update(*rows).compute().ledger)
    listed = [(row["what"], row["id"], row["to"], row["outcome"], row["rank"], row["position"]) for row in table.rows()]
    assert listed[:3] == [
        ("block", "a", "", Status.PLACED.name.lower(), 0, 0),
        ("block", "b", "", Status.MISSING.name.lower(), 1, -1),
        ("block", "c", "", Status.PLACED.name.lower(), 2, 1),
    ]
    assert all(row[0] == "break" and row[4:] == (-1, -1) for row in listed[3:])


def test_orders_in_python_values_are_documents_of_their_own() -> None:
    corpus = read_orders([{"doc_id": "d", "order": ["a"]}, {"doc_id": "e", "order": []}])
    assert corpus.units() == ("d", "e")
