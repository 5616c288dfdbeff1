"""Lattices: read from files, built from several readings, and what the oracle says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ContractError, Evaluator, Words
from calque.corpus.words import Lattice
from calque.readers.text.lattices import read_lattices
from calque.words import align, build_lattice, oracle
from calque.words.lattice.lattices import _taken
from tests.examples import examples

words = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=10)


@examples(100)
@given(words, st.dictionaries(st.sampled_from(["one", "two", "three"]), words, min_size=1))
def test_every_reading_is_a_path_and_the_oracle_lies_between(ref: list[str], readings: dict[str, list[str]]) -> None:
    lattice = build_lattice(readings)
    for name, read in readings.items():
        assert lattice.read_by(name) == read
    best = oracle(ref, lattice=lattice)
    assert best.matches >= max(align(ref, read).matches for read in readings.values())
    assert best.matches <= best.flat_bound
    assert best.log10_paths == pytest.approx(len(str(best.n_paths)) - 1, abs=1)
    assert best.indel_distance <= best.alignment.indel_distance
    assert best.edit_distance <= best.alignment.levenshtein


@given(st.lists(words, min_size=1, max_size=3).flatmap(lambda read: st.tuples(st.just(read), st.permutations(read))))
def test_neither_names_nor_the_order_of_readings_change_a_lattice(readings: tuple[list[list[str]], list[list[str]]]) -> None:
    one, other = (build_lattice(dict(zip("xyz", read, strict=False))) for read in readings)
    assert [edge.words for edge in one.edges] == [edge.words for edge in other.edges]


def test_graph_statistics() -> None:
    edges: list[Any] = [("s", "x", ["a"]), ("s", "f", ["b"]), ("x", "f", ["c"]), ("x", "dead", ["z"]), ("lost", "f", ["y"])]
    best = oracle(["a", "c"], edges=edges, start="s", finals=["f"])
    assert (best.path, best.n_paths, best.pruned, best.n_slots, best.n_candidates) == ([0, 2], 2, 2, 2, 3)
    assert best.log10_paths == pytest.approx(0.30103, abs=1e-5)
    assert repr(best) == "<Oracle: 2 of 2 words, 2 slots>"


def test_start_and_finals_are_found_when_there_is_no_doubt() -> None:
    assert oracle(["a", "b"], edges=[(3, 1, ["a"]), (1, 2, ["b"])]).path == [0, 1]
    with pytest.raises(ContractError, match="say which node is the start"):
        oracle(["a"], edges=[(0, 2, ["a"]), (1, 2, ["b"])])


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(0, 1, ["a"]), (1, 0, ["b"]), (1, 2, ["c"])], "cycle at node [01]"),
        ([(0, 1, ["a"]), (1, 3, ["a"]), (3, 1, ["b"]), (3, 2, ["c"])], "cycle at node [13]"),
        ([(0, 1, ["a"])], "no path from start to a final node"),
    ],
)
def test_cycles_and_dead_ends_are_errors(edges: list[Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        oracle(["a"], edges=edges, start=0, finals=[2])


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="give one of"):
        oracle(["a"])
    with pytest.raises(TypeError, match="list of words"):
        oracle(["a"], [["a"]])
    with pytest.raises(ContractError, match="slot 0 has no candidates"):
        oracle(["a"], [[]])


TABLE = """docid\tvarid\tcandid\tsource\twordid\tword
d\t1\t0\ttess\t0\tcot
d\t1\t1\tocrad|gocr\t0\tcat
d\t0\t0\ttess\t0\tthe
d\t2\t0\ttess\t0\tsat
d\t2\t0\ttess\t1\tdown
d\t2\t1\tgocr\t\t
"""


def test_a_table_of_candidates(tmp_path: Path) -> None:
    (tmp_path / "l.tsv").write_text(TABLE)
    lattice = read_lattices(str(tmp_path / "l.tsv"))["d"]
    assert (lattice.slots, lattice.sources) == (3, ("tess", "ocrad", "gocr"))
    assert lattice.read_by("tess") == ["the", "cot", "sat", "down"]
    best = oracle(["the", "cat", "sat"], lattice=lattice)
    assert (best.path, best.matches) == ([0, 1, 0], 3)


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("d\t0\t0\ts\t0\tagain", "duplicate-word"),
        ("d\tx\t0\ts\t0\tw", "wrong-number"),
        ("d\t0", "wrong-row"),
    ],
)
def test_bad_rows(tmp_path: Path, row: str, code: str) -> None:
    (tmp_path / "l.tsv").write_text(f"{TABLE}{row}\n")
    with pytest.raises(ContractError) as caught:
        read_lattices(str(tmp_path / "l.tsv"))
    assert caught.value.issues[0].code == code


def test_a_table_without_its_columns(tmp_path: Path) -> None:
    (tmp_path / "l.tsv").write_text("docid\tword\n")
    with pytest.raises(ContractError, match="has no column varid"):
        read_lattices(str(tmp_path / "l.tsv"))


def test_json_forms(tmp_path: Path) -> None:
    slots = [[["a", "b"], ["ab"], []]]
    graph = {"edges": [[0, 1, ["a"]]], "start": 0, "finals": 1}
    for name, tree in (("slots", slots), ("graph", graph), ("many", {"d1": slots, "d2": graph, "d3": {"slots": slots}})):
        (tmp_path / f"{name}.json").write_text(json.dumps(tree))
    assert list(read_lattices(str(tmp_path / "slots.json"))) == ["slots"]
    assert list(read_lattices(str(tmp_path / "graph.json"), "d")) == ["d"]
    assert list(read_lattices(str(tmp_path / "many.json"))) == ["d1", "d2", "d3"]
    assert set(read_lattices(str(tmp_path))) == {"slots", "graph", "d1", "d2", "d3"}


@pytest.mark.parametrize(
    "tree", [3, {"d": 3}, [["a"]], {"edges": 3}, {"edges": [[0, 1]]}, {"edges": [[0, [1], ["a"]]]}, [[]], {"edges": []}]
)
def test_bad_json(tmp_path: Path, tree: Any) -> None:
    (tmp_path / "l.json").write_text(json.dumps(tree))
    with pytest.raises(ContractError, match=r"l\.json"):
        read_lattices(str(tmp_path / "l.json"))


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"no .json files, and no tables"):
        read_lattices(str(tmp_path))


def test_documents_without_a_lattice_count_as_missed() -> None:
    from calque.corpus.words import WordCorpus

    found = WordCorpus.of({"d": ["a"], "e": ["b"]}, lattices={"d": Lattice.from_slots([[["a"], ["x"]]])})
    result = Evaluator(Words(lattice="given"), jobs=2).update({"d": ["a"], "e": ["b"]}, found).compute()
    block = result.numbers["oracle"]
    assert (block["recall"], block["missing_lattices"], block["best_source_recall"]) == (0.5, 1, 1.0)
    assert (result["oracle_recall"], result["repairable"]) == (0.5, None)
    assert result.undefined["oracle.repairable"] == "the best source makes no errors"
    assert block["documents"]["d"]["pairs"] == [[0, 0]]


def test_a_bad_lattice_names_its_document() -> None:
    from calque.corpus.words import WordCorpus

    lattice = Lattice.from_edges([(0, 1, ["a"])], 0, [3])
    with pytest.raises(ContractError, match="document 'd': no path"):
        Evaluator(Words(lattice="given")).update({"d": ["a"]}, WordCorpus.of({"d": ["a"]}, lattices={"d": lattice}))


def test_a_folder_without_lattices_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("none here")
    with pytest.raises(ContractError) as refused:
        read_lattices(str(tmp_path))
    (issue,) = refused.value.issues
    assert (issue.code, issue.file) == ("no-lattices", str(tmp_path))


def test_a_source_gains_only_what_no_other_read() -> None:
    """Of words that match: slots in which it was taken, those in which nobody else read that, and how many words it brought."""
    ref = ["the", "cat", "sat", "down"]
    both = {"a": ["the", "cat", "sat", "down"], "b": ["the", "cat", "sat", "up"], "c": ["the", "dog", "sat", "up"]}
    best = oracle(ref, lattice=build_lattice(both))
    assert _taken(best) == {"a": (2, 1, 1), "b": (1, 0, 0)}
    alone = oracle(ref, lattice=build_lattice({"a": ["the", "cat", "sat", "in"], "b": ["the", "dog", "sat", "down"]}))
    assert _taken(alone) == {"a": (1, 1, 1), "b": (1, 1, 1)}
