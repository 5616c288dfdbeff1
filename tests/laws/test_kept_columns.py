"""What a state keeps of every task: which columns, of which types. States are files, and those of one shard are joined with
those of another, perhaps made elsewhere: neither what a shard holds nor how long it is may change a type."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.base.columns import Strings, Table
from calque.evaluation.ledger import Ledger
from tests.examples import examples
from tests.laws.subject import Subject
from tests.laws.test_laws import SUBJECTS

KEPT = Path(__file__).parent / "kept_columns.json"
"""For each subject and table the columns of each type; ``×`` stands for a further dimension."""


def columns(ledger: Ledger) -> dict[str, dict[str, str]]:
    kept: dict[str, dict[str, list[str]]] = {}
    for table, rows in ledger.tables.items():
        for name, column in rows.columns.items():
            kind = "text" if isinstance(column, Strings) else column.dtype.str + "×" * (column.ndim - 1)
            kept.setdefault(table, {}).setdefault(kind, []).append(name)
    return {table: {kind: " ".join(sorted(names)) for kind, names in kinds.items()} for table, kinds in kept.items()}


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
@examples(20)
@given(data=st.data())
def test_columns_have_one_type_whatever_they_hold(subject: Subject, data: st.DataObject) -> None:
    expected = json.loads(KEPT.read_text("utf-8"))[subject.name]
    documents = data.draw(subject.documents)
    assert columns(subject.result(documents).ledger) == expected
    nothing = [replace(document, expected=(), found=()) for document in documents]
    assert columns(subject.result(nothing[:1]).ledger) == expected, "without any item"


def kinds(table: Table) -> dict[str, str]:
    return {name: "text" if isinstance(column, Strings) else column.dtype.str for name, column in table.columns.items()}


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
@examples(5)
@given(data=st.data())
def test_outcomes_have_columns_of_one_type_whatever_they_hold(subject: Subject, data: st.DataObject) -> None:
    """Whoever puts those of several runs into one frame finds the same types in each, in those without rows, too."""
    documents = data.draw(subject.documents)
    nothing = [replace(document, expected=(), found=()) for document in documents]
    several, none = (kinds(subject.result(each).outcomes()) for each in (documents, nothing[:1]))
    assert {name: several[name] for name in none.keys() & several} == {name: none[name] for name in none.keys() & several}
