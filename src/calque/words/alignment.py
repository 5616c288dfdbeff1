"""Two word sequences side by side: the longest common subsequence, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from calque.base.arguments import check_words, renamed_arguments
from calque.base.columns import Codes, Ints
from calque.kernels import kernels

LOG_LIMIT = 6_000_000
"""How many changed blocks an alignment remembers before it keeps a checkpoint instead: about 70 MB."""

UNICODE_SIZE = 0x110000


def count_matches(
    reference: Codes, reference_offsets: Ints, predicted: Codes, predicted_offsets: Ints, vocabulary: int, jobs: int = 1
) -> Ints:
    """Return the length of the longest common subsequence of each document."""
    partners = kernels().lcs_partners(reference, reference_offsets, predicted, predicted_offsets, vocabulary, LOG_LIMIT, jobs)
    return np.diff(np.concatenate([[0], np.cumsum(partners >= 0)])[reference_offsets])


def count_bag_matches(
    reference: Codes, reference_offsets: Ints, predicted: Codes, predicted_offsets: Ints, vocabulary: int
) -> Ints:
    """Return how many words each document has on both sides, in any order and with repetitions.

    >>> words, whole = np.array([0, 1, 1], np.int32), np.array([0, 3])
    >>> count_bag_matches(words, whole, np.array([1, 0, 0], np.int32), whole, 2).tolist()
    [2]
    """
    documents = len(reference_offsets) - 1
    counts = []
    for words, offsets in ((reference, reference_offsets), (predicted, predicted_offsets)):
        cells = np.repeat(np.arange(documents), np.diff(offsets)) * vocabulary + words
        cells.sort()
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        counts.append((cells[first], np.diff(first, append=len(cells))))
    (ours, our_count), (theirs, their_count) = counts
    at = np.searchsorted(ours, theirs)
    both = np.flatnonzero(ours[np.minimum(at, max(len(ours) - 1, 0))] == theirs) if len(ours) else np.zeros(0, np.int64)
    shared = np.minimum(our_count[at[both]], their_count[both])
    matches = np.zeros(documents, np.int64)
    np.add.at(matches, theirs[both] // max(vocabulary, 1), shared)
    return matches


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
        return int(np.count_nonzero(self._partners >= 0))

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """(reference index, predicted index) of every match, ascending."""
        rows = np.flatnonzero(self._partners >= 0)
        return list(zip(rows.tolist(), self._partners[rows].tolist(), strict=True))

    @cached_property
    def _partners(self) -> Codes:
        """For each reference word the position of its match, or -1."""
        return kernels().lcs_partners(self.ref, _span(self.ref), self.pred, _span(self.pred), self.vocabulary, LOG_LIMIT, 1)

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
        return int(count_bag_matches(self.ref, _span(self.ref), self.pred, _span(self.pred), self.vocabulary)[0])

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


@renamed_arguments(ref="truth", pred="predictions")
def align(truth: Sequence[str], predictions: Sequence[str]) -> Alignment:
    """Align two sequences of words by their longest common subsequence.

    Args:
        truth: The words of the ground truth, in order.
        predictions: The words that were read, in order.

    Returns:
        The alignment, with the number of matches, the matched pairs and the metrics that follow from them.

    Raises:
        TypeError: A side is one string. Split it into words first, for example with `clean`.

    >>> alignment = align("the cat sat".split(), "the big cat sot".split())
    >>> alignment.matches, alignment.pairs, alignment.recall, alignment.precision
    (2, [(0, 0), (1, 2)], 0.6666666666666666, 0.5)
    """
    check_words("align", truth=truth, predictions=predictions)
    codes, vocabulary = coded(truth, predictions)
    return Alignment(codes[0], codes[1], vocabulary)


def coded(*sequences: Sequence[str]) -> tuple[list[Codes], int]:
    """The sequences as codes of one vocabulary, and its size."""
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
