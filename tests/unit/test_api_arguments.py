"""Every public function calls its two sides `truth` and `predictions`; the former keywords still work, and warn."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import calque
from calque import Evaluator, Fields, Words
from calque.evaluation.boxes.reading import BoxReading

MODULES = (
    "calque", "calque.detection", "calque.layout", "calque.words", "calque.tables", "calque.order", "calque.fields",
    "calque.checks", "calque.ceiling", "calque.comparators",
)  # fmt: skip

FORMER = {"expected", "found", "actual", "ref", "pred", "reference", "prediction", "gt", "founds", "hypothesis", "predicted"}

NAMED_ELSEWHERE = {
    "evaluate_layout": "its source document names the parameters",
    "BulkStructuredModelEvaluator.update": "stickler names the parameters",
    "PostComparisonAccumulator.accumulate": "stickler names the parameters",
    "LedgerAccumulator.accumulate": "stickler names the parameters",
    "Suite.load": "`expected` and `actual` are keys of a suite file",
    "Alignment": "a result, which `align` makes",
    "Compared": "a result, which `compare` makes",
    "Oracle": "a result, which `oracle` makes",
    "BaseComparator.compare": "the interface of comparators",
    "BaseComparator.binary_compare": "the interface of comparators",
}
"""Parameters with names that calque cannot choose, and why."""

COMPARATOR_METHODS = ("matrix", "by_pairs")
"""What a comparator of one's own may override; calque calls them with two lists of prepared values, by position."""


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function and class, and every public method that calque gives a public class, each once."""
    found: dict[str, Callable[..., Any]] = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            members = inspect.getmembers(value, inspect.isroutine) if inspect.isclass(value) else []
            routines = [routine for member, routine in members if not member.startswith("_")]
            for one in [value, *routines]:
                if callable(one) and (getattr(one, "__module__", "") or "").startswith("calque"):
                    found[f"{one.__module__}.{one.__qualname__}"] = one
    for name, one in sorted(found.items()):
        yield name, one


def parameters(one: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(one).parameters)
    except ValueError:  # Python's own exceptions have no signature
        return []


CALLABLES = dict(public_callables())
TWO_SIDED = [
    name
    for name, one in CALLABLES.items()
    if {"truth", "predictions"} <= set(parameters(one)) and one.__qualname__ not in NAMED_ELSEWHERE
]


def test_public_callables_name_the_two_sides_truth_and_predictions() -> None:
    wrong = {
        name: sorted(named)
        for name, one in CALLABLES.items()
        if (named := {each for each in parameters(one) if each in FORMER or each.startswith(("gt_", "pred_"))})
        and one.__qualname__ not in NAMED_ELSEWHERE
        and one.__name__ not in COMPARATOR_METHODS
    }
    assert not wrong
    for name in TWO_SIDED:
        asked = [each for each in parameters(CALLABLES[name]) if each not in ("self", "cls")]
        assert asked[:2] == ["truth", "predictions"], name


def test_public_callables_with_two_sides_include_every_entry_point() -> None:
    names = {CALLABLES[name].__qualname__ for name in TWO_SIDED}
    assert {"align", "confusions", "compare", "teds", "compare_json", "evaluate_dataframe", "Evaluator.update"} <= names


RECORD = {"total": 1}
TABLE = "<table><tr><td>a</table>"
PAGES = {"page": "a b"}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Evaluator.update": (lambda **sides: Evaluator(Words()).update(**sides), {"expected": PAGES, "found": PAGES}),
    "align": (calque.words.align, {"ref": ["a"], "pred": ["a"]}),
    "confusions": (calque.words.confusions, {"ref": ["a"], "pred": ["a"]}),
    "oracle": (lambda **sides: calque.words.oracle(slots=[[["a"]]], **sides), {"ref": ["a"]}),
    "teds": (lambda **sides: calque.tables.teds(**{"truth": TABLE, **sides}), {"pred": TABLE}),
    "tables.compare": (lambda **sides: calque.tables.compare(**{"truth": TABLE, **sides}), {"pred": TABLE}),
    "order.compare": (lambda **sides: calque.order.compare(**{"truth": ["a"], **sides}), {"pred": ["a"]}),
    "compare_json": (lambda **sides: calque.fields.compare_json(**{"truth": RECORD, **sides}), {"prediction": RECORD}),
    "Task.resolved": (lambda **sides: Fields().resolved(**sides), {"expected": [RECORD], "found": [RECORD]}),
    "Task.batches": (lambda **sides: list(Words().batches(**sides)), {"expected": PAGES, "found": PAGES}),
}  # fmt: skip
NEW_NAMES = {"expected": "truth", "ref": "truth"}


@pytest.mark.parametrize("name", CALLS)
def test_former_keyword_alone_works_and_warns_once(name: str) -> None:
    call, former = CALLS[name]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        call(**former)
    assert [one.category for one in warned] == [DeprecationWarning]
    assert all(repr(keyword) in str(warned[0].message) for keyword in former)
    assert warned[0].filename == __file__


@pytest.mark.parametrize("name", CALLS)
def test_former_and_new_keyword_together_raise_type_error(name: str) -> None:
    call, former = CALLS[name]
    keyword, value = next(iter(former.items()))
    with pytest.raises(TypeError, match=keyword):
        call(**former, **{NEW_NAMES.get(keyword, "predictions"): value})


@pytest.mark.parametrize("name", CALLS)
def test_new_keyword_alone_does_not_warn(name: str) -> None:
    call, former = CALLS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(**{NEW_NAMES.get(keyword, "predictions"): value for keyword, value in former.items()})


def test_former_keyword_after_positional_side_raises_type_error() -> None:
    with pytest.warns(DeprecationWarning, match="ref"), pytest.raises(TypeError, match="truth"):
        calque.words.align(["a"], ref=["a"], predictions=["a"])


@pytest.mark.parametrize("method", ["score", "batches", "resolved"])
def test_every_task_method_accepts_former_keywords(method: str) -> None:
    """The decorator is on every override: a call with both names says so before anything is read."""
    tasks = [one for one in CALLABLES.values() if inspect.isclass(one) and issubclass(one, calque.Task)]
    assert len(tasks) == 9  # eight tasks and their base
    for task in tasks:
        with pytest.raises(TypeError, match="former name"):
            getattr(task, method)(None, expected=1, truth=1)


@pytest.mark.parametrize("method", ["box_batches", "read_boxes"])
def test_box_reading_accepts_former_keywords(method: str) -> None:
    with pytest.raises(TypeError, match="former name"):
        getattr(BoxReading, method)(None, found=1, predictions=1)
