"""How boxes are to be understood: the rules that readers know, and where forms, units and origins are converted."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.columns import Flags, Floats, Outlines
from calque.base.errors import ConfigError, ContractError, Issue, Severity
from calque.corpus.boxes import BoxCorpus, Extent, Flaw, Side, UnitId
from calque.geometry.boxes import from_centres, unsound
from calque.geometry.forms import AUTO, BOX_SPELLINGS, BoxForm

UNITS = {"pixels": None, "normalized": 1.0, "percent": 100.0, "thousand": 1000.0}
"""What a whole page measures in each unit; a page in pixels has a size of its own."""
ORIGINS = ("top_left", "bottom_left")
SAME_SHAPE = 0.02
"""Pages whose width-to-height ratios differ by less than this share are the same page at another resolution."""


def check(boxes: str, units: str, origin: str, page_size: Sequence[float] | None) -> None:
    """Refuse settings that name no form, unit, origin or size."""
    spellings, measures = (AUTO, *BOX_SPELLINGS), (AUTO, *UNITS)
    for name, value, known in (("boxes", boxes, spellings), ("units", units, measures), ("origin", origin, ORIGINS)):
        if value not in known:
            raise ConfigError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    if page_size is not None and not (len(page_size) == 2 and all(0 < side < math.inf for side in page_size)):
        raise ConfigError(f"page_size must be a width and a height above 0 (W,H), not {list(page_size)}")


def around(points: Sequence[float]) -> list[float]:
    """The box around a polygon given as x, y, x, y, ...

    >>> around([3.0, 1.0, 5.0, 2.0, 4.0, 9.0])
    [3.0, 1.0, 5.0, 9.0]
    """
    return [min(points[0::2]), min(points[1::2]), max(points[0::2]), max(points[1::2])]


def in_form(corners: list[float], form: str) -> list[float]:
    """A box given by its corners as four numbers of a form.

    >>> in_form([1.0, 2.0, 4.0, 6.0], "xywh"), in_form([1.0, 2.0, 4.0, 6.0], "cxcywh")
    ([1.0, 2.0, 3.0, 4.0], [2.5, 4.0, 3.0, 4.0])
    """
    left, top, right, bottom = corners
    if form == "xywh":
        return [left, top, right - left, bottom - top]
    return [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top] if form == "cxcywh" else corners


def settled(boxes: Floats, *, form: str, units: str, origin: str, heights: Floats) -> tuple[Floats, BoxForm, Extent]:
    """Boxes as a corpus holds them: corners or sizes, pixels or shares of the page, counted from the top left.

    ``heights`` has the height of each box's page, for pixels counted from the bottom.

    >>> boxes = np.array([[50.0, 25.0, 20.0, 10.0]])
    >>> settled(boxes, form="cxcywh", units="percent", origin="top_left", heights=np.ones(1))[0].tolist()
    [[0.4, 0.2, 0.2, 0.1]]
    """
    whole = UNITS[units]
    if form == "cxcywh":
        boxes = from_centres(boxes)
    kept = BoxForm.XYXY if form in ("xyxy", "polygon") else BoxForm.XYWH
    if origin == "bottom_left":
        boxes = _from_the_top(boxes, kept, heights if whole is None else np.full(len(boxes), whole))
    if whole is None:
        return boxes, kept, Extent.PIXELS
    return boxes / whole, kept, Extent.NORMALIZED


def settled_outlines(outlines: Outlines, *, units: str, origin: str, heights: Floats) -> Outlines:
    """Outlines in the units of the boxes that `settled` gives, counted from the top left."""
    whole, points = UNITS[units], outlines.points
    if origin == "bottom_left":
        height = heights[outlines.rows()] if whole is None else whole
        points = np.stack([points[:, 0], height - points[:, 1]], axis=1)
    return Outlines(points if whole is None else points / whole, outlines.offsets)


def _from_the_top(boxes: Floats, form: BoxForm, heights: Floats) -> Floats:
    x, y, right, upper = boxes.T
    if form is BoxForm.XYWH:
        return np.stack([x, heights - y - upper, right, upper], axis=1)
    # PDF boxes name the lower corner first or last; both mean the same box.
    return np.stack([x, heights - np.maximum(y, upper), right, heights - np.minimum(y, upper)], axis=1)


def in_pixels(corpus: BoxCorpus, sizes: Floats) -> BoxCorpus:
    """The corpus with its boxes multiplied by the sizes of their pages."""
    scale = np.concatenate([sizes, sizes], axis=1)[corpus.page]
    with np.errstate(over="ignore", invalid="ignore"):
        boxes = corpus.boxes * scale
    outlines = None if corpus.outlines is None else corpus.outlines.scaled(scale[:, :2])
    return dataclasses.replace(corpus, **_in_reach(corpus, boxes), extent=Extent.PIXELS, page_sizes=sizes, outlines=outlines)


def in_shares(corpus: BoxCorpus, sizes: Floats) -> BoxCorpus:
    """The corpus with its boxes divided by the sizes of their pages."""
    scale = np.concatenate([sizes, sizes], axis=1)[corpus.page]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        boxes = corpus.boxes / scale
        outlines = None if corpus.outlines is None else corpus.outlines.scaled(1 / scale[:, :2])
    return dataclasses.replace(
        corpus, **_in_reach(corpus, boxes), extent=Extent.NORMALIZED, page_sizes=sizes, outlines=outlines
    )


def _in_reach(corpus: BoxCorpus, boxes: Floats) -> dict[str, Any]:
    """The columns of a corpus whose boxes were scaled: what no page of a sound size makes so large is named and left out."""
    lost = unsound(boxes, corpus.form)
    if lost is None:
        return {"boxes": boxes}
    flaws = np.zeros(len(boxes), dtype=np.uint8) if corpus.flaws is None else corpus.flaws.copy()
    lost &= flaws != Flaw.BAD_BOX
    count = int(lost.sum())
    if not count:
        return {"boxes": boxes}
    flaws[lost] = Flaw.BAD_BOX
    text = f"{count:,} object{'s' if count > 1 else ''} whose box is beyond all numbers on a page of its size"
    issue = Issue("box-invalid", text, corpus.source, help="check the sizes of the pages", severity=Severity.LOSS)
    return {"boxes": boxes, "flaws": flaws, "issues": (*corpus.issues, issue)}


def sizes_of(corpus: BoxCorpus, page_size: Sequence[float] | None, other: BoxCorpus | None = None) -> Floats:
    """Width and height of each page: as the other side says, else as the corpus says, else as was asked for; else NaN."""
    sizes = np.full((len(corpus.page_index), 2), np.nan) if other is None else _sizes_in(other, corpus)
    if corpus.page_sizes is not None:
        sizes = np.where(_known(sizes)[:, None], sizes, corpus.page_sizes)
    if page_size is not None:
        sizes = np.where(_known(sizes)[:, None], sizes, np.array(page_size, dtype=np.float64))
    return np.where(_known(sizes)[:, None], sizes, np.nan)


def _sizes_in(other: BoxCorpus, corpus: BoxCorpus) -> Floats:
    """The sizes that one corpus gives to the pages of another; NaN where it gives none."""
    if other.page_sizes is not None and _same_pages(other, corpus):
        return other.page_sizes
    theirs = {} if other.page_sizes is None else dict(zip(_places(other), other.page_sizes.tolist(), strict=True))
    rows = [theirs.get(place, [math.nan, math.nan]) for place in _places(corpus)]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def _same_pages(one: BoxCorpus, other: BoxCorpus) -> bool:
    """Whether two corpora have the same pages in the same order, as they mostly do."""
    return (
        one.documents == other.documents
        and np.array_equal(one.page_document, other.page_document)
        and np.array_equal(one.page_index, other.page_index)
    )


def _known(sizes: Floats) -> Flags:
    return np.asarray((sizes > 0).all(axis=1))


def _places(corpus: BoxCorpus) -> list[tuple[UnitId, int]]:
    documents = [corpus.documents[code] for code in corpus.page_document.tolist()]
    return list(zip(documents, corpus.page_index.tolist(), strict=True))


def together(truth: BoxCorpus, found: BoxCorpus, page_size: Sequence[float] | None) -> tuple[BoxCorpus, BoxCorpus]:
    """Both sides on one scale: pixels where either is in pixels, on the truth's pages where both sides know their pages."""
    if truth.extent is found.extent is Extent.NORMALIZED:
        return truth, found
    if truth.extent is not found.extent:
        # Shares are of any page; pixels are of the page that their own side knows.
        return _as_pixels(truth, found, page_size), _as_pixels(found, truth, page_size)
    return truth, _on_the_pages_of(truth, found)


def _as_pixels(corpus: BoxCorpus, other: BoxCorpus, page_size: Sequence[float] | None) -> BoxCorpus:
    if corpus.extent is Extent.PIXELS:
        return corpus
    sizes = sizes_of(corpus, page_size, other)
    needed = np.unique(corpus.page)
    missing = needed[~_known(sizes)[needed]]
    if len(missing):
        document, index = _places(corpus)[missing[0]]
        raise ContractError.single(
            "units-differ",
            f"boxes are shares of the page here and pixels in {other.source or 'the other side'}, and the size of "
            f"{len(missing):,} page{'s' if len(missing) > 1 else ''} is not known (page {index} of {document!r} is one)",
            file=corpus.source,
            help="pass --page-size W,H, or give width and height in one of the files",
        )
    return in_pixels(corpus, sizes)


def _on_the_pages_of(truth: BoxCorpus, found: BoxCorpus) -> BoxCorpus:
    """Predictions on the same pages at another resolution (PDF points, say), scaled to the truth's pages, with a note."""
    if truth.page_sizes is None or found.page_sizes is None or found.page_sizes is truth.page_sizes:
        return found
    wanted = _sizes_in(truth, found)
    differ = _known(wanted) & _known(found.page_sizes) & (wanted != found.page_sizes).any(axis=1)
    if not differ.any():
        return found
    row = int(np.flatnonzero(differ)[0])
    ratio = np.ones_like(wanted)
    ratio[differ] = wanted[differ] / found.page_sizes[differ]
    same_shape = np.abs(ratio[:, 0] / ratio[:, 1] - 1) < SAME_SHAPE
    ratio[~same_shape] = 1.0
    scaled, skewed = int((differ & same_shape).sum()), int((differ & ~same_shape).sum())
    issues = [*found.issues]
    if scaled:
        text = f"{_pages(scaled)} measured {_size(found, row)} here and {_size_of(wanted[row])} in the truth; boxes were scaled"
        issues.append(Issue("pages-scaled", text, found.source, severity=Severity.NOTE))
    if skewed:
        row = int(np.flatnonzero(differ & ~same_shape)[0])
        text = (
            f"{_pages(skewed)} measured {_size(found, row)} here and {_size_of(wanted[row])} in the truth: not the same shape"
        )
        help = "check that both sides mean the same pages, unrotated"
        issues.append(Issue("page-sizes-differ", text, found.source, help=help, severity=Severity.NOTE))
    scale = np.concatenate([ratio, ratio], axis=1)[found.page]
    sizes = np.where((differ & same_shape)[:, None], wanted, found.page_sizes)
    told = dataclasses.replace(found, page_sizes=sizes, issues=tuple(issues))
    with np.errstate(over="ignore", invalid="ignore"):
        outlines = None if found.outlines is None else found.outlines.scaled(scale[:, :2])
        return dataclasses.replace(told, **_in_reach(told, found.boxes * scale), outlines=outlines)


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


def _size(corpus: BoxCorpus, row: int) -> str:
    return _size_of(corpus.page_sizes[row]) if corpus.page_sizes is not None else ""


def _size_of(size: Any) -> str:
    return f"{size[0]:g} × {size[1]:g}"


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that every reader knows."""

    side: Side | None = None
    lenient: bool = False
    strict: bool = False
    """Whether a page that cannot be read refuses its whole file (NDJSON, Parquet); else it is left out and counted."""
    allow_missing_scores: bool = False
    scored: bool = True
    """Whether scores are looked at; where they are not, one that is no number costs nothing."""
    document_key: str | None = None
    """The key of an image entry that says which document it belongs to (COCO)."""
    metadata: bool = False
    """Whether what the file says of its documents is wanted; COCO's image entries are then read whole."""
    images: bool = False
    """Whether the names of the pages' pictures are wanted; they cost a look at every entry."""
    format: str | None = None
    """The name of the format, when sniffing must not guess."""
    boxes: str = AUTO
    """What four numbers of a box mean, for formats that leave it open: xyxy, xywh, cxcywh or polygon; or as the file says."""
    listed_form: str = "xyxy"
    """What they mean in a plain list that states nothing, where nothing was asked for."""
    on: str = ""
    """What objects are taken for: boxes alone, then outlines are not kept; shapes; or masks. Nothing said keeps them all."""
    units: str = AUTO
    """What coordinates are measured in, for formats that leave it open: pixels, normalized, percent, thousand; or as said."""
    origin: str = "top_left"
    page_size: tuple[float, float] | None = None
    """Width and height of every page, where the file does not say."""

    def __post_init__(self) -> None:
        check(self.boxes, self.units, self.origin, self.page_size)

    def unusable(self, scores: Floats) -> Flags:
        """Which scores are faults: those that are there and are no number (`as_score`), and where they are needed the missing.

        >>> Rules(Side.FOUND, allow_missing_scores=True).unusable(np.array([0.5, np.nan, np.inf])).tolist()
        [False, False, True]
        """
        if not self.scored or self.side is not Side.FOUND:
            return np.zeros(len(scores), np.bool_)
        return np.isinf(scores) if self.allow_missing_scores else ~np.isfinite(scores)

    def form(self, stated: str = "") -> str:
        """What four numbers of a box mean: as was asked for, else as the file states, else corners.

        >>> Rules().form(), Rules().form("xywh"), Rules(boxes="cxcywh").form("xywh")
        ('xyxy', 'xywh', 'cxcywh')
        """
        return (stated or "xyxy") if self.boxes == AUTO else self.boxes

    def measure(self, stated: str = "") -> str:
        """What coordinates are measured in: as was asked for, else as the file states, else pixels."""
        return (stated or "pixels") if self.units == AUTO else self.units


def as_score(given: object, number: float | None) -> float:
    """A score on its way to a corpus: NaN where none is given, infinite where what is given is no finite number.

    >>> as_score(None, None), as_score("0.5", 0.5), as_score("high", None), as_score(math.nan, math.nan)
    (nan, 0.5, inf, inf)
    """
    if given is None:
        return math.nan
    return number if number is not None and math.isfinite(number) else math.inf


FORM_KEY, UNITS_KEY = "box_form", "box_units"
"""The keys under which files of formats that leave it open may state what their boxes are."""


def statement(corpus: BoxCorpus) -> dict[str, str]:
    """What a file has to state of its boxes, where they are not the usual corners in pixels.

    >>> statement(BoxCorpus.from_arrays([[0, 0, 1, 1]], ["a"], form="xywh"))
    {'box_form': 'xywh'}
    """
    form = {} if corpus.form is BoxForm.XYXY else {FORM_KEY: str(corpus.form)}
    return form if corpus.extent is Extent.PIXELS else {**form, UNITS_KEY: str(corpus.extent)}


def stated(values: Mapping[str, Any]) -> dict[str, str]:
    """What values say of boxes, as `statement` writes it; `ConfigError` when they name no form or unit."""
    said = {key: value for key in (FORM_KEY, UNITS_KEY) if (value := values.get(key)) is not None}
    for key, known in ((FORM_KEY, BOX_SPELLINGS), (UNITS_KEY, tuple(UNITS))):
        if said.get(key, known[0]) not in known:
            raise ConfigError(f"{key} must be one of {', '.join(known)}, not {said[key]!r}")
    return said
