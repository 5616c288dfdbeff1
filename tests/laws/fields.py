"""Fields before the laws: invoices with scalars, an object, lines and tags, with boxes and confidences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from calque import Fields
from calque.corpus.boxes import UnitId
from calque.corpus.records import RecordCorpus
from tests.laws.subject import Document, Subject

LEAVES = {"text": {"type": "str", "threshold": 0.7}, "amount": {"type": "float", "comparator": "numeric", "threshold": 1.0}}
SCHEMA = {
    "fields": {
        **LEAVES,
        "sender": {"type": "object", "threshold": 0.6, "fields": {**LEAVES, "marks": {"type": "list[str]"}}},
        "lines": {"type": "list[object]", "fields": {**LEAVES, "parts": {"type": "list[object]", "fields": LEAVES}}},
        "tags": {"type": "list[str]", "comparator": "exact", "threshold": 1.0},
    }
}

_words = st.sampled_from(["acme", "acme corp", "globex", "", "initech ltd"])
_numbers = st.sampled_from([0.0, 1.0, 2.5, 1500.0])
_box = st.one_of(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 9), st.integers(1, 9)).map(
        lambda b: [b[0], b[1], b[0] + b[2], b[1] + b[3]]
    ),
    st.sampled_from([None, [1, 2], [[0, 0], [4, 4]], [3, 3, 3, 3]]),
)


def wrapped(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value, plain or with metadata."""
    meta = st.fixed_dictionaries({}, optional={"_bbox": _box, "_confidence": st.sampled_from([0.2, 0.5, 0.9, 1])})
    return st.one_of(values, st.builds(lambda value, more: {"_value": value, **more}, values, meta))


def record(depth: int = 0) -> st.SearchStrategy[Any]:
    leaves = {"text": wrapped(_words), "amount": wrapped(st.one_of(st.none(), _numbers)), "other": wrapped(_words)}
    if depth == 0:
        lines = st.lists(wrapped(record(1)), max_size=3)
        leaves |= {"sender": st.one_of(st.none(), wrapped(record(2))), "lines": st.one_of(st.none(), wrapped(lines))}
        leaves |= {"tags": st.one_of(st.just("odd"), wrapped(st.lists(wrapped(_words), max_size=3)))}
    if depth == 1:
        leaves |= {"parts": st.lists(record(3), max_size=2)}
    if depth == 2:
        leaves |= {"marks": st.lists(wrapped(_words), max_size=2)}
    return st.fixed_dictionaries({}, optional=leaves)


RECORDS = record()
"""Made once: putting strategies together takes longer than drawing from them."""


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """One to four documents; sometimes the prediction is the truth."""
    ids = st.one_of(st.integers(0, 20), st.text("ab:é", min_size=1, max_size=3))
    made = []
    for unit in draw(st.lists(ids, min_size=1, max_size=4, unique=True)):
        truth = draw(RECORDS)
        found = draw(st.one_of(st.just(truth), RECORDS))
        made.append(Document(unit, (truth,), (found,)))
    return made


def corpora(chosen: Sequence[Document]) -> tuple[RecordCorpus, RecordCorpus]:
    """Both sides of some documents."""
    return _corpus(chosen, "expected"), _corpus(chosen, "found")


def _corpus(chosen: Sequence[Document], side: str) -> RecordCorpus:
    there: list[tuple[UnitId, Any]] = [
        (document.unit, getattr(document, side)[0]) for document in chosen if getattr(document, side)
    ]
    return RecordCorpus(documents=tuple(unit for unit, _ in there), records=[each for _, each in there])


def fitting(tree: Any) -> Any:
    """A record without what the schema does not expect: that is wrong even where both sides have it."""
    if isinstance(tree, dict):
        return {key: fitting(value) for key, value in tree.items() if key != "other" and value != "odd"}
    return [fitting(each) for each in tree] if isinstance(tree, list) else tree


def perfect(document: Document) -> Document:
    expected = tuple(map(fitting, document.expected))
    return replace(document, expected=expected, found=expected)


FIELDS = Subject(
    name="fields",
    task=Fields(schema=SCHEMA),
    documents=documents(),
    corpora=corpora,
    perfect=perfect,
    ones=("cm_accuracy", "weighted_overall_score"),
)
PAIRED = replace(FIELDS, name="fields, paired", task=Fields(schema=SCHEMA, accounting="paired"), perfect=None)
