"""From two corpora of records to the ledger, in batches and, if asked, in several processes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.errors import ContractError, Issue, Severity, by_place, summarize
from calque.comparators import base
from calque.corpus.boxes import Batches, UnitId, in_canonical_order
from calque.corpus.records import RecordCorpus
from calque.engines import current_progress, is_portable, process_engine
from calque.evaluation.ledger import Ledger
from calque.fields.accounting import complete, paired
from calque.fields.accounting.rows import Book
from calque.fields.accounting.wrong import wrong_values
from calque.fields.columns.batch import plain_ledger
from calque.fields.columns.corpora import taker
from calque.fields.columns.layout import Layout, layout_of
from calque.fields.comparison.cells import Record, RecordSide
from calque.fields.comparison.records import Compared, compare_records, overall_score
from calque.fields.schemas.plan import RecordPlan
from calque.fields.shapes import hints
from calque.readers.line_records import LineRecords, Taker

if TYPE_CHECKING:
    from calque.fields.task import Fields

BATCH = 128
"""Documents in one piece of work: enough to keep a process busy, few enough to share evenly."""

BY_COLUMNS = 1024
"""The same where they become columns: enough to make the calls for each field count little."""
LONG = 1 << 13
"""Of lines with more bytes, on average, half as many are compared at once: their columns are long enough."""

AT_ONCE = 4096
"""Documents that are scored in one go: their ledger is held in memory."""

FEW = 1_000
"""Fewer documents are compared here before other processes could start, or nearly so."""

MOST_NOTES = 1_000
"""How many oddities of one batch are kept one by one."""


def batches(truth: RecordCorpus, found: RecordCorpus) -> Iterator[tuple[RecordCorpus, RecordCorpus]]:
    """Both sides, some documents at a time, in canonical order; what reading noticed comes with the first."""
    units = in_canonical_order({*truth.documents, *found.documents})
    sides = [InOrder(side) for side in (truth, found)]

    def pairs() -> Iterator[tuple[RecordCorpus, RecordCorpus]]:
        for start in range(0, max(len(units), 1), AT_ONCE):
            expected, predicted = (side.next(units[start : start + AT_ONCE]) for side in sides)
            yield expected, predicted

    return Batches(pairs(), lambda: len(units))


class InOrder:
    """The documents of one side in canonical order, and how many of them are done."""

    def __init__(self, corpus: RecordCorpus) -> None:
        self._corpus = corpus
        ordered = in_canonical_order(corpus.documents)
        self._order: Sequence[int] = range(len(ordered))
        if ordered != list(corpus.documents):
            position = {unit: place for place, unit in enumerate(corpus.documents)}
            self._order = array("q", [position[unit] for unit in ordered])
        self._done = 0
        self._issues = corpus.issues

    def next(self, units: Sequence[UnitId]) -> RecordCorpus:
        """Those that are among the next documents of either side."""
        corpus, begin, wanted = self._corpus, self._done, set(units)
        while self._done < len(self._order) and corpus.documents[self._order[self._done]] in wanted:
            self._done += 1
        places = self._order[begin : self._done]
        issues, self._issues = self._issues, ()
        return replace(
            corpus,
            documents=tuple(corpus.documents[place] for place in places),
            rows=places if corpus.rows is None else [corpus.rows[place] for place in places],
            issues=issues,
        )


def taker_of(task: Fields) -> Callable[[], Taker | None]:
    """What makes columns of the lines of a small file while they are found."""
    return lambda: taker(Work(task).layout, BY_COLUMNS)


def score(task: Fields, truth: RecordCorpus, found: RecordCorpus, *, jobs: int) -> Ledger:
    """The ledger of all documents of either side."""
    units = tuple(in_canonical_order({*truth.documents, *found.documents}))
    work, pieces = Work(task), Pieces(truth, found)
    if jobs != 1 and (len(units) < FEW or not is_portable((work, pieces.of(units[:1])))):
        jobs = 1
    size = BATCH if work.layout is None else BY_COLUMNS // 2 if _are_long(truth, found) else BY_COLUMNS
    size = size if jobs == 1 else min(size, -(-len(units) // (2 * jobs)))
    batches = (pieces.of(units[start : start + size]) for start in range(0, len(units), size))
    ledgers = []
    for ledger in process_engine(jobs).map(work, batches):
        ledgers.append(ledger)
        current_progress().advance(len(ledger.units))
    issues = _summary(issue for ledger in ledgers for issue in ledger.issues)
    whole = Ledger.concat(ledgers) if ledgers else Book(task.plan(), outcomes=False).ledger(())
    return Ledger(units=whole.units, tables=whole.tables, names=whole.names, details=whole.details, issues=issues)


def _are_long(*sides: RecordCorpus) -> bool:
    return any(side.records.mean_length() > LONG for side in sides if isinstance(side.records, LineRecords))


def _summary(issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """One issue for each kind, shown at the same place whichever way the documents were split."""
    return summarize(by_place(issues))


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some documents, and what either side has of them."""

    units: tuple[UnitId, ...]
    truth: RecordCorpus
    found: RecordCorpus


class Pieces:
    """Two sides, of which some documents at a time are taken, with nothing of the others."""

    def __init__(self, truth: RecordCorpus, found: RecordCorpus) -> None:
        self._sides = [(side, {unit: place for place, unit in enumerate(side.documents)}) for side in (truth, found)]

    def of(self, units: Sequence[UnitId]) -> Piece:
        """These documents."""
        truth, found = (side.part([at[unit] for unit in units if unit in at]) for side, at in self._sides)
        return Piece(tuple(units), truth, found)


class Work:
    """Compares the documents of a piece; it carries the comparators that only this process may know."""

    def __init__(self, task: Fields) -> None:
        self.task = task
        self._comparators = base.named_in(task.schema)

    @property
    def layout(self) -> Layout | None:
        """How documents become columns; nothing where each has to be compared by itself."""
        task = self.task
        return layout_of(task.schema, task.accounting, task.boxes)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        base.adopt(self._comparators)

    def __call__(self, piece: Piece) -> Ledger:
        """The ledger of some documents."""
        task, layout = self.task, self.layout
        if layout is None:
            return self.one_by_one(piece, piece.units)
        truth, found = piece.truth, piece.found
        counted: Sequence[UnitId] = piece.units
        if task.missing != "penalize":
            both = {*truth.documents} & {*found.documents}
            counted = [unit for unit in piece.units if unit in both]
        plain = with_notes(plain_ledger(layout, counted, truth, found, outcomes=task.keep_outcomes), found.source)
        plain = _with_hints(plain, truth, found)
        if len(plain.units) == len(piece.units):
            return plain
        done = set(plain.units)
        odd = self.one_by_one(piece, tuple(unit for unit in piece.units if unit not in done))
        whole = Ledger.concat([plain, odd])
        issues = _summary((*plain.issues, *odd.issues))
        return Ledger(units=whole.units, tables=whole.tables, names=whole.names, details=whole.details, issues=issues)

    def one_by_one(self, piece: Piece, units: tuple[UnitId, ...]) -> Ledger:
        """The ledger of some documents of a piece, compared one after the other: what columns must come to as well."""
        truth, found = piece.truth, piece.found
        at_truth, at_found = ({unit: place for place, unit in enumerate(side.documents)} for side in (truth, found))
        scorer = Scorer(self.task, truth.source, found.source)
        for unit in units:
            in_truth, in_found = unit in at_truth, unit in at_found
            scorer.document(
                unit,
                truth.record(at_truth[unit]) if in_truth else None,
                found.record(at_found[unit]) if in_found else None,
                in_truth=in_truth,
                in_found=in_found,
                named=truth.named,
            )
        return _with_hints(scorer.ledger(units), truth, found)


def _with_hints(ledger: Ledger, truth: RecordCorpus, found: RecordCorpus) -> Ledger:
    noticed = hints(truth, found, ledger)
    return replace(ledger, issues=_summary((*ledger.issues, *noticed))) if noticed else ledger


class Scorer:
    """Compares documents one after the other and writes them into one book."""

    def __init__(self, task: Fields, truth_source: str = "", found_source: str = "") -> None:
        self.task = task
        self.plan: RecordPlan = task.plan()
        self.book = Book(self.plan, outcomes=task.keep_outcomes)
        self._account = paired.account if task.accounting == "paired" else complete.account
        self._empty_object = Record if task.accounting == "paired" else None
        self._sources = truth_source, found_source
        self._issues: list[Issue] = []
        self._dropped = 0

    def document(
        self, unit: UnitId, truth: Any, found: Any, *, in_truth: bool = True, in_found: bool = True, named: bool = True
    ) -> tuple[list[Compared], float]:
        """Write down one document. Returns its fields and its score."""
        book = self.book
        counted = (in_truth and in_found) or self.task.missing == "penalize"
        if not counted:
            book.finish(
                in_truth=in_truth, in_found=in_found, named=named, counted=False, score=0.0,
                truth_boxes=0, found_boxes=0, ignored_boxes=0, wrong=0,
            )  # fmt: skip
            return [], 0.0
        sides = self._side(unit, truth, 0), self._side(unit, found, 1)
        fields = compare_records(self.plan, sides[0].record, sides[1].record)
        self._account(book, fields, *sides)
        whole = overall_score(fields)
        wrong = wrong_values(fields)
        book.wrong += [(book.unit, *each) for each in wrong]
        for path, lost in book.long_lists:
            text = f"a long list is paired in blocks: its pairs may lack up to {lost} of the best total similarity"
            note = self._noter(unit, 0)
            note("list-paired-in-blocks", path, text)
        book.finish(
            in_truth=in_truth,
            in_found=in_found,
            named=named,
            counted=True,
            score=whole,
            truth_boxes=sides[0].boxes,
            found_boxes=sides[1].boxes,
            ignored_boxes=sides[0].ignored_boxes + sides[1].ignored_boxes,
            wrong=len(wrong),
        )
        return fields, whole

    def _side(self, unit: UnitId, data: Any, which: int) -> RecordSide:
        return RecordSide(
            self.plan,
            data,
            self._noter(unit, which),
            form=self.task.boxes,
            empty_object=self._empty_object,
            only_declared=self.task.accounting == "complete",
        )

    def _noter(self, unit: UnitId, which: int) -> Callable[[str, str, str], None]:
        def note(code: str, path: str, message: str) -> None:
            severity = Severity.LOSS if code in LOSSES else Severity.NOTE
            issue = Issue(code, message, self._sources[which], f"document {unit}: {path}", HELP.get(code, ""), severity)
            if self.task.strict and code in LOSSES:
                raise ContractError([issue])
            if len(self._issues) < MOST_NOTES:
                self._issues.append(issue)
            else:
                self._issues = list(_summary([*self._issues, issue]))

        return note

    def ledger(self, units: tuple[UnitId, ...]) -> Ledger:
        """What was written, for documents in canonical order."""
        return with_notes(self.book.ledger(units), self._sources[1], self._issues)


def with_notes(ledger: Ledger, found_source: str, issues: Iterable[Issue] = ()) -> Ledger:
    """A ledger with what is to be said of its documents."""
    boxes = ledger.table("boxes")
    unrated = int((boxes.array("has_found") & np.isnan(boxes.array("confidence"))).sum())
    text = "predicted boxes without _confidence rank as 1.0; ranking them says nothing"
    note = Issue("no-confidence", text, found_source, severity=Severity.NOTE, count=unrated)
    told = _summary([*issues, *([note] if unrated else [])])
    return Ledger(units=ledger.units, tables=ledger.tables, names=ledger.names, details=ledger.details, issues=told)


LOSSES = {"odd-box", "odd-confidence", "odd-page", "not-a-record", "list-too-long", "list-paired-in-blocks"}
HELP = {
    "odd-box": "write [x1, y1, x2, y2] or [[x1, y1], [x2, y2]] with finite numbers, or say --boxes xywh or polygon",
    "odd-confidence": "write a number from 0 to 1",
    "odd-page": "write a page's number or name under _page",
    "list-paired-in-blocks": "give it a match_key, or matching: ordered",
}
