"""Rows with equal keys stay in their order where that can be seen: sorts that promise nothing of them may do their worst.

On a few rows NumPy's quick sort happens to keep the order of equal keys, so that a sort which forgot to ask for it would go
unnoticed until there are many. Here every sort that does not ask turns equal keys round.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Corpus, Detection, Evaluator, Fields, Words
from calque.base.columns import rows_by_code
from calque.corpus.words import Removed, WordCorpus
from calque.fields import BulkStructuredModelEvaluator, ConfidenceAccumulator
from calque.fields.failures import errors
from calque.kernels import VARIABLE
from calque.kernels.reference.boxes import Grouped, pairs
from calque.order.presentation import _strips
from calque.readers.boxes.read_back import _aligned
from calque.readers.page_rows.writing import rows_of
from calque.readers.sides.sheets import CROWDED, laid
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import compare
from calque.statistics.presentation import tree
from tests.examples import examples
from tests.laws.subject import Subject, bits
from tests.laws.test_laws import SUBJECTS

argsort = np.argsort


def worst(values: Any, *, kind: str | None = None) -> Any:
    """Sorted, with equal keys turned round unless the sort must keep them."""
    if kind in ("stable", "mergesort"):
        return argsort(values, kind="stable")
    return len(values) - 1 - argsort(values[::-1], kind="stable")


@contextmanager
def unkind_sorts() -> Iterator[None]:
    with patch.object(np, "argsort", worst):
        yield


def told(result: Any) -> Any:
    """Everything that people see of a result."""
    shown = [(section.title, section.rows, section.notes) for section in result.sections()]
    drawn = result.task.view().report_data(result.ledger, result.task.view().report_numbers(result.ledger, result.numbers))
    page = drawn and (repr(drawn.head), [(name, column.tobytes()) for name, column in drawn.columns.items()])
    return bits(result), repr(result.to_dict()), repr(shown), repr(list(result.outcomes().rows())), page


@pytest.fixture(autouse=True)
def sorted_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled kernels have sorts of their own; those here are compared with them elsewhere."""
    monkeypatch.setenv(VARIABLE, "reference")


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
@examples(12)
@given(data=st.data())
def test_no_number_hangs_on_what_a_sort_does_not_promise(subject: Subject, data: st.DataObject) -> None:
    documents = data.draw(subject.documents)
    expected = told(subject.result(documents))
    with unkind_sorts():
        assert told(subject.result(documents)) == expected


def boxes(scores: bool) -> Corpus:
    """Boxes of two labels on four pages of two documents, drawn twice each and found twice, with equal scores."""
    places = [(document, page, label) for document in "ba" for page in (1, 0) for label in ("y", "x") for _ in range(2)]
    return Corpus.from_arrays(
        [[0.0, 0.0, 10.0, 10.0 - 2 * scores]] * len(places),
        [label for *_, label in places],
        documents=[document for document, *_ in places],
        pages=[page for _, page, _ in places],
        **({"scores": [0.5] * len(places)} if scores else {}),
    )


def test_nor_do_views_and_comparisons() -> None:
    def made() -> Any:
        task = Detection(crops=True, confusion=True, sweep=True, page_view=True)
        one = Evaluator(task).update(boxes(scores=False), boxes(scores=True)).compute()
        other = Evaluator(task).update(boxes(scores=False), boxes(scores=True).select(["a"])).compute()
        both = compare([one, other], ["one", "other"], resampling=Resampling(replicates=100))
        return told(one), told(other), repr(tree(both))

    expected = made()
    with unkind_sorts():
        assert made() == expected


KEYS = np.random.default_rng(0).integers(0, 5, 60)
"""Groups that rows are sorted into; whoever comes first within one stays first."""


def test_rows_of_a_group_keep_their_order() -> None:
    """Wherever rows are brought together: pairs of boxes, ranks, objects that are written and read back."""
    in_order = np.argsort(KEYS, kind="stable")
    first = np.flatnonzero(KEYS == 0)
    with unkind_sorts():
        every = Grouped(np.arange(60), KEYS)
        truth, found = (np.concatenate(part) for part in zip(*pairs(every, every), strict=True))
        assert list(zip(found.tolist(), truth.tolist(), strict=True)) == [
            (row, other) for row in range(60) for other in range(60) if KEYS[row] == KEYS[other]
        ]
        for ties in (KEYS, KEYS << 20, KEYS % 2 + (KEYS << 16)):
            assert rows_by_code(ties, int(ties.max()) + 1)[0].tolist() == sorted(range(60), key=ties.tolist().__getitem__)
        mine, theirs = _aligned(KEYS, KEYS[::-1])
        assert mine.tolist() == in_order.tolist()
        assert theirs.tolist() == sorted(range(60), key=KEYS[::-1].tolist().__getitem__)
        tops = _strips(np.where(KEYS == 0, -1, np.arange(60)))[:, 1]
        assert (np.diff(tops[first]) > 0).all()
        assert tops[first].min() > tops[KEYS != 0].max()


def pages_in_turn() -> Any:
    """Boxes of four pages of two documents, one of each page after the other."""
    rows = 80
    return Corpus.from_arrays(
        [[float(row), 0.0, row + 1.0, 1.0] for row in range(rows)],
        ["x"] * rows,
        documents=["ab"[row % 2] for row in range(rows)],
        pages=[row // 2 % 2 for row in range(rows)],
    )


def test_objects_of_a_page_are_written_in_their_order() -> None:
    corpus = pages_in_turn()
    with unkind_sorts():
        rows = rows_of(corpus)
    assert list(zip(rows.document, rows.index.tolist(), strict=True)) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert (rows.number.tolist(), rows.counts.tolist()) == ([1, 2, 3, 4], [20] * 4)
    assert rows.boxes[:, 0].tolist() == [row for page in (0, 2, 1, 3) for row in range(page, 80, 4)]


def test_of_a_crowded_page_the_first_boxes_are_looked_at() -> None:
    count = 2 * CROWDED + 6
    corpus = Corpus.from_arrays(
        [[0.0, 0.0, 1.0, 1.0]] * count, ["x"] * count, documents=["ab"[row % 2] for row in range(count)]
    )
    with unkind_sorts():
        sheet = laid(corpus, np.arange(2), np.ones((2, 2)))
    assert sheet.rows.tolist() == [*range(0, 2 * CROWDED, 2), *range(1, 2 * CROWDED, 2)]


def test_values_that_are_wrong_are_listed_as_a_document_has_them() -> None:
    names = [f"f{number}" for number in range(6)]
    schema = {"fields": {name: {"type": "str"} for name in names}}
    sides = [[{"id": f"d{row:02}", **dict.fromkeys(names, value)} for row in range(12)] for value in "xy"]
    seen: list[list[float]] = []
    rated = [{**record, **{name: {"_value": "y", "_confidence": (3 * k + n) % 7 / 7} for k, name in enumerate(names)}}
             for n, record in enumerate(sides[1])]  # fmt: skip
    bulk = BulkStructuredModelEvaluator(
        schema, [ConfidenceAccumulator(measures={"seen": lambda _, confidence: seen.append(confidence.tolist())})]
    )
    with unkind_sorts():
        result = Evaluator(Fields(schema=schema, id="id")).update(*sides).compute()
        listed = list(errors(result.ledger).rows())
        for truth, found in zip(sides[0], rated, strict=True):
            bulk.update(truth, found, truth["id"])
        bulk.compute()
    assert [(row["document"], row["field"]) for row in listed] == [(f"d{row:02}", name) for row in range(12) for name in names]
    assert seen[0] == [(3 * k + n) % 7 / 7 for n in range(12) for k in range(6)]


def test_what_clean_up_took_out_is_listed_as_it_was_taken_out() -> None:
    words = {f"d{row}": "one two" for row in range(4)}
    removed = tuple(Removed(f"d{row % 4}", "step", 1, f"text {row}") for row in range(12))
    corpus = replace(WordCorpus.of(words), removed=removed)
    with unkind_sorts():
        ledger = Evaluator(Words()).update(corpus, words).ledger()
    assert list(ledger.table("removed")["text"]) == [f"text {row}" for document in range(4) for row in range(document, 12, 4)]
