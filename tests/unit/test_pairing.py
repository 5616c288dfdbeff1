"""Pairing against brute force, on both kinds of kernels."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.geometry.forms import BoxForm
from calque.kernels import kernels as kernels_in_use
from calque.kernels.structs import PageBoxes

pytestmark = pytest.mark.usefixtures("kernels")

Row = tuple[int, int, tuple[int, int, int, int], float, int]
"""(page, label, box, score, role)"""

_edges = st.tuples(st.integers(0, 6), st.integers(0, 4)).map(lambda e: (e[0], e[0] + e[1]))
_boxes = st.tuples(_edges, _edges).map(lambda e: (e[0][0], e[1][0], e[0][1], e[1][1]))
_scores = st.sampled_from([0.1, 0.5, 0.9, float("nan")])


def _rows(roles: list[int]) -> st.SearchStrategy[list[Row]]:
    row = st.tuples(st.integers(0, 1), st.integers(0, 1), _boxes, _scores, st.sampled_from(roles))
    return st.lists(row, max_size=7).map(lambda rows: sorted(rows, key=lambda r: r[0]))


def match(truths: list[Row], founds: list[Row], threshold: float, *, xywh: bool = False) -> tuple[Any, ...]:
    def side(rows: list[Row]) -> PageBoxes:
        boxes = np.array([row[2] for row in rows], dtype=np.float64).reshape(-1, 4)
        if xywh:
            boxes[:, 2:] -= boxes[:, :2]
        labels = np.array([row[1] for row in rows], dtype=np.int32)
        pages = np.array([row[0] for row in rows], dtype=np.int64)
        offsets = np.searchsorted(pages, [0, 1, 2]).astype(np.int64)
        form = BoxForm.XYWH if xywh else BoxForm.XYXY
        return PageBoxes(boxes, form, labels, offsets, np.array([row[4] for row in rows], dtype=np.uint8))

    scores = np.array([row[3] for row in founds], dtype=np.float64)
    return kernels_in_use().match_greedy(side(truths), side(founds), scores, threshold)[:3]


def area(box: tuple[int, ...]) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def shared(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)


def brute_force(truths: list[Row], founds: list[Row], threshold: float) -> dict[int, int]:
    """Truth row → found row: of all pairs that are left, the best, until there is none."""
    paired: dict[int, int] = {}
    while True:
        best: tuple[Any, ...] | None = None
        for (t, truth), (f, found) in itertools.product(enumerate(truths), enumerate(founds)):
            if truth[:2] != found[:2] or truth[4] or found[4] or t in paired or f in paired.values():
                continue
            common = shared(truth[2], found[2])
            union = area(truth[2]) + area(found[2]) - common
            score = -1.0 if np.isnan(found[3]) else found[3]
            if common and common / union >= threshold:
                key = (-common / union, -score, f, t)
                best = key if best is None else min(best, key)
        if best is None:
            return paired
        paired[best[3]] = best[2]


@pytest.mark.parametrize("xywh", [False, True])
@given(truths=_rows([0, 0, 0, 1, 2]), founds=_rows([0, 0, 0, 2]), threshold=st.sampled_from([0.01, 0.25, 0.5, 1.0]))
def test_greedy_matching_is_brute_force(truths: list[Row], founds: list[Row], threshold: float, xywh: bool) -> None:
    truth_match, found_match, absorbed = match(truths, founds, threshold, xywh=xywh)
    wanted = brute_force(truths, founds, threshold)
    assert {t: f for t, f in enumerate(truth_match.tolist()) if f >= 0} == wanted
    assert {t: f for f, t in enumerate(found_match.tolist()) if t >= 0} == wanted
    assert absorbed.tolist() == [
        max(
            (shared(t[2], f[2]) / area(f[2]) for t in truths if t[4] == 1 and t[:2] == f[:2] and area(f[2]) and not f[4]),
            default=0.0,
        )
        for f in founds
    ]


def test_an_empty_side_is_no_error() -> None:
    row: Row = (0, 0, (0, 0, 2, 2), 0.5, 0)
    assert match([], [row], 0.5)[1].tolist() == [-1]
    assert match([row], [], 0.5)[0].tolist() == [-1]
    assert match([], [], 0.5)[0].tolist() == []


@pytest.mark.parametrize(
    "broken",
    [
        {"boxes": np.zeros((1, 3))},
        {"form": "cxcywh"},
        {"labels": np.zeros(2, np.int32)},
        {"offsets": np.array([0, 2])},
        {"offsets": np.array([1, 1])},
        {"offsets": np.array([0, 1, 1])},
        {"roles": np.zeros(2, np.uint8)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_tables_that_do_not_fit_are_refused(broken: dict[str, Any]) -> None:
    side = PageBoxes(np.zeros((1, 4)), BoxForm.XYXY, np.zeros(1, np.int32), np.array([0, 1]), np.zeros(1, np.uint8))
    for truth, found in ((side._replace(**broken), side), (side, side._replace(**broken))):
        with pytest.raises((ValueError, TypeError)):
            kernels_in_use().match_greedy(truth, found, np.zeros(1), 0.5)
    with pytest.raises(ValueError, match="every found column"):
        kernels_in_use().match_greedy(side, side, np.zeros(2), 0.5)


def test_many_pairs_are_worked_through_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from calque.kernels.reference import boxes

    rows: list[Row] = [(0, 0, (k, 0, k + 2, 2), 0.5, 0) for k in range(20)]
    whole = match(rows, rows, 0.1)
    monkeypatch.setattr(boxes, "PAIRS_AT_ONCE", 7)
    for one, other in zip(whole, match(rows, rows, 0.1), strict=True):
        assert one.tolist() == other.tolist()
