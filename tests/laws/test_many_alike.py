"""What holds for a few documents holds for many that are alike: ties keep an order beyond the few that any sort leaves alone.

A sort that is not stable leaves up to sixteen rows as they stand, so that small examples never show one.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from calque import Corpus, Detection, Evaluator, Fields, Result, Tables
from calque.ceiling import Ceiling
from calque.corpus.boxes import UnitId
from calque.order import Order
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import compare
from tests.examples import examples
from tests.laws.subject import Document, Subject, bits
from tests.laws.test_laws import SUBJECTS

COPIES = 40


def copies(documents: Sequence[Document]) -> dict[UnitId, Document]:
    """Each document so many times, under names that put copies of one between copies of others; by name."""
    made = [document.renamed(f"{copy:02} {place}") for copy in range(COPIES) for place, document in enumerate(documents)]
    return {document.unit: document for document in made}


def alike(subject: Subject) -> st.SearchStrategy[list[Document]]:
    return subject.documents.map(lambda documents: documents[:3])


@pytest.mark.no_cover
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
@examples(3, phases=set(Phase) - {Phase.explain})
@given(data=st.data())
def test_many_that_are_alike_add_up_in_any_order(subject: Subject, data: st.DataObject) -> None:
    many = list(copies(data.draw(alike(subject))).values())
    random.Random(0).shuffle(many)
    evaluator = Evaluator(subject.task)
    for start in range(0, len(many), 1 + len(many) // 4):
        evaluator.update(*subject.corpora(many[start : start + 1 + len(many) // 4]))
    assert bits(evaluator.compute()) == bits(subject.result(sorted(many, key=lambda document: str(document.unit))))


def lists_of_documents(tree: Any) -> Iterator[list[Mapping[str, Any]]]:
    """The lists in which entries name a document, such as the worst ones."""
    if isinstance(tree, Mapping):
        for value in tree.values():
            yield from lists_of_documents(value)
    elif isinstance(tree, list):
        if tree and all(isinstance(entry, Mapping) and "document" in entry for entry in tree):
            yield tree
        else:
            for value in tree:
                yield from lists_of_documents(value)


NAMES = [f"{number:03} {kind}" for number, kind in enumerate(random.Random(0).choices("abc", k=6 * COPIES))]
"""Documents of three kinds: those of one are alike, and between them stand others."""

BOX = [0.0, 0.0, 10.0, 10.0]
GRID = "<table><tr><td>one<td>two<tr><td>three<td>four</table>"
RECORD = Fields(schema={"fields": {"name": {"type": "str"}, "sum": {"type": "int"}}})


def by_kind(a: Any, b: Any, c: Any) -> dict[str, Any]:
    """What each document holds, by its kind."""
    return {name: {"a": a, "b": b, "c": c}[name[-1]] for name in NAMES}


def boxes(widths: Mapping[str, float], **more: Any) -> Corpus:
    return Corpus.from_arrays(
        [[0.0, 0.0, width, 10.0] for width in widths.values()], ["x"] * len(widths), documents=[*widths], **more
    )


def found(a: float, b: float, c: float) -> Corpus:
    return boxes(by_kind(a, b, c), scores=[0.5] * len(NAMES))


def detected(a: float, b: float, c: float) -> Result:
    task = Detection(page_view=True, crops=True, iou=(0.5,))
    return Evaluator(task).update(boxes(dict.fromkeys(NAMES, 10.0)), found(a, b, c)).compute()


def orders(a: str, b: str, c: str) -> list[dict[str, Any]]:
    made = by_kind(a, b, c)
    return [{"doc_id": name, "page_index": 0, "ids": sorted(ids), "order": list(ids)} for name, ids in made.items()]


def records(a: Any, b: Any, c: Any) -> list[dict[str, Any]]:
    return [{"id": name, **record} for name, record in by_kind(a, b, c).items()]


def changed(*runs: Result) -> list[Any]:
    return [change.documents.to_dict() for change in compare(runs, resampling=Resampling(replicates=100)).changes.values()]


RIGHT = {"name": "acme", "sum": 5}
LISTED: dict[str, Callable[[], Any]] = {
    "detection": lambda: detected(8.0, 7.0, 4.0).numbers,
    "what changed between two runs": lambda: changed(detected(8.0, 4.0, 10.0), detected(4.0, 8.0, 8.0)),
    "order": lambda: (
        Evaluator(Order(pair="id"))
        .update(orders("xyzuv", "xyzuv", "xyzuv"), orders("yxzuv", "vuzyx", "xyvzu"))
        .compute()
        .numbers
    ),
    "tables": lambda: (
        Evaluator(Tables())
        .update(dict.fromkeys(NAMES, GRID), by_kind(GRID.replace("two", "too"), GRID.replace("four", ""), ""))
        .compute()
        .numbers
    ),
    "fields": lambda: (
        Evaluator(replace(RECORD, id="id"))
        .update(records(RIGHT, RIGHT, RIGHT), records({**RIGHT, "sum": 6}, {"name": "other"}, {**RIGHT, "name": "acne"}))
        .compute()
        .numbers
    ),
    "ceiling": lambda: (
        Evaluator(Ceiling(kind="boxes"))
        .update(boxes(dict.fromkeys(NAMES, 10.0)), {"One": found(8.0, 4.0, 1.0), "Two": found(8.0, 1.0, 4.0)})
        .compute()
        .numbers
    ),
}


@pytest.mark.parametrize("task", LISTED)
def test_of_those_that_are_alike_the_first_are_listed_and_in_their_order(task: str) -> None:
    every_list = [*lists_of_documents(LISTED[task]())]
    assert any(len(listed) >= 5 for listed in every_list)
    for listed in every_list:
        told: dict[tuple[str, str], list[str]] = defaultdict(list)
        for entry in listed:
            rest = repr([(key, value) for key, value in entry.items() if key != "document"])
            told[entry["document"][-1], rest].append(entry["document"])
        for (kind, _), names in told.items():
            assert names == [name for name in NAMES if name[-1] == kind][: len(names)]


def test_what_several_systems_share_is_kept_document_by_document() -> None:
    """Two truths overlap and both boxes of both systems meet each of them, at every level: six or more edges a document."""
    beside = {"a": 10.0, "b": 9.5, "c": 9.0}
    rows = [(name, [0.0, top, beside[name[-1]], top + 10.0]) for name in NAMES for top in (0.0, 1.0)]

    def side(names: Sequence[str], **more: Any) -> Corpus:
        mine = [(name, box) for name, box in rows if name in names]
        documents, corners = [name for name, _ in mine], [box for _, box in mine]
        return Corpus.from_arrays(corners, ["x"] * len(mine), documents=documents, all_documents=[*names], **more)

    def given(names: Sequence[str]) -> tuple[Corpus, dict[str, Corpus]]:
        scored = side(names, scores=[0.5] * 2 * len(names))
        return side(names), {"One": scored, "Two": scored}

    task = Ceiling(kind="boxes")
    one_by_one = Evaluator(task)
    for name in reversed(NAMES[:COPIES]):
        one_by_one.update(*given([name]))
    at_once = Evaluator(task).update(*given(NAMES[:COPIES])).compute()
    edges = at_once.ledger.table("edges")
    assert edges.height > 6 * COPIES
    levels = list(zip(edges.array("unit").tolist(), edges.array("level").tolist(), strict=True))
    assert levels == sorted(levels)
    assert bits(one_by_one.compute()) == bits(at_once)
