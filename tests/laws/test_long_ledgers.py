"""A law for every task that measures ledgers longer than memory: what waits in a file gives the same bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Corpus, Detection, Evaluator, Task, Words
from calque.evaluation import evaluator as evaluator_module
from calque.evaluation.storage import partitioned, ranking
from calque.evaluation.storage.partitioned import PartitionedLedger
from tests.laws.detection import DETECTION
from tests.laws.subject import Document, Subject
from tests.laws.test_laws import SUBJECTS
from tests.laws.words import WORDS

LONG = [subject for subject in SUBJECTS if subject.task.streams]
VIEWS = [
    Detection(crops=True, confusion=True, sweep=True, page_view=True, beside="boxes", errors="tide"),
    Detection(sweep=True, recall_floor=0.5, precision_floor=0.25, iou=(0.3, 0.5, 0.9), labels=("Table", "Figure")),
    Detection(sweep=True, recall_floor=0.9, min_score=0.3, max_detections=(1, 2), missing="intersect"),
]


@contextmanager
def short_of_memory(rows: int) -> Iterator[None]:
    """Within the block every ledger lies in a file, and a few rows are ranked at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator_module, "MOST_BYTES", 0)
        patch.setattr(partitioned, "SMALL", 0)
        patch.setattr(ranking, "RANGE_ROWS", rows)
        yield


def both(
    task: Task, corpora: Callable[[Sequence[Document]], Any], documents: Sequence[Document], parts: int, rows: int
) -> tuple[str, str]:
    """The numbers in memory, and those of so many parts in a file."""
    whole = Evaluator(task, keep="numbers").update(*corpora(documents)).compute().to_json()
    with short_of_memory(rows):
        long = Evaluator(task, keep="numbers")
        for part in reversed(range(parts)):  # some may have none, and the last come first
            long.update(*corpora(documents[part::parts]))
        assert parts == 1 or isinstance(long.ledger(), PartitionedLedger)
        return whole, long.compute().to_json()


@pytest.mark.parametrize("subject", LONG, ids=[subject.name for subject in LONG])
@given(st.data(), st.integers(1, 5), st.integers(1, 6))
def test_what_waits_in_a_file_gives_the_same_numbers(subject: Subject, data: st.DataObject, parts: int, rows: int) -> None:
    whole, long = both(subject.task, subject.corpora, data.draw(subject.documents), parts, rows)
    assert whole == long


@pytest.mark.parametrize("task", VIEWS, ids=["every view", "two floors", "one floor"])
@given(DETECTION.documents, st.integers(2, 5), st.integers(1, 6))
def test_views_are_the_same_too(task: Detection, documents: list[Document], parts: int, rows: int) -> None:
    whole, long = both(task, DETECTION.corpora, documents, parts, rows)
    assert whole == long


@given(DETECTION.documents, st.integers(2, 5), st.integers(1, 6))
def test_slices_are_the_same_too(documents: list[Document], parts: int, rows: int) -> None:
    known = {document.unit: ("news", "law", None)[place % 3] for place, document in enumerate(documents)}

    def corpora(chosen: Sequence[Document]) -> tuple[Any, Any]:
        truth, found = DETECTION.corpora(chosen)
        return replace(truth, metadata={"kind": {unit: known[unit] for unit in truth.units()}}), found

    whole, long = both(Detection(by=("kind",)), corpora, documents, parts, rows)
    assert whole == long


@given(WORDS.documents, st.integers(2, 5), st.sampled_from([{"errors": 5}, {"cer": True}, {"stop_words": ("a",)}]))
def test_lists_of_confusions_are_the_same_too(documents: list[Document], parts: int, settings: dict[str, Any]) -> None:
    whole, long = both(Words(**settings), WORDS.corpora, documents, parts, 3)
    assert whole == long


@given(DETECTION.documents, st.permutations(range(4)), st.integers(1, 6))
def test_neither_order_nor_merging_changes_a_bit(documents: list[Document], order: list[int], rows: int) -> None:
    task = Detection(sweep=True, crops=True)
    whole = Evaluator(task, keep="numbers").update(*DETECTION.corpora(documents)).compute().to_json()
    with short_of_memory(rows):
        merged = Evaluator(task, keep="numbers")
        for shard in order:
            if documents[shard::4]:
                merged.merge(Evaluator(task, keep="numbers").update(*DETECTION.corpora(documents[shard::4])))
        assert merged.compute().to_json() == whole
        assert Evaluator.from_state(merged.state()).compute().to_json() == whole


@pytest.mark.parametrize("errors", ["none", "tide"])
def test_ties_go_by_image_also_where_documents_wait_in_a_file(errors: Any) -> None:
    heights = {("b", 1): 10, ("a", 2): 3, ("b", 3): 3, ("a", 4): 10, ("c", 5): 3, ("b", 6): 8, ("a", 7): 3}

    def sides(wanted: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        here = {image: height for (document, image), height in heights.items() if document in wanted}
        row = {"category_id": 1, "bbox": [0, 0, 10, 10]}
        images = [
            {"id": image, "file_name": f"{image}.png", "doc_id": document, "page_index": 9 - image, "width": 50, "height": 50}
            for document, image in heights
            if image in here
        ]
        truth = {"images": images, "categories": [{"id": 1, "name": "x"}]}
        truths = [{"id": image, "image_id": image, **row} for image in here]
        found = [{**row, "image_id": image, "bbox": [0, 0, 10, height], "score": 0.5} for image, height in here.items()]
        return {**truth, "annotations": truths}, found

    task = Detection(errors=errors)
    whole = Evaluator(task, keep="numbers").update(*sides("abc")).compute()
    documents = Evaluator(task, keep="numbers").update(*sides("b")).update(*sides("a")).update(*sides("c")).compute()
    assert whole.to_json() == documents.to_json()
    for rows in (1, 3):
        with short_of_memory(rows):
            long = Evaluator(task, keep="numbers")
            for document in "cba":
                long.update(*sides(document))
            assert isinstance(long.ledger(), PartitionedLedger)
            assert long.compute().to_json() == whole.to_json()


@pytest.mark.parametrize("scored", [[False, False, False], [True, False, False], [False, True, True]])
def test_why_nothing_is_ranked_is_the_same_too(scored: list[bool]) -> None:
    """Of documents with one prediction, then two, then three: whether all scores are missing is known of the whole only."""

    def corpus(part: int, *, found: bool) -> Corpus:
        score = 0.5 if scored[part] else math.nan
        return Corpus.from_arrays(
            [[0.0, 0.0, 9.0, 9.0]] * (part + 1), ["a"] * (part + 1), documents=[f"d{part}"] * (part + 1),
            scores=[score] * (part + 1) if found else None,
        )  # fmt: skip

    told = []
    for memory in (nullcontext, lambda: short_of_memory(2)):
        with memory():
            evaluator = Evaluator(Detection(allow_missing_scores=True), keep="numbers")
            for part in range(3):
                evaluator.update(corpus(part, found=False), corpus(part, found=True))
            told.append(evaluator.compute().undefined["coco.AP"])
    assert told[0] == told[1]
    assert (told[0] == "no prediction has a score") == (not any(scored))
