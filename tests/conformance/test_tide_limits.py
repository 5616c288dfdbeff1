"""TIDE's kinds exactly at its two limits, as tidecv compares: ``bg <= IoU <= fg``, ``IoU >= fg``, ``IoU <= bg``."""

from __future__ import annotations

import pytest

from calque import Detection
from tests.conformance.test_error_kinds import kinds_of, result_of

Found = tuple[str, tuple[float, float, float, float], float]

TIDE = Detection(errors="tide")
TRUTH = ("Table", (0, 0, 100, 100))
SAME = ("Table", (0, 0, 100, 100), 0.9)


def rows(label: str, height: float, score: float = 0.5) -> Found:
    """A prediction with the truth's width: its IoU with the truth is its height in hundredths."""
    return label, (0, 0, 100, height), score


@pytest.mark.parametrize(
    ("founds", "expected"),
    [
        pytest.param([rows("Table", 50)], (["TP"], ["TP"]), id="a pair from fg on"),
        pytest.param([rows("Table", 49)], (["Loc"], ["Loc"]), id="no pair below fg"),
        pytest.param([SAME, rows("Table", 50)], (["TP"], ["TP", "Loc"]), id="at fg once more is a poor place, not a duplicate"),
        pytest.param([SAME, rows("Table", 51)], (["TP"], ["TP", "Dupe"]), id="above fg once more is a duplicate"),
        pytest.param([rows("Table", 10)], (["Loc"], ["Loc"]), id="a poor place from bg on"),
        pytest.param([rows("Table", 9)], (["Miss"], ["Bkg"]), id="background below bg"),
        pytest.param([rows("Figure", 50)], (["Cls"], ["Cls"]), id="another class from fg on"),
        pytest.param([rows("Figure", 49)], (["Miss"], ["Both"]), id="both below fg"),
        pytest.param([rows("Figure", 11)], (["Miss"], ["Both"]), id="both above bg"),
        pytest.param([rows("Figure", 10)], (["Miss"], ["Bkg"]), id="another class at bg is background"),
    ],
)
def test_at_the_limits(kernels: str, founds: list[Found], expected: tuple[list[str], list[str]]) -> None:
    assert kinds_of(result_of([([TRUTH], founds)], TIDE)) == expected


def test_other_limits_are_compared_in_the_same_way(kernels: str) -> None:
    task = Detection(errors="tide", error_limits=(0.75, 0.25, 0.5, 0.7))
    founds = [SAME, rows("Table", 75), rows("Table", 76), rows("Table", 25), rows("Table", 24), rows("Figure", 25)]
    assert kinds_of(result_of([([TRUTH], founds)], task)) == (["TP"], ["TP", "Loc", "Dupe", "Loc", "Bkg", "Bkg"])
