"""Words before the laws: short documents over a small vocabulary, some with lattices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from calque import Corpus, Words
from calque.corpus.boxes import UnitId
from calque.corpus.words import WordCorpus
from calque.words import build_lattice
from tests.laws.subject import Document, Subject

_words = st.lists(st.sampled_from(["the", "cat", "sat", "é", "mat"]), max_size=8).map(tuple)
SCOPES = ("", "macro_documents.")


@st.composite
def _document(draw: st.DrawFn, unit: UnitId) -> Document:
    return Document(unit, draw(_words), draw(_words))


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """One to five documents with numbers or names as ids, in any order."""
    ids = st.one_of(st.integers(0, 20), st.text("ab:é", max_size=3))
    return [draw(_document(unit)) for unit in draw(st.lists(ids, min_size=1, max_size=5, unique=True))]


def corpora(chosen: Sequence[Document]) -> tuple[Corpus, Corpus]:
    """Both sides; the lattice offers the prediction and the prediction backwards."""
    lattices = {document.unit: build_lattice({"one": document.found, "two": document.found[::-1]}) for document in chosen}
    truth = WordCorpus.of({document.unit: document.expected for document in chosen})
    return truth, WordCorpus.of({document.unit: document.found for document in chosen}, lattices=lattices)


WORDS = Subject(
    name="words",
    task=Words(lattice="given", characters=True, stop_words=("the",), errors=5),
    documents=documents(),
    corpora=corpora,
    perfect=lambda document: replace(document, found=document.expected),
    ones=tuple(f"{scope}{name}" for scope in SCOPES for name in ("recall", "precision", "f1", "naive_recall", "bag_recall")),
    stray=lambda document: replace(document, found=(*document.found, "stray")),
    precision=tuple(f"{scope}{name}" for scope in SCOPES for name in ("precision", "bag_precision")),
    recall=tuple(f"{scope}{name}" for scope in SCOPES for name in ("recall", "bag_recall")),
)
