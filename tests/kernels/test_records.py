"""Texts and lists of records: against rapidfuzz and every assignment, over both twins."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from calque.comparators.text import points
from calque.kernels.structs import ItemLeaf, ItemRows

texts = st.lists(
    st.one_of(st.text("ab", max_size=5), st.text("abé中\U0001f600", max_size=80), st.just("x" * 200)), min_size=1, max_size=6
)


def codes(numbers):
    return np.array(numbers, dtype=np.int32)


@given(texts)
def test_edit_distances_are_those_of_rapidfuzz(kernels, listed):
    pairs = list(itertools.product(range(len(listed)), repeat=2))
    distances = kernels.edit_distances(points(listed), codes([a for a, _ in pairs]), codes([b for _, b in pairs]))
    assert distances.tolist() == [Levenshtein.distance(listed[a], listed[b]) for a, b in pairs]


def test_no_text_and_no_pair(kernels):
    nobody = codes([])
    assert kernels.edit_distances(points([]), nobody, nobody).tolist() == []
    assert kernels.edit_distances(points(["", ""]), codes([0]), codes([1])).tolist() == [0]


def test_pairs_must_be_numbers_of_texts(native):
    with pytest.raises(ValueError, match="numbers of texts"):
        native.edit_distances(points(["a"]), codes([0]), codes([1]))
    with pytest.raises(ValueError, match="two texts"):
        native.edit_distances(points(["a"]), codes([0, 0]), codes([0]))


matrices = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
        lambda shape: st.lists(
            st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        )
    ),
    max_size=4,
)


def best_pairings(matrix):
    """Every complete pairing with the highest total."""
    height, width = matrix.shape
    turned = height > width
    wide = matrix.T if turned else matrix
    totals = {
        columns: sum(wide[row, column] for row, column in enumerate(columns))
        for columns in itertools.permutations(range(wide.shape[1]), wide.shape[0])
    }
    best = [columns for columns, total in totals.items() if total == max(totals.values())]
    return [
        [columns.index(row) if row in columns else -1 for row in range(height)] if turned else list(columns) for columns in best
    ]


def lists_of(matrices):
    """One list for each matrix, whose scores are those of its pairs."""
    heights, widths = (np.array([matrix.shape[side] for matrix in matrices], dtype=np.int64) for side in (0, 1))
    lists = ItemRows(np.cumsum(heights) - heights, heights, np.cumsum(widths) - widths, widths)
    scores = np.concatenate([np.zeros(0), *(matrix.ravel() for matrix in matrices)])
    items = (np.zeros(int(sizes.sum()), dtype=np.int32) for sizes in (heights, widths))
    return [ItemLeaf(*items, 1.0, scores=scores)], lists


@given(matrices)
def test_partners_that_are_plain_are_the_one_best_pairing(kernels, given_matrices):
    made = [np.array(matrix) for matrix in given_matrices]
    leaves, lists = lists_of(made)
    partners, settled = kernels.item_partners(leaves, lists, 0.0)
    assert len(settled) == len(made)
    rows = np.split(partners, np.cumsum(lists.heights)[:-1]) if made else []
    for matrix, mine, is_settled in zip(made, rows, settled.tolist(), strict=True):
        if is_settled:
            assert best_pairings(matrix) == [mine.tolist()]
        else:
            assert (mine == -1).all()
            wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
            wanted = [set(np.flatnonzero(row == row.max()).tolist()) for row in wide]
            assert any(len(each) > 1 for each in wanted) or len(set().union(*wanted)) < len(wanted)


def random_items(chance, lists):
    """Fields of every kind, with few values, so that many items nearly agree and some lack a field."""
    words = ["amber", "amber birch", "ambre", "", "birch", "cedar \U0001f600", "x" * 70, "x" * 69 + "y"]
    sizes = [int((starts + counts).max(initial=0)) for starts, counts in (lists[:2], lists[2:])]
    pairs = int((lists.heights * lists.widths).sum())
    texts = points([words[each] for each in chance.integers(0, len(words), 12).tolist()])

    def items(most):
        return (chance.integers(-2, most, size).astype(np.int32) for size in sizes)

    return [
        ItemLeaf(*items(5), 1.0, *(chance.integers(0, 4, 5).astype(np.float64) for _ in range(2))),
        ItemLeaf(*items(6), 2.0, texts=texts, truth_texts=6),
        ItemLeaf(*items(6), 0.5, *(chance.integers(0, 2, 6).astype(np.float64) for _ in range(2)), texts, 6),
        ItemLeaf(*items(3), float(chance.integers(0, 2)), scores=chance.integers(0, 40, pairs) / 39),
    ]


def random_lists(chance, count):
    heights, widths = (chance.integers(1, 7, count) for _ in range(2))
    return ItemRows(np.cumsum(heights) - heights, heights, np.cumsum(widths) - widths, widths)


@pytest.mark.parametrize("slack", [0.0, 1e-9, 0.05])
def test_both_twins_settle_the_same(native, reference, slack):
    chance = np.random.default_rng(7)
    settled = 0
    for _ in range(40):
        lists = random_lists(chance, 25)
        leaves = random_items(chance, lists)
        leaves = [leaves[each] for each in sorted(chance.choice(4, int(chance.integers(1, 5)), replace=False).tolist())]
        both = [kernels.item_partners(leaves, lists, slack) for kernels in (native, reference)]
        assert [column.tolist() for column in both[0]] == [column.tolist() for column in both[1]]
        settled += int(both[0][1].sum())
    assert 100 < settled < 900  # neither all nor none


def test_items_are_checked(native):
    lists = random_lists(np.random.default_rng(1), 3)
    keys, texts, both, scores = random_items(np.random.default_rng(1), lists)
    wrong = [
        ("items need a field", [], lists),
        ("not be empty", [keys], lists._replace(heights=lists.heights * 0)),
        ("within the items", [keys], lists._replace(found=lists.found + 1)),
        ("within the items", [keys], lists._replace(truth=lists.truth - 1)),
        ("a place and a length", [keys], lists._replace(widths=lists.widths[:2])),
        ("needs a key", [keys._replace(truth_keys=np.zeros(1))], lists),
        ("for both sides", [both._replace(found_keys=None)], lists),
        ("needs a text", [texts._replace(truth_texts=11)], lists),
        ("number of texts", [texts._replace(truth_texts=13)], lists),
        ("needs a score", [scores._replace(scores=np.zeros(1))], lists),
        ("not be negative", [keys._replace(weight=-1.0)], lists),
    ]
    for message, leaves, given_lists in wrong:
        with pytest.raises(ValueError, match=message):
            native.item_partners(leaves, given_lists, 0.0)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (b'{"doc_id": "a", "id": 7, "x": [1, {"id": 2}]}\r\n', {"doc_id": "a", "id": 7}),
        (rb' {"\u0069d": "\u00e9 \"", "x": "doc_id"}', {"id": 'é "'}),
        (b"{}", {}),
        (b'{"x": NaN}', {}),
        (b'{"id": 9223372036854775807}', {"id": 2**63 - 1}),
        (b'{"id": 9223372036854775808}', None),
        (b'{"id": 1.5}', None),
        (b'{"id": null}', None),
        (b'{"id": true}', None),
        (b'{"id": "a", "id": "b"}', None),
        (b'{"x": {"y": 1, "y": 2}}', None),
        (b'{"x": [[[[1]]]]}', None),
        (b'{"x": "[[[[[["}', {}),
        (b'{"x": 1} 2', None),
        (b'{"x": 1', None),
        (b'{"x" 1}', None),
        (b"[1]", None),
        (b"7", None),
        (b"", None),
        (b'{"x": "\xff"}', None),
        (b'{"x": 01}', None),
        (b'{"x": %s}' % (b"9" * 5000), None),
    ],
)
def test_ids_of_records_that_are_plain(kernels, text, ids):
    lines = kernels.record_lines(text, ["doc_id", "id"], 4)
    assert lines == (([(0, 0, len(text), ids)], 1) if text else ([], 0))


LINES = st.sampled_from(
    [
        b'{"id": 1}',
        b'{"id": "a"}\r',
        b"",
        b" \t\v\f",
        b'{"x": [',
        b"1]}",
        b'{"id": 1',
        b'{"x": "',
        b', "y": 2}',
        b"}",
        b"[1]",
        b"{",
    ]
)


@given(st.lists(LINES, max_size=6), st.sampled_from([b"", b"\n"]))
def test_lines_are_looked_at_one_by_one(kernels, lines, end):
    text = b"\n".join(lines) + end
    alone = [kernels.record_lines(line, ["id"], 4)[0] for line in text.split(b"\n")]
    starts = np.cumsum([0, *(len(line) + 1 for line in text.split(b"\n"))]).tolist()
    expected = [(number, starts[number], each[0][3]) for number, each in enumerate(alone) if each]
    found, size = kernels.record_lines(text, ["id"], 4)
    assert size == (text.count(b"\n") + (not text.endswith(b"\n")) if text else 0)
    assert [(number, start, ids) for number, start, _, ids in found] == expected
    assert all(text[start : start + length].rstrip(b"\n") == lines[number] for number, start, length, _ in found)


nested = st.recursive(
    st.sampled_from([1, '[["', "a\\", '"{']), lambda inner: st.lists(inner, max_size=2) | st.builds(lambda x: {'k"[': x}, inner)
)


def depth(tree):
    if isinstance(tree, dict):
        return 1 + max(map(depth, tree.values()))
    return 1 + max(map(depth, tree), default=0) if isinstance(tree, list) else 0


@given(nested)
def test_how_deep_a_text_nests(kernels, tree):
    text = json.dumps(tree).encode()
    assert [kernels.nests_beyond(text, levels) for levels in range(6)] == [depth(tree) > levels for levels in range(6)]
