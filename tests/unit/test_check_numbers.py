"""The numbers of checks: whom a batch punishes, what a suite divides by, and which number a gate looks at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calque import Evaluator, Result
from calque.checks import Checks, evaluator
from calque.checks.evaluators.two_sides import pair_up
from calque.checks.suites.cases import Case, CaseCorpus
from calque.checks.suites.gate import Gate

# Batches: both sides count (D3, D4, D9, D14).

SIZES = range(5)


@pytest.mark.parametrize("matching", ["index", "hungarian"])
@pytest.mark.parametrize("truths", SIZES)
@pytest.mark.parametrize("found", SIZES)
def test_points_that_are_missing_and_points_too_many_are_punished(found: int, truths: int, matching: str) -> None:
    """Score = share within, of max(n_pred, n_truth); nothing expected and nothing found is right."""
    places = [[10.0 * k, 0.0] for k in range(max(SIZES))]
    config = {
        "type": "coordinate_distance",
        "point_path": "p",
        "expected_point_path": "p",
        "threshold": 1,
        "matching": matching,
    }
    outcome = evaluator(config).evaluate({"p": places[:found]}, {"p": places[:truths]})
    both, all_places = min(found, truths), max(found, truths)
    assert outcome.score == (both / all_places if all_places else 1.0)
    assert (outcome.metadata["passes"], outcome.metadata["fails"]) == (both, all_places - both)
    assert (len(outcome.metadata["distances"]), len(outcome.misses)) == (all_places, all_places - both)
    assert str(outcome.verdict) == ("pass" if found == truths else "partial" if both else "fail")


@pytest.mark.parametrize("matching", ["index", "hungarian", "max_matches"])
@pytest.mark.parametrize("truths", SIZES)
@pytest.mark.parametrize("found", SIZES)
def test_boxes_that_are_missing_and_boxes_too_many_are_punished(found: int, truths: int, matching: str) -> None:
    """Score = mean over max(n_pred, n_truth); tp + fp = n_pred, tp + fn = n_truth; undefined ratios are 0.0, of nothing 1.0."""
    places = [[10.0 * k, 0.0, 10.0 * k + 4, 4.0] for k in range(max(SIZES))]
    config = {"type": "iou_score", "bbox_path": "b", "expected_bbox_path": "b", "matching": matching}
    outcome = evaluator(config).evaluate({"b": places[:found]}, {"b": places[:truths]})
    both, all_places = min(found, truths), max(found, truths)
    assert outcome.score == (both / all_places if all_places else 1.0)
    numbers = outcome.metadata
    assert (numbers["tp"], numbers["fp"], numbers["fn"]) == (both, found - both, truths - both)
    nothing = 0.0 if all_places else 1.0
    assert numbers["precision"] == (both / found if found else nothing)
    assert numbers["recall"] == (both / truths if truths else nothing)


EIGHTHS = st.integers(0, 8).map(lambda n: n / 8)


@st.composite
def matrices(draw: st.DrawFn) -> list[list[float]]:
    height, width = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    return draw(st.lists(st.lists(EIGHTHS, min_size=width, max_size=width), min_size=height, max_size=height))


def every_pairing(scores: Sequence[Sequence[float]]) -> list[list[float]]:
    """The scores of the pairs, for each way to pair as many rows with columns as there can be."""
    if len(scores) > len(scores[0]):
        scores = list(zip(*scores, strict=True))
    columns = range(len(scores[0]))
    return [[row[column] for row, column in zip(scores, order, strict=True)] for order in permutations(columns, len(scores))]


THREE_FAINT_OR_TWO_STRONG = [[0.125, 1.0, 0.0], [0.0, 0.125, 1.0], [0.0, 0.0, 0.125]]


@given(scores=matrices(), threshold=st.integers(1, 8).map(lambda n: n / 8))
@example(scores=THREE_FAINT_OR_TWO_STRONG, threshold=0.125)
def test_max_matches_is_the_most_matches_and_then_the_largest_total(scores: list[list[float]], threshold: float) -> None:
    """However strong fewer matches are: three faint ones are more than two strong ones (D14)."""

    def worth(values: Sequence[float]) -> tuple[int, float]:
        return sum(value >= threshold for value in values), sum(values)

    pairs = [scores[i][j] for i, j in pair_up(np.array(scores), "max_matches", threshold)]
    assert worth(pairs) == max(map(worth, every_pairing(scores)))
    total = [scores[i][j] for i, j in pair_up(np.array(scores), "hungarian", threshold)]
    assert sum(total) == max(map(sum, every_pairing(scores)))


@pytest.mark.parametrize(("found", "tp"), [([0, 0, 4, 2], 1), ([0, 0, 4, 1.99], 0)])
@pytest.mark.parametrize("matching", ["index", "hungarian", "max_matches"])
def test_a_pair_counts_from_its_threshold_on_inclusive(matching: str, found: list[float], tp: int) -> None:
    """Pairs count as true positives at ``match_threshold``, else ``threshold``, else 0.5."""
    config = {"type": "iou_score", "bbox_path": "b", "expected_bbox_path": "b", "matching": matching}
    for more in ({}, {"threshold": 0.5}, {"threshold": 0.9, "match_threshold": 0.5}):
        assert evaluator({**config, **more}).evaluate({"b": [found]}, {"b": [[0, 0, 4, 4]]}).metadata["tp"] == tp


# Suites: what is divided by what.

KINDS = ("pass", "partial", "fail", "error")
"""From best to worst, as a suite ranks them."""
HEIGHTS = {"pass": 8.0, "partial": 5.0, "fail": 1.0}
"""How much of a box eight high is found: without a threshold, pass from 0.8, partial from 0.5 (D1)."""
NAMES = ("first", "second")
WEIGHTS = (3, 1)
TASK = Checks.of(
    [
        {"type": "iou_score", "bbox_path": name, "expected_bbox_path": name, "name": name, "weight": weight}
        for name, weight in zip(NAMES, WEIGHTS, strict=True)
    ]
)
Verdicts = tuple[str, str]


def score(verdict: str) -> Fraction:
    """An expected value that is missing scores 0 (D10)."""
    return Fraction(HEIGHTS.get(verdict, 0.0)) / 8


def corpora(cases: Sequence[Verdicts]) -> tuple[CaseCorpus, CaseCorpus]:
    truths, found = [], []
    for number, verdicts in enumerate(cases):
        named = list(zip(NAMES, verdicts, strict=True))
        truth = {name: [0.0, 0.0, 4.0, 8.0] for name, verdict in named if verdict != "error"}
        truths.append(Case(number, None, truth))
        found.append(Case(number, {name: [0.0, 0.0, 4.0, HEIGHTS.get(verdict, 8.0)] for name, verdict in named}, None))
    return CaseCorpus(cases=tuple(truths)), CaseCorpus(cases=tuple(found))


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)), min_size=1, max_size=6))
def test_rates_and_scores_are_over_all_cases(cases: list[Verdicts]) -> None:
    """A case has the worst verdict of its evaluators; cases that are partly right or cannot be judged are cases, too."""
    numbers = Evaluator(TASK).update(*corpora(cases)).compute().numbers
    worst = [max(verdicts, key=KINDS.index) for verdicts in cases]
    weighted = [sum(w * score(v) for w, v in zip(WEIGHTS, verdicts, strict=True)) / sum(WEIGHTS) for verdicts in cases]
    assert numbers["summary"] == {
        "cases": len(cases),
        **{kind: worst.count(kind) for kind in KINDS},
        "partial_failed": 0,
        "score": pytest.approx(float(sum(weighted) / len(cases)), abs=1e-12),
        "pass_rate": worst.count("pass") / len(cases),
    }
    for name, verdicts in zip(NAMES, zip(*cases, strict=True), strict=True):
        assert numbers["evaluators"][name] == {
            "cases": len(cases),
            **{kind: verdicts.count(kind) for kind in KINDS},
            "partial_failed": 0,
            "score": pytest.approx(float(sum(map(score, verdicts)) / len(cases)), abs=1e-12),
            "pass_rate": verdicts.count("pass") / len(cases),
        }


def test_a_case_that_weighs_nothing_has_no_score_and_lowers_none() -> None:
    plain = {"type": "iou_score", "bbox_path": "b", "expected_bbox_path": "b"}
    light = Checks.of([{**plain, "weight": 0, "name": "light"}])
    truth, found = {"b": [0, 0, 4, 8]}, {"b": [0, 0, 4, 4]}
    cases = [Case("light", found, truth), Case("heavy", found, truth, evaluators=({**plain, "name": "heavy"},))]

    def result(chosen: Sequence[Case]) -> Result:
        sides = CaseCorpus(cases=tuple(chosen)), CaseCorpus(cases=tuple(chosen))
        return Evaluator(light).update(*sides).compute()

    assert result(cases)["score"] == result(cases[1:])["score"] == 0.5
    assert result(cases[:1])["score"] is None
    assert result(cases[:1]).undefined["summary.score"] == "every evaluator weighs 0"


# Gates: each limit looks at its own number.


@given(st.permutations([0.2, 0.4, 0.6, 0.8]), st.sampled_from([0.2, 0.4, 0.6, 0.8]))
def test_each_limit_of_a_gate_is_about_the_number_that_it_names(values: list[float], limit: float) -> None:
    mean_score, pass_rate, own_score, own_rate = values
    numbers: dict[str, Any] = {
        "summary": {"score": mean_score, "pass_rate": pass_rate, "fail": 3},
        "evaluators": {"center": {"score": own_score, "pass_rate": own_rate, "fail": 1}},
    }
    gates = (
        ("mean score", Gate(mean_score=limit, given=True), mean_score),
        ("pass rate", Gate(pass_rate=limit, given=True), pass_rate),
        ("the score of center", Gate(evaluators={"center": limit}, given=True), own_score),
    )
    for what, gate, value in gates:
        assert gate.failures(numbers) == ([] if value >= limit else [f"{what} {value:.4f} is below {limit:g}"])


@pytest.mark.parametrize("gate", [Gate(mean_score=0.3, given=True), Gate(pass_rate=0.3, given=True)])
def test_limits_are_inclusive_and_float_noise_flips_none(gate: Gate) -> None:
    def failures(value: float) -> list[str]:
        return gate.failures({"summary": {"score": value, "pass_rate": value, "fail": 0}, "evaluators": {}})

    for value in (0.3, math.nextafter(0.3, 0.0), 0.3 - 1e-10):
        assert failures(value) == []
    assert len(failures(0.3 - 1e-8)) == 1


@pytest.mark.parametrize(
    ("gate", "holds"),
    [
        (Gate(mean_score=0.8125, given=True), True),
        (Gate(mean_score=0.82, given=True), False),
        (Gate(pass_rate=0.5, given=True), True),
        (Gate(pass_rate=0.8, given=True), False),
    ],
)
def test_a_suite_may_score_well_and_pass_seldom(gate: Gate, holds: bool) -> None:
    """One case of two passes, the other is 0.625 right: the mean score is 0.8125, the pass rate 0.5."""
    numbers = Evaluator(TASK).update(*corpora([("pass", "pass"), ("partial", "partial")])).compute().numbers
    assert (not gate.failures(numbers)) == holds
