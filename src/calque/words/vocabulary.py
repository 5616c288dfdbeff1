"""Both sides of the test in one vocabulary: the same documents, the same codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from calque.core.columns import Codes, Flags, Ints
from calque.core.corpus import UnitId
from calque.core.word_corpus import WordCorpus


@dataclass(frozen=True, eq=False)
class Sides:
    """Truth and predictions of the documents of the test; words are codes into one sorted vocabulary."""

    documents: tuple[UnitId, ...]
    truth: WordCorpus
    vocabulary: tuple[str, ...]
    truth_word: Codes
    truth_offsets: Ints
    found_word: Codes
    found_offsets: Ints
    found_position: Ints | None

    @classmethod
    def of(cls, truth: WordCorpus, found: WordCorpus) -> Sides:
        """The sides of two corpora that have been narrowed down to the test."""
        ours, theirs = _used(truth), _used(found)
        vocabulary = tuple(sorted({*ours.values(), *theirs.values()}))
        code = {word: number for number, word in enumerate(vocabulary)}
        sizes = dict(zip(found.documents, np.diff(found.offsets).tolist(), strict=True))
        return cls(
            documents=truth.documents,
            truth=truth,
            vocabulary=vocabulary,
            truth_word=_recoded(truth, ours, code),
            truth_offsets=truth.offsets,
            found_word=_recoded(found, theirs, code),
            found_offsets=np.cumsum([0, *(sizes.get(unit, 0) for unit in truth.documents)], dtype=np.int64),
            found_position=found.position,
        )

    def arrays(self) -> tuple[Codes, Ints, Codes, Ints, int]:
        """What the kernels take."""
        return self.truth_word, self.truth_offsets, self.found_word, self.found_offsets, len(self.vocabulary)

    def only(self, kept: Flags) -> Sides:
        """Without the words whose code is not kept."""
        ours, theirs = kept[self.truth_word], kept[self.found_word]
        return replace(
            self,
            truth_word=self.truth_word[ours],
            truth_offsets=np.concatenate([[0], np.cumsum(ours)])[self.truth_offsets],
            found_word=self.found_word[theirs],
            found_offsets=np.concatenate([[0], np.cumsum(theirs)])[self.found_offsets],
        )

    def by_document(self) -> Iterator[tuple[Codes, Codes]]:
        """Both sides of each document."""
        for (a, b), (c, d) in zip(pairwise(self.truth_offsets.tolist()), pairwise(self.found_offsets.tolist()), strict=True):
            yield self.truth_word[a:b], self.found_word[c:d]

    @cached_property
    def _truth_rows(self) -> Ints:
        return np.repeat(np.arange(len(self.documents)), np.diff(self.truth_offsets))

    def truth_rows(self) -> Ints:
        """For each true word the index of its document."""
        return self._truth_rows

    @cached_property
    def _found_rows(self) -> Ints:
        return np.repeat(np.arange(len(self.documents)), np.diff(self.found_offsets))

    def found_rows(self) -> Ints:
        """For each predicted word the index of its document."""
        return self._found_rows

    def truth_positions(self) -> Ints:
        """For each true word its id, or its place in the document."""
        given = self.truth.position
        return np.arange(len(self.truth_word)) - self.truth_offsets[self.truth_rows()] if given is None else given

    def found_positions(self) -> Ints:
        """For each predicted word its id, or its place in the document."""
        given = self.found_position
        return np.arange(len(self.found_word)) - self.found_offsets[self.found_rows()] if given is None else given


def _used(corpus: WordCorpus) -> dict[int, str]:
    """The words that occur, by code."""
    codes = np.flatnonzero(np.bincount(corpus.word, minlength=1)) if len(corpus.word) else np.zeros(0, dtype=np.int64)
    words = corpus.vocabulary.take(codes).tolist()
    return dict(zip(codes.tolist(), words, strict=True))


def _recoded(corpus: WordCorpus, used: dict[int, str], code: dict[str, int]) -> Codes:
    table = np.zeros(max(len(corpus.vocabulary), 1), dtype=np.int32)
    table[list(used)] = [code[word] for word in used.values()]
    return table[corpus.word]
