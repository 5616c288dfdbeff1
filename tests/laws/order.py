"""Reading orders before the laws: pages with boxes or names alone, nested groups, blocks that are missing, merged or open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from calque import Corpus, Order
from calque.corpus.boxes import UnitId
from calque.corpus.orders import Group, OrderCorpus, OrderPage
from tests.laws.subject import Document, Subject

LABELS = ("text", "header", "TextRegion:footer")


@st.composite
def groups(draw: st.DrawFn, blocks: Sequence[int], depth: int = 2) -> Group:
    """A tree over these blocks, each once."""
    shuffled = draw(st.permutations(blocks))
    members: list[int | Group] = []
    rest = list(shuffled)
    while rest:
        size = draw(st.integers(1, 3)) if depth else 1
        part, rest = rest[:size], rest[size:]
        if len(part) > 1:
            members.append(draw(groups(part, depth - 1)))
        else:
            members.append(part[0])
    return Group(tuple(members), draw(st.sampled_from([True, True, False])))


@st.composite
def pages(draw: st.DrawFn, *, boxes: bool) -> OrderPage:
    """Up to six blocks in two columns, some outside of the order."""
    count = draw(st.integers(0, 6))
    inside = draw(st.lists(st.integers(0, count - 1), unique=True, max_size=count)) if count else []
    order = draw(groups(inside)) if inside else Group(())
    corners = [
        [100.0 * draw(st.integers(0, 1)), 20.0 * place, 0.0, 20.0 * place + draw(st.sampled_from([10.0, 20.0, 45.0]))]
        for place in range(count)
    ]
    for box in corners:
        box[2] = box[0] + draw(st.sampled_from([60.0, 90.0, 190.0]))
    labels = tuple(draw(st.sampled_from(LABELS)) for _ in range(count))
    made = np.array(corners, dtype=np.float64).reshape(-1, 4) if boxes and count else None
    return OrderPage(tuple(f"b{place}" for place in range(count)), order, made, labels)


@st.composite
def _document(draw: st.DrawFn, unit: UnitId) -> Document:
    count, boxes = draw(st.integers(1, 2)), draw(st.booleans())
    sides = [[(number, draw(pages(boxes=boxes))) for number in range(draw(st.integers(0, count)))] for _ in range(2)]
    return Document(unit, tuple(sides[0]), tuple(sides[1]))


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """One to four documents with numbers or names as ids, in any order."""
    ids = st.one_of(st.integers(0, 20), st.text("ab:é", max_size=3))
    return [draw(_document(unit)) for unit in draw(st.lists(ids, min_size=1, max_size=4, unique=True))]


def corpora(chosen: Sequence[Document]) -> tuple[Corpus, Corpus]:
    """Both sides of some documents."""
    truth = OrderCorpus(pages={document.unit: dict(document.expected) for document in chosen})
    return truth, OrderCorpus(pages={document.unit: dict(document.found) for document in chosen})


ORDER = Subject(
    name="order",
    task=Order(),
    documents=documents(),
    corpora=corpora,
)
