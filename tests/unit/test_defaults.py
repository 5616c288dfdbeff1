"""Defaults that cannot flatter or hide: what is undefined, where repaired predictions stand, and what Python callers see."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from calque import Ceiling, Corpus, Detection, Evaluator, Fields, Layout, Order, Table, Tables, Task, Words, read
from calque.base.columns import Strings
from calque.base.errors import ConfigError
from calque.evaluation.result import Result
from calque.evaluation.task import settings
from calque.layout import evaluate_layout

BOX = [0.0, 0.0, 10.0, 10.0]
FAR = [50.0, 50.0, 60.0, 60.0]
HALF = [0.0, 0.0, 10.0, 4.0]
"""Its IoU with `BOX` is 0.4: a poor place, which an oracle mends."""


def corpus(*boxes: tuple[str, list[float]], scores: list[float] | None = None) -> Corpus:
    places, rows = [name for name, _ in boxes], [box for _, box in boxes]
    return Corpus.from_arrays(rows, ["a"] * len(rows), documents=places, scores=scores, all_documents=["one", "two"])


def result(truth: Corpus, found: Corpus, **settings: Any) -> Result:
    return Evaluator(Detection(**settings)).update(truth, found).compute()


def test_without_a_truth_no_repair_is_worth_anything() -> None:
    made_up = result(corpus(), corpus(("one", BOX), ("two", FAR), scores=[0.5, 0.9]))
    assert (made_up["delta_f1/BKG"], made_up["BKG"]) == (None, 2)
    assert made_up.undefined["errors.impact.BKG.delta_f1"] == "no truths"


def test_without_a_prediction_none_has_the_same_score() -> None:
    nothing = result(corpus(("one", BOX)), corpus(scores=[]))
    assert nothing.undefined["errors.impact.MISS.delta_ap"] == "no predictions"


def test_among_equal_scores_a_repaired_prediction_keeps_its_place() -> None:
    """Of two tied predictions the first is mended: it stands before the false one, and AP is 1 up to recall 0.5.

    The third has another score, or ties would leave the worth of repairs undefined.
    """
    truth = corpus(("one", BOX), ("two", FAR))
    scores = [0.9, 0.9, 0.1]
    first = result(truth, corpus(("one", HALF), ("two", BOX), ("two", FAR), scores=scores))
    last = result(truth, corpus(("one", BOX), ("two", [50.0, 50.0, 60.0, 54.0]), ("two", [0.0, 0.0, 1.0, 1.0]), scores=scores))
    # Ranked TP, FP, TP: precision 1 up to recall 0.5 (51 points), 2/3 beyond (50 points); before: FP, FP, TP.
    after = (51 + 50 * 2 / 3) / 101
    before = (51 * 1 / 3) / 101
    assert first["delta_ap/LOC"] == pytest.approx(after - before, abs=1e-12)
    # The one that is mended is the second of its tie, and stays so: TP, TP, FP.
    assert last["delta_ap/LOC"] == pytest.approx(1 - 51 / 101, abs=1e-12)


def test_no_order_of_tied_documents_hides_in_the_explanation() -> None:
    explained = next(measure for measure in Detection.measures() if measure.name == "delta_ap")
    assert "among equal scores" in explained.definition


def test_scores_below_zero_take_part_unless_a_limit_is_given() -> None:
    truth, found = corpus(("one", BOX)), corpus(("one", BOX), scores=[-2.0])
    assert [result(truth, found, **limit)["recall"] for limit in ({}, {"min_score": -3}, {"min_score": 0.0})] == [1.0, 1.0, 0.0]


def test_predictions_without_any_score_have_no_average_precision() -> None:
    scoreless = result(corpus(("one", BOX)), corpus(("one", BOX)), allow_missing_scores=True)
    assert (scoreless["AP"], scoreless["AR100"], scoreless["f1"]) == (None, None, 1.0)
    assert scoreless.undefined["coco.AP"] == "no prediction has a score"


def test_layout_reads_lists_of_blocks_as_its_function_does() -> None:
    """For all pairs of blocks, whatever their order."""
    boxes = ([10, 20, 100, 50], [150, 30, 20, 80], [12, 22, 98, 48])
    for truth, found in itertools.permutations(boxes, 2):
        sides = [[{"bbox": box, "category": "text"}] for box in (truth, found)]
        numbers = Evaluator(Layout()).update(*sides).compute()
        assert numbers["layout_matched_blocks"] == evaluate_layout(*sides)["layout_matched_blocks"]
    assert "boxes:xywh in lists" in str(Layout().signature())
    assert "boxes:xyxy" in str(Layout(boxes="xyxy").signature())


def test_results_and_tables_are_one_line() -> None:
    evaluated = result(corpus(("one", BOX)), corpus(("one", BOX), scores=[0.5]))
    assert repr(evaluated) == f"<Result {evaluated.signature}: 2 documents>"
    assert repr(evaluated.outcomes()).startswith("<Table: 2 rows of document, page")
    assert repr(result(corpus(), corpus(scores=[]))).endswith("nothing evaluated>")


def test_a_table_in_a_notebook_is_small_and_says_what_it_leaves_out() -> None:
    table = Table({"label": Strings.pack(["<b>"] * 1000), "iou": np.full(1000, np.nan)})
    html = table._repr_html_()
    assert html.count("<tr>") == 11
    assert "the first 10 of 1,000 rows" in html
    assert "<b>" not in html
    assert "–" in html


def test_one_stands_for_several_in_every_task() -> None:
    assert Detection(iou=0.5) == Detection(iou=(0.5,))
    assert Detection(max_detections=5, labels="Table") == Detection(max_detections=(5,), labels=("Table",))
    assert Detection(iou=np.array([0.75, 0.5])) == Detection(iou=(0.5, 0.75))
    assert Fields(iou=0.5) == Fields(iou=(0.5,))
    assert Words(drop="figure") == Words(drop=("figure",))


@pytest.mark.parametrize("task", [Detection(), Layout(), Words(), Fields(), Tables(), Order(), Ceiling(kind="boxes")])
def test_what_is_named_twice_is_named_once(task: Task) -> None:
    """But systems and columns: two of one name are refused."""
    known = {
        "fold": ("ligatures", "dashes"), "only": ("teds", "grits"), "drop": ("figure", "table"),
        "ignore": ("case", "punctuation"), "keep_lang": ("en", "de"),
    }  # fmt: skip
    listed = {name for name, note in settings(task).items() if note.kind == "words"} - {"systems", "table_columns"}
    for name in sorted(listed):
        one, other = known.get(name, ("a", "b"))
        once, twice = (replace(task, **{name: words}) for words in ((one, other), (one, other, one)))
        assert once == twice, name
        assert str(once.signature()) == str(twice.signature())


WRONG: list[tuple[str, Callable[[], Any]]] = [
    ("iou", lambda: Detection(iou="high")),
    ("iou", lambda: Detection(iou=None)),
    ("iou", lambda: Layout(iou="high")),
    ("iou", lambda: Fields(iou=["a"])),
    ("min_score", lambda: Detection(min_score="x")),
    ("class_weight", lambda: Detection(class_weight=3)),
    ("class_map", lambda: Detection(class_map=3)),
    ("crops", lambda: Detection(crops="yes")),
    ("seed", lambda: Words(seed=0.5)),
    ("lattice", lambda: Words(lattice=3)),
    ("boxes", lambda: Corpus.from_arrays([[1, 2, 3]], ["a"])),
    ("boxes", lambda: Corpus.from_arrays([["a", 2, 3, 4]], ["a"])),
    ("scores", lambda: Corpus.from_arrays([BOX], ["a"], scores=[0.5, 0.5])),
    ("scores", lambda: Corpus.from_arrays([BOX], ["a"], scores=["high"])),
    ("pages", lambda: Corpus.from_arrays([BOX], ["a"], pages=["first"])),
    ("form", lambda: Corpus.from_arrays([BOX], ["a"], form="corners")),
    ("extent", lambda: Corpus.from_arrays([BOX], ["a"], extent="inches")),
    ("side", lambda: read([], side="left")),
    ("task", lambda: Evaluator(Detection)),  # type: ignore[arg-type]  # as people write it
    ("keep", lambda: Evaluator(Detection(), keep="all")),  # type: ignore[arg-type]  # not one of the words
    ("jobs", lambda: Evaluator(Detection(), jobs=0)),
    ("truth", lambda: Evaluator(Detection()).update(3, 4)),
    ("predictions", lambda: Evaluator(Detection()).update(corpus(), 4)),
]


@pytest.mark.parametrize(("argument", "call"), WRONG)
def test_errors_name_the_argument(argument: str, call: Callable[[], Any]) -> None:
    with pytest.raises((ConfigError, ValueError, TypeError), match=f"^{argument}\\b"):
        call()
