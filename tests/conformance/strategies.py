"""Random pairs of snapshot files in which boxes meet often, ties included."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.snapshots import predictions, truth

GRID = 16
"""Corners lie on sixteenths: areas and intersections are exact, equal IoUs are common."""

_edges = st.tuples(st.integers(0, GRID - 1), st.integers(1, 6)).map(lambda e: (e[0] / GRID, min(e[0] + e[1], GRID) / GRID))
boxes = st.tuples(_edges, _edges).map(lambda e: (e[0][0], e[1][0], e[0][1], e[1][1]))
labels = st.sampled_from(["Figure", "Table"])
scores = st.sampled_from([0.25, 0.5, 0.75, 0.9])
_places = st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 1))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ground truth and predictions: some predictions copy a truth, some move it, some stand anywhere."""
    expected = draw(st.dictionaries(_places, st.lists(st.tuples(labels, boxes), max_size=5), max_size=4))
    found: dict[tuple[str, int], list[tuple[str, Any, float]]] = {}
    for place in draw(st.lists(_places, unique=True, max_size=4)):
        anywhere = draw(st.lists(st.tuples(labels, boxes), max_size=3))
        copied = draw(st.lists(st.sampled_from(expected[place]), max_size=4)) if expected.get(place) else []
        entries = draw(st.permutations([*anywhere, *((label, draw(nudged(box))) for label, box in copied)]))
        found[place] = [(label, box, draw(scores)) for label, box in entries]
    known = draw(st.tuples(*[st.sets(st.sampled_from(["a", "b", "c"]), min_size=1)] * 2))
    return (
        truth(expected, documents=sorted({*known[0], *(name for name, _ in expected)})),
        predictions(found, documents=sorted({*known[1], *(name for name, _ in found)})),
    )


@st.composite
def nudged(draw: st.DrawFn, box: tuple[float, ...]) -> tuple[float, ...]:
    """The box with each side moved by at most one step of the grid; the box itself where it would vanish."""
    moved = [min(max(edge + draw(st.integers(-1, 1)) / GRID, 0.0), 1.0) for edge in box]
    return tuple(moved) if moved[0] < moved[2] and moved[1] < moved[3] else box
