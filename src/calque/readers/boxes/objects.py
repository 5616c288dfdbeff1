"""Corpora object by object: what a reader of a small format fills, and what a writer walks; evaluation never does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from calque.base.columns import Bytes, Flags, Floats, Outlines, Strings
from calque.base.errors import IssueLog, Severity
from calque.corpus.boxes import BoxCorpus, Extent, Flaw, Side, UnitId
from calque.geometry.boxes import corners, in_reach
from calque.geometry.forms import BoxForm
from calque.geometry.rings import is_upright_box, without_repeats
from calque.readers.boxes import conventions
from calque.readers.boxes.conventions import Rules
from calque.readers.sides.slips import box_hints, score_hint, unit_slips

OUTSIDE = 0.01
"""A share of the page by which rounding may carry a box over the edge."""


class Rows:
    """The columns of a corpus in the making, and the log of what was wrong on the way."""

    def __init__(self, file: str, rules: Rules) -> None:
        self.log = IssueLog(file)
        self.rules = rules
        self.documents: dict[UnitId, int] = {}
        self.places: dict[tuple[UnitId, int], int] = {}
        self.page_document: list[int] = []
        self.page_index: list[int] = []
        self.page_names: list[str] = []
        self.page_sizes: list[tuple[float, float]] = []
        self.unannotated: set[int] = set()
        """The rows of pages that nobody has annotated."""
        self.labels: dict[str, int] = {}
        self.page_of: list[int] = []
        self.label_of: list[int] = []
        self.boxes: list[Sequence[float]] = []
        self.scores: list[float] = []
        self.ids: list[str] = []
        self.ignored: list[bool] = []
        self.pointers: list[str] = []
        self.metadata: dict[str, dict[UnitId, Any]] = {}
        self.outlines: list[Sequence[float]] = []
        """For each object its ring; none where it is its box."""
        self.boxed: list[str] = []
        """Where objects stand that are no boxes and were read as such."""

    def document(self, name: UnitId) -> int:
        """The row of a document, which need not have any page."""
        return self.documents.setdefault(name, len(self.documents))

    def page(self, document: UnitId, index: int = 0, *, size: tuple[float, float] | None = None, name: str = "") -> int:
        """The row of a page; the same row each time the page is asked for."""
        known = self.places.get((document, index))
        row = len(self.page_index) if known is None else known
        if known is None:
            self.places[document, index] = row
            self.page_document.append(self.document(document))
            self.page_index.append(index)
            self.page_names.append(name)
            self.page_sizes.append(self.rules.page_size or (math.nan, math.nan))
        if size is not None and all(0 < side < math.inf for side in size):
            self.page_sizes[row] = size
        return row

    def new_page(self, document: UnitId, index: int, where: str, **more: Any) -> int:
        """The row of a page that should occur only once in the file."""
        if (document, index) in self.places:
            severity = Severity.NOTE if self.rules.lenient else Severity.ERROR
            help = "" if self.rules.lenient else "merge the entries, or pass --lenient to have them merged"
            text = f"page {index} of {document!r} occurs more than once"
            self.log.add("duplicate-page", where, text, help=help, severity=severity)
        return self.page(document, index, **more)

    def describe(self, document: UnitId, values: Any, where: str) -> None:
        """Metadata of a document, where the rules ask for it: every plain value of an object. Pages that differ leave none."""
        for column, value in values.items() if self.rules.metadata and isinstance(values, Mapping) else ():
            if isinstance(value, str | int | float):
                known = self.metadata.setdefault(column, {}).setdefault(document, value)
                if known is not None and known != value:
                    self.metadata[column][document] = None
                    text = f"pages of {document!r} differ in {column!r}: it has none"
                    self.log.add("metadata-differs", where, text, severity=Severity.NOTE)

    def label(self, name: str) -> int:
        """The code of a label."""
        return self.labels.setdefault(name, len(self.labels))

    def around(self, points: Sequence[float], where: str) -> list[float]:
        """The box around what is neither a box nor an outline; counted, for a box it is not."""
        self.boxed.append(where)
        return conventions.around(points)

    def add(
        self,
        page: int,
        label: str | None,
        box: Sequence[float],
        where: str,
        *,
        score: float = math.nan,
        id: str = "",
        ignored: bool = False,
        outline: Sequence[float] = (),
    ) -> None:
        """One object. Without a label, or with numbers that make no box, it is kept, counted and named as not usable.

        ``score`` is NaN where none is given, and infinite where what is given is no number: see `conventions.as_score`.
        ``outline`` has the points x, y, x, y, ... of an object that the format draws, and ``box`` is the box around them.
        """
        self.page_of.append(page)
        self.label_of.append(-1 if label is None else self.label(label))
        self.boxes.append(box)
        self.scores.append(score)
        self.ids.append(id)
        self.ignored.append(ignored)
        self.pointers.append(where)
        self.outlines.append(self._ring(outline, where) if outline else ())

    def _ring(self, points: Sequence[float], where: str) -> Sequence[float]:
        """The ring of an outline, where it is kept and is no box."""
        ring = without_repeats(points)
        if is_upright_box(ring):
            return ()
        if self.rules.on == "boxes":
            self.boxed.append(where)
            return ()
        return [value for point in ring for value in point]

    def _annotated(self) -> Flags | None:
        if not self.unannotated:
            return None
        return np.array([row not in self.unannotated for row in range(len(self.page_index))], dtype=np.bool_)

    def corpus(
        self,
        format: str,
        *,
        form: str = "xyxy",
        units: str = "pixels",
        origin: str = "top_left",
        label_map: Mapping[UnitId, str] | None = None,
        model: str = "",
    ) -> BoxCorpus:
        """What was collected, with boxes as ``form``, ``units`` and ``origin`` describe them; raises what was found wrong."""
        sizes = np.array(self.page_sizes, dtype=np.float64).reshape(-1, 2)
        page = np.array(self.page_of, dtype=np.int32)
        raw = np.array(self.boxes, dtype=np.float64).reshape(-1, 4)
        if origin == "bottom_left" and units == "pixels":
            self._need_heights(sizes[page, 1])
        with np.errstate(over="ignore", invalid="ignore"):
            boxes, kept, extent = conventions.settled(raw, form=form, units=units, origin=origin, heights=sizes[page, 1])
        flaws = self._flaws(boxes, kept)
        outlines = self._outlines(flaws, units=units, origin=origin, heights=sizes[page, 1])
        scores = self._scores(flaws)
        self._check(raw, corners(boxes, kept), flaws, extent, sizes[page])
        return BoxCorpus(
            documents=tuple(self.documents),
            page_document=np.array(self.page_document, dtype=np.int32),
            page_index=np.array(self.page_index, dtype=np.int64),
            page_names=Strings.pack(self.page_names) if any(self.page_names) else None,
            page_sizes=None if np.isnan(sizes).all() else sizes,
            annotated=self._annotated(),
            labels=tuple(self.labels),
            label_map=label_map,
            page=page,
            label=np.array(self.label_of, dtype=np.int32),
            boxes=boxes,
            scores=scores,
            ids=Strings.pack(self.ids) if any(self.ids) else None,
            ignore=np.array(self.ignored, dtype=np.uint8) if any(self.ignored) else None,
            flaws=flaws if flaws.any() else None,
            outlines=outlines,
            form=kept,
            extent=extent,
            side=self.rules.side,
            format=format,
            model=model,
            source=self.log.file,
            issues=tuple(self.log),
            metadata=self.metadata,
        )

    def _outlines(self, flaws: Bytes, *, units: str, origin: str, heights: Floats) -> Outlines | None:
        """The rings of sound objects in the units of the boxes; one with less than three different points is no outline."""
        if not any(map(len, self.outlines)):
            return None
        outlines = Outlines.pack(self.outlines)
        flat = outlines.drawn() & (outlines.corners() < 3)
        self._flag(flaws, flat, Flaw.BAD_BOX, "outline-invalid", "whose outline has fewer than three different points")
        kept = outlines.without(flaws == Flaw.BAD_BOX)
        return conventions.settled_outlines(kept, units=units, origin=origin, heights=heights)

    def _check(self, raw: Floats, placed: Floats, flaws: Bytes, extent: Extent, sizes: Floats) -> None:
        """Raise what is wrong with the boxes, and note what looks odd about their numbers."""
        if self.boxed:
            text = "an outline, a turned box or a mask was read as the upright box around it"
            self.log.add("outline-boxed", self.boxed[0], text, severity=Severity.NOTE, count=len(self.boxed))
        if extent is Extent.NORMALIZED:
            self._check_shares(raw, placed, flaws)
        self.log.raise_errors()
        fine = flaws != Flaw.BAD_BOX
        for issue in unit_slips(placed[fine], extent, sizes[fine], self.log.file):
            self.log.add(issue.code, "", issue.message, help=issue.help, severity=issue.severity)

    def _need_heights(self, heights: Floats) -> None:
        rows = np.flatnonzero(~(heights > 0))
        if len(rows):
            text = "the box is counted from the bottom of a page whose height is not known"
            self.log.add("page-size", self.pointers[rows[0]], text, help="pass --page-size W,H", count=len(rows))

    def _flaws(self, boxes: Floats, form: BoxForm) -> Bytes:
        flaws = np.zeros(len(boxes), dtype=np.uint8)
        low, high = boxes[:, :2], boxes[:, 2:]
        ordered = high >= low if form is BoxForm.XYXY else high >= 0
        unlabelled = np.array(self.label_of, dtype=np.int32) < 0
        self._flag(flaws, unlabelled, Flaw.UNKNOWN_LABEL, "label-missing", "without a label")
        near, forwards = in_reach(boxes), ordered.all(axis=1)
        self._flag(
            flaws, ~(near & forwards), Flaw.BAD_BOX, "box-invalid", "whose box is not finite, too large or of negative size"
        )
        backwards = boxes[near & ~forwards]
        if form is BoxForm.XYXY and len(backwards) > len(boxes) / 4 and (backwards >= 0).all():
            text = "many boxes end before they begin: they look like [x, y, width, height]"
            self.log.add("looks-like-sizes", "", text, help="pass --boxes xywh", severity=Severity.NOTE)
        return flaws

    def _flag(self, flaws: Bytes, where: Flags, flaw: Flaw, code: str, what: str) -> None:
        rows = np.flatnonzero(where)
        if len(rows):
            flaws[rows] = flaw
            text = f"{len(rows):,} object{'s' if len(rows) > 1 else ''} {what}"
            self.log.add(code, self.pointers[rows[0]], text, severity=Severity.LOSS)

    def _scores(self, flaws: Bytes) -> Floats | None:
        scores = np.array(self.scores, dtype=np.float64)
        if self.rules.side is Side.TRUTH or not len(scores):
            return None
        given = np.isfinite(scores)
        odd = given & ~((scores >= 0) & (scores <= 1))
        if odd.any():
            row = int(np.flatnonzero(odd)[0])
            text = f"the score {scores[row]:g} is not from 0 to 1"
            self.log.add("score-range", self.pointers[row], text, help="give a number from 0 to 1", count=int(odd.sum()))
            for hint in score_hint(scores[odd].tolist()):
                self.log.hint(hint)
        if np.isnan(scores).all():
            if self.rules.side is Side.FOUND:
                text = "no prediction has a score: AP is undefined, everything else counts them"
                self.log.add("no-scores", "", text, severity=Severity.NOTE)
            return None
        unusable = (flaws == Flaw.NONE) & self.rules.unusable(scores)
        self._flag(flaws, unusable, Flaw.NO_SCORE, "score-missing", "without a usable score")
        return np.where(given, scores, np.nan) if given.any() else None

    def _check_shares(self, raw: Floats, boxes: Floats, flaws: Bytes) -> None:
        """Shares of the page lie on the page: a little over its edge is noted, more is refused."""
        usable = flaws != Flaw.BAD_BOX
        beyond = np.where(usable, np.maximum(-boxes.min(axis=1, initial=0.0), boxes.max(axis=1, initial=0.0) - 1), 0.0)
        for rows, severity in (
            (np.flatnonzero(beyond > OUTSIDE), Severity.ERROR),
            (np.flatnonzero((beyond > 1e-9) & (beyond <= OUTSIDE)), Severity.NOTE),
        ):
            if len(rows):
                text = f"the box {_shown(raw[rows[0]])} reaches beyond the page"
                help = "" if severity is Severity.NOTE else "coordinates are shares of the page: check --units and --boxes"
                self.log.add("box-range", self.pointers[rows[0]], text, help=help, severity=severity, count=len(rows))
                for hint in box_hints(boxes[rows].tolist()) if severity is Severity.ERROR else ():
                    self.log.hint(hint)


def _shown(box: Any) -> str:
    return "[" + ", ".join(f"{value:.6g}" for value in box) + "]"


UNUSABLE = (Flaw.UNKNOWN_LABEL, Flaw.BAD_BOX)
"""Objects with these flaws cannot be written: they have no label or no box."""


@dataclass(frozen=True, slots=True)
class Traced:
    """One object with everything that a corpus knows of it."""

    document: UnitId
    index: int
    page: int
    """The row of its page."""
    label: str
    box: list[float]
    score: float | None = None
    id: str | None = None
    crowd: bool = False
    ignored: bool = False
    area: float | None = None
    size: tuple[float, float] | None = None
    outline: Sequence[float] = ()
    """The points x, y, x, y, ... of an object that is no upright box."""
    mask: bytes = b""
    """Its mask as COCO has it, as JSON."""


def traced(corpus: BoxCorpus) -> Iterator[Traced]:
    """Every object that has a label and a box, in file order."""
    flaws = np.zeros(len(corpus), dtype=np.uint8) if corpus.flaws is None else corpus.flaws
    ids = corpus.ids.tolist() if corpus.ids is not None else None
    for row in np.flatnonzero(~np.isin(flaws, UNUSABLE) & (corpus.label >= 0)).tolist():
        page = int(corpus.page[row])
        yield Traced(
            document=corpus.documents[corpus.page_document[page]],
            index=int(corpus.page_index[page]),
            page=page,
            label=corpus.labels[corpus.label[row]],
            box=corpus.boxes[row].tolist(),
            score=_finite(corpus.scores, row),
            id=None if ids is None or ids[row] == "" else str(ids[row]),
            crowd=corpus.crowd is not None and bool(corpus.crowd[row]),
            ignored=corpus.ignore is not None and bool(corpus.ignore[row]),
            area=_finite(corpus.given_areas, row),
            size=size_of(corpus, page),
            outline=() if corpus.outlines is None else corpus.outlines.ring(row),
            mask=b"" if corpus.masks is None else corpus.masks.text_of(row),
        )


def _finite(column: np.ndarray | None, row: int) -> float | None:
    value = math.nan if column is None else float(column[row])
    return value if math.isfinite(value) else None


def size_of(corpus: BoxCorpus, page: int) -> tuple[float, float] | None:
    """Width and height of a page, if both are known."""
    if corpus.page_sizes is None:
        return None
    width, height = corpus.page_sizes[page].tolist()
    return (width, height) if width > 0 and height > 0 else None


def name_of(corpus: BoxCorpus, page: int) -> str:
    """The name that the file gave to a page, or an empty string."""
    return corpus.page_names[page] if isinstance(corpus.page_names, Strings) else ""


def by_page(corpus: BoxCorpus) -> Iterator[tuple[int, list[Traced]]]:
    """Every page, in file order, with its objects; pages without any too."""
    objects = {page: list(items) for page, items in groupby(sorted(traced(corpus), key=_page), key=_page)}
    return ((page, objects.get(page, [])) for page in range(len(corpus.page_index)))


def _page(item: Traced) -> int:
    return item.page


def short(value: float) -> float | int:
    """A number as a person would write it: whole numbers without a point.

    >>> short(12.0), short(12.5)
    (12, 12.5)
    """
    return int(value) if value.is_integer() else value
