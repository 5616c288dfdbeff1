"""Rows with equal keys stay in their order where that can be seen: sorts that promise nothing of them may do their worst.

On a few rows NumPy's quick sort happens to keep the order of equal keys, so that a sort which forgot to ask for it would go
unnoticed until there are many. Here every sort that does not ask turns equal keys round.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Corpus, Detection, Evaluator
from calque.core.comparison.compare import compare
from calque.core.comparison.presentation import tree
from calque.core.comparison.resample import Resampling
from calque.kernels import VARIABLE
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
    drawn = result.task.pictured(result.ledger, result.task.viewed(result.ledger, result.numbers))
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
