"""`calque.words.compare`: the metrics of two texts, against edit distances and subsequences that are written out here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError, Evaluator, Words
from calque.words import Compared, compare

WORDS = st.lists(st.sampled_from(["a", "b", "ab", "abc", "é"]), max_size=7)


def edit_distance(first: Sequence[str], second: Sequence[str]) -> int:
    """The Levenshtein distance, by the textbook's table."""
    row = list(range(len(second) + 1))
    for number, one in enumerate(first, start=1):
        before, row[0] = row[0], number
        for place, other in enumerate(second, start=1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (one != other))
    return row[-1]


def common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for one in first:
        before = 0
        for place, other in enumerate(second, start=1):
            before, row[place] = row[place], before + 1 if one == other else max(row[place], row[place - 1])
    return row[-1]


def quotient(above: int, below: int) -> float | None:
    return above / below if below else None


@given(WORDS, WORDS)
def test_compare_of_any_words_gives_the_numbers_by_definition(truth: list[str], predictions: list[str]) -> None:
    found = compare(" ".join(truth), " ".join(predictions))
    matches, texts = common(truth, predictions), (" ".join(truth), " ".join(predictions))
    edits, letters = edit_distance(truth, predictions), edit_distance(*texts)
    assert found["matches"] == matches == len(found.pairs)
    assert (found["n_ref"], found["n_pred"], found["word_edits"]) == (len(truth), len(predictions), edits)
    assert (found["chars_ref"], found["chars_pred"], found["char_edits"]) == (len(texts[0]), len(texts[1]), letters)
    assert found["recall"] == quotient(matches, len(truth))
    assert found["precision"] == quotient(matches, len(predictions))
    assert found["f1"] == quotient(2 * matches, len(truth) + len(predictions))
    assert found["wer"] == quotient(edits, len(truth))
    assert found["cer"] == quotient(letters, len(texts[0]))
    assert found["bag_recall"] == quotient((Counter(truth) & Counter(predictions)).total(), len(truth))


@given(WORDS, WORDS)
def test_compare_of_any_words_aligns_every_word_once(truth: list[str], predictions: list[str]) -> None:
    found = compare(truth, predictions)
    assert [one for one, _ in found.aligned if one is not None] == truth == list(found.truth)
    assert [other for _, other in found.aligned if other is not None] == predictions == list(found.predictions)
    assert sum(one is not None and one == other for one, other in found.aligned) == found["matches"]
    assert all(truth[first] == predictions[second] for first, second in found.pairs)


def test_compare_of_texts_is_what_an_evaluation_gives() -> None:
    truth, predictions = "the cat  sat\non the mat", "the big cat sat on mat"
    numbers = Evaluator(Words(characters="code-points")).update({"d": truth}, {"d": predictions}).compute().numbers
    found = compare(truth, predictions)
    assert found.to_dict().items() >= numbers["micro"].items()


def test_compare_with_settings_uses_them() -> None:
    assert compare("a, b", "a b")["recall"] == 0.5
    assert compare("a, b", "a b", tokenizer="uax29-words")["recall"] == 1.0
    assert compare("“a”", '"a"', fold=["quotes"])["cer"] == 0.0
    assert compare("é", "e\u0301x", characters="graphemes")["char_edits"] == 1
    assert "cer" not in compare("a", "a", characters="none").to_dict()


def test_compare_of_a_text_and_a_list_compares_words() -> None:
    assert compare("one two", ["one", "two"])["wer"] == 0.0
    assert isinstance(compare([], []), Compared)


@pytest.mark.parametrize("bad", [None, 3, {"d": "a"}, ["a", 1], b"a"])
def test_compare_of_something_else_raises_type_error(bad: object) -> None:
    with pytest.raises(TypeError, match="truth"):
        compare(bad, "a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="predictions"):
        compare("a", bad)  # type: ignore[arg-type]


def test_compare_with_a_wrong_setting_raises() -> None:
    with pytest.raises(ConfigError):
        compare("a", "a", tokenizer="nothing")
    with pytest.raises(TypeError):
        compare("a", "a", nothing=1)
