"""The numbers of words against counts by hand: every ratio, the documents of a fold, and what is one confusion."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Evaluator, Words
from calque.corpus.words import WordCorpus
from calque.words import confusions
from calque.words.holdout import held_out

STOP = "the"
Text = tuple[str, ...]
texts = st.lists(st.sampled_from([STOP, "cat", "sat", "mat", "é"]), max_size=7).map(tuple)


@cache
def common(a: Text, b: Text) -> int:
    """The length of the longest common subsequence, by its definition."""
    if not a or not b:
        return 0
    if a[0] == b[0]:
        return 1 + common(a[1:], b[1:])
    return max(common(a[1:], b), common(a, b[1:]))


@cache
def edits(a: Sequence[str], b: Sequence[str]) -> int:
    """Insertions, deletions and substitutions that turn one into the other, by their definition."""
    if not a or not b:
        return len(a) + len(b)
    return min(edits(a[1:], b[1:]) + (a[0] != b[0]), edits(a[1:], b) + 1, edits(a, b[1:]) + 1)


def parts(ref: Text, pred: Text) -> dict[str, tuple[int, int]]:
    """Each ratio as what stands above and below its line."""
    bag = sum((Counter(ref) & Counter(pred)).values())
    content = [tuple(word for word in text if word != STOP) for text in (ref, pred)]
    return {
        "recall": (common(ref, pred), len(ref)),
        "precision": (common(ref, pred), len(pred)),
        "f1": (2 * common(ref, pred), len(ref) + len(pred)),
        "naive_recall": (sum(a == b for a, b in zip(ref, pred, strict=False)), len(ref)),
        "bag_recall": (bag, len(ref)),
        "bag_precision": (bag, len(pred)),
        "wer": (edits(ref, pred), len(ref)),
        "cer": (edits(" ".join(ref), " ".join(pred)), len(" ".join(ref))),
        "content_recall": (common(*content), len(content[0])),
    }


def share(above: int, below: int) -> float | None:
    return above / below if below else None


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_every_ratio_as_counted_by_hand(kernels: str, documents: list[tuple[Text, Text]]) -> None:
    """In each document, over all words (micro), and as the mean of the documents that have a value (macro)."""
    sides = [WordCorpus.of({number: pair[side] for number, pair in enumerate(documents)}) for side in (0, 1)]
    numbers = Evaluator(Words(characters=True, stop_words=(STOP,))).update(*sides).compute().numbers
    counted = [parts(*pair) for pair in documents]
    for name in counted[0]:
        of_each = [share(*counts[name]) for counts in counted]
        assert [numbers["documents"][number][name] for number in range(len(documents))] == of_each, name
        total = share(*(sum(counts[name][place] for counts in counted) for place in (0, 1)))
        assert numbers["micro"][name] == total, name
        known = [value for value in of_each if value is not None]
        assert numbers["macro"][name] == (math.fsum(known) / len(known) if known else None), name


def test_words_too_many_lower_bag_precision_and_nothing_else_of_the_bag() -> None:
    sides = WordCorpus.of({"a": ("cat", "sat")}), WordCorpus.of({"a": ("sat", "cat", "cat", "mat", "mat")})
    micro = Evaluator(Words()).update(*sides).compute().numbers["micro"]
    assert (micro["bag_recall"], micro["bag_precision"]) == (2 / 2, 2 / 5)


# Hold-out: BLAKE2b of ``seed:docid``, stable when documents are added.

DOCUMENTS = [f"doc-{number}" for number in range(60)]
SEEDS = st.integers(-3, 1000)


def place(document: str, seed: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed}:{document}".encode(), digest_size=8).digest(), "big")


def fold(text: str, seed: int, documents: Sequence[str] = DOCUMENTS) -> set[Any]:
    return held_out(documents, listed=None, fraction=None, fold=text, seed=seed)


def fraction(value: float, seed: int, documents: Sequence[str] = DOCUMENTS) -> set[Any]:
    return held_out(documents, listed=None, fraction=value, fold="", seed=seed)


@given(seed=SEEDS, folds=st.integers(1, 7))
def test_folds_go_by_the_hash_of_seed_and_document_and_share_nothing(seed: int, folds: int) -> None:
    parts = [fold(f"{number}/{folds}", seed) for number in range(folds)]
    assert parts == [{name for name in DOCUMENTS if place(name, seed) % folds == number} for number in range(folds)]
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(DOCUMENTS)


@given(seed=SEEDS, value=st.integers(0, 10).map(lambda n: n / 10))
def test_a_fraction_goes_by_the_hash_of_seed_and_document(seed: int, value: float) -> None:
    assert fraction(value, seed) == {name for name in DOCUMENTS if place(name, seed) < value * 2**64}


@given(seed=SEEDS, kept=st.sets(st.sampled_from(DOCUMENTS)))
def test_documents_that_are_added_move_no_other(seed: int, kept: set[str]) -> None:
    assert fold("1/3", seed, sorted(kept)) == fold("1/3", seed) & kept
    assert fraction(0.3, seed, sorted(kept)) == fraction(0.3, seed) & kept


def test_another_seed_holds_out_other_documents() -> None:
    for rule in (lambda seed: fold("0/3", seed), lambda seed: fraction(0.3, seed)):
        assert len({frozenset(rule(seed)) for seed in range(20)}) == 20


def test_the_seed_of_the_task_decides_which_documents_count() -> None:
    sides = [WordCorpus.of(dict.fromkeys(DOCUMENTS, ("cat",)))] * 2
    for seed in (0, 7):
        numbers = Evaluator(Words(holdout_fold="0/3", seed=seed)).update(*sides).compute().numbers
        assert set(numbers["documents"]) == fold("0/3", seed)


# Confusions: up to four words for up to four others are one; longer gaps are words missed and words too many.

LONGEST = 4


@pytest.mark.parametrize("truths", range(LONGEST + 3))
@pytest.mark.parametrize("founds", range(LONGEST + 3))
def test_what_a_gap_of_so_many_words_says(truths: int, founds: int) -> None:
    ours, theirs = [f"t{n}" for n in range(truths)], [f"p{n}" for n in range(founds)]
    if truths == founds:
        expected = list(zip(ours, theirs, strict=True))
    elif truths and founds and max(truths, founds) <= LONGEST:
        expected = [(" ".join(ours), " ".join(theirs))]
    else:
        expected = [*((word, "") for word in ours), *(("", word) for word in theirs)]
    assert confusions(["the", *ours, "end"], ["the", *theirs, "end"]) == Counter(expected)
