"""The numbers of the layout task at their limits, against a count by hand, and without what is left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Corpus, Detection, Evaluator, Layout, Result, Table, Task
from calque.layout import evaluate_layout

LABELS = ("image", "table", "text")
HEIGHT = 8
"""A power of two: every share of it is a number without rounding."""


@dataclass(frozen=True)
class Block:
    """A block that begins at the top of its column and reaches down some eighths of it."""

    document: str
    label: str
    column: int
    eighths: int

    @property
    def box(self) -> list[float]:
        return [10.0 * self.column, 0.0, 4.0, float(self.eighths)]

    def iou(self, other: Block) -> float:
        if (self.document, self.column) != (other.document, other.column):
            return 0.0
        return min(self.eighths, other.eighths) / max(self.eighths, other.eighths)


blocks = st.lists(
    st.builds(
        Block, st.sampled_from(["a", "b"]), st.sampled_from(LABELS), st.integers(0, 2), st.sampled_from([1, 2, 4, 6, HEIGHT])
    ),
    max_size=9,
)


def corpus(rows: Sequence[Block]) -> Corpus:
    return Corpus.from_arrays(
        [row.box for row in rows],
        [row.label for row in rows],
        documents=[row.document for row in rows],
        form="xywh",
        label_names=LABELS,
        all_documents=["a", "b"],
    )


def evaluate(truths: Sequence[Block], found: Sequence[Block], threshold: float) -> Result:
    return Evaluator(Layout(iou=threshold)).update(corpus(truths), corpus(found)).compute()


def taken(truth: Block, found: Sequence[Block], threshold: float) -> Block | None:
    """The prediction that a true block takes: the first of those that it overlaps most, if that is enough."""
    best = max(found, key=truth.iou, default=None)
    return best if best is not None and truth.iou(best) >= threshold and truth.iou(best) > 0 else None


def numbers_of(truths: Sequence[Block], found: Sequence[Block], threshold: float) -> dict[str, Any]:
    partners = [(truth, taken(truth, found, threshold)) for truth in truths]
    matched = [(truth, partner) for truth, partner in partners if partner is not None]
    right = sum(truth.label == partner.label for truth, partner in matched)
    return {
        "layout_total_blocks": len(truths),
        "layout_matched_blocks": len(matched),
        "layout_correct_blocks": right,
        "layout_classification_accuracy": right / len(matched) if matched else None,
        "layout_accuracy_over_total": right / len(truths) if truths else None,
    }


def confusion_of(truths: Sequence[Block], found: Sequence[Block], threshold: float) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {label: {} for label in LABELS}
    for truth in truths:
        partner = taken(truth, found, threshold)
        given = "(unmatched)" if partner is None else partner.label
        table[truth.label][given] = table[truth.label].get(given, 0) + 1
    return table


@given(truths=blocks, found=blocks, threshold=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_every_number_as_counted_by_hand(kernels: str, truths: list[Block], found: list[Block], threshold: float) -> None:
    numbers = evaluate(truths, found, threshold).numbers
    assert {name: numbers[name] for name in numbers_of(truths, found, threshold)} == numbers_of(truths, found, threshold)
    for label in LABELS:
        chosen = [truth for truth in truths if truth.label == label]
        assert numbers["per_class"][label] == numbers_of(chosen, found, threshold)
    for document in ("a", "b"):
        chosen = [truth for truth in truths if truth.document == document]
        assert numbers["documents"][document] == numbers_of(chosen, found, threshold)
    assert numbers["confusion"] == confusion_of(truths, found, threshold)


TRUTH = Block("a", "text", 0, HEIGHT)


@pytest.mark.parametrize("eighths", range(1, HEIGHT + 1))
def test_a_block_is_matched_from_the_threshold_on_inclusive(kernels: str, eighths: int) -> None:
    """Matched when that IoU >= the threshold."""
    found, limit = Block("a", "text", 0, eighths), eighths / HEIGHT
    above = math.nextafter(limit, 2.0)
    for threshold, matched in ((limit, 1), (above, 0)) if above <= 1 else ((limit, 1),):
        result = evaluate([TRUTH], [found], threshold)
        assert result["layout_matched_blocks"] == matched
        assert result.numbers["confusion"]["text"] == {"text" if matched else "(unmatched)": 1}
        assert [row["outcome"] for row in result.outcomes().rows()] == (["correct"] if matched else ["unmatched", "unused"])
        plain = [{"bbox": block.box, "category": block.label} for block in (TRUTH, found)]
        assert evaluate_layout(plain[:1], plain[1:], threshold)["layout_matched_blocks"] == matched


def test_boxes_that_only_touch_do_not_match_at_zero_either(kernels: str) -> None:
    result = evaluate([TRUTH], [Block("a", "text", 1, HEIGHT)], 0.0)
    assert (result["layout_matched_blocks"], result["layout_classification_accuracy"]) == (0, None)
    assert result["layout_accuracy_over_total"] == 0.0


def test_the_two_accuracies_differ_where_something_is_unmatched() -> None:
    """Three of four blocks are matched, two of these have the right category: 2/3 of the matched, 2/4 of all."""
    truths = [Block("a", "text", column, HEIGHT) for column in range(4)]
    found = [Block("a", label, column, HEIGHT) for column, label in enumerate(["text", "text", "image"])]
    result = evaluate(truths, found, 0.5)
    assert (result["layout_classification_accuracy"], result["layout_accuracy_over_total"]) == (2 / 3, 2 / 4)


# What is left out.


def listed(rows: Sequence[Block]) -> list[dict[str, Any]]:
    return [{"doc": row.document, "category": row.label, "bbox": row.box} for row in rows]


ALWAYS = Block("a", "text", 3, HEIGHT)
"""On both sides, so that no side is empty."""


@given(truths=blocks, found=blocks)
def test_what_the_class_map_drops_is_not_there_for_either_side(truths: list[Block], found: list[Block]) -> None:
    """Nor does a true block take a dropped prediction that fits it better than the others; but each keeps its row."""
    truths, found = [ALWAYS, *truths], [ALWAYS, *found]
    task = Layout(boxes="xywh", class_map={"table": None})
    dropped = Evaluator(task).update(listed(truths), listed(found)).compute()
    sides = [[row for row in rows if row.label != "table"] for rows in (truths, found)]
    expected = numbers_of(sides[0], sides[1], 0.5)
    assert {name: dropped.numbers[name] for name in expected} == expected
    assert "table" not in dropped.numbers["per_class"]
    confusion = {label: row for label, row in confusion_of(sides[0], sides[1], 0.5).items() if row}
    assert {label: row for label, row in dropped.numbers["confusion"].items() if row} == confusion
    assert dropped.numbers["counts"]["truths"] == len(truths)
    assert dropped.numbers["counts"]["dropped"] == len(truths) + len(found) - len(sides[0]) - len(sides[1])
    assert dropped.numbers["counts"]["invalid"] == 0


CATEGORIES = [{"id": 1, "name": "text"}, {"id": 2, "name": "table"}]
PAGE = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 8, 8]}


@pytest.mark.parametrize("odd", [{"category_id": 99}, {"bbox": [0, 0, -8, 8]}, {"bbox": [0, 0, math.inf, 8]}], ids=str)
def test_a_prediction_that_cannot_be_evaluated_is_taken_by_no_block(kernels: str, odd: dict[str, Any]) -> None:
    truth = {"images": [{"id": 1}], "categories": CATEGORIES, "annotations": [{"id": 1, **PAGE}]}
    found = [{**PAGE, "score": 0.5, **odd}, {**PAGE, "bbox": [0, 0, 8, 6], "score": 0.5}]
    result = Evaluator(Layout()).update(truth, found).compute()
    assert [(row["outcome"], row["iou"]) for row in result.outcomes().rows()] == [("correct", 0.75), ("invalid", None)]
    assert result["layout_accuracy_over_total"] == 1.0
    assert (result.numbers["counts"]["predictions"], result.numbers["counts"]["invalid"]) == (2, 1)
    assert result.incomplete


def test_a_true_block_that_cannot_be_evaluated_is_in_no_total(kernels: str) -> None:
    odd = {**PAGE, "bbox": [0, 0, -8, 8]}
    truth = {"images": [{"id": 1}], "categories": CATEGORIES, "annotations": [{"id": 1, **PAGE}, {"id": 2, **odd}]}
    result = Evaluator(Layout()).update(truth, [{**PAGE, "score": 0.5}]).compute()
    assert (result["layout_total_blocks"], result["layout_accuracy_over_total"]) == (1, 1.0)
    assert [row["outcome"] for row in result.outcomes().rows()] == ["correct", "invalid"]
    assert sum(result.numbers["confusion"]["text"].values()) == 1


def test_documents_of_one_side_are_listed_for_that_side() -> None:
    truth = Corpus.from_arrays([[0, 0, 5, 5]] * 2, ["text"] * 2, documents=["a", "b"])
    found = Corpus.from_arrays([[0, 0, 5, 5]] * 2, ["text"] * 2, documents=["b", "c"])
    numbers = Evaluator(Layout()).update(truth, found).compute().numbers
    assert (numbers["only_truth"], numbers["only_predictions"]) == (["a"], ["c"])


def test_the_table_of_confusions_has_a_zero_where_nothing_was_taken_for_something() -> None:
    truth = Corpus.from_arrays([[0, 0, 5, 5], [10, 0, 15, 5], [20, 0, 25, 5]], ["image", "table", "text"])
    found = Corpus.from_arrays([[0, 0, 5, 5], [10, 0, 15, 5]], ["table", "image"])
    printed = str(Evaluator(Layout()).update(truth, found).compute()).partition("truth → taken for\n")[2]
    assert [line.split() for line in printed.splitlines()[:4]] == [
        ["truth", "image", "table", "(unmatched)"],
        ["image", "0", "1", "0"],
        ["table", "1", "0", "0"],
        ["text", "0", "0", "1"],
    ]


@pytest.mark.parametrize("task", [Layout(), Detection()])
def test_outcomes_say_where_each_object_is_unless_only_numbers_are_kept(task: Task) -> None:
    boxes, away = [[0.0, 0.0, 10.0, 10.0], [20.0, 20.0, 30.0, 30.0]], [50.0, 50.0, 60.0, 60.0]
    sides = [Corpus.from_arrays(each, ["a"] * len(each), scores=[0.5] * len(each)) for each in (boxes, [boxes[0], away])]
    rows = Evaluator(task).update(*sides).compute().outcomes()
    shown = [(side, box) for side, box in zip(rows["side"], rows.array("box").tolist(), strict=True)]
    assert [box for side, box in shown if side == "truth"] == boxes
    assert away in [box for side, box in shown if side == "prediction"]
    assert "box" not in Evaluator(task, keep="numbers").update(*sides).compute().outcomes()


def test_states_that_tell_nothing_of_dropped_blocks_have_dropped_none() -> None:
    """Those of before did not tell them from others that cannot be used."""
    result = evaluate([Block("a", "image", 0, 4)], [Block("a", "image", 0, 4), Block("b", "text", 1, 2)], 0.5)
    tables = {
        name: Table({key: column for key, column in table.columns.items() if key != "dropped"})
        for name, table in result.ledger.tables.items()
    }
    assert any("dropped" in table for table in result.ledger.tables.values())
    before = replace(result.ledger, tables=tables)
    assert result.task.measure(before) == result.task.measure(result.ledger)
