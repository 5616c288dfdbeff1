"""The word kernels, compiled and reference: against each other, path enumeration and rapidfuzz."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from calque.kernels import TWINS, checked_kernels, native_built, reference
from calque.words.alignment import count_bag_matches
from tests.examples import examples

MODULES = [name for name in TWINS if name == "reference" or native_built()]
BIG_LOG = 1 << 20
Slots = list[list[list[int]]]


@pytest.fixture(params=MODULES)
def kernels(request: pytest.FixtureRequest) -> ModuleType:
    return checked_kernels(request.param)


def ids(values: Any) -> Any:
    return np.array(values, dtype=np.int32)


def packed(documents: list[list[int]]) -> tuple[Any, Any]:
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    return ids([word for document in documents for word in document]), offsets


def sausage(slots: Slots) -> tuple[Any, ...]:
    """Edges of a sausage as the kernels take them."""
    edges = [(position, words) for position, slot in enumerate(slots) for words in slot]
    offsets = np.concatenate([[0], np.cumsum([len(words) for _, words in edges])]).astype(np.int64)
    final = np.zeros(len(slots) + 1, dtype=np.uint8)
    final[-1] = 1
    return (
        ids([position for position, _ in edges]),
        ids([position + 1 for position, _ in edges]),
        offsets,
        ids([word for _, words in edges for word in words]),
        final,
    )


words = st.integers(0, 5)
sequences = st.lists(words, max_size=40)
pairs_of_documents = st.lists(st.tuples(sequences, sequences), min_size=1, max_size=4)
lattices = st.lists(st.lists(st.lists(words, max_size=3), min_size=1, max_size=3), max_size=5)


@examples(150)
@given(pairs_of_documents)
def test_lengths_and_partners_of_both_twins_agree_with_rapidfuzz(documents: list[tuple[list[int], list[int]]]) -> None:
    ours, theirs = packed([a for a, _ in documents]), packed([b for _, b in documents])
    expected = [LCSseq.similarity(a, b) for a, b in documents]
    results = []
    for name in MODULES:
        module = checked_kernels(name)
        for limit in (BIG_LOG, 0):
            partners = module.lcs_partners(*ours, *theirs, 6, limit, 2).tolist()
            results.append(partners)
            check_partners(documents, partners, expected)
    assert all(partners == results[0] for partners in results)


def check_partners(documents: list[tuple[list[int], list[int]]], partners: list[int], expected: list[int]) -> None:
    at = 0
    for (ours, theirs), length in zip(documents, expected, strict=True):
        mine = partners[at : at + len(ours)]
        at += len(ours)
        pairs = [(i, j) for i, j in enumerate(mine) if j >= 0]
        assert len(pairs) == length
        assert all(ours[i] == theirs[j] for i, j in pairs)
        assert all(a < b for (_, a), (_, b) in itertools.pairwise(pairs))


@examples(40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 30, 400]))
def test_long_sequences_cross_many_blocks(seed: int, vocabulary: int) -> None:
    random = np.random.default_rng(seed)
    ours, theirs = (packed([random.integers(0, vocabulary, random.integers(0, 700)).tolist()]) for _ in range(2))
    expected = LCSseq.similarity(ours[0].tolist(), theirs[0].tolist())
    answers = []
    for name in MODULES:
        module = checked_kernels(name)
        answers += [module.lcs_partners(*ours, *theirs, vocabulary, limit, 1).tolist() for limit in (BIG_LOG, 50)]
    assert all(answer == answers[0] for answer in answers)
    check_partners([(ours[0].tolist(), theirs[0].tolist())], answers[0], [expected])


@given(pairs_of_documents)
def test_bag_matches_are_counted_with_repetition(documents: list[tuple[list[int], list[int]]]) -> None:
    ours, theirs = packed([a for a, _ in documents]), packed([b for _, b in documents])
    expected = [sum(min(a.count(word), b.count(word)) for word in range(6)) for a, b in documents]
    assert count_bag_matches(*ours, *theirs, 6).tolist() == expected


def best_by_enumeration(ours: list[int], slots: Slots) -> tuple[int, list[int]]:
    """Every path, one by one: most matches, fewest words, lowest candidates."""

    def value(choice: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        path = [word for slot, pick in zip(slots, choice, strict=True) for word in slot[pick]]
        return -LCSseq.similarity(ours, path), len(path), choice

    matches, _, choice = min(value(choice) for choice in itertools.product(*(range(len(slot)) for slot in slots)))
    firsts = [0, *itertools.accumulate(len(slot) for slot in slots)]
    return -matches, [first + pick for first, pick in zip(firsts, choice, strict=False)]


@examples(200)
@given(st.lists(words, max_size=8), lattices)
def test_the_best_path_is_the_one_that_enumeration_finds(ours: list[int], slots: Slots) -> None:
    expected = best_by_enumeration(ours, slots)
    for name in MODULES:
        module = checked_kernels(name)
        for rows in (1000, 2):
            matches, path = module.lattice_path(ids(ours), *sausage(slots), 6, rows)
            assert (matches, path.tolist()) == expected


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[int, int, list[int]]], list[int]]:
    """Edges between nodes in ascending order, with every node on a path from 0 to the last."""
    nodes = draw(st.integers(1, 6))
    edges = [(node, node + 1, draw(st.lists(words, max_size=2))) for node in range(nodes - 1)]
    for _ in range(draw(st.integers(0, 5)) if nodes > 1 else 0):
        source = draw(st.integers(0, nodes - 2))
        edges.append((source, draw(st.integers(source + 1, nodes - 1)), draw(st.lists(words, max_size=3))))
    final = [int(node == nodes - 1 or draw(st.booleans())) for node in range(nodes)]
    return draw(st.permutations(edges)), final


def graph_arrays(edges: list[tuple[int, int, list[int]]], final: list[int]) -> tuple[Any, ...]:
    offsets = np.concatenate([[0], np.cumsum([len(spelled) for _, _, spelled in edges])]).astype(np.int64)
    flat = [word for _, _, spelled in edges for word in spelled]
    return ids([e[0] for e in edges]), ids([e[1] for e in edges]), offsets, ids(flat), np.array(final, dtype=np.uint8)


def all_paths(edges: list[tuple[int, int, list[int]]], final: list[int], node: int = 0) -> list[list[int]]:
    ends: list[list[int]] = [[]] if final[node] else []
    for number, (source, target, _) in enumerate(edges):
        if source == node:
            ends += [[number, *rest] for rest in all_paths(edges, final, target)]
    return ends


@examples(200)
@given(st.lists(words, max_size=8), graphs())
def test_graphs_with_several_finals(ours: list[int], graph: tuple[list[tuple[int, int, list[int]]], list[int]]) -> None:
    edges, final = graph

    def value(path: list[int]) -> tuple[int, int, list[int]]:
        spelled = [word for edge in path for word in edges[edge][2]]
        return -LCSseq.similarity(ours, spelled), len(spelled), path

    matches, _, best = min(value(path) for path in all_paths(edges, final))
    for name in MODULES:
        for rows in (1000, 1, 3):
            found, path = checked_kernels(name).lattice_path(ids(ours), *graph_arrays(edges, final), 6, rows)
            assert (found, path.tolist()) == (-matches, best)


@examples(40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 20]))
def test_twins_agree_on_longer_lattices(seed: int, vocabulary: int) -> None:
    random = np.random.default_rng(seed)
    ours = random.integers(0, vocabulary, random.integers(1, 160)).tolist()
    slots: Slots = []
    for word in ours:
        wrong = random.integers(0, vocabulary, random.integers(0, 25)).tolist()
        slots.append([[word], wrong] if random.random() < 0.5 else [wrong, [], [word, word]])
    arrays = sausage(slots)
    expected = reference.lattice_path(ids(ours), *arrays, vocabulary, 0)
    for rows in (10_000, 7):
        for name in MODULES:
            found = checked_kernels(name).lattice_path(ids(ours), *arrays, vocabulary, rows)
            assert (found[0], found[1].tolist()) == (expected[0], expected[1].tolist())


@examples(100)
@given(st.lists(st.text(alphabet="ab \t\n\x0b\x1c\x85\xa0\u1680\u2003\u2028\u202f\u205f\u3000éß\u200b😀", max_size=60)))
def test_splitting_is_that_of_python(texts: list[str]) -> None:
    for name in MODULES:
        codes, offsets, data, ends = checked_kernels(name).split_words([text.encode() for text in texts])
        vocabulary = [data[a:b].tobytes().decode() for a, b in itertools.pairwise(ends.tolist())]
        found = [[vocabulary[code] for code in codes[a:b]] for a, b in itertools.pairwise(offsets.tolist())]
        assert found == [text.split() for text in texts]
        assert vocabulary == list(dict.fromkeys(word for text in texts for word in text.split()))


def test_a_large_vocabulary_grows_the_table(kernels: ModuleType) -> None:
    text = " ".join(f"word{number}" for number in range(20_000))
    codes, _, _, ends = kernels.split_words([text.encode(), text.encode()])
    assert codes.tolist() == [*range(20_000)] * 2
    assert len(ends) == 20_001


@pytest.mark.skipif(not native_built(), reason="the compiled kernels are not built")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reference": ids([9])}, "outside the vocabulary"),
        ({"reference": ids([-1])}, "outside the vocabulary"),
        ({"reference_offsets": np.array([0, 2])}, "must rise"),
        ({"predicted_offsets": np.array([0, 0, 1])}, "same documents"),
    ],
)
def test_wrong_arrays_are_refused(change: dict[str, Any], message: str) -> None:
    one = np.array([0, 1])
    arguments = {"reference": ids([0]), "reference_offsets": one, "predicted": ids([0]), "predicted_offsets": one}
    native = checked_kernels("native")
    with pytest.raises(ValueError, match=message):
        native.lcs_partners(**{**arguments, **change}, vocabulary=2, log_limit=BIG_LOG, jobs=1)


@pytest.mark.skipif(not native_built(), reason="the compiled kernels are not built")
def test_edges_that_lead_back_are_refused() -> None:
    native = checked_kernels("native")
    arrays = graph_arrays([(1, 0, [0])], [0, 1])
    with pytest.raises(ValueError, match="lower to a higher"):
        native.lattice_path(ids([0]), *arrays, 1, 10)
