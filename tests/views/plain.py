"""Boxes as plain Python objects, and the views of detection computed from them by the book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import strategies as st

from calque import Corpus, Detection, Evaluator, Result

LABELS = ("Figure", "Table")


@dataclass(frozen=True)
class Box:
    """A box on a page of a document."""

    document: str
    page: int
    label: str
    x1: float
    y1: float
    x2: float
    y2: float
    score: float = 0.0

    @property
    def area(self) -> float:
        return (self.x2 - self.x1) * (self.y2 - self.y1)

    def holds(self, x: float, y: float) -> bool:
        return self.x1 <= x <= self.x2 and self.y1 <= y <= self.y2


def iou(a: Box, b: Box) -> float:
    width, height = min(a.x2, b.x2) - max(a.x1, b.x1), min(a.y2, b.y2) - max(a.y1, b.y1)
    common = width * height if width > 0 and height > 0 else 0.0
    return common / (a.area + b.area - common)


_edge = st.tuples(st.integers(0, 12), st.integers(1, 8)).map(lambda e: (float(e[0]), float(e[0] + e[1])))


@st.composite
def box(draw: st.DrawFn) -> Box:
    """A box with whole coordinates: areas are exact."""
    (x1, x2), (y1, y2) = draw(_edge), draw(_edge)
    place = draw(st.sampled_from(["a", "b"])), draw(st.integers(0, 1)), draw(st.sampled_from(LABELS))
    return Box(*place, x1, y1, x2, y2, draw(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9])))


boxes = st.lists(box(), max_size=8)


def corpus(rows: Sequence[Box], *, scores: bool) -> Corpus:
    return Corpus.from_arrays(
        [[b.x1, b.y1, b.x2, b.y2] for b in rows],
        [b.label for b in rows],
        documents=[b.document for b in rows],
        pages=[b.page for b in rows],
        scores=[b.score for b in rows] if scores else None,
        label_names=LABELS,
        all_documents=["a", "b"],
    )


def evaluate(truths: Sequence[Box], found: Sequence[Box], task: Detection) -> Result:
    return Evaluator(task, keep="numbers").update(corpus(truths, scores=False), corpus(found, scores=True)).compute()


def area(things: Sequence[Box], wanted: object) -> float:
    """The area where ``wanted(x, y)`` holds, on the grid of all edges."""
    xs = sorted({x for b in things for x in (b.x1, b.x2)})
    ys = sorted({y for b in things for y in (b.y1, b.y2)})
    cells = [(left, right, top, bottom) for left, right in pairwise(xs) for top, bottom in pairwise(ys)]
    return sum((r - le) * (b - t) for le, r, t, b in cells if wanted((le + r) / 2, (t + b) / 2))  # type: ignore[operator]
