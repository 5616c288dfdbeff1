"""Wrong arguments of public functions: the error names the argument, the value, and what fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calque
from calque import Ceiling, Detection, Evaluator, Fields, Layout, Order, Result, Tables, Words
from calque.base.columns import Table
from calque.base.errors import ConfigError
from calque.checks import Checks, Outcome
from calque.checks.evaluators.outcome import Verdict
from calque.checks.shapes.overlap import polygon_iou
from calque.coco import COCOeval
from calque.evaluation.task import Task, settings
from calque.fields.accumulators import BBoxMAPAccumulator, ConfidenceAccumulator
from calque.fields.bulk import BulkStructuredModelEvaluator
from calque.statistics.bootstrap import resample
from calque.statistics.gates import gated
from calque.statistics.intervals import intervals


def evaluated(prediction: str) -> Evaluator:
    return Evaluator(Words()).update({"page": "a b"}, {"page": prediction})


RESULTS = [evaluated(prediction).compute() for prediction in ("a b", "a c")]
TABLE = "<table><tr><td>a</table>"
BLOCKS = [{"bbox": [0, 0, 1, 1], "category": "text"}]
RING = [[[0, 0], [1, 0], [1, 1]]]
LATTICE = calque.words.build_lattice({"one": ["a"], "two": ["b"]})
NOTHING = (complex(1, 2), object())
LIST = (*NOTHING, 3, None, True)
"""Values that are not a list."""
MAPPING = (*NOTHING, 3, "x", [1])
"""Values that are not a mapping."""
CALLS: list[tuple[Callable[..., Any], dict[str, Any], dict[str, tuple[Any, ...]]]] = [
    (lambda **named: Evaluator(Words()).merge(**named), {}, {"other": (*MAPPING, RESULTS[0])}),
    (Evaluator.from_state, {}, {"data": (*MAPPING, None)}),
    (lambda **named: evaluated("a").save(**named), {}, {"path": (*NOTHING, 3, None, True, [1])}),
    (Evaluator.load, {}, {"path": (*NOTHING, 3, None, True, [1])}),
    (
        calque.compare,
        {"results": RESULTS},
        {
            "results": (*LIST, RESULTS[0], "x", [1, 2]), "names": (*LIST, "x", [1, 2]), "measures": (*LIST, "recall", [1]),
            "primary": (*LIST, "recall", [1]), "resampling": MAPPING, "wanted": (*NOTHING, "x", None, True),
        },
    ),
    (intervals, {"result": RESULTS[0]}, {"result": (*MAPPING, None), "resampling": MAPPING, "measures": (3, "recall", [1])}),
    (resample, {"result": RESULTS[0], "weights": [[1]]}, {"result": (*MAPPING, None), "measures": (3, "recall", [1])}),
    (
        gated,
        {"result": RESULTS[0]},
        {
            "result": (*MAPPING, None), "fail_under": MAPPING, "fail_over": MAPPING, "tolerance": MAPPING,
            "no_broken": (3, [1]), "baseline": (*NOTHING, 3, [1]), "resampling": MAPPING, "primary": (*LIST, "recall", [1]),
        },
    ),
    (calque.tables.teds, {"truth": TABLE, "predictions": TABLE}, {"structure_only": (*NOTHING, "x", None)}),
    (calque.layout.bbox_iou, {"boxA": [0, 0, 1, 1], "boxB": [0, 0, 1, 1]}, {"boxA": (*LIST, "x"), "boxB": (*LIST, "x")}),
    (
        calque.layout.evaluate_layout,
        {"gt_blocks": BLOCKS, "pred_blocks": BLOCKS},
        {"gt_blocks": (*LIST, [1]), "pred_blocks": (*LIST, [1]), "iou_threshold": (*NOTHING, "x", None, True)},
    ),
    (calque.words.align, {"truth": ["a"], "predictions": ["a"]}, {"truth": (*LIST, "x", [[1]]), "predictions": (*LIST, "x")}),
    (calque.words.confusions, {"truth": ["a"], "predictions": ["a"]}, {"truth": (*LIST, {"a": 1}), "predictions": LIST}),
    (calque.words.oracle, {"truth": ["a"], "slots": [[["a"]]]}, {"truth": (*LIST, "x", [[1]]), "slots": (3, [1], "x")}),
    (calque.words.oracle, {"truth": ["a"], "lattice": LATTICE}, {"lattice": MAPPING}),
    (
        calque.words.oracle,
        {"truth": ["a"], "edges": [(0, 1, ["a"])], "start": 0, "finals": [1]},
        {"edges": (*NOTHING, 3, [1], "x", [[1]]), "start": ([1], {"a": 1}), "finals": (*NOTHING, 3, [[1]])},
    ),
    (calque.words.build_lattice, {}, {"readings": (*MAPPING, None, {"a": 1}, {"a": [1]})}),
    (calque.words.clean, {"text": "a"}, {"text": (*LIST, [1]), "drop": (3, [1]), "min_block_recall": ("x", [1], True)}),
    (calque.words.tokenize, {"text": "a"}, {"text": (*LIST, [1]), "tokenizer": (*LIST, [1])}),
    (calque.words.compare, {"truth": "a", "predictions": "a"}, {"truth": (*LIST, [1]), "predictions": (*LIST, [1])}),
    (calque.comparators.register_comparator, {"name": "mine", "comparator": max}, {"name": (*LIST, "")}),
    (polygon_iou, {"first": RING, "second": RING}, {"first": (*NOTHING, "x"), "second": (*NOTHING, "x", {"a": 1})}),
    (Outcome, {"score": 1.0, "verdict": Verdict.PASS}, {"hits": LIST, "misses": (*LIST, "x")}),
    (COCOeval, {}, {"cocoGt": (*NOTHING, 3, [1]), "iouType": (*NOTHING, 3, [1])}),
    (Table, {}, {"columns": (*MAPPING, None, {"a": 1})}),
    (BulkStructuredModelEvaluator, {}, {"accumulators": (*LIST, "x", [1])}),
    (BBoxMAPAccumulator, {}, {"iou_thresholds": (*NOTHING, "x", ["x"])}),
    (ConfidenceAccumulator, {}, {"measures": MAPPING}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "fine", "name", "value"),
    [(call, fine, name, value) for call, fine, wrong in CALLS for name, values in wrong.items() for value in values],
)
def test_public_function_with_a_wrong_argument_names_it(
    call: Callable[..., Any], fine: dict[str, Any], name: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ConfigError, calque.ContractError), match=name.removesuffix("s")):
        call(**{**fine, name: value})


def test_long_values_are_shortened_in_errors() -> None:
    with pytest.raises(TypeError, match=r"^compare: names must be a list of texts, not 'y{76}\.\.\.$"):
        calque.compare(RESULTS, "y" * 90)


def test_calls_of_the_table_are_fine_without_the_wrong_argument() -> None:
    assert isinstance(gated(RESULTS[0]), Result)
    assert calque.words.align(["a"], np.array(["a"])).matches == 1
    assert resample(RESULTS[0], [[1]], iter(["recall"]))["recall"].tolist() == [1.0]


TASKS = (Ceiling, Checks, Detection, Fields, Layout, Order, Tables, Words)


@pytest.mark.parametrize(("task", "name"), [(task, field.name) for task in TASKS for field in fields(task) if field.init])
def test_every_setting_of_every_task_refuses_what_it_cannot_be_by_its_name(task: type[Task], name: str) -> None:
    for nothing_like_it in (complex(1, 2), object()):
        with pytest.raises((ConfigError, TypeError), match=name):
            task(**{name: nothing_like_it})


@pytest.mark.parametrize(
    ("task", "name"), [(task, name) for task in TASKS for name, note in settings(task).items() if note.kind == "choice"]
)
def test_every_choice_refuses_what_is_not_among_them_and_says_what_is(task: type[Task], name: str) -> None:
    choices = settings(task)[name].choices
    with pytest.raises(ConfigError, match=rf"{name}.*'{choices[-1]}x'") as refusal:
        task(**{name: f"{choices[-1]}x"})
    assert f"did you mean '{choices[-1]}'?" in str(refusal.value) or all(choice in str(refusal.value) for choice in choices)
