"""Two word sequences side by side: the longest common subsequence, what follows from it, and what is read for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from calque.core.arguments import names_arguments
from calque.core.columns import Codes, Ints
from calque.core.ledger import Ledger
from calque.kernels import kernels

LOG_LIMIT = 6_000_000
"""How many changed blocks an alignment remembers before it keeps a checkpoint instead: about 70 MB."""

UNICODE_SIZE = 0x110000


@dataclass(frozen=True, eq=False)
class Alignment:
    """How many words of a reference a prediction has, in order; pairs are found when they are asked for."""

    ref: Codes
    pred: Codes
    vocabulary: int

    @property
    def n_ref(self) -> int:
        """The number of reference words."""
        return len(self.ref)

    @property
    def n_pred(self) -> int:
        """The number of predicted words."""
        return len(self.pred)

    @cached_property
    def matches(self) -> int:
        """The length of the longest common subsequence."""
        return int(kernels().lcs_lengths(self.ref, _span(self.ref), self.pred, _span(self.pred), self.vocabulary, 1)[0])

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """(reference index, predicted index) of every match, ascending."""
        partners = kernels().lcs_partners(self.ref, _span(self.ref), self.pred, _span(self.pred), self.vocabulary, LOG_LIMIT, 1)
        rows = np.flatnonzero(partners >= 0)
        return list(zip(rows.tolist(), partners[rows].tolist(), strict=True))

    @property
    def recall(self) -> float | None:
        """The share of reference words that are matched; ``None`` when there are none."""
        return self.matches / self.n_ref if self.n_ref else None

    @property
    def precision(self) -> float | None:
        """The share of predicted words that are matched; ``None`` when there are none."""
        return self.matches / self.n_pred if self.n_pred else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two; ``None`` when there are no words at all."""
        total = self.n_ref + self.n_pred
        return 2 * self.matches / total if total else None

    @cached_property
    def naive_matches(self) -> int:
        """How many positions hold the same word on both sides."""
        shorter = min(self.n_ref, self.n_pred)
        return int(np.count_nonzero(self.ref[:shorter] == self.pred[:shorter]))

    @cached_property
    def bag_matches(self) -> int:
        """How many words both sides have, in any order."""
        return int(kernels().bag_matches(self.ref, _span(self.ref), self.pred, _span(self.pred), self.vocabulary, 1)[0])

    @property
    def indel_distance(self) -> int:
        """How many insertions and deletions turn one into the other."""
        return self.n_ref + self.n_pred - 2 * self.matches

    @cached_property
    def levenshtein(self) -> int:
        """How many insertions, deletions and substitutions turn one into the other; divided by ``n_ref`` it is the WER."""
        from rapidfuzz.distance import Levenshtein

        return Levenshtein.distance(*as_texts(self.ref, self.pred))

    def __repr__(self) -> str:
        return f"<Alignment: {self.matches} of {self.n_ref} words, {self.n_pred} predicted>"


@names_arguments
def align(ref: Sequence[str], pred: Sequence[str]) -> Alignment:
    """The alignment of two word sequences.

    >>> found = align("the cat sat".split(), "the big cat sot".split())
    >>> found.matches, found.pairs, found.recall, found.precision
    (2, [(0, 0), (1, 2)], 0.6666666666666666, 0.5)
    """
    codes, vocabulary = coded(ref, pred)
    return Alignment(codes[0], codes[1], vocabulary)


def coded(*sequences: Sequence[str]) -> tuple[list[Codes], int]:
    """The sequences as codes of one vocabulary, and its size."""
    for words in sequences:
        if isinstance(words, str):
            raise TypeError("give a list of words, not one string: text.split(), or calque.words.clean(text)")
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(word, len(known)) for word in chain(*sequences)], dtype=np.int32)
    ends = np.cumsum([len(words) for words in sequences])
    return [codes[end - len(words) : end] for words, end in zip(sequences, ends.tolist(), strict=True)], len(known)


def as_texts(first: Codes, second: Codes) -> tuple[str, str]:
    """Codes as characters: rapidfuzz compares strings faster than lists."""
    if max(first.max(initial=0), second.max(initial=0)) >= UNICODE_SIZE:
        both = np.unique(np.concatenate([first, second]), return_inverse=True)[1].astype(np.int32)
        first, second = both[: len(first)], both[len(first) :]
    return _as_text(first), _as_text(second)


def _as_text(codes: Codes) -> str:
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def _span(codes: Codes) -> Ints:
    return np.array([0, len(codes)], dtype=np.int64)


LONGEST = 4
"""Words of a gap that still count as one confusion (a word split in two, two joined); longer ones are missed, or extra."""

Gap = tuple[list[str], list[str]]


def gaps(ref: Sequence[str], pred: Sequence[str], pairs: Sequence[tuple[int, int]]) -> Iterator[Gap]:
    """What stands between two matches on each side, where it is not nothing on both.

    >>> list(gaps("a b c".split(), "a x y c z".split(), [(0, 0), (2, 3)]))
    [(['b'], ['x', 'y']), ([], ['z'])]
    """
    i = j = 0
    for end_i, end_j in [*pairs, (len(ref), len(pred))]:
        if i < end_i or j < end_j:
            yield list(ref[i:end_i]), list(pred[j:end_j])
        i, j = end_i + 1, end_j + 1


def word_pairs(gap: Gap) -> Iterator[tuple[str, str]]:
    """What a gap says was read for what; an empty string for words that are missed or extra.

    >>> list(word_pairs((["cat", "sat"], ["cot", "sot"]))), list(word_pairs((["is", "here"], ["ishere"])))
    ([('cat', 'cot'), ('sat', 'sot')], [('is here', 'ishere')])
    """
    ours, theirs = gap
    if len(ours) == len(theirs):
        yield from zip(ours, theirs, strict=True)
    elif ours and theirs and max(len(ours), len(theirs)) <= LONGEST:
        yield " ".join(ours), " ".join(theirs)
    else:
        yield from ((word, "") for word in ours)
        yield from (("", word) for word in theirs)


def character_pairs(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    """The edits that turn one word into the other, as pairs of characters; an empty string for nothing.

    >>> list(character_pairs("cat", "cots"))
    [('a', 'o'), ('', 's')]
    """
    from rapidfuzz.distance import Levenshtein

    for edit in Levenshtein.editops(ours, theirs):
        gone = ours[edit.src_pos] if edit.tag != "insert" else ""
        yield gone, theirs[edit.dest_pos] if edit.tag != "delete" else ""


@names_arguments
def confusions(ref: Sequence[str], pred: Sequence[str]) -> Counter[tuple[str, str]]:
    """How often each true word (or few words) was read as what.

    >>> confusions("the cat sat".split(), "the cot sat".split())
    Counter({('cat', 'cot'): 1})
    """
    return Counter(pair for gap in gaps(ref, pred, align(ref, pred).pairs) for pair in word_pairs(gap))


def error_lists(ledger: Ledger, size: int) -> dict[str, list[dict[str, Any]]]:
    """The most frequent confusions of words and of characters; ties in the order of the alphabet."""
    words: Counter[tuple[str, str]] = Counter()
    for gap in _ledger_gaps(ledger):
        words.update(word_pairs(gap))
    characters: Counter[tuple[str, str]] = Counter()
    for (ours, theirs), count in words.items():
        if ours and theirs:
            for pair in character_pairs(ours, theirs):
                characters[pair] += count
    return {"words": _top(words, size), "characters": _top(characters, size)}


def _ledger_gaps(ledger: Ledger) -> Iterator[Gap]:
    vocabulary = ledger.names["word"]
    truth, found = ledger.table("truth"), ledger.table("found")
    ours, theirs = ledger.offsets("truth").tolist(), ledger.offsets("found").tolist()
    for row in range(len(ledger.units)):
        mine, other = slice(ours[row], ours[row + 1]), slice(theirs[row], theirs[row + 1])
        ref = [vocabulary[code] for code in truth.array("word")[mine].tolist()]
        pred = [vocabulary[code] for code in found.array("word")[other].tolist()]
        pairs = [(i, j) for i, j in enumerate(truth.array("match")[mine].tolist()) if j >= 0]
        yield from gaps(ref, pred, pairs)


def _top(counted: Counter[tuple[str, str]], size: int) -> list[dict[str, Any]]:
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return [{"truth": ours, "predicted": theirs, "count": count} for (ours, theirs), count in ranked[:size]]
