"""TIDE's error types are metrics: results, gates, comparisons, intervals and `explain` have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from calque import Corpus, Detection, Evaluator, Result
from calque.statistics.bootstrap import Resampling
from calque.statistics.intervals import intervals
from tests.conftest import Run

TYPES = ("Cls", "Loc", "Both", "Dupe", "Bkg", "Miss")
TRUTH = [([0, 0, 10, 10], "Table"), ([20, 0, 30, 10], "Table"), ([40, 0, 50, 10], "Figure")]
FOUND = [
    ([0, 0, 10, 10], "Figure", 0.9),
    ([20, 0, 30, 10], "Table", 0.8),
    ([20, 0, 30, 9], "Table", 0.7),
    ([90, 0, 99, 9], "Figure", 0.6),
]
COUNTS = {"Cls": 1, "Loc": 0, "Both": 0, "Dupe": 1, "Bkg": 1, "Miss": 1}


def evaluated(documents: int = 1) -> Result:
    """Evaluate the same page in several documents."""
    names = range(documents)
    truth = [(name, *row) for name in names for row in TRUTH]
    found = [(name, *row) for name in names for row in FOUND]
    sides = (
        Corpus.from_arrays([row[1] for row in truth], [row[2] for row in truth], documents=[row[0] for row in truth]),
        Corpus.from_arrays(
            [row[1] for row in found],
            [row[2] for row in found],
            documents=[row[0] for row in found],
            scores=[row[3] for row in found],
        ),
    )
    return Evaluator(Detection(errors="tide")).update(*sides).compute()


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "gt.json").write_text(json.dumps([{"bbox": box, "category": label} for box, label in TRUTH]))
    rows = [{"bbox": box, "category": label, "score": score} for box, label, score in FOUND]
    (tmp_path / "pred.json").write_text(json.dumps(rows))
    return "gt.json", "pred.json"


def test_result_of_tide_has_each_type_by_name_and_by_class() -> None:
    result = evaluated()
    assert {name: result[name] for name in TYPES} == COUNTS
    assert (result["Cls/Figure"], result["Cls/Table"], result["Miss/Figure"]) == (1, 0, 1)
    assert result["delta_f1/Cls"] > 0
    with pytest.raises(KeyError):
        result["CLS"]


@pytest.mark.parametrize(
    ("gate", "code"), [("Cls=0", 1), ("Cls=1", 0), ("Miss/Figure=0", 1), ("delta_f1/Cls=1", 0), ("CLS=0", 2)]
)
def test_gate_on_a_type_of_tide_is_judged(calque: Callable[..., Run], files: tuple[str, str], gate: str, code: int) -> None:
    assert calque("detect", *files, "--boxes", "xyxy", "--errors", "tide", "--fail-over", gate).code == code


def test_intervals_of_types_of_tide_contain_their_values() -> None:
    result = evaluated(documents=30)
    names = [*TYPES, "Miss/Figure", "delta_f1/Cls"]
    found = intervals(result, Resampling(replicates=100), names)
    assert set(found) == set(names)
    for name, one in found.items():
        assert one.value == result[name]
        assert one.low is not None
        assert one.high is not None
        assert one.low <= one.value <= one.high


def test_comparison_tests_a_type_of_tide(calque: Callable[..., Run], files: tuple[str, str]) -> None:
    common = ("--boxes", "xyxy", "--errors", "tide", "--format", "json")
    run = calque("compare", files[0], files[1], files[1], *common, "--primary", "Cls", "--replicates", "100")
    assert run.code == 0, run.err
    assert run.json["measures"]["Cls"]["delta"]["verdict"] == "equal"


@pytest.mark.parametrize("name", [*TYPES, "Cls/Table"])
def test_explain_of_a_type_of_tide_gives_its_own_definition(calque: Callable[..., Run], name: str) -> None:
    run = calque("explain", name)
    assert run.code == 0
    assert "TIDE" in run.out
    assert run.out.count("task        detection") == 1
