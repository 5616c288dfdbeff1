"""Thresholds are inclusive, wherever one is asked: what lies at one counts as what lies a little above it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator, Layout, Task
from calque.evaluation.result import Result

AT, BELOW = 0.25, 0.24
"""An overlap that boxes can have to the bit, and a threshold below it with nothing in between."""
TRUTH = [[0, 0, 8, 8], [20, 0, 28, 8], [40, 0, 48, 8], [60, 0, 68, 8]]
FOUND = [[0, 0, 8, 2], [20, 0, 28, 2], [40, 0, 48, 2], [80, 0, 88, 2]]


def sides() -> tuple[Corpus, Corpus]:
    """Two pairs of one class, a pair of two, one that is missed and one that is made up."""
    truth = Corpus.from_arrays(TRUTH, ["x", "y", "y", "x"])
    return truth, Corpus.from_arrays(FOUND, ["x", "y", "x", "y"], scores=[0.9, 0.8, 0.7, 0.6])


def result(task: Task) -> Result:
    return Evaluator(task).update(*sides()).compute()


def leaves(tree: Any, threshold: float, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every number with its place, both without the threshold."""
    told = repr(threshold)
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key not in {"signature", "settings", "version"}:
                yield from leaves(value, threshold, f"{place}/{key.replace(told, 'T')}")
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            yield from leaves(value, threshold, f"{place}/{number}")
    else:
        is_it = "threshold" in place and tree == threshold
        yield place, "T" if is_it else tree.replace(told, "T") if isinstance(tree, str) else tree


def detection(threshold: float) -> Task:
    return Detection(iou=(threshold,), crops=True, confusion=True, sweep=True, page_view=True)


def tide(threshold: float) -> Task:
    return Detection(iou=(threshold,), errors="tide")


def layout(threshold: float) -> Task:
    return Layout(iou=threshold)


@pytest.mark.parametrize("make", [detection, tide, layout], ids=lambda make: make.__name__)
def test_at_a_threshold_is_as_good_as_above_it(make: Any, kernels: str) -> None:
    at, below = (dict(leaves(json.loads(result(make(each)).to_json()), each)) for each in (AT, BELOW))
    assert len(at) > 20
    assert {place: (value, below.get(place)) for place, value in at.items() if value != below.get(place)} == {}
    assert at.keys() == below.keys()
    above = dict(leaves(json.loads(result(make(0.26)).to_json()), 0.26))
    assert above != at, "and the threshold is asked at all"
