"""From page rows to corpora: what the numbers mean, what is wrong with single objects, and what is known of documents."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.columns import Bytes, Codes, Floats, Ints
from calque.base.errors import ConfigError, ContractError, Issue, IssueLog, Severity
from calque.corpus.boxes import BoxCorpus, Extent, Flaw, Side, UnitId
from calque.geometry.boxes import corners, unsound
from calque.geometry.forms import FOUR_NUMBER_SPELLINGS, BoxForm
from calque.readers.boxes import conventions
from calque.readers.boxes.conventions import Rules
from calque.readers.boxes.objects import OUTSIDE
from calque.readers.page_rows.rows import Labels, Rows
from calque.readers.sides.slips import unit_slips

SAMPLE = 10_000
"""How many boxes are looked at to find out whether their units are others than was said."""


@dataclass(slots=True)
class _Finding:
    """Something that was noticed: how often, and in which row first."""

    noun: str
    what: str
    severity: Severity
    first: int
    count: int = 0


class PageReader:
    """Makes corpora of the rows of one file, and remembers what it noticed until the file is read to its end."""

    def __init__(self, rules: Rules, log: IssueLog, *, place: str, format: str) -> None:
        self.form, self.units = rules.form(), rules.measure()
        """What the numbers of boxes mean."""
        if self.form not in FOUR_NUMBER_SPELLINGS:
            raise ConfigError(f"boxes of {format} files have four numbers: {', '.join(FOUR_NUMBER_SPELLINGS)}, not {self.form}")
        self.rules = rules
        self.log = log
        self.labels = Labels()
        self.faults = 0
        """How many things were wrong with pages that are left out."""
        self._place = place
        self._format = format
        self._findings: dict[tuple[str, str], _Finding] = {}
        self._gives_ids: bool | None = None
        self._looked = False

    def hear(self, values: Mapping[str, Any], place: str) -> None:
        """Take in what the file states of its boxes; what was asked for goes before that."""
        try:
            said = conventions.stated(values)
            if said.get(conventions.FORM_KEY) == "polygon":
                raise ConfigError("boxes of page rows have four numbers, not polygon")
        except ConfigError as error:
            self.log.add("box-form", place, str(error))
            return
        self.form = self.rules.form(said.get(conventions.FORM_KEY, ""))
        self.units = self.rules.measure(said.get(conventions.UNITS_KEY, ""))

    @property
    def needs_scores(self) -> bool:
        """Whether an object without a score is a fault."""
        return self.rules.side is Side.FOUND and not self.rules.allow_missing_scores

    def at(self, number: int, *steps: object) -> str:
        """The place of a value: its row, and where in the row it is.

        >>> PageReader(Rules(), IssueLog(""), place="line", format="ndjson").at(3, "boxes", 0)
        'line 3 /boxes/0'
        """
        return f"{self._place} {number}" + "".join([" ", *(f"/{step}" for step in steps)] if steps else [])

    def fault(self, code: str, number: int, message: str, *steps: object, help: str = "") -> None:
        """Write down why a page cannot be read."""
        self.fault_at(code, self.at(number, *steps), message, help=help)

    def fault_at(self, code: str, place: str, message: str, *, help: str = "") -> None:
        """The same, for a place within the text of a line."""
        self.faults += 1
        if self.rules.strict:
            self.log.add(code, place, message, help=help)
        else:
            left_out = f"the {self._place} is left out"
            self.log.add(code, place, message, help=f"{left_out}; {help}" if help else left_out, severity=Severity.LOSS)

    def check_something_read(self, documents: int) -> None:
        """Refuse a file of which no page could be read."""
        if self.faults and not documents:
            issues = [dataclasses.replace(issue, severity=Severity.ERROR) for issue in self.log]
            raise ContractError(issues)

    def check_ids(self, number: int, *, given: bool) -> None:
        """Refuse a file in which some pages name their objects and others do not."""
        if self._gives_ids is None:
            self._gives_ids = given
        elif self.disagrees_on_ids(given=given):
            text = "the objects of this page have ids, those before have none"
            other = "the objects of this page have no ids, those before have"
            help = "give ids on every page, or on none"
            self.log.add("ids-partial", self.at(number, "ids"), text if given else other, help=help)

    def disagrees_on_ids(self, *, given: bool) -> bool:
        """Whether the pages before did otherwise."""
        return self._gives_ids is not None and given is not self._gives_ids

    def lacks_scores(self, number: int, *, help: str = "") -> None:
        """Refuse a file in which a page has objects and no scores."""
        usual = "give a list of numbers, or pass --allow-missing-scores for a model without scores"
        self.log.add("score-missing", self.at(number, "scores"), "the page has no scores", help=help or usual)

    def corpus(self, rows: Rows) -> BoxCorpus:
        """The corpus of some whole documents. What refuses the file goes to the log: look there before using it."""
        code = {document: position for position, document in enumerate(dict.fromkeys(rows.document))}
        page_document = np.array([code[document] for document in rows.document], dtype=np.int32)
        self._check_pages(rows, page_document)
        page = np.repeat(np.arange(len(rows.document), dtype=np.int32), rows.counts)
        sizes = self._sizes(rows)
        boxes, form, extent = self._settled(rows, sizes, page)
        scores = self._scores(rows, page)
        flaws = self._flaws(boxes, form, rows, page)
        if extent is Extent.NORMALIZED:
            self._check_shares(corners(boxes, form), flaws, rows, page)
        if not self._looked:
            self._look_at_units(boxes, form, extent, sizes[page[:SAMPLE]])
        return BoxCorpus(
            documents=tuple(code),
            page_document=page_document,
            page_index=rows.index,
            page_sizes=None if np.isnan(sizes).all() else sizes,
            labels=tuple(self.labels.names),
            page=page,
            label=rows.label,
            boxes=boxes,
            scores=scores,
            ids=rows.ids,
            crowd=rows.crowd if rows.crowd is not None and rows.crowd.any() else None,
            given_areas=None if rows.areas is None or np.isnan(rows.areas).all() else rows.areas / self._whole**2,
            flaws=flaws if flaws.any() else None,
            metadata=self._metadata(rows),
            form=form,
            extent=extent,
            format=self._format,
            side=self.rules.side,
            source=self.log.file,
        )

    def issues(self) -> tuple[Issue, ...]:
        """Everything that was noticed in the file, once it is read to its end."""
        for (code, column), found in sorted(self._findings.items()):
            text = f"{found.count:,} {found.noun}{'' if found.count == 1 else 's'} {found.what}"
            self.log.add(code, self.at(found.first, column), text, severity=found.severity)
        return tuple(self.log)

    # What the numbers mean.

    @property
    def _whole(self) -> float:
        """What a page measures in the units of the file; 1 for pixels, which are not divided."""
        return conventions.UNITS[self.units] or 1.0

    def _sizes(self, rows: Rows) -> Floats:
        if self.rules.page_size is None:
            return rows.sizes
        return np.where(np.isnan(rows.sizes), np.array(self.rules.page_size), rows.sizes)

    def _settled(self, rows: Rows, sizes: Floats, page: Codes) -> tuple[Floats, BoxForm, Extent]:
        """The boxes as a corpus holds them: corners and sizes in pixels or shares are not touched, to the bit."""
        rules = self.rules
        heights = np.zeros(0)
        if rules.origin == "bottom_left":
            lacking = np.isnan(sizes[:, 1]) & (rows.counts > 0) if self.units == "pixels" else np.zeros(0, dtype=np.bool_)
            for number in rows.number[: len(lacking)][lacking].tolist():
                text = "the origin is at the bottom, and the height of the page is not known"
                self.log.add("page-size", self.at(number, "height"), text, help="give heights, or pass --page-size W,H")
            heights = sizes[page, 1]
        with np.errstate(over="ignore", invalid="ignore"):
            return conventions.settled(rows.boxes, form=self.form, units=self.units, origin=rules.origin, heights=heights)

    def _look_at_units(self, boxes: Floats, form: BoxForm, extent: Extent, sizes: Floats) -> None:
        """Note once, from the first boxes, when they look as if they had other units."""
        some = boxes[:SAMPLE]
        fine = np.isfinite(some).all(axis=1)
        self._looked = bool(len(some))
        for issue in unit_slips(corners(some[fine], form), extent, sizes[fine], self.log.file):
            self.log.add(issue.code, "", issue.message, help=issue.help, severity=issue.severity)

    # What is wrong with single pages and objects.

    def _check_pages(self, rows: Rows, page_document: Codes) -> None:
        """Each page of a document has one row."""
        order = np.lexsort((rows.number, rows.index, page_document))
        same = (np.diff(page_document[order]) == 0) & (np.diff(rows.index[order]) == 0)
        repeated = order[1:][same]
        if self.rules.lenient:
            what = "whose document has that page already; they were merged"
            self._flag(rows.number[repeated], "row", "page_index", "duplicate-page", what, Severity.NOTE)
            return
        for row in repeated.tolist():
            text = f"page {rows.index[row]} of {rows.document[row]!r} occurs more than once"
            help = "merge the rows, or pass --lenient to have them merged"
            self.log.add("duplicate-page", self.at(int(rows.number[row]), "page_index"), text, help=help)

    def _scores(self, rows: Rows, page: Codes) -> Floats | None:
        if rows.scores is None or self.rules.side is not Side.TRUTH:
            return None if rows.scores is None else np.where(np.isfinite(rows.scores), rows.scores, np.nan)
        given = rows.number[page[~np.isnan(rows.scores)]]
        self._flag(given, self._noun, "scores", "scores-unused", "with a score, which is not used", Severity.NOTE)
        return None

    def _flaws(self, boxes: Floats, form: BoxForm, rows: Rows, page: Codes) -> Bytes:
        flaws = np.zeros(len(boxes), dtype=np.uint8)
        if rows.scores is not None:
            unusable = self.rules.unusable(rows.scores)
            flaws[unusable] = Flaw.NO_SCORE
            lacking = rows.number[page[unusable]]
            self._flag(lacking, self._noun, "scores", "score-missing", "without a usable score", Severity.LOSS)
        bad = unsound(boxes, form)
        if bad is not None:
            flaws[bad] = Flaw.BAD_BOX
            what = "whose box is not finite, too large or of negative size"
            self._flag(rows.number[page[bad]], self._noun, "boxes", "box-invalid", what, Severity.LOSS)
        return flaws

    def _check_shares(self, boxes: Floats, flaws: Bytes, rows: Rows, page: Codes) -> None:
        """Shares of the page lie on the page: a little over its edge is noted, more is refused."""
        over = np.where(flaws == Flaw.BAD_BOX, 0.0, np.maximum(-boxes.min(axis=1, initial=0), boxes.max(axis=1, initial=0) - 1))
        slightly = (over > 1e-9) & (over <= OUTSIDE)
        what = "whose box reaches a little beyond the page"
        self._flag(rows.number[page[slightly]], self._noun, "boxes", "box-range", what, Severity.NOTE)
        far = np.flatnonzero(over > OUTSIDE)
        if len(far):
            place = self.at(int(rows.number[page[far[0]]]), "boxes")
            text, help = "the box reaches beyond the page", "coordinates are shares of the page: check --units and --boxes"
            self.log.add("box-range", place, text, help=help, count=len(far))

    def _metadata(self, rows: Rows) -> dict[str, dict[UnitId, Any]]:
        """For each further column what the pages of each document agree on."""
        metadata: dict[str, dict[UnitId, Any]] = {}
        for column, values in rows.metadata.items():
            first: dict[UnitId, Any] = {}
            given = [(row, rows.document[row], value) for row, value in enumerate(values) if value is not None]
            others = [row for row, document, value in given if first.setdefault(document, value) != value]
            what = f"whose {column!r} is not that of the pages before: their documents have none"
            self._flag(rows.number[others], "row", column, "metadata-differs", what, Severity.NOTE)
            disputed = {rows.document[row] for row in others}
            metadata[column] = {document: value for document, value in first.items() if document not in disputed}
        return metadata

    # What was noticed.

    @property
    def _noun(self) -> str:
        return {Side.TRUTH: "truth", Side.FOUND: "prediction", None: "object"}[self.rules.side]

    def _flag(self, numbers: Ints, noun: str, column: str, code: str, what: str, severity: Severity) -> None:
        """Add to what was noticed; ``numbers`` has the row of each case."""
        if len(numbers):
            first = int(numbers.min())
            known = self._findings.setdefault((code, column), _Finding(noun, what, severity, first))
            known.count += len(numbers)
            known.first = min(known.first, first)

    def unused(self, column: str, number: int) -> None:
        """Notice a column that is neither known nor a scalar."""
        what = f"with {column!r}, which calque does not use"
        self._flag(np.array([number]), "row", column, "column-unused", what, Severity.NOTE)
