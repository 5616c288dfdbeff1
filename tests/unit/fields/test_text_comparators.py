"""What text and date comparators take away before they compare, where it decides the score."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.comparators import (
    ANLSComparator,
    ANLSStarComparator,
    BaseComparator,
    DateComparator,
    ExactComparator,
    FuzzyComparator,
    LevenshteinComparator,
    NormalizedComparator,
    NumericComparator,
    PhoneComparator,
)
from calque.comparators.slips import OtherWords, only_slips


@pytest.mark.parametrize(
    ("options", "found", "score"),
    [
        ({}, "acmecorp", 1.0),
        ({}, "ACME\tCorp.", 1.0),
        ({"ignore_whitespace": False}, "acme corp.", 1.0),
        ({"ignore_whitespace": False}, "acmecorp", 0.0),
        ({"ignore_punctuation": False}, "acmecorp", 1.0),
        ({"ignore_punctuation": False}, "acme corp.", 0.0),
        ({"case_sensitive": True}, "Acme-Corp", 1.0),
        ({"case_sensitive": True}, "acme corp", 0.0),
    ],
)
def test_blanks_punctuation_and_case_are_taken_away_as_asked(options: dict[str, bool], found: str, score: float) -> None:
    assert NormalizedComparator(**options).compare("Acme Corp", found) == score


@pytest.mark.parametrize("normalize", [True, False])
def test_many_texts_are_evened_out_as_one_is(normalize: bool) -> None:
    each = LevenshteinComparator(normalize=normalize)
    texts = ["Acme  Corp", "acme corp", " ACME"]
    assert list(each.prepare_all(texts)) == [each.prepare(text) for text in texts]
    assert (each.prepare(texts[0]) == each.prepare(texts[1])) is normalize


TURNED: list[BaseComparator] = [
    kind(**{field.name: not field.default})
    for kind in (
        ANLSComparator, ANLSStarComparator, DateComparator, ExactComparator, FuzzyComparator, LevenshteinComparator,
        NormalizedComparator, NumericComparator, PhoneComparator,
    )
    for field in fields(kind)
    if isinstance(field.default, bool)
]  # fmt: skip
"""Every comparator with one of its options turned, and the others as they are."""
ODD_TEXTS = [
    "Acme  Corp", "acme corp", "acmé", "acme\u0301", "Main Street 5", "main street 6", "not paid", "paid", "(5)", "-5", "5-",
    "1,234.50", "1.234,50", "1 234,50", "5 %", "2024-03-05", "05/03/2024", "5 March 24", "10:30", " ", "x-1", "x1",
]  # fmt: skip


@pytest.mark.parametrize("each", TURNED, ids=lambda each: f"{each.name} {each.params()}")
def test_many_values_are_made_ready_and_compared_as_each_alone(each: BaseComparator) -> None:
    ready, alone = list(each.prepare_all(ODD_TEXTS)), [each.prepare(text) for text in ODD_TEXTS]
    assert ready == alone
    expected = [[each.compare(truth, found) for found in ODD_TEXTS] for truth in ODD_TEXTS]
    assert each.matrix(ready, ready).tolist() == [pytest.approx(row, abs=1e-15) for row in expected]


@pytest.mark.usefixtures("kernels")
@given(st.lists(st.text("abC 15-(.)€é", max_size=14), min_size=1, max_size=8), st.booleans())
def test_words_and_numbers_count_the_same_for_one_pair_all_pairs_and_chosen_ones(texts: list[str], words: bool) -> None:
    each = LevenshteinComparator(same_numbers=not words, same_words=words)
    ready, size = each.prepare_all(texts), len(texts)
    one_by_one = [each.compare(truth, found) for truth in texts for found in texts]
    rows, columns = (part.astype(np.int32) for part in np.divmod(np.arange(size * size), size))
    assert each.matrix(ready, ready).ravel().tolist() == pytest.approx(one_by_one, abs=1e-15)
    assert each.by_pairs(ready, ready)(rows, columns).tolist() == pytest.approx(one_by_one, abs=1e-15)
    assert one_by_one == [each.compare(found, truth) for truth in texts for found in texts]


@pytest.mark.parametrize(
    ("truth", "found", "slips"),
    [
        ("data base of ohio", "database of ohio", True),
        ("data base", "database", True),
        ("database", "database.", False),
        ("john smith", "john smyth", False),
        ("mr john smith", "mr john smyth", True),
        ("for main rent", "for mein rent", True),
        ("for the rent", "for thy rent", False),
        ("for main rent", "for mian rent", True),
        ("for main rent", "for mein rint", True),
        ("for main rent", "for meen rent", False),
        ("for main rent", "for main", False),
        ("a very typical case", "a very atypical case", False),
        ("a very atypical case", "a very typical case", False),
        ("a very typical case", "a very typicale case", True),
        ("room 1234 of it", "room 1235 of it", False),
        (f"ab {'x' * 77}", f"cd {'y' * 77}", True),
        (f"ab {'x' * 76}", f"cd {'y' * 77}", False),
        (f"ab {'x' * 77}", f"cd {'y' * 76}", False),
    ],
)
def test_a_slip_is_a_letter_in_a_word_of_four_in_a_text_of_three_words(truth: str, found: str, slips: bool) -> None:
    assert only_slips(truth, found) is slips
    assert OtherWords([truth], [found]).slips(np.array([0]), np.array([0])).tolist() == [slips]


WORDS = ["acme", "acne", "corporation", "corporatoin", "a", "not", "sale", "5", "-5", "%", "st.", "main,", "ünder", "word" * 20]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), min_size=1, max_size=8), st.data())
def test_slips_of_many_pairs_are_those_of_each(texts: list[str], data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, len(texts) - 1)] * 2), min_size=1, max_size=20))
    words = OtherWords(texts, texts)
    for part in (pairs[: len(pairs) // 2], pairs):  # texts that were looked at before, and others
        rows, columns = np.array(part, dtype=np.int64).reshape(-1, 2).T
        assert words.slips(rows, columns).tolist() == [only_slips(texts[one], texts[other]) for one, other in part]


def test_a_text_that_is_too_long_is_no_date() -> None:
    longest = "March 5," + " " * 244 + "2024"
    assert len(longest) == 256
    assert DateComparator().compare("2024-03-05", longest) == 1.0
    assert DateComparator().compare("2024-03-05", longest.replace(", ", ",  ")) == 0.0
