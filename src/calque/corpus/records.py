"""Records: documents as JSON objects, held in memory or read again when they are needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from calque.base.errors import Issue
from calque.corpus.boxes import Corpus, UnitId, json_digest


@runtime_checkable
class Divisible(Protocol):
    """Records that are read when they are asked for, and can be divided without reading any."""

    def part(self, rows: Sequence[int]) -> Sequence[Any]:
        """Those in these rows."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordCorpus(Corpus):
    """One JSON object for each document. ``records`` may parse them on the way out; nothing asks for all at once."""

    documents: tuple[UnitId, ...]
    records: Sequence[Any]
    rows: Sequence[int] | None = None
    """For each document its place in ``records``; ``None`` when they stand in one order."""
    named: bool = True
    """Whether ids come from the data; otherwise they are line or call numbers."""
    model: str = ""
    source: str = ""
    issues: tuple[Issue, ...] = ()

    def __post_init__(self) -> None:
        places = len(self.records) if self.rows is None else len(self.rows)
        if places != len(self.documents):
            raise ValueError(f"there are {places} records for {len(self.documents)} documents")
        if len(set(self.documents)) != len(self.documents):
            twice = next(unit for unit, count in Counter(self.documents).items() if count > 1)
            raise ValueError(f"document {twice!r} is there twice")

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return f"<RecordCorpus {self.source or 'from memory'}: {len(self):,} documents>"

    def units(self) -> tuple[UnitId, ...]:
        """The ids of all documents."""
        return self.documents

    def record(self, position: int) -> Any:
        """The JSON of a document, by its position among the documents."""
        return self.records[position if self.rows is None else self.rows[position]]

    def digests(self) -> list[int]:
        """For each document its record."""
        return [json_digest(self.record(position)) for position in range(len(self.documents))]

    def part(self, positions: Sequence[int]) -> RecordCorpus:
        """The documents at these positions, and of the others not even their places, so that they can be sent elsewhere."""
        rows = positions if self.rows is None else [self.rows[position] for position in positions]
        taken = self.records.part(rows) if isinstance(self.records, Divisible) else [self.records[row] for row in rows]
        documents = tuple(self.documents[position] for position in positions)
        return replace(self, documents=documents, records=taken, rows=None, issues=())

    def select(self, units: Iterable[UnitId]) -> RecordCorpus:
        """Only these documents (those that are here), whole."""
        wanted = set(units)
        kept = [position for position, unit in enumerate(self.documents) if unit in wanted]
        rows = kept if self.rows is None else [self.rows[position] for position in kept]
        return replace(self, documents=tuple(self.documents[position] for position in kept), rows=rows)
