"""Two files of page rows side by side: batches of whole documents, in memory that does not grow with the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from calque.base.errors import ContractError, IssueLog
from calque.corpus.boxes import Batches, BoxCorpus, UnitId
from calque.corpus.class_map import Pairs
from calque.readers.boxes.conventions import Rules, together
from calque.readers.page_rows import ndjson, parquet
from calque.readers.page_rows.corpus import PageReader
from calque.readers.page_rows.files import PARQUET
from calque.readers.page_rows.rows import GatheredRows, Rows
from calque.readers.sides.class_maps import label_counts, label_notes, map_notes, mapped
from calque.readers.sides.comparable import nothing_in_common
from calque.readers.sides.readings import pair_slips
from calque.readers.sources import compression
from calque.readers.sources.json_tree import readable

BATCH = 1_200_000
"""About how many pages and objects, of both sides together, are evaluated at a time: some hundred megabytes."""
BLOCKS = 8
"""In about how many blocks a batch is read."""
LATER = 2
"""A batch after the first is smaller by this: what the first came to waits beside it, and the ids of all documents."""
SHOWN = 1000
"""How many documents are kept to say how a file names them."""


class PageStream:
    """A file of page rows, read ahead from the moment on that this is made."""

    def __init__(self, path: str, format: str, rules: Rules, batch: int | None = None) -> None:
        self.batch = BATCH if batch is None else batch
        """About how many pages and objects, of both sides together, make a batch."""
        size = max(1, self.batch // BLOCKS)
        place = "row" if format == PARQUET else "line"
        # First, for it may refuse the rules: nothing should be read then.
        self._reader = PageReader(rules, IssueLog(path), place=place, format=format)
        self._opened: parquet.Opened | ndjson.Opened
        if format == PARQUET:
            self._opened = parquet.Opened(path, size, self.batch, rules)
        else:
            with readable(path):
                length = 0 if compression.magic(path) else os.path.getsize(path)
                self._opened = ndjson.Opened(compression.opened(path), size, length)

    def started(self) -> StreamedSide:
        """The file as one side of an evaluation."""
        return StreamedSide(self._opened.blocks(self._reader), self._reader, self._opened.share)

    def whole(self) -> BoxCorpus:
        """The corpus of the whole file; `ContractError` with everything that is wrong."""
        side = self.started()
        while not side.ended:
            side.advance(set())
        side.reader.log.raise_errors()
        side.reader.check_something_read(side.met)
        corpus = side.corpus(set(side.waiting))
        side.reader.log.raise_errors()
        return replace(corpus, issues=side.reader.issues())


class StreamedSide:
    """What was read of one file and not yet handed on."""

    def __init__(self, blocks: Iterator[Rows], reader: PageReader, share: Callable[[], float]) -> None:
        self.reader = reader
        self._share = share
        self.ended = False
        self.met = 0
        """How many documents have turned up."""
        self.waiting: dict[UnitId, None] = {}
        """The documents that wait, in file order."""
        self.some: list[UnitId] = []
        """The first documents, for messages."""
        self._blocks = blocks
        self._rows = GatheredRows()
        self._last: UnitId | None = None

    def expected(self) -> int:
        """About how many documents the file has, by how many the part that was read has; 0 when that part is not known."""
        share = self._share()
        return round(self.met / share) if share else 0

    @property
    def load(self) -> int:
        """How many pages and objects wait."""
        return len(self._rows)

    def advance(self, gone: set[UnitId]) -> None:
        """Read a block further; ``gone`` are the documents that were handed on."""
        try:
            rows = next(self._blocks, None)
        except ContractError as error:
            for issue in error.issues:
                self.reader.log.add(issue.code, issue.pointer, issue.message, help=issue.help)
            rows = None
        if rows is None:
            self.ended = True
            return
        self._check_together(rows, gone)
        self._rows.add(rows)
        before = len(self.waiting)
        self.waiting.update(dict.fromkeys(rows.document))
        self.met += len(self.waiting) - before
        self._last = rows.document[-1] if rows.document else self._last
        if len(self.some) < SHOWN:
            self.some = list(dict.fromkeys([*self.some, *rows.document[:SHOWN]]))

    def _check_together(self, rows: Rows, gone: set[UnitId]) -> None:
        if gone.isdisjoint(rows.document):
            return
        first = {document: row for row, document in reversed(list(enumerate(rows.document)))}
        for document in dict.fromkeys(rows.document):
            if document not in gone:
                continue
            number = int(rows.number[first[document]])
            text = f"more of document {document!r}, which was counted already: the rows of a document must stand together"
            self.reader.log.add("document-scattered", self.reader.at(number, "doc_id"), text, help="sort the file by doc_id")

    def is_complete(self, document: UnitId) -> bool:
        """Whether nothing more of a document is to come, as far as one can tell."""
        return self.ended or (document in self.waiting and document != self._last)

    def corpus(self, documents: set[UnitId]) -> BoxCorpus:
        """These documents, which then wait no longer."""
        return self.reader.corpus(self.taken(documents))

    def taken(self, documents: set[UnitId]) -> Rows:
        """The rows of these documents, which then wait no longer."""
        rows = self._rows.rows()
        self._rows = GatheredRows()
        if documents.issuperset(self.waiting):
            self.waiting = {}
            return rows
        now = np.array([document in documents for document in rows.document], dtype=np.bool_)
        rest = rows.take(~now)
        self._rows.add(rest)
        self.waiting = dict.fromkeys(rest.document)
        return rows.take(now)


def pairs(
    truth: StreamedSide,
    found: StreamedSide,
    batch: int,
    *,
    page_size: Sequence[float] | None = None,
    maps: tuple[Pairs, Pairs] = ((), ()),
) -> Iterator[tuple[BoxCorpus, BoxCorpus]]:
    """Both sides on one scale and with mapped labels, some whole documents at a time; remarks come with the first and last.

    Memory is bounded by the batch when both files have their documents in the same order: a document whose partner comes
    later waits for it. Raises a `ContractError` with everything that is wrong with both files, once both are read.
    """
    return Batches(_pairs(truth, found, batch, page_size, maps), lambda: max(truth.expected(), found.expected()))


def _pairs(
    truth: StreamedSide, found: StreamedSide, batch: int, page_size: Sequence[float] | None, maps: tuple[Pairs, Pairs]
) -> Iterator[tuple[BoxCorpus, BoxCorpus]]:
    joining = _Joining(truth, found, maps)
    gone: set[UnitId] = set()
    full, later = batch, max(1, batch // LATER)
    while not (truth.ended and found.ended):
        min((side for side in (truth, found) if not side.ended), key=lambda side: side.met).advance(gone)
        if _errors(truth, found):
            # Nothing will be counted any more; the rest is read to say everything that is wrong.
            truth.taken(set(truth.waiting))
            found.taken(set(found.waiting))
        elif truth.load + found.load >= full and not (truth.ended and found.ended):
            ready = {unit for unit in (*truth.waiting, *found.waiting) if truth.is_complete(unit) and found.is_complete(unit)}
            pair = joining.corpora(ready)
            gone |= ready
            if ready and not _errors(truth, found):
                yield joining.joined(*pair, page_size)
            # When little could be handed on, more has to come before it is worth another look.
            full = max(later, 2 * (truth.load + found.load))
    rest = joining.corpora({*truth.waiting, *found.waiting})
    if _errors(truth, found):
        raise ContractError([*truth.reader.log, *found.reader.log])
    for side in (truth, found):
        side.reader.check_something_read(side.met)
    yield joining.concluded(*joining.joined(*rest, page_size))


def _errors(*sides: StreamedSide) -> int:
    return sum(side.reader.log.errors for side in sides)


class _Joining:
    """What two files have in common, found out batch by batch."""

    def __init__(self, truth: StreamedSide, found: StreamedSide, maps: tuple[Pairs, Pairs]) -> None:
        self._sides = truth, found
        self._maps = maps
        self._counts = [np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)]
        self._first = True
        self._in_common = False

    def corpora(self, documents: set[UnitId]) -> tuple[BoxCorpus, BoxCorpus]:
        """These documents of both sides, as the files have them."""
        truth, found = (side.waiting.keys() & documents for side in self._sides)
        self._in_common = self._in_common or not truth.isdisjoint(found)
        return self._sides[0].corpus(documents), self._sides[1].corpus(documents)

    def joined(self, truth: BoxCorpus, found: BoxCorpus, page_size: Sequence[float] | None) -> tuple[BoxCorpus, BoxCorpus]:
        """A batch, ready to be laid over each other; the first with a note when one side looks turned or shifted."""
        for position, corpus in enumerate((truth, found)):
            if not self._maps[position]:
                continue
            counts = label_counts(corpus)
            counts[: len(self._counts[position])] += self._counts[position]
            self._counts[position] = counts
        truth, found = together(truth, found, page_size)
        # What there is to say of a class map is said in the end, of the whole file.
        truth = replace(mapped(truth, self._maps[0]), issues=truth.issues)
        found = replace(mapped(found, self._maps[1]), issues=found.issues)
        slips = pair_slips(truth, found) if self._first else ()
        self._first = False
        return truth, replace(found, issues=(*found.issues, *slips))

    def concluded(self, truth: BoxCorpus, found: BoxCorpus) -> tuple[BoxCorpus, BoxCorpus]:
        """The last batch, with everything that was noticed in the files."""
        told = [
            (*side.reader.issues(), *corpus.issues, *map_notes(corpus.source, side.reader.labels.names, counts, pairs))
            for side, corpus, counts, pairs in zip(self._sides, (truth, found), self._counts, self._maps, strict=True)
        ]
        between = label_notes(truth.labels, found.labels, found.source)
        mine, theirs = (side.some for side in self._sides)
        if mine and theirs and not self._in_common:
            between += (nothing_in_common(mine, theirs, found.source),)
        return replace(truth, issues=told[0]), replace(found, issues=(*told[1], *between))
