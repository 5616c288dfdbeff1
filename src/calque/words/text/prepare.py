"""From texts to words: clean-up, one tokenizer, one vocabulary a side, and both sides in one vocabulary."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from calque.base.columns import Array, Codes, Flags, Ints, Strings
from calque.base.errors import Issue, Severity
from calque.corpus.boxes import UnitId
from calque.corpus.words import Block, Removed, TextCorpus, WordCorpus
from calque.kernels import kernels
from calque.words.text.cleaning import Cleaning, clean_document
from calque.words.text.tokenizers import tokenize

PageWords = Mapping[UnitId, Sequence[str]]


def words_of(
    corpus: TextCorpus | WordCorpus, cleaning: Cleaning, page_words: PageWords | None = None, *, texts: bool = False
) -> WordCorpus:
    """The words of a corpus after clean-up. ``page_words`` says what each document's pages show, for ``min_block_recall``.

    With ``texts``, what the words were split from is kept, for whoever compares characters.
    """
    if not isinstance(corpus, WordCorpus):
        return _split(corpus, cleaning, page_words or {}, texts=texts)
    return corpus if corpus.cleaned == cleaning else _clean_vocabulary(corpus, cleaning)


def _split(corpus: TextCorpus, cleaning: Cleaning, page_words: PageWords, *, texts: bool) -> WordCorpus:
    units = corpus.units()
    kept: list[Block] = []
    ends = [0]
    removed: list[Removed] = []
    for unit in units:
        blocks, account = clean_document(unit, corpus.texts[unit], cleaning, page_words.get(unit))
        kept += blocks
        removed += account
        ends.append(len(kept))
    spaced = [_spaced(block.text, cleaning.tokenizer) for block in kept]
    codes, offsets, data, vocabulary_offsets = kernels().split_words(spaced)
    lengths = np.diff(offsets)
    regions = tuple(sorted({block.region for block in kept}))
    region_code = {name: code for code, name in enumerate(regions)}
    paged = any(block.page for block in kept)
    return WordCorpus(
        documents=units,
        offsets=np.asarray(offsets[ends], dtype=np.int64),
        word=codes,
        vocabulary=Strings(data, vocabulary_offsets),
        page=np.repeat(np.array([block.page for block in kept], dtype=np.int32), lengths) if paged else None,
        region=np.repeat(np.array([region_code[b.region] for b in kept], dtype=np.int32), lengths) if any(regions) else None,
        regions=regions if any(regions) else (),
        removed=tuple(removed),
        texts=tuple("\n".join(block.text for block in kept[a:b]) for a, b in pairwise(ends)) if texts else None,
        cleaned=cleaning,
        model=corpus.model,
        source=corpus.source,
        issues=(*corpus.issues, *_odd_forms(corpus, cleaning)),
    )


def _spaced(text: str, tokenizer: str) -> bytes:
    """The text with white space between its words and nowhere else."""
    spaced = text if tokenizer in ("whitespace", "none") else " ".join(tokenize(text, tokenizer))
    return spaced.encode("utf-8", "surrogatepass")


def _odd_forms(corpus: TextCorpus, cleaning: Cleaning) -> list[Issue]:
    """A note when characters are compared as they are and some are not in the usual form."""
    if cleaning.unicode != "none":
        return []
    odd = sum(not all(unicodedata.is_normalized("NFC", block.text) for block in blocks) for blocks in corpus.texts.values())
    if not odd:
        return []
    text = "documents are not in Unicode NFC, and words that look alike may differ"
    return [Issue("not-nfc", text, corpus.source, help="use --unicode NFC", severity=Severity.NOTE, count=odd)]


def _clean_vocabulary(corpus: WordCorpus, cleaning: Cleaning) -> WordCorpus:
    """The same words with clean characters; one that is no single word after that is split or left out, and counted."""
    issues = list(corpus.issues)
    if cleaning.drop or cleaning.keep_lang or cleaning.min_block_recall is not None:
        text = "is a list of words, not text: drop, keep_lang and min_block_recall cannot be applied to it"
        issues.append(Issue("no-blocks", text, corpus.source, severity=Severity.NOTE))
    words = corpus.vocabulary.tolist()
    simple = replace(cleaning.of_characters(), dehyphenate="none")
    cleaned = [tokens_of(word, simple) for word in words]
    if all(len(tokens) == 1 and tokens[0] == word for tokens, word in zip(cleaned, words, strict=True)):
        return replace(corpus, issues=tuple(issues), cleaned=cleaning)
    return replace(_recoded(corpus, cleaned, issues), cleaned=cleaning)


def tokens_of(word: str, cleaning: Cleaning) -> list[str]:
    """What a single word is after clean-up: itself, several words, or nothing."""
    if word.isascii() and cleaning.plain:
        return word.split() if cleaning.tokenizer == "whitespace" else [word]
    blocks, _ = clean_document("", [Block(word)], cleaning)
    if cleaning.tokenizer == "none":
        return [block.text for block in blocks if block.text]
    return [token for block in blocks for token in tokenize(block.text, cleaning.tokenizer)]


def _recoded(corpus: WordCorpus, cleaned: list[list[str]], issues: list[Issue]) -> WordCorpus:
    """The corpus with each word replaced by its words after clean-up."""
    known: dict[str, int] = {}
    codes = [[known.setdefault(token, len(known)) for token in tokens] for tokens in cleaned]
    sizes = np.array([len(tokens) for tokens in codes], dtype=np.int64)[corpus.word]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def spread(column: Array | None) -> Any:
        return None if column is None else np.repeat(column, sizes)

    return replace(
        corpus,
        offsets=ends[corpus.offsets],
        word=np.array([code for word in corpus.word.tolist() for code in codes[word]], dtype=np.int32),
        vocabulary=Strings.pack(known),
        # The parts of a split word share its id; naive recall then looks at the first.
        position=spread(corpus.position),
        page=spread(corpus.page),
        region=spread(corpus.region),
        issues=(*issues, *_odd_words(corpus.source, sizes)),
    )


def _odd_words(source: str, sizes: Ints) -> list[Issue]:
    """A note when words vanished or became several."""
    gone, split = int((sizes == 0).sum()), int((sizes > 1).sum())
    notes = [
        Issue("empty-word", "a word is empty after clean-up and is left out", source, severity=Severity.NOTE, count=gone),
        Issue("split-word", "a word is several words after clean-up and is split", source, severity=Severity.NOTE, count=split),
    ]
    return [note for note in notes if note.count]


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
    found_texts: tuple[str, ...] | None

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
            truth_word=_in_one_vocabulary(truth, ours, code),
            truth_offsets=truth.offsets,
            found_word=_in_one_vocabulary(found, theirs, code),
            found_offsets=np.cumsum([0, *(sizes.get(unit, 0) for unit in truth.documents)], dtype=np.int64),
            found_position=found.position,
            found_texts=None if found.texts is None else _in_order(truth.documents, found.documents, found.texts),
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

    @cached_property
    def _truth_rows(self) -> Ints:
        return np.repeat(np.arange(len(self.documents)), np.diff(self.truth_offsets))

    def texts(self, row: int) -> tuple[str, str]:
        """Both sides of a document as text: as they were read, or words with a space between them."""
        sides = (
            (self.truth.texts, self.truth_word, self.truth_offsets),
            (self.found_texts, self.found_word, self.found_offsets),
        )
        ours, theirs = (
            texts[row]
            if texts is not None
            else " ".join(self.vocabulary[code] for code in word[offsets[row] : offsets[row + 1]].tolist())
            for texts, word, offsets in sides
        )
        return ours, theirs

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


def _in_one_vocabulary(corpus: WordCorpus, used: dict[int, str], code: dict[str, int]) -> Codes:
    table = np.zeros(max(len(corpus.vocabulary), 1), dtype=np.int32)
    table[list(used)] = [code[word] for word in used.values()]
    return table[corpus.word]


def _in_order(wanted: Sequence[UnitId], documents: Sequence[UnitId], texts: Sequence[str]) -> tuple[str, ...]:
    """The texts of the wanted documents; nothing for those that are not here."""
    known = dict(zip(documents, texts, strict=True))
    return tuple(known.get(unit, "") for unit in wanted)
