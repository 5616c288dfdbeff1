"""Checks before the laws: a document is a case with boxes and a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from calque import Corpus
from calque.checks import Checks
from calque.checks.suites.cases import Case, CaseCorpus
from calque.corpus.boxes import UnitId
from tests.laws.subject import Document, Subject

Corners = tuple[float, float, float, float]

TASK = Checks.of([
    {"type": "iou_score", "bbox_path": "boxes", "expected_bbox_path": "boxes", "threshold": 0.3, "weight": 2, "name": "boxes"},
    {"type": "iou_score", "bbox_path": "boxes", "expected_bbox_path": "boxes", "aggregate": "precision", "name": "precision"},
    {"type": "iou_score", "bbox_path": "boxes", "expected_bbox_path": "boxes", "aggregate": "recall", "matching": "max_matches",
     "name": "recall"},
    {"type": "iou_score", "bbox_path": "quads", "expected_bbox_path": "quads", "format": "quad", "name": "quads"},
])  # fmt: skip

_edge = st.tuples(st.integers(0, 12), st.integers(1, 9)).map(lambda e: (e[0] * 1.7, (e[0] + e[1]) * 1.7))
_corners = st.tuples(_edge, _edge).map(lambda e: (e[0][0], e[1][0], e[0][1], e[1][1]))


@st.composite
def _document(draw: st.DrawFn, unit: UnitId) -> Document:
    expected = draw(st.lists(_corners, min_size=1, max_size=3, unique=True))
    found = draw(st.lists(st.sampled_from(expected) | _corners, max_size=4, unique=True))
    return Document(unit, tuple(expected), tuple(found))


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """One to five cases with numbers or names as ids, in any order."""
    ids = st.one_of(st.integers(0, 20), st.text("ab:é", max_size=3))
    return [draw(_document(unit)) for unit in draw(st.lists(ids, min_size=1, max_size=5, unique=True))]


def corpora(chosen: Sequence[Document]) -> tuple[Corpus, Corpus]:
    """Both sides of some cases."""
    expected = tuple(Case(document.unit, None, _data(document.expected)) for document in chosen)
    found = tuple(Case(document.unit, _data(document.found), None) for document in chosen)
    return CaseCorpus(cases=expected), CaseCorpus(cases=found)


def _data(boxes: Sequence[Corners]) -> dict[str, list[list[float]]]:
    quads = [[x1, y1, x2, y1 + 0.3 * (y2 - y1), x2, y2, x1, y2] for x1, y1, x2, y2 in boxes]
    return {"boxes": [list(box) for box in boxes], "quads": quads}


def stray(document: Document) -> Document:
    return replace(document, found=(*document.found, (500.0, 500.0, 510.0, 510.0)))


def scaled(document: Document, factor: float) -> Document:
    def larger(box: Corners) -> Corners:
        x1, y1, x2, y2 = (value * factor for value in box)
        return x1, y1, x2, y2

    return Document(document.unit, tuple(map(larger, document.expected)), tuple(map(larger, document.found)))


CHECKS = Subject(
    name="checks",
    task=TASK,
    documents=documents(),
    corpora=corpora,
    perfect=lambda document: replace(document, found=document.expected),
    ones=("score", "pass_rate", "score/boxes", "score/precision", "score/recall", "score/quads"),
    stray=stray,
    precision=("score/precision", "score/boxes"),
    recall=("score/recall",),
    scaled=scaled,
    in_units=frozenset({("checks", "detail"), ("truth_digest", "digest")}),
)
