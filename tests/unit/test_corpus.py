"""Corpora made from arrays, chosen from, and laid over each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ContractError, Corpus, read
from calque.corpus.boxes import BoxCorpus, canonical
from calque.corpus.records import RecordCorpus
from calque.corpus.words import Block, TextCorpus
from calque.evaluation.boxes.overlay import Overlay
from calque.geometry.boxes import areas, corners, share
from calque.geometry.forms import BoxForm
from calque.readers import read_pair
from calque.readers.boxes.coco_columns import Ids
from tests.snapshots import valid_predictions

BOXES = [[0, 0, 4, 4], [1, 1, 3, 3], [5, 5, 9, 9]]


def corpus(**more: Any) -> BoxCorpus:
    given: dict[str, Any] = {"documents": ["b", "a", "b"], "pages": [1, 0, 0], "scores": [0.1, 0.2, 0.3], **more}
    return Corpus.from_arrays(BOXES, ["Table", "Figure", "Table"], **given)


def test_documents_are_sorted_numbers_before_names() -> None:
    assert sorted(["10", 10, 9, "a", "B"], key=canonical) == [9, 10, "10", "B", "a"]
    assert corpus(documents=["b", 7, "b"], all_documents=[3]).units() == (3, 7, "b")


def test_arrays_become_columns() -> None:
    made = corpus(ids=["x", "y", "z"])
    assert made.units() == ("a", "b")
    assert made.labels == ("Figure", "Table")
    assert [(made.units()[made.page_document[p]], int(made.page_index[p])) for p in made.page] == [("b", 1), ("a", 0), ("b", 0)]
    assert [made.labels[code] for code in made.label] == ["Table", "Figure", "Table"]
    assert made.ids is not None
    assert made.ids.tolist() == ["x", "y", "z"]
    assert repr(made) == "<BoxCorpus from arrays: 2 documents, 3 pages, 3 objects, labels Figure, Table>"


def test_nothing_is_a_corpus_too() -> None:
    empty = Corpus.from_arrays([], [], all_documents=["a"])
    assert (len(empty), empty.units(), empty.labels) == (0, ("a",), ())
    assert len(Corpus.from_arrays(np.zeros((0, 4)), np.zeros(0, dtype=int), label_names=["Table"])) == 0


def test_labels_may_be_codes() -> None:
    made = Corpus.from_arrays(BOXES, np.array([1, 0, 1]), label_names=["Figure", "Table"])
    assert made.labels == ("Figure", "Table")
    assert made.label.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"documents": ["a"]}, "documents has 1 entries for 3 boxes"),
        ({"pages": [0, 1]}, "pages has 2 entries for 3 boxes"),
        ({"scores": [0.5]}, "scores has 1 entries for 3 boxes"),
        ({"ids": ["x"]}, "ids has 1 entries, expected 3"),
        ({"label_names": ["Figure"]}, r"labels \['Table'\] are not in label_names"),
        ({"form": "polygon"}, "polygon"),
        ({"extent": "miles"}, "miles"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        corpus(**change)


@pytest.mark.parametrize("box", [[0, 0, math.nan, 1], [0, 0, math.inf, 1], [2, 0, 1, 1], [0, 2, 1, 1]])
def test_boxes_that_are_none_are_refused(box: list[float]) -> None:
    with pytest.raises(ValueError, match="box 0 is not a finite xyxy box"):
        Corpus.from_arrays([box], ["a"])


def test_negative_sizes_are_refused() -> None:
    assert len(Corpus.from_arrays([[5, 5, 1, 1]], ["a"], form="xywh")) == 1
    with pytest.raises(ValueError, match="not a finite xywh box"):
        Corpus.from_arrays([[5, 5, -1, 1]], ["a"], form="xywh")


def test_integer_labels_need_names() -> None:
    with pytest.raises(ValueError, match="need label_names"):
        Corpus.from_arrays(BOXES, [0, 1, 0])
    with pytest.raises(ValueError, match="label_names"):
        Corpus.from_arrays(BOXES, [0, 1, 0], label_names=["Figure"])


def test_columns_of_different_length_are_refused() -> None:
    fine = vars(corpus())
    with pytest.raises(ValueError, match="label has 2 entries, expected 3"):
        BoxCorpus(**{**fine, "label": fine["label"][:2]})
    with pytest.raises(ValueError, match="four columns"):
        BoxCorpus(**{**fine, "boxes": fine["boxes"][:, :3]})


def test_select_keeps_whole_documents() -> None:
    chosen = corpus(ids=["x", "y", "z"]).select(["b", "unknown"])
    assert chosen.units() == ("b",)
    assert chosen.page_index.tolist() == [0, 1]
    assert chosen.boxes.tolist() == [BOXES[0], BOXES[2]]
    assert chosen.labels == ("Figure", "Table")
    assert chosen.ids is not None
    assert chosen.ids.tolist() == ["x", "z"]
    assert corpus().select([]).units() == ()


def test_select_keeps_page_names() -> None:
    made = read(valid_predictions())
    assert isinstance(made, BoxCorpus)
    chosen = made.select(["b.pdf"])
    assert chosen.page_names is not None
    assert chosen.page_names.tolist() == ["b.pdf::p003"]


def test_reading_takes_a_path_a_tree_or_a_corpus() -> None:
    made = corpus()
    assert read(made) is made
    with pytest.raises(TypeError, match="source: cannot read int"):
        read(1)


# Geometry.


def test_areas_and_corners() -> None:
    boxes = np.array([[1.0, 2.0, 3.0, 5.0]])
    assert areas(boxes, BoxForm.XYXY).tolist() == [6.0]
    assert areas(boxes, BoxForm.XYWH).tolist() == [15.0]
    assert corners(boxes, BoxForm.XYWH).tolist() == [[1.0, 2.0, 4.0, 7.0]]
    assert corners(boxes, BoxForm.XYXY) is boxes
    assert share(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist() == [0.5, 0.0]


# Overlays.


def test_an_overlay_shares_documents_pages_and_labels() -> None:
    truth = Corpus.from_arrays([[0, 0, 1, 1], [0, 0, 3, 3]], ["b", "a"], documents=["y", "x"], pages=[5, 2])
    found = Corpus.from_arrays(
        [[0, 0, 2, 2]] * 3, ["c", "a", "a"], documents=["z", "y", "y"], pages=[0, 5, 1], scores=[1, 2, 3]
    )
    over = Overlay.of(truth, found)
    assert over.documents == ("x", "y", "z")
    assert over.labels == ("a", "b", "c")
    assert (over.in_truth.tolist(), over.in_found.tolist()) == ([True, True, False], [False, True, True])
    places = list(zip(over.page_document.tolist(), over.page_index.tolist(), strict=True))
    assert places == [(0, 2), (1, 1), (1, 5), (2, 0)]
    assert over.truth.boxes.tolist() == [[0, 0, 3, 3], [0, 0, 1, 1]]
    assert over.truth.offsets.tolist() == [0, 1, 1, 2, 2]
    assert over.found.scores.tolist() == [3, 2, 1]
    assert np.isnan(over.truth.scores).all()
    assert len(over.found) == 3


def test_an_overlay_says_where_each_row_stands_in_its_document() -> None:
    truth = Corpus.from_arrays([[0, 0, 1, 1]] * 3, ["a"] * 3, documents=["x", "x", "y"], pages=[1, 3, 0])
    found = Corpus.from_arrays([[0, 0, 1, 1]] * 2, ["a"] * 2, documents=["y", "x"], pages=[4, 3], scores=[1, 2])
    over = Overlay.of(truth, found)
    assert over.first_pages.tolist() == [0, 0, 2, 2]
    rows = {name: np.asarray(column).tolist() for name, column in over.row_columns(over.truth).items()}
    assert rows == {"unit": [0, 0, 1], "page": [0, 1, 0], "label": [0, 0, 0]}
    rows = {name: np.asarray(column).tolist() for name, column in over.row_columns(over.found).items()}
    assert rows == {"unit": [0, 1], "page": [1, 1], "label": [0, 0]}


def test_an_overlay_of_nothing() -> None:
    empty = Corpus.from_arrays([], [])
    over = Overlay.of(empty, empty)
    assert over.documents == ()
    assert over.truth.offsets.tolist() == [0]


def test_an_overlay_refuses_different_units() -> None:
    with pytest.raises(ContractError, match="truth is in pixels coordinates"):
        Overlay.of(corpus(), corpus(extent="normalized"))


# Ids.


@given(
    st.lists(st.integers(-5, 12), unique=True, max_size=8),
    st.lists(st.integers(-9, 20), max_size=8),
    st.sampled_from([1, 10**9]),
    st.sampled_from([0, 30, 10**12]),
)
def test_ids_are_found_where_they_stand(table: list[int], ids: list[int], apart: int, first: int) -> None:
    known, wanted = [value * apart + first for value in table], [value * apart + first for value in ids]
    places = Ids.of(wanted).positions_in(Ids.of(known)).tolist()
    assert places == [known.index(value) if value in known else -1 for value in wanted]


def test_documents_handed_over_as_arrays_may_have_labels_of_their_own() -> None:
    """A few documents at a time often have no label in common: nothing is said of it, as it is of files."""
    sides = [Corpus.from_arrays([[0, 0, 10, 10]], [label]) for label in ("Table", "Figure")]
    assert [side.issues for side in read_pair(*sides)] == [(), ()]


def test_results_beside_a_truth_without_boxes_stand_alone() -> None:
    texts = TextCorpus(texts={1: (Block("a"),)})
    truth, found = read_pair(texts, [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 2, 2], "score": 0.5}])
    assert truth is texts
    assert isinstance(found, BoxCorpus)
    assert found.units() == (1,)


def test_a_selection_of_records_keeps_their_order() -> None:
    whole = RecordCorpus(documents=("c", "a", "b"), records=[{"n": 3}, {"n": 1}, {"n": 2}])
    assert whole.units() == ("c", "a", "b")
    some = whole.select(["b", "c", "x"])
    assert [(unit, some.record(position)) for position, unit in enumerate(some.units())] == [("c", {"n": 3}), ("b", {"n": 2})]
    assert some.select(["b"]).record(0) == some.part([1]).record(0) == {"n": 2}
