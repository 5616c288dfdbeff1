"""Tables before the laws: small grids with spans, texts that are misread, rows that are lost, with and without boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from calque import Corpus, Tables
from calque.corpus.boxes import UnitId
from calque.corpus.tables import CellTable, TableCorpus
from calque.readers.tables.files import one_table
from tests.laws.subject import Document, Subject

_texts = st.sampled_from(["", "a", "b", "fi", "a b", "ﬁ", "A", "3–4", "3-4", "x² y"])
_sizes = st.sampled_from([1, 1, 1, 2])


@st.composite
def tables(draw: st.DrawFn) -> CellTable:
    """A table of up to four rows, some of them empty, with cells that take the first free slot."""
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        cells = [
            f'<td rowspan="{draw(_sizes)}" colspan="{draw(_sizes)}">{draw(_texts)}</td>' for _ in range(draw(st.integers(0, 3)))
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    table = one_table(f"<table>{''.join(rows)}</table>")
    if not draw(st.booleans()):
        return table
    shift = draw(st.sampled_from([0.0, 0.5, 3.0]))
    boxes = [
        (8.0 * column + shift, 4.0 * row, 8.0 * column + 7, 4.0 * row + 3)
        for row, column in zip(table.row, table.column, strict=True)
    ]
    return replace(table, boxes=tuple(boxes) if boxes else ())


@st.composite
def _document(draw: st.DrawFn, unit: UnitId) -> Document:
    expected = tuple(draw(st.lists(tables(), max_size=2)))
    kept = draw(st.lists(st.sampled_from(expected), max_size=2)) if expected else []
    return Document(unit, expected, (*kept, *draw(st.lists(tables(), max_size=1))))


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """One to four documents with numbers or names as ids, in any order."""
    ids = st.one_of(st.integers(0, 20), st.text("ab:é", max_size=3))
    return [draw(_document(unit)) for unit in draw(st.lists(ids, min_size=1, max_size=4, unique=True))]


def corpora(chosen: Sequence[Document]) -> tuple[Corpus, Corpus]:
    """Both sides of some documents."""
    truth = TableCorpus(tables={document.unit: document.expected for document in chosen})
    return truth, TableCorpus(tables={document.unit: document.found for document in chosen})


STRAY = one_table("<table><tr><td>stray</td></tr></table>")

TABLES = Subject(
    name="tables",
    task=Tables(),
    documents=documents(),
    corpora=corpora,
    perfect=lambda document: replace(document, found=document.expected),
    ones=("teds", "teds_struct", "exact", "rows_right", "columns_right", "pages.teds", "with_spurious.teds"),
    stray=lambda document: replace(document, found=(*document.found, STRAY)),
    recall=("teds",),
)
TABLES_2019 = replace(TABLES, name="tables, 2019", task=Tables(adjacency="2019"), perfect=None, stray=None, recall=())
