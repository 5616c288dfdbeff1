"""Gates on the reference cases of comparisons: the same differences, the same broken items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from calque import Detection, Evaluator, Result, gated
from calque.statistics.bootstrap import Resampling
from tests.conformance.test_compare_cases import FILE, written


def runs(folder: Path, case: str) -> tuple[Result, Result]:
    files = FILE[case]
    truth, a, b = written(folder, truth=files["truth"], a=files["a"], b=files["b"])
    first, second = (Evaluator(Detection()).update(truth, found).compute() for found in (a, b))
    return first, second


@pytest.fixture
def drawing() -> Resampling:
    case = FILE["compare"]
    return Resampling(replicates=case["replicates"], seed=case["seed"])


def test_the_baseline_of_a_result_is_the_difference_of_a_comparison(tmp_path: Path, drawing: Resampling) -> None:
    base, run = runs(tmp_path, "compare")
    told = gated(run, baseline=base, resampling=drawing).to_dict()["baseline"]
    for name, expected in FILE["compare"]["expect"].items():
        assert {key: told[name][key] for key in expected["delta"]} == pytest.approx(expected["delta"], abs=1e-12)


@pytest.mark.parametrize("name", FILE["compare"]["expect"])
def test_exactly_the_difference_is_tolerated(tmp_path: Path, drawing: Resampling, name: str) -> None:
    """All four are without a significant loss; AP, AP50 and recall are lower, F1 is higher."""
    base, run = runs(tmp_path, "compare")
    value = FILE["compare"]["expect"][name]["delta"]["value"]

    def failures(**gates: object) -> list[str]:
        return gated(run, baseline=base, resampling=drawing, **gates).failures  # type: ignore[arg-type]  # as a user gives them

    assert failures(tolerance={name: max(0.0, -value)}) == []
    assert failures(tolerance={name: "significant"}) == []
    assert len(failures(tolerance={name: max(0.0, -value) - 1e-9})) == 1 if value < 0 else failures(tolerance={name: 0}) == []
    assert failures() == []


@pytest.mark.parametrize(("confidence", "fails"), [(0.95, False), (0.84, False), (0.83, True)])
def test_significance_follows_the_confidence(tmp_path: Path, drawing: Resampling, confidence: float, fails: bool) -> None:
    assert FILE["compare"]["expect"]["AP"]["delta"]["p"] == pytest.approx(0.1684, abs=1e-4)
    base, run = runs(tmp_path, "compare")
    judged = gated(run, baseline=base, tolerance={"AP": "significant"}, resampling=replace(drawing, confidence=confidence))
    assert bool(judged.failures) == fails


def test_every_broken_truth_is_listed_and_nothing_else(tmp_path: Path) -> None:
    base, run = runs(tmp_path, "changed")
    broken = [row for row in FILE["changed"]["expect"] if row["change"] == "broken"]
    first, *listed = gated(run, baseline=base, tolerance={"AP": 1}, no_broken=True).failures
    assert first.startswith(f"{len(broken)} item")
    assert len(listed) == len(broken)
    for line, row in zip(listed, broken, strict=True):
        assert line.startswith(f"broken: {row['document']}, page {row['page']}, ")
        assert f", {row['id']}: TP → " in line
    fixed = [row for row in FILE["changed"]["expect"] if row["change"] == "fixed"]
    assert len(gated(base, baseline=run, tolerance={"AP": 1}, no_broken=True).failures) == len(fixed) + 1
    for row in FILE["changed"]["expect"]:
        there = [other for other in broken if other["document"] == row["document"]]
        places = gated(run, baseline=base, tolerance={"AP": 1}, no_broken=[row["document"]]).failures
        assert len(places) == (len(there) + 1 if there else 0)
