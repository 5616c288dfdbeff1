"""Detection before the laws: boxes in pixels on the pages of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from calque import Corpus, Detection
from calque.corpus.boxes import UnitId
from tests.laws.subject import Document, Subject

RATIOS = ("precision", "recall", "f1", "mean_iou", "mean_coverage", "mean_purity")
SCOPES = ("", "macro_classes.", "macro_documents.")


@dataclass(frozen=True)
class Box:
    """A labelled box on a page; truths have no score."""

    name: str
    page: int
    label: str
    corners: tuple[float, float, float, float]
    score: float | None = None


_edge = st.tuples(st.integers(0, 40), st.integers(1, 30)).map(lambda e: (e[0] * 1.7, (e[0] + e[1]) * 1.7))
_corners = st.tuples(_edge, _edge).map(lambda e: (e[0][0], e[1][0], e[0][1], e[1][1]))
_places = st.tuples(st.integers(0, 2), st.sampled_from(["Figure", "Table", "図"]))
_scores = st.one_of(st.sampled_from([0.1, 0.5, 0.9]), st.integers(0, 1000).map(lambda n: n / 1000))


@st.composite
def _document(draw: st.DrawFn, unit: UnitId) -> Document:
    places = draw(st.lists(_places, max_size=4))
    expected = tuple(Box(f"t{n}", page, label, draw(_corners)) for n, (page, label) in enumerate(places))
    found = []
    for truth in draw(st.lists(st.sampled_from(expected), max_size=4)) if expected else ():
        x1, y1, x2, y2 = truth.corners
        cut = draw(st.sampled_from([0.0, 0.1, 0.25, 0.4]))
        found.append((truth.page, truth.label, (x1, y1, x2, y2 - cut * (y2 - y1))))
    found += [(page, label, draw(_corners)) for page, label in draw(st.lists(_places, max_size=2))]
    return Document(unit, expected, tuple(Box(f"p{n}", *where, draw(_scores)) for n, where in enumerate(found)))


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """One to five documents with numbers or names as ids, in any order."""
    ids = st.one_of(st.integers(0, 20), st.text("ab:é", max_size=3))
    return [draw(_document(unit)) for unit in draw(st.lists(ids, min_size=1, max_size=5, unique=True))]


def corpora(chosen: Sequence[Document]) -> tuple[Corpus, Corpus]:
    """Both sides of some documents."""
    return _corpus(chosen, "expected"), _corpus(chosen, "found")


def _corpus(chosen: Sequence[Document], side: str) -> Corpus:
    rows = [(document.unit, box) for document in chosen for box in getattr(document, side)]
    return Corpus.from_arrays(
        [box.corners for _, box in rows],
        [box.label for _, box in rows],
        documents=[unit for unit, _ in rows],
        pages=[box.page for _, box in rows],
        scores=[box.score for _, box in rows] if side == "found" else None,
        ids=[box.name for _, box in rows],
        all_documents=[document.unit for document in chosen],
    )


def perfect(document: Document) -> Document:
    return replace(document, found=tuple(replace(box, score=0.5) for box in document.expected))


def stray(document: Document) -> Document:
    label = document.expected[0].label if document.expected else "Figure"
    return replace(document, found=(*document.found, Box("stray", 0, label, (500.0, 500.0, 510.0, 510.0), 1.0)))


def scaled(document: Document, factor: float) -> Document:
    def larger(box: Box) -> Box:
        x1, y1, x2, y2 = (value * factor for value in box.corners)
        return replace(box, corners=(x1, y1, x2, y2))

    return Document(document.unit, tuple(map(larger, document.expected)), tuple(map(larger, document.found)))


def shufflable(document: Document) -> bool:
    """All scores differ, and all IoUs that are not 0: then no position decides."""
    if len({box.score for box in document.found}) < len(document.found):
        return False
    values = [iou(t, p) for t in document.expected for p in document.found if (t.page, t.label) == (p.page, p.label)]
    overlaps = [value for value in values if value > 0]
    return len(set(overlaps)) == len(overlaps)


def iou(a: Box, b: Box) -> float:
    width = min(a.corners[2], b.corners[2]) - max(a.corners[0], b.corners[0])
    height = min(a.corners[3], b.corners[3]) - max(a.corners[1], b.corners[1])
    common = max(width, 0.0) * max(height, 0.0)
    return common / (_area(a) + _area(b) - common)


def _area(box: Box) -> float:
    x1, y1, x2, y2 = box.corners
    return (x2 - x1) * (y2 - y1)


BY_SIZE = ("out_of_range", "matched", "ignored")
"""Columns that say what counts as small, medium and large; those are pixels and nothing else."""


SIZED = {"APs", "APm", "APl", "ARs", "ARm", "ARl"}


def without_sizes(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers without those of small, medium and large objects."""
    coco = {name: value for name, value in numbers["coco"].items() if name not in SIZED}
    return {**numbers, "coco": coco}


DETECTION = Subject(
    name="detection",
    task=Detection(iou=(0.3, 0.5, 0.75)),
    documents=documents(),
    corpora=corpora,
    perfect=perfect,
    ones=tuple(f"{scope}{name}@0.75" for scope in SCOPES for name in RATIOS),
    stray=stray,
    precision=tuple(f"{scope}precision@{t}" for scope in ("", "macro_documents.") for t in (0.3, 0.5, 0.75)),
    recall=tuple(f"{scope}recall@{t}" for scope in SCOPES for t in (0.3, 0.5, 0.75)),
    shufflable=shufflable,
    scaled=scaled,
    in_units=frozenset({(side, column) for side in ("truth", "found") for column in ("box", "area", *BY_SIZE)})
    | {("truth_digest", "digest")},
    unitless=without_sizes,
    at=lambda thresholds: Detection(iou=thresholds),
)
