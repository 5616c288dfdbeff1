"""Named tuples that kernels take, and the codes that they return.

The native kernels read a tuple by position; a test compares the fields with those of the structs in ``native/``.
"""

from __future__ import annotations

from enum import IntEnum, unique
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from calque.base.columns import Bytes, Codes, Floats, Ints
    from calque.geometry.forms import BoxForm


@unique
class Kind(IntEnum):
    """Error types of predictions and ground-truth objects."""

    NONE = 0
    """It does not count."""
    TP = 1
    CLS = 2
    """The right place under another label."""
    MERGE = 3
    """A prediction that holds several truths."""
    MERGED = 4
    """A truth inside a prediction that holds several."""
    SPLIT = 5
    """A truth found in pieces, and the pieces."""
    DUP = 6
    """A second prediction of a truth that is found, as the next three."""
    DUP_CLS = 7
    FRAGMENT = 8
    ENVELOPE = 9
    LOC = 10
    """The right label in a poor place."""
    BOTH = 11
    """Another label and a poor place."""
    BKG = 12
    """A prediction where nothing is."""
    MISS = 13
    """A truth where nothing was predicted."""
    PARTIAL = 14
    """A truth that predictions touch, and none of them explains."""


@unique
class Subtype(IntEnum):
    """Details of some error types."""

    NONE = 0
    TIGHT = 1
    """Of LOC, as the next two: cuts parts off."""
    LOOSE = 2
    SHIFT = 3
    SWALLOWS = 4
    """Of TP and CLS: it covers a further truth that nothing else finds."""
    EMPTY_PAGE = 5
    """Of BKG: the page has no truth at all."""


@unique
class MaskFault(IntEnum):
    """The faults of masks."""

    NONE = 0
    COUNTS = 1
    """A character outside 48 to 111, or a number that is cut short."""
    RUNS = 2
    """A run below 0, or more runs than the page has pixels."""
    RING = 3
    """A vertex that is not finite, or beyond 4e8; or no ring of three vertices; or one that crosses 2**25 columns."""
    SIZE = 4
    """A size that is not the page's."""
    PAGE = 5
    """Nothing wrong with the mask: its page has no size, or too many pixels, to draw it on."""


MaskFacts: TypeAlias = "tuple[Bytes, Floats, Codes, Codes, Bytes]"
"""Of each row's mask: its fault, its pixels, the box around them (x, y, width, height), the height and width of its page (-1
where nobody says), and whether a ring had a number too many."""

Masks: TypeAlias = "npt.NDArray[np.uint16]"
"""Bit ``t`` is about the threshold ``t``."""

TOO_TANGLED = "outlines cross each other too often to be measured"
"""The error for rings that cross so often that the work would grow with the third power of their length."""

TAKES_PART, ABSORBS, LEFT_OUT = 0, 1, 2
"""What an object does in a pairing: be paired; be no target yet excuse what lies on it (truths only); nothing."""


class SharedAreas(NamedTuple):
    """What found rows share with truths of their page: ``offsets[f]:offsets[f + 1]`` are the pairs of the found row ``f``."""

    offsets: Ints
    truths: Codes
    """Rows of the truth, rising for each found row."""
    areas: Floats


class RowRings(NamedTuple):
    """The outlines of rows: ``offsets[r]:offsets[r + 1]`` are the vertices of row ``r``; a row without any is its box.

    A ring has three or more vertices, none equal to the next, and does not repeat the first; inside is by the even-odd rule.
    """

    points: Floats
    offsets: Ints


class RowMasks(NamedTuple):
    """Where the masks of rows stand as JSON: in a file, or in a text that ends with a NUL."""

    path: str
    """The file, or nothing."""
    text: Bytes
    starts: Ints
    ends: Ints
    """A row whose text is empty is drawn: its ring, or its box."""
    sizes: Ints
    """Height and width of each row's page, two numbers a row; -1 where they are not known."""


class PageBoxes(NamedTuple):
    """The boxes of one side, page after page: ``offsets[p]:offsets[p + 1]`` are the rows of page ``p``."""

    boxes: Floats
    """Four numbers a row."""
    form: BoxForm
    labels: Codes
    offsets: Ints
    roles: Bytes
    areas: Floats | None = None
    """The area of each row, where rows are more than boxes."""
    shared: SharedAreas | None = None
    """Of found rows, where rows are more than boxes: what pairs share. Without it two boxes share what boxes do."""
    rings: RowRings | None = None
    masks: RowMasks | None = None


class CocoTruths(NamedTuple):
    """What COCO's matching has to know of truths besides."""

    areas: Floats
    """The size that decides about area ranges; it need not be that of the box."""
    crowd: Bytes
    found_areas: Floats | None = None
    """The same of the found rows, where it is not the area of what is compared."""


class CocoSettings(NamedTuple):
    """At which IoU thresholds, in which area ranges (two ends a row, both inside) and up to which rank COCO matches."""

    thresholds: Floats
    area_ranges: Floats
    max_detections: int


class PairOverlaps(NamedTuple):
    """How much found and truth rows overlap, and the size of the found, where boxes do not say it."""

    offsets: Ints
    """The pairs of found row ``f`` are ``offsets[f]:offsets[f + 1]``."""
    truth: Codes
    """Rows of the same page and label, each once; pairs that are not listed reach no threshold."""
    overlap: Floats
    found_areas: Floats
    """One for each found row."""


class ScoreOrder(NamedTuple):
    """Rows by class and score: class ``k`` has ``order[class_offsets[k]:class_offsets[k + 1]]``."""

    order: Codes
    class_offsets: Ints


class Verdicts(NamedTuple):
    """What COCO's matching says of each found row, in one area range."""

    rank: Codes
    matched: Masks
    ignored: Masks


class KindLimits(NamedTuple):
    """Where one kind of error ends and the next begins: two IoUs and two shares, all inclusive."""

    match: float
    background: float
    part: float
    most: float


class TextPoints(NamedTuple):
    """Texts one after the other, as whole numbers from 0: characters, or whatever else a text is made of."""

    points: Codes
    offsets: Ints


class ItemLeaf(NamedTuple):
    """One field of list items: for each item the number of its value, below 0 where it has none.

    How alike two values are is the product of whatever is given: whether their keys are equal, how near their texts are (1 less
    the edit distance as a share of the longer one), and the score of the pair.
    """

    truth: Codes
    found: Codes
    weight: float
    truth_keys: Floats | None = None
    """By the number of a value; for both sides or for none."""
    found_keys: Floats | None = None
    texts: TextPoints | None = None
    """By the number of a value, those of the truth first."""
    truth_texts: int = 0
    """How many texts are the truth's."""
    scores: Floats | None = None
    """One for each pair of items, list after list, by the truth."""


class ItemRows(NamedTuple):
    """Lists of items on two sides: where the items of each list begin, and how many there are."""

    truth: Ints
    heights: Ints
    found: Ints
    widths: Ints


class RowTables(NamedTuple):
    """Tables as rows of cells: table ``t`` has rows ``tables[t]:tables[t + 1]``, row ``r`` cells ``rows[r]:rows[r + 1]``."""

    tables: Ints
    rows: Ints
    spans: Ints
    """For each cell one number for both of its spans."""
    texts: Codes
    """For each cell the number of its text."""


class Trees(NamedTuple):
    """Trees one after the other, in each of them children before their parents."""

    offsets: Ints
    labels: Codes
    texts: Codes
    """The number of a node's text; -1 for a node that has none."""
    firsts: Codes
    """The first node of all that a node holds, counted from the beginning of the tree; a leaf is its own."""


class Grids(NamedTuple):
    """Grids one after the other, row by row; each slot holds the number of an item."""

    slots: Codes
    offsets: Ints
    rows: Ints
    columns: Ints
