"""Corpora of records, texts, words, tables and orders: what they hold, what is chosen of them, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calque.base.errors import ContractError, Issue
from calque.base.text_normalization import FOLDS, folded, normalized
from calque.corpus.boxes import Corpus
from calque.corpus.orders import Group, OrderCorpus, OrderPage
from calque.corpus.records import RecordCorpus
from calque.corpus.tables import CellTable, TableCorpus
from calque.corpus.words import Block, Edge, Lattice, Removed, TextCorpus, WordCorpus
from calque.evaluation.boxes.overlay import Overlay

ONE = CellTable.of([(0, 0, 1, 1, "a", False)])
PAGE = OrderPage(("a", "b"), Group((0, 1)))
CORPORA: dict[str, Corpus] = {
    "records": RecordCorpus(documents=("a", "b"), records=[{"x": 1}, {"x": 2}]),
    "texts": TextCorpus(texts={"b": [], "a": [Block("to be")]}),
    "words": WordCorpus.of({"b": ["not"], "a": ["to", "be", "to"]}),
    "tables": TableCorpus(tables={"b": [ONE], "a": [ONE, ONE]}),
    "orders": OrderCorpus(pages={"b": {0: PAGE}, "a": {0: PAGE, 1: PAGE}}),
}
SHOWN = {
    "records": ("<RecordCorpus from memory: 2 documents>", "2 documents"),
    "texts": ("<TextCorpus from texts: 2 documents>", "2 documents"),
    "words": ("<WordCorpus from words: 2 documents, 4 words, 3 different>", "2 documents"),
    "tables": ("<TableCorpus from memory: 2 documents with 3 tables>", "2 documents with 3 tables"),
    "orders": ("<OrderCorpus from memory: 2 documents with 6 blocks>", "2 documents with 6 blocks"),
}


@pytest.mark.parametrize("name", CORPORA)
def test_every_corpus_says_what_it_holds_and_gives_a_part(name: str) -> None:
    corpus = CORPORA[name]
    assert corpus.units() == ("a", "b")
    assert (repr(corpus), corpus.contents()) == SHOWN[name]
    assert corpus.select(["b", "z"]).units() == ("b",)
    assert corpus.select([]).units() == ()
    assert corpus.select(["a", "b"]).units() == ("a", "b")


def test_one_of_a_kind_has_no_plural() -> None:
    assert TableCorpus(tables={"a": [ONE]}).contents() == "1 document with 1 table"
    assert OrderCorpus(pages={"a": {0: OrderPage(("x",), Group((0,)))}}).contents() == "1 document with 1 block"
    assert repr(ONE) == "<Table: 1 × 1, 1 cell>"
    assert repr(CellTable.of([(0, 0, 1, 1, "", False), (1, 0, 1, 1, "", False)], id="t")) == "<Table t: 2 × 1, 2 cells>"
    assert "here.json" in repr(TextCorpus(texts={}, source="here.json"))


@pytest.mark.parametrize(
    ("documents", "records", "rows", "message"),
    [
        (("a", "b", "b"), [1, 2, 3], None, "document 'b' is there twice"),
        (("a",), [1, 2], None, "there are 2 records for 1 documents"),
        (("a", "b"), [1, 2], [0], "there are 1 records for 2 documents"),
    ],
)
def test_records_go_with_documents(documents: tuple[str, ...], records: list[Any], rows: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RecordCorpus(documents=documents, records=records, rows=rows)


def test_records_by_rows() -> None:
    noticed = (Issue("odd", "something is odd", "here.json"),)
    corpus = RecordCorpus(documents=("a", "b", "c"), records=["x", "y", "z"], rows=[2, 0, 1], issues=noticed)
    assert [corpus.record(place) for place in range(3)] == ["z", "x", "y"]
    assert [corpus.select(["b", "c"]).record(place) for place in range(2)] == ["x", "y"]
    part = corpus.part([2, 0])
    assert (part.documents, list(part.records), part.rows) == (("c", "a"), ["y", "z"], None)
    assert (part.issues, corpus.select(["b"]).issues) == ((), noticed), "what was noticed is of the whole"
    assert len(corpus) == 3
    assert len(set(corpus.digests())) == 3


@pytest.mark.parametrize(
    ("documents", "offsets", "words"),
    [(("a", "a"), [0, 1, 2], 2), (("b", "a"), [0, 1, 2], 2), (("a",), [0, 1, 2], 2), (("a", "b"), [0, 1, 1], 2)],
)
def test_words_go_with_documents(documents: tuple[str, ...], offsets: list[int], words: int) -> None:
    made = WordCorpus.of({"a": ["x"] * words})
    with pytest.raises(ValueError, match=r"canonical order|offsets must have"):
        WordCorpus(documents=documents, offsets=np.array(offsets), word=made.word, vocabulary=made.vocabulary)


def test_a_part_of_words_has_all_that_goes_with_them() -> None:
    corpus = WordCorpus.of(
        {"a": ["to", "be"], "b": [], "c": ["or", "not", "to"]},
        position=np.array([3, 9, 1, 4, 8]), page=np.array([0, 1, 0, 0, 2]), region=np.array([0, 1, 1, 0, 0]),
        texts=("to be", "", "or not to"), removed=(Removed("a", "x", 1, ""), Removed("c", "y", 2, "")),
        lattices={"a": Lattice.from_slots([[["to"]]]), "c": Lattice.from_slots([[["or"]]])},
    )  # fmt: skip
    part = corpus.select(["c", "b"])
    assert (part.documents, part.offsets.tolist(), part.words("c")) == (("b", "c"), [0, 0, 3], ["or", "not", "to"])
    assert part.position is not None
    assert part.page is not None
    assert part.region is not None
    assert [part.position.tolist(), part.page.tolist(), part.region.tolist()] == [[1, 4, 8], [0, 0, 2], [1, 0, 0]]
    assert (part.texts, [each.document for each in part.removed], list(part.lattices)) == (("", "or not to"), ["c"], ["c"])
    assert corpus.select(["a", "b", "c"]) is corpus
    assert len(set(corpus.digests())) == 3


def test_words_of_several_files_keep_their_ids() -> None:
    issue = Issue("x", "y")
    one = WordCorpus.of({"b": ["to", "be"], "c": ["or"]}, position=np.array([3, 9, 7]), issues=(issue,))
    two = WordCorpus.of({"a": ["not", "to"]})
    made = WordCorpus.joined([one, two], source="both")
    assert (made.documents, made.words("b"), made.source, made.issues) == (("a", "b", "c"), ["to", "be"], "both", (issue,))
    assert made.position is not None
    assert made.position.tolist() == [0, 1, 3, 9, 7]
    assert WordCorpus.joined([two]).position is None
    with pytest.raises(ContractError, match="document 'a' stands in two files"):
        WordCorpus.joined([two, two])
    assert one.with_issues([]).issues == ()


def test_lattices() -> None:
    made = Lattice.from_slots([[["a"], []], [["b"], ["c", "d"]]], [[["x"], ["y"]], [["x", "y"], ["z"]]])
    assert made.edges == (
        Edge(0, 1, ("a",), ("x",), 0), Edge(0, 1, (), ("y",), 1), Edge(1, 2, ("b",), ("x", "y"), 0),
        Edge(1, 2, ("c", "d"), ("z",), 1),
    )  # fmt: skip
    assert (made.start, made.finals, made.slots, made.sources) == (0, {2}, 2, ("x", "y", "z"))
    assert [made.covered_by(name) for name in "xyz"] == [True, True, False]
    assert [made.read_by(name) for name in "xyz"] == [["a", "b"], ["b"], ["c", "d"]]
    twice = Lattice.from_slots([[["a"], ["b"]]], [[["x"], ["x"]]])
    assert twice.read_by("x") == ["a"]
    with pytest.raises(ContractError, match="slot 1 has no candidates"):
        Lattice.from_slots([[["a"]], []])
    with pytest.raises(TypeError, match="slot 0: a candidate is a list of words, not the string 'ab'"):
        Lattice.from_slots([["ab"]])


def test_graphs_begin_where_nothing_leads_to() -> None:
    edges = [("s", "m", ["a"]), ("m", "e", ["b"]), ("m", "f", ["c"])]
    made = Lattice.from_edges(edges)
    assert (made.start, made.finals, made.slots) == ("s", {"e", "f"}, None)
    assert [edge.candidate for edge in made.edges] == [0, 1, 2]
    chosen = Lattice.from_edges(edges, start="m", finals=["e"])
    assert (chosen.start, chosen.finals) == ("m", {"e"})
    for wrong, count in (([("a", "b", ["x"]), ("b", "a", ["y"])], 0), ([("a", "c", ["x"]), ("b", "c", ["y"])], 2)):
        with pytest.raises(ContractError, match=f"the lattice has {count} nodes that nothing leads to"):
            Lattice.from_edges(wrong)


def test_cells_on_rows_and_columns() -> None:
    table = CellTable.of([(1, 1, 1, 1, "d", False), (0, 0, 2, 1, "a", True), (0, 1, 1, 2, "b", True)], rows=3, columns=2)
    assert (table.rows, table.columns, table.slots, table.nodes, len(table)) == (3, 3, 9, 6, 3)
    assert table.grid().tolist() == [[0, 1, 1], [0, 2, -1], [-1, -1, -1]]
    assert table.row_sizes() == [2, 1, 0]
    assert table.spans()
    assert CellTable.of([(0, 0, 2, 1, "a", False)]).spans()
    assert CellTable.of([(0, 0, 1, 2, "a", False)]).spans()
    assert not ONE.spans()
    assert CellTable.of([], rows=2, columns=4).grid().shape == (2, 4)
    laid = CellTable.of([(0, 0, 1, 2, "a", False), (0, 1, 1, 1, "b", False)], laid=(1, 0))
    assert laid.grid().tolist() == [[0, 0]]


def test_tables_as_json() -> None:
    assert ONE.to_dict() == {
        "rows": 1,
        "cells": [{"row": 0, "column": 0, "rowspan": 1, "colspan": 1, "text": "a", "header": False}],
    }
    boxed = CellTable.of([(0, 0, 1, 1, "a", True)], id="t", page=0, box=(0, 0, 9, 9), boxes=((1, 1, 2, 2),))
    assert {key: value for key, value in boxed.to_dict().items() if key != "cells"} == {
        "id": "t", "page": 0, "box": [0, 0, 9, 9], "rows": 1,
    }  # fmt: skip
    assert boxed.to_dict()["cells"][0]["box"] == [1, 1, 2, 2]


def test_groups_are_read_in_order() -> None:
    deep = Group((3, Group((1, Group((0,), ordered=False))), 2))
    assert deep.blocks() == [3, 1, 0, 2]
    assert Group(()).blocks() == []
    assert Group(range(2, 5)).blocks() == [2, 3, 4]


def test_pictures_are_named_by_the_truth_else_by_predictions() -> None:
    def side(documents: list[str], names: tuple[str, ...] | None) -> Any:
        made = Corpus.from_arrays([[0, 0, 1, 1]] * len(documents), ["x"] * len(documents), documents=documents)
        from dataclasses import replace

        return replace(made, image_names=names)

    overlay = Overlay.of(side(["a", "b"], ("a.png", "")), side(["a", "b", "c"], ("other.png", "b.png", "c.png")))
    assert overlay.image_names == ("a.png", "b.png", "c.png")
    assert Overlay.of(side(["a"], ("a.png",)), side(["a"], None)).image_names == ("a.png",)
    assert Overlay.of(side(["a"], None), side(["a"], ("a.png",))).image_names == ("a.png",)
    assert Overlay.of(side(["a"], None), side(["a"], None)).image_names is None


def test_exactly_these_characters_are_folded() -> None:
    assert sorted(FOLDS["dashes"]) == [0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212]
    assert {chr(code): plain for code, plain in FOLDS["ligatures"].items()} == {
        "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ſt", "ﬆ": "st",
    }  # fmt: skip
    assert {chr(code): plain for code, plain in FOLDS["quotes"].items()} == {
        "‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "‟": '"',
    }  # fmt: skip
    assert folded("ﬅ–", ("ligatures", "long_s")) == ("st–", {"ligatures": 1, "long_s": 1})
    assert folded("–‘", ("dashes",)) == ("-‘", {"dashes": 1})
    assert (normalized("ﬁ", "NFKC"), normalized("ﬁ", "NFC"), normalized("e\u0301", "NFC"), normalized("é", "none")) == (
        "fi", "ﬁ", "é", "é",
    )  # fmt: skip


def test_records_are_named_by_their_ids_unless_somebody_says_that_they_are_numbered() -> None:
    corpus = RecordCorpus(documents=("a",), records=[{}])
    assert (corpus.named, corpus.rows, corpus.issues) == (True, None, ())
