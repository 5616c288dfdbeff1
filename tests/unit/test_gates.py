"""Gates in Python: for any task, and for anything that can be a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from calque import (
    ConfigError,
    Corpus,
    Detection,
    Evaluator,
    Fields,
    Layout,
    Order,
    Result,
    Table,
    Tables,
    Task,
    Words,
    gated,
)
from calque.base.errors import MergeError
from calque.checks import Checks
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.metric_names import direction
from calque.evaluation.verdict import LISTED, some_failures
from calque.statistics.bootstrap import Resampling
from calque.statistics.gates import OVER, UNDER, Gates, Limit

FEW = Resampling(replicates=100)


@dataclass(frozen=True, kw_only=True)
class Misses(Task):
    """A task of somebody else: how often a document went wrong. It names what is better low, and nothing more."""

    name: ClassVar[str] = "misses"
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"misses"})
    neutral: ClassVar[frozenset[str]] = frozenset({"documents"})

    def score(self, expected: Any, found: Mapping[str, int], *, jobs: int = 1) -> Ledger:  # only counts matter
        rows = {UNIT: np.arange(len(found), dtype=np.int32), "misses": np.array(list(found.values()), dtype=np.int64)}
        return Ledger(units=tuple(found), tables={"rows": Table(rows)})

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:  # one sum
        misses = ledger.table("rows").array("misses")
        return {"documents": len(misses), "misses": int(misses.sum()), "clean": float((misses == 0).mean())}


def run(**misses: int) -> Result:
    return Evaluator(Misses()).add(Misses().score(None, misses)).compute()


def test_a_task_of_ones_own_has_gates() -> None:
    result = run(a=0, b=2, c=0, d=0)
    assert result.flat("val/") == {"val/documents": 4, "val/misses": 2, "val/clean": 0.75}
    assert gated(result, fail_under={"clean": 0.75, "documents": 4}, fail_over={"misses": 2, "documents": 4}).failures == []
    assert gated(result, fail_over={"misses": 1}).failures == ["misses 2 is above 1.0"]
    with pytest.raises(ConfigError, match="lower is better there; use --fail-over misses=1"):
        gated(result, fail_under={"misses": 1})


def test_a_task_of_ones_own_is_held_against_a_baseline() -> None:
    before, after = run(a=0, b=2, c=0, d=0, e=0), run(a=1, b=2, c=0, d=0, e=0)
    lost = gated(after, baseline=before, tolerance={"misses": 0, "clean": 0.25}, resampling=FEW)
    assert [failure.split(":")[0] for failure in lost.failures] == ["misses 3 against 2 in the baseline"]
    assert gated(before, baseline=after, tolerance={"misses": 0, "clean": 0}, resampling=FEW).failures == []
    with pytest.raises(ConfigError, match="misses does not tell what became of single items"):
        gated(after, baseline=before, no_broken=True, resampling=FEW)
    with pytest.raises(ConfigError, match="neither more nor less is better there"):
        gated(after, baseline=before, tolerance={"documents": 1}, resampling=FEW)


@pytest.fixture
def pair() -> tuple[Evaluator, Evaluator]:
    labels, names, box = ["Table"] * 3 + ["Figure"] * 3, list("abcdef"), [0, 0, 9, 9]
    truth = Corpus.from_arrays([box] * 6, labels, documents=names)
    found = [Corpus.from_arrays([box] * n, labels[:n], documents=names[:n], scores=[1] * n) for n in (6, 5)]
    evaluators = [Evaluator(Detection()).update(truth, side) for side in found]
    return evaluators[0], evaluators[1]


def test_a_baseline_is_a_state_an_evaluator_or_a_result(pair: tuple[Evaluator, Evaluator], tmp_path: Path) -> None:
    base, other = pair
    base.save(tmp_path / "base.state")
    result = other.compute()
    for given in (base, base.compute(), tmp_path / "base.state", str(tmp_path / "base.state")):
        judged = gated(result, baseline=given, tolerance={"recall": 0.1}, resampling=FEW)
        assert [failure.split()[0] for failure in judged.failures] == ["recall"]
    assert result.failures == []


@pytest.mark.parametrize(("places", "lines"), [(True, 2), (False, 0), ("Figure", 2), (["Table"], 0), (("Figure", "f"), 4)])
def test_places_in_which_nothing_may_break(pair: tuple[Evaluator, Evaluator], places: Any, lines: int) -> None:
    judged = gated(pair[1].compute(), baseline=pair[0], tolerance={"AP": 1}, no_broken=places, resampling=FEW)
    assert len(judged.failures) == lines


def test_another_truth_is_refused(pair: tuple[Evaluator, Evaluator]) -> None:
    truth = Corpus.from_arrays([[0, 0, 9, 8]] * 6, ["Table"] * 3 + ["Figure"] * 3, documents=list("abcdef"))
    other = Evaluator(Detection()).update(truth, truth.select(()))
    with pytest.raises(MergeError, match="another truth, which differs in 6 documents"):
        gated(other.compute(), baseline=pair[0], resampling=FEW)


def test_what_is_no_number_is_no_measure() -> None:
    result = Evaluator(Words()).update({"d": "to be"}, {"d": "to be"}).compute()
    with pytest.raises(ConfigError, match="this is no number; the nearest are "):
        gated(result, fail_under={"missing_pred/d": 1})
    assert gated(result, fail_under={"recall/d": 1}).failures == []


def test_many_failures_are_counted_for_people() -> None:
    failures = [f"broken: {number}" for number in range(LISTED + 3)]
    assert some_failures(failures) == [*failures[:LISTED], "… and 3 more; --format json lists them all"]
    assert some_failures(failures[:LISTED]) == failures[:LISTED]


@pytest.mark.parametrize("task", [Checks, Detection, Fields, Layout, Order, Tables, Words], ids=lambda task: task.name)
def test_the_wrong_one_of_the_two_options_is_refused_before_anything_is_read(task: type[Task]) -> None:
    known = {measure.name for measure in task.measures()}
    turned = {name: direction(task, name) for name in sorted(known)}
    assert set(turned.values()) - {0, None}
    for name, better in turned.items():
        for flag, right in ((UNDER, 1), (OVER, -1)):
            limit = Limit.of(name, 0.5, flag)
            if better and better != right:
                with pytest.raises(ConfigError, match="is better there"):
                    limit.check(task)
                with pytest.raises(ConfigError, match="is better there"):
                    Gates(limits=(limit,)).check(task)
            else:
                limit.check(task)
    Limit.of("nobody_knows_it", 0.5, UNDER).check(task)


def test_a_measure_that_lost_its_value_is_told_with_the_reason() -> None:
    """Without predictions there is no precision, and the baseline had one."""
    names, box = list("abcdef"), [0, 0, 9, 9]
    truth = Corpus.from_arrays([box] * 6, ["x"] * 6, documents=names)
    sides = [Corpus.from_arrays([box] * n, ["x"] * n, documents=names[:n], scores=[1] * n, all_documents=names) for n in (6, 0)]
    before, now = (Evaluator(Detection()).update(truth, side).compute() for side in sides)
    judged = gated(now, baseline=before, tolerance={"precision": 0.1}, resampling=FEW)
    assert judged.failures == [f"precision has no value ({now.why_undefined('precision')}); in the baseline it was 1.0000"]
    assert now.why_undefined("precision") == "no predictions"


def test_gate_on_an_error_type_judges_the_number_of_that_name() -> None:
    """Two of the boxes are pairs at IoU 0.3, but only one is of error type TP."""
    truth = Corpus.from_arrays([[0, 0, 17, 17], [0, 0, 34, 17]], ["Figure"] * 2)
    predictions = Corpus.from_arrays([[0, 0, 17, 17], [0, 0, 17, 34]], ["Figure"] * 2, scores=[0.1, 0.1])
    result = Evaluator(Detection(iou=(0.3,))).update(truth, predictions).compute()
    assert (result["TP"], result["tp@0.3"]) == (1, 2)
    assert not gated(result, fail_under={"TP": 1}).verdict.failures
    assert gated(result, fail_under={"TP": 2}).verdict.failures
    assert not gated(result, fail_under={"TP@0.3": 2}).verdict.failures


@pytest.mark.parametrize("task", [Checks, Detection, Fields, Layout, Order, Tables, Words])
def test_no_metric_is_both_neutral_and_better_when_low(task: type[Task]) -> None:
    assert task.lower_is_better.isdisjoint(task.neutral)
