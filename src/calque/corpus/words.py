"""Texts, words and lattices of documents: what readers find, and what the words task counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from calque.base.columns import Codes, Ints, Strings
from calque.base.errors import ContractError, Issue
from calque.base.short_repr import short_repr
from calque.corpus.boxes import Corpus, UnitId, canonical, json_digest


@dataclass(frozen=True, slots=True)
class Edge:
    """A candidate: words that lead from one place to the next, and who read them."""

    start: Hashable
    end: Hashable
    words: tuple[str, ...]
    sources: tuple[str, ...] = ()
    candidate: int = 0
    """Its number among the candidates of its slot; in a graph, its number among all edges."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """Edges between nodes, with one start and one or more finals; a path from start to final is one possible text."""

    edges: tuple[Edge, ...]
    start: Hashable
    finals: frozenset[Hashable]
    slots: int | None = None
    """The number of slots, when the lattice is a sausage."""

    __repr__ = short_repr

    @classmethod
    def from_slots(
        cls, slots: Sequence[Sequence[Sequence[str]]], sources: Sequence[Sequence[Sequence[str]]] | None = None
    ) -> Lattice:
        """A sausage: one slot after the other, each with candidates of zero or more words.

        ``sources`` names for each candidate of each slot who read it.

        >>> len(Lattice.from_slots([[["a", "b"], ["ab"], []], [["c"]]]).edges)
        4
        """
        edges = []
        for position, slot in enumerate(slots):
            if not slot:
                raise ContractError.single(
                    "empty-slot",
                    f"slot {position} has no candidates",
                    help="give it an empty candidate, [], to let it be skipped",
                )
            for number, words in enumerate(slot):
                if isinstance(words, str):
                    raise TypeError(f"slot {position}: a candidate is a list of words, not the string {words!r}")
                named = () if sources is None else tuple(sources[position][number])
                edges.append(Edge(position, position + 1, tuple(words), named, number))
        return cls(tuple(edges), 0, frozenset([len(slots)]), len(slots))

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[Hashable, Hashable, Sequence[str]]],
        start: Hashable | None = None,
        finals: Iterable[Hashable] | None = None,
    ) -> Lattice:
        """A graph of edges ``(from, to, words)``.

        Without ``start`` it is the one node that nothing leads to; without ``finals`` they are the nodes that lead nowhere.
        """
        made = tuple(Edge(a, b, tuple(words), (), number) for number, (a, b, words) in enumerate(edges))
        begins, ends = dict.fromkeys(edge.start for edge in made), dict.fromkeys(edge.end for edge in made)
        if start is None:
            roots = [node for node in begins if node not in ends]
            if len(roots) != 1:
                raise ContractError.single(
                    "no-start", f"the lattice has {len(roots)} nodes that nothing leads to", help="say which node is the start"
                )
            start = roots[0]
        last = frozenset(finals) if finals is not None else frozenset(node for node in ends if node not in begins)
        return cls(made, start, last)

    @property
    def sources(self) -> tuple[str, ...]:
        """Everyone who read some candidate, in the order of first mention."""
        return tuple(dict.fromkeys(source for edge in self.edges for source in edge.sources))

    def covered_by(self, source: str) -> bool:
        """Whether a source has a candidate in every slot."""
        return len({edge.start for edge in self.edges if source in edge.sources}) == self.slots

    def read_by(self, source: str) -> list[str]:
        """What one source read: the words of its candidates, slot by slot; nothing where it has none."""
        words: list[str] = []
        last: Hashable = None
        for edge in self.edges:
            if source in edge.sources and edge.start != last:
                words += edge.words
                last = edge.start
        return words


FIGURE, TABLE, CAPTION, REFERENCES = "figure", "table", "caption", "references"


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, caption or whole text file: words that belong together. Lines end with a line break."""

    text: str
    marks: frozenset[str] = frozenset()
    """Which parts of the document it lies in: figure, table, caption, references."""
    lang: str | None = None
    """Its language as the file gives it."""
    page: int = 0
    region: str = ""
    """What the file calls this kind of block: heading, paragraph, ..."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TextCorpus(Corpus):
    """The texts of documents as they were read, block by block, before clean-up."""

    texts: Mapping[UnitId, Sequence[Block]]
    model: str = ""
    source: str = ""
    issues: tuple[Issue, ...] = ()

    def __repr__(self) -> str:
        return f"<TextCorpus {self.source or 'from texts'}: {len(self.texts)} documents>"

    def units(self) -> tuple[UnitId, ...]:
        """The ids of all documents."""
        return tuple(sorted(self.texts, key=canonical))

    def select(self, units: Iterable[UnitId]) -> TextCorpus:
        """Only these documents."""
        wanted = set(units)
        return replace(self, texts={unit: blocks for unit, blocks in self.texts.items() if unit in wanted})


@dataclass(frozen=True, slots=True)
class Removed:
    """What one step of the clean-up took out of one document."""

    document: UnitId
    step: str
    words: int
    text: str


@dataclass(frozen=True, eq=False, kw_only=True)
class WordCorpus(Corpus):
    """The words of documents in reading order, as codes into a vocabulary.

    >>> corpus = WordCorpus.of({"d1": ["to", "be", "or", "not", "to", "be"], "d2": []})
    >>> corpus.units(), corpus.words("d1"), len(corpus)
    (('d1', 'd2'), ['to', 'be', 'or', 'not', 'to', 'be'], 6)
    """

    documents: tuple[UnitId, ...]
    """In canonical order."""
    offsets: Ints
    """The first word of each document, and the number of words at the end."""
    word: Codes
    vocabulary: Strings
    position: Ints | None = None
    """For each word its ``wordid``, rising within a document; ``None`` when words are simply counted from 0."""
    page: Codes | None = None
    """For each word the number of its page, where the file has pages."""
    region: Codes | None = None
    """For each word the code of its kind of block in ``regions``."""
    regions: tuple[str, ...] = ()
    removed: tuple[Removed, ...] = ()
    """What clean-up took out."""
    texts: tuple[str, ...] | None = None
    """What the words of each document were split from, where characters are compared."""
    cleaned: Hashable = None
    """The clean-up that its words went through, so that none goes through it twice."""
    lattices: Mapping[UnitId, Lattice] = field(default_factory=dict)
    """Candidates for some of the documents."""
    model: str = ""
    source: str = ""
    issues: tuple[Issue, ...] = ()

    def __post_init__(self) -> None:
        if any(canonical(a) >= canonical(b) for a, b in zip(self.documents, self.documents[1:], strict=False)):
            raise ValueError("documents must be distinct and in canonical order")
        if len(self.offsets) != len(self.documents) + 1 or int(self.offsets[-1]) != len(self.word):
            raise ValueError("offsets must have one entry more than there are documents and end with the number of words")

    @classmethod
    def of(cls, documents: Mapping[UnitId, Sequence[str]], **keywords: Any) -> WordCorpus:
        """A corpus from lists of words."""
        units = tuple(sorted(documents, key=canonical))
        known: dict[str, int] = {}
        codes = [known.setdefault(word, len(known)) for word in chain.from_iterable(documents[unit] for unit in units)]
        offsets = np.cumsum([0, *(len(documents[unit]) for unit in units)], dtype=np.int64)
        vocabulary = Strings.pack(known)
        return cls(documents=units, offsets=offsets, word=np.array(codes, dtype=np.int32), vocabulary=vocabulary, **keywords)

    @classmethod
    def joined(cls, parts: Sequence[WordCorpus], **keywords: Any) -> WordCorpus:
        """The documents of several corpora as one, with the ids of their words; each document may be in one of them."""
        found: dict[UnitId, tuple[list[str], list[int] | None]] = {}
        for part in parts:
            positions = None if part.position is None else part.position.tolist()
            for row, (unit, words) in enumerate(part.by_document()):
                if unit in found:
                    raise ContractError.single("same-document", f"document {unit!r} stands in two files", file=part.source)
                span = slice(*part.offsets[row : row + 2].tolist())
                found[unit] = words, None if positions is None else positions[span]
        made = cls.of({unit: words for unit, (words, _) in found.items()}, **keywords)
        issues = tuple(issue for part in parts for issue in part.issues)
        if all(part.position is None for part in parts):
            return replace(made, issues=issues)
        ids = [found[unit][1] or list(range(len(found[unit][0]))) for unit in made.documents]
        return replace(made, issues=issues, position=np.fromiter(chain.from_iterable(ids), dtype=np.int64, count=len(made)))

    def with_issues(self, issues: Iterable[Issue]) -> WordCorpus:
        """The same words, with these issues in place of its own."""
        return replace(self, issues=tuple(issues))

    def __len__(self) -> int:
        """The number of words."""
        return len(self.word)

    def __repr__(self) -> str:
        sizes = f"{len(self.documents)} documents, {len(self):,} words, {len(self.vocabulary):,} different"
        return f"<WordCorpus {self.source or 'from words'}: {sizes}>"

    def units(self) -> tuple[UnitId, ...]:
        """The ids of all documents."""
        return self.documents

    def digests(self) -> list[int]:
        """Return a digest of each document: its words and their places, the text behind them, and what clean-up removed."""
        removed: dict[UnitId, list[tuple[str, int]]] = {}
        for part in self.removed:
            removed.setdefault(part.document, []).append((part.step, part.words))
        names = dict(enumerate(self.regions))
        made = []
        for row, (unit, words) in enumerate(self.by_document()):
            span = slice(*self.offsets[row : row + 2].tolist())
            position = list(range(len(words))) if self.position is None else self.position[span].tolist()
            page = [0] * len(words) if self.page is None else self.page[span].tolist()
            region = [] if self.region is None else [names.get(code) for code in self.region[span].tolist()]
            text = None if self.texts is None else self.texts[row]
            made.append(json_digest([words, position, page, region, text, removed.get(unit, [])]))
        return made

    def words(self, document: UnitId) -> list[str]:
        """The words of one document."""
        at = self.documents.index(document)
        return [self.vocabulary[code] for code in self.word[self.offsets[at] : self.offsets[at + 1]].tolist()]

    def select(self, units: Iterable[UnitId]) -> WordCorpus:
        """Only these documents (those that are here), whole."""
        wanted = set(units)
        kept = [row for row, unit in enumerate(self.documents) if unit in wanted]
        if len(kept) == len(self.documents):
            return self
        rows = self._rows(kept)
        lengths = np.diff(self.offsets)[kept]
        return replace(
            self,
            documents=tuple(self.documents[row] for row in kept),
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            word=self.word[rows],
            position=None if self.position is None else self.position[rows],
            page=None if self.page is None else self.page[rows],
            region=None if self.region is None else self.region[rows],
            removed=tuple(removed for removed in self.removed if removed.document in wanted),
            texts=None if self.texts is None else tuple(self.texts[row] for row in kept),
            lattices={unit: lattice for unit, lattice in self.lattices.items() if unit in wanted},
        )

    def _rows(self, documents: Sequence[int]) -> Ints:
        ranges = [np.arange(self.offsets[row], self.offsets[row + 1]) for row in documents]
        return np.concatenate([np.zeros(0, dtype=np.int64), *ranges]).astype(np.int64)

    def by_document(self) -> Iterator[tuple[UnitId, list[str]]]:
        """Each document with its words."""
        vocabulary = self.vocabulary.tolist()
        for row, unit in enumerate(self.documents):
            yield unit, [vocabulary[code] for code in self.word[self.offsets[row] : self.offsets[row + 1]].tolist()]
