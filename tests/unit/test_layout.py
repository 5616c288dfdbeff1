"""Layout accuracy: the seed's example, its rules one by one, and a brute-force twin."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError, ContractError, Corpus, Evaluator, Layout
from calque.layout import bbox_iou, evaluate_layout

BOXES = st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 6), st.integers(0, 6)).map(list)
BLOCKS = st.lists(st.fixed_dictionaries({"bbox": BOXES, "category": st.sampled_from(["text", "table", "image"])}), max_size=6)


def plain_iou(a: list[float], b: list[float]) -> float:
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / (a[2] * a[3] + b[2] * b[3] - width * height)


def plain_layout(truth: list[Any], found: list[Any], threshold: float) -> dict[str, Any]:
    matched = right = 0
    for block in truth:
        best, best_iou = None, -1.0
        for candidate in found:
            if plain_iou(block["bbox"], candidate["bbox"]) > best_iou:
                best, best_iou = candidate, plain_iou(block["bbox"], candidate["bbox"])
        if best is not None and best_iou >= threshold and best_iou > 0:
            matched += 1
            right += best["category"] == block["category"]
    return {
        "layout_total_blocks": len(truth),
        "layout_matched_blocks": matched,
        "layout_classification_accuracy": right / matched if matched else None,
    }


def unused(truth: list[Any], found: list[Any], threshold: float) -> int:
    """How many predictions no block takes: each takes the first of those that it overlaps most, if that is enough."""
    taken = set()
    for block in truth:
        shares = [plain_iou(block["bbox"], candidate["bbox"]) for candidate in found]
        if shares and max(shares) >= threshold and max(shares) > 0:
            taken.add(shares.index(max(shares)))
    return len(found) - len(taken)


@given(BLOCKS, BLOCKS, st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_blocks_as_brute_force_counts_them(kernels: str, truth: list[Any], found: list[Any], threshold: float) -> None:
    assert evaluate_layout(truth, found, threshold) == plain_layout(truth, found, threshold)


@given(BOXES, BOXES)
def test_iou_of_two_boxes(a: list[float], b: list[float]) -> None:
    assert bbox_iou(a, b) == plain_iou(a, b) == bbox_iou(b, a)


def test_boxes_that_only_touch_do_not_match_even_at_zero() -> None:
    truth = [{"bbox": [0, 0, 10, 10], "category": "text"}]
    found = [{"bbox": [10, 0, 10, 10], "category": "text"}]
    assert evaluate_layout(truth, found, 0)["layout_matched_blocks"] == 0
    assert evaluate_layout([], [])["layout_classification_accuracy"] is None


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"category": "text"}, "no bbox"),
        ({"bbox": [0, 0, 1, 1]}, "no category"),
        ({"bbox": [0, 0, -1, 1], "category": "a"}, "negative"),
        ({"bbox": [0, 0, math.nan, 1], "category": "a"}, "four finite numbers"),
        ({"bbox": [0, 0, 1], "category": "a"}, "four finite numbers"),
        ({"bbox": "0 0 1 1", "category": "a"}, "four finite numbers"),
        ("text", "no bbox and no category"),
    ],
)
def test_a_bad_block_is_named(block: Any, words: str) -> None:
    fine = {"bbox": [0, 0, 1, 1], "category": "a"}
    with pytest.raises(ContractError, match=r"pred_blocks\[1\]") as caught:
        evaluate_layout([fine], [fine, block])
    assert words in str(caught.value)


def test_a_threshold_outside_zero_to_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="0 to 1"):
        evaluate_layout([], [], 1.5)
    with pytest.raises(ConfigError, match="0 to 1"):
        Layout(iou=-0.1)


@given(st.lists(st.tuples(BLOCKS, BLOCKS), min_size=1, max_size=4))
def test_the_task_counts_as_the_function_does(kernels: str, documents: list[tuple[list[Any], list[Any]]]) -> None:
    def corpus(side: int) -> Corpus:
        rows = [(name, block) for name, pair in enumerate(documents) for block in pair[side]]
        boxes = np.array([block["bbox"] for _, block in rows], dtype=float).reshape(-1, 4)
        labels = [block["category"] for _, block in rows]
        units = [name for name, _ in rows]
        names = ["image", "table", "text"]
        return Corpus.from_arrays(
            boxes, labels, documents=units, form="xywh", label_names=names, all_documents=range(len(documents))
        )

    result = Evaluator(Layout()).update(corpus(0), corpus(1)).compute()
    parts = [plain_layout(truth, found, 0.5) for truth, found in documents]
    for key in ("layout_total_blocks", "layout_matched_blocks"):
        assert result[key] == sum(part[key] for part in parts)
    for name, part in enumerate(parts):
        assert {key: result.numbers["documents"][str(name)][key] for key in part} == part
    confusion = result.numbers["confusion"]
    assert sum(itertools.chain(*(row.values() for row in confusion.values()))) == result["layout_total_blocks"]
    assert sum(row.get(name, 0) for name, row in confusion.items()) == result["layout_correct_blocks"]
    assert ("accuracy" in str(result)) == (result.unevaluated is None)
    sides = [row["side"] for row in result.outcomes().rows()]
    assert sides.count("truth") == result["layout_total_blocks"]
    assert sides.count("prediction") == sum(unused(truth, found, 0.5) for truth, found in documents)


def test_predictions_that_no_block_takes_are_false_alarms_of_a_comparison() -> None:
    from calque.statistics.bootstrap import Resampling
    from calque.statistics.comparison import compare

    truth = Corpus.from_arrays([[0, 0, 10, 10]], ["text"], documents=["a"])
    sides = (
        [[0, 0, 10, 10], [20, 0, 30, 10], [40, 0, 50, 10]],
        [[0, 0, 10, 10], [20, 0, 30, 9], [60, 0, 70, 10], [0, 0, 10, 2]],
    )
    runs = [
        Evaluator(Layout())
        .update(truth, Corpus.from_arrays(boxes, ["text"] * len(boxes), documents=["a"] * len(boxes)))
        .compute()
        for boxes in sides
    ]
    changes = compare(runs, ["one", "two"], resampling=Resampling(replicates=100)).changes["two"]
    # The second of both is one alarm that moved a little.
    assert (changes.new_alarms, changes.gone_alarms) == (2, 1)
    rows = [(row["side"], row["label"], row["label_found"], row["outcome"]) for row in runs[0].outcomes().rows()]
    assert rows == [("truth", "text", "text", "correct"), *[("prediction", "", "text", "unused")] * 2]
