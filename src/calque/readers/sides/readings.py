"""Wrong conventions, found by trying others: a note when another reading of one side would pair many more boxes.

Nothing is read anew, and no number changes. "All scores zero" is never the only message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calque.base.columns import Floats, Ints
from calque.base.errors import Issue, Severity
from calque.corpus.boxes import BoxCorpus, UnitId
from calque.geometry.forms import BoxForm
from calque.readers.boxes import page_names
from calque.readers.sides import sheets
from calque.readers.sides.sheets import Laid, Transform
from calque.readers.sides.slips import OPEN_FORMATS
from calque.readers.sources.json_tree import whole

FileNames = Callable[[], Sequence[UnitId] | None]
"""The name of the file of each of the truth's pages, when somebody asks."""

FEWEST = 5
"""Fewer truths than this say nothing about a whole file."""
HARDLY = 0.1
"""Up to this share of the truths, hardly any pairs; then a reading that pairs more than half is the one that was meant."""
MOST = 0.5
ABOUT = 0.95
"""Of readings that pair about as many, one that an option does is told, and predictions come before the truth."""
MORE, TIMES = 20, 1.3
"""How many more pairs, and how many times as many, make a reading better: than those as read, and than those by chance."""


_SHIFTS = ((1, "one too high"), (-1, "one too low"))


def _sizes(boxes: Floats) -> Floats:
    return np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)


def _centres(boxes: Floats) -> Floats:
    return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], axis=1)


def _from_sizes(numbers: Floats) -> Floats:
    return np.concatenate([numbers[:, :2], numbers[:, :2] + numbers[:, 2:]], axis=1)


def _from_centres(numbers: Floats) -> Floats:
    half = numbers[:, 2:] / 2
    return np.concatenate([numbers[:, :2] - half, numbers[:, :2] + half], axis=1)


def _flipped(boxes: Floats, sizes: Floats) -> Floats:
    height = sizes[:, 1]
    return np.stack([boxes[:, 0], height - boxes[:, 3], boxes[:, 2], height - boxes[:, 1]], axis=1)


def _stretched(whole: float) -> Transform:
    return lambda boxes, sizes: boxes / whole * np.concatenate([sizes, sizes], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Boxes:
    """Another way to read the numbers of all boxes of a side."""

    code: str
    transform: Transform
    words: str
    option: str = ""
    mutual: bool = False
    """Whether it is the same for a box of one side to be so and for one of the other: then only predictions are tried."""
    form: BoxForm | None = None
    """The form that a side must have been read in, where that matters."""
    open: bool = False
    """Whether only formats that leave the form open can have been read so."""

    def fits(self, side: BoxCorpus) -> bool:
        """Whether a side may have been read otherwise than so."""
        return self.form in (None, BoxForm(side.form)) and (not self.open or side.format in OPEN_FORMATS)


_SIZES, _CENTRES = "[x, y, width, height]", "[centre x, centre y, width, height]"
_BOXES = (
    _Boxes("axes-swapped", lambda b, _: b[:, [1, 0, 3, 2]], "had x and y swapped ([y1, x1, y2, x2])", mutual=True),
    _Boxes(
        "sizes-for-corners",
        lambda b, _: _from_sizes(b),
        f"were {_SIZES} and not corners",
        "--boxes xywh",
        form=BoxForm.XYXY,
    ),
    _Boxes("corners-for-sizes", lambda b, _: _sizes(b), f"were corners and not {_SIZES}", "--boxes xyxy", form=BoxForm.XYWH),
    _Boxes(
        "centres-for-corners",
        lambda b, _: _from_centres(b),
        f"were {_CENTRES} and not corners",
        "--boxes cxcywh",
        form=BoxForm.XYXY,
    ),
    _Boxes(
        "centres-for-sizes",
        lambda b, _: _from_centres(_sizes(b)),
        f"were {_CENTRES} and not {_SIZES}",
        "--boxes cxcywh",
        form=BoxForm.XYWH,
    ),
    _Boxes(
        "sizes-for-centres",
        lambda b, _: _from_sizes(_centres(b)),
        f"were {_SIZES} and not {_CENTRES}",
        "--boxes xywh",
        open=True,
    ),
    _Boxes("corners-for-centres", lambda b, _: _centres(b), f"were corners and not {_CENTRES}", "--boxes xyxy", open=True),
    _Boxes("origin-bottom", _flipped, "had their origin at the bottom", "--origin bottom_left", mutual=True),
    _Boxes("shares-for-pixels", _stretched(1.0), "were shares of the page and not pixels", "--units normalized"),
    _Boxes("percent-for-pixels", _stretched(100.0), "were percent of the page and not pixels", "--units percent"),
    _Boxes("thousandths-for-pixels", _stretched(1000.0), "were thousandths of the page and not pixels", "--units thousand"),
)


CODES = frozenset(reading.code for reading in _BOXES) | {
    "scales-differ",
    "page-numbers-shifted",
    "image-ids-shifted",
    "class-ids-shifted",
    "ids-as-text",
    "paired-by-line",
    "file-names-for-ids",
    "names-as-files",
}
"""The code of every note that another reading makes."""


@dataclass(frozen=True, slots=True)
class _Better:
    """A reading that would pair more boxes."""

    code: str
    pairs: int
    words: str
    help: str
    file: str

    @property
    def by_option(self) -> bool:
        """Whether an option reads it so."""
        return self.help.startswith("pass ")


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """Both sides on the sheets that are looked at, as they were read, and how many of their boxes pair."""

    truth: BoxCorpus
    found: BoxCorpus
    pages: Ints
    """The truth's page on each sheet."""
    places: Ints
    """The predictions' page on each sheet, or -1."""
    truths: Laid
    boxes: Laid
    met: sheets.Meetings
    pairs: int

    @classmethod
    def of(cls, truth: BoxCorpus, found: BoxCorpus) -> _Sample:
        pages = sheets.sample(truth)
        places = sheets.same_places(truth, pages, found)
        sizes = sheets.sizes_of(truth, found, pages, places)
        truths, boxes = sheets.laid(truth, pages, sizes), sheets.laid(found, places, sizes)
        kept = sheets.thinned(truths, boxes, len(pages))
        if not kept.all():
            pages, places, truths, boxes = pages[kept], places[kept], truths.on(kept), boxes.on(kept)
        met = sheets.meetings(truths, boxes)
        return cls(truth, found, pages, places, truths, boxes, met, met.pairs())

    @property
    def lonely(self) -> bool:
        """Whether most pages of the truth have no prediction at all."""
        return int(np.count_nonzero(np.bincount(self.boxes.sheet))) < MOST * len(self.pages)

    def on(self, places: Ints) -> Laid:
        """The predictions of other pages on the same sheets."""
        return sheets.laid(self.found, places, sheets.sizes_of(self.truth, self.found, self.pages, places))

    def promising(self, pairs: int, as_read: int) -> bool:
        """Whether so many pairs could be a better reading than so many as read, chance aside."""
        return self.clear(pairs, as_read) or (pairs >= as_read + MORE and pairs >= TIMES * as_read)

    def clear(self, pairs: int, as_read: int) -> bool:
        """Whether hardly anything pairs as read, and most would: that is no chance, however few pages there are."""
        return as_read <= HARDLY * len(self.truths) and pairs > MOST * len(self.truths)

    def better(self, truths: Laid, boxes: Laid) -> int:
        """How many boxes pair in another reading when it is a better one, else 0."""
        pairs = sheets.meetings(truths, boxes).pairs()
        if not self.promising(pairs, self.pairs):
            return 0
        if self.clear(pairs, self.pairs):
            return pairs
        # Boxes that lie alike on all pages pair on a wrong one too: that says nothing of how they were meant.
        chance = sheets.meetings(truths, boxes.turned(len(self.pages))).pairs()
        return pairs if pairs >= chance + MORE and pairs >= TIMES * chance else 0


def pair_slips(
    truth: BoxCorpus, found: BoxCorpus, *, categories: Ints | None = None, file_names: FileNames | None = None
) -> tuple[Issue, ...]:
    """A note when another reading of one side would pair well more boxes than the files do as they are read.

    ``categories`` are the class ids of the predictions, where the file has such and the truth may not know them all;
    ``file_names`` gives the names of the truth's images, where they are not read with it.
    """
    if truth.extent is not found.extent or len(truth) < FEWEST or not len(found):
        return ()
    looked_at = _Sample.of(truth, found)
    if len(looked_at.truths) < FEWEST:
        return ()
    tried: list[_Better] = []
    if looked_at.promising(len(looked_at.truths), looked_at.pairs):
        tried = [*_box_readings(looked_at), *_page_readings(looked_at, file_names)] or [*_scales(looked_at)]
    as_read = looked_at.pairs
    if not tried:
        as_read, tried = _label_readings(looked_at, categories)
    if not tried:
        return ()
    most = max(reading.pairs for reading in tried)
    best = min((reading for reading in tried if reading.pairs >= ABOUT * most), key=lambda reading: not reading.by_option)
    count, sampled = len(looked_at.truths), len(looked_at.pages) < len(np.unique(truth.page))
    where = f", on {len(looked_at.pages):,} pages that were looked at" if sampled else ""
    meet = f"{f'{as_read:,}' if as_read else 'none'} of {count:,} truths meet{'s' if as_read < 2 else ''}"
    label = " of its class" if best.code == "class-ids-shifted" else ""
    text = f"{meet} a prediction{label} (IoU 0.5{where}), but {best.pairs:,} would if {best.words}"
    return (Issue(best.code, text, best.file, help=best.help, severity=Severity.NOTE),)


def _box_readings(given: _Sample) -> Iterator[_Better]:
    """The numbers of the boxes of one side, read in another way; of both, where as they are they end before they begin."""
    truth, found = given.truth, given.found
    both = {truth.format, found.format} <= OPEN_FORMATS and _reversed(given.truths) and _reversed(given.boxes)
    for reading in _BOXES:
        for change_truth, change_found in ((False, True), (True, False), *([(True, True)] if both else [])):
            sides = [side for side, change in ((truth, change_truth), (found, change_found)) if change]
            if not all(map(reading.fits, sides)) or (reading.mutual and change_truth):
                continue
            truths = given.truths.read(reading.transform) if change_truth else given.truths
            boxes = given.boxes.read(reading.transform) if change_found else given.boxes
            pairs = given.better(truths, boxes)
            if pairs:
                whose = (
                    ("the predicted boxes", "the boxes of the truth")[change_truth]
                    if len(sides) < 2
                    else "the boxes of both sides"
                )
                other = truth if change_found else found
                help = f"pass {reading.option}" if len(sides) > 1 else _remedy(reading.option, sides[0], other)
                yield _Better(reading.code, pairs, f"{whose} {reading.words}", help, sides[-1].source)


def _reversed(side: Laid) -> bool:
    """Whether most boxes end before they begin."""
    return bool(((side.boxes[:, 2:] < side.boxes[:, :2]).any(axis=1)).mean() > MOST) if len(side) else False


def _remedy(option: str, side: BoxCorpus, other: BoxCorpus) -> str:
    """The option that reads a side so. Options are for both files; where both heed it, one has to be converted first."""
    if not option or side.format not in OPEN_FORMATS:
        return "no option reads it so: correct the file, or ask its producer"
    if other.format not in OPEN_FORMATS:
        return f"pass {option}"
    return f"pass {option} if it holds for both files, else convert this one first (calque convert, with {option})"


def _scales(given: _Sample) -> Iterator[_Better]:
    """Predictions that fit at another scale, as PDF points and pixels do; tried only where hardly anything pairs."""
    if given.pairs > HARDLY * len(given.truths):
        return
    shared = np.intersect1d(given.truths.sheet, given.boxes.sheet)
    if not len(shared):
        return
    reach = [
        np.sum([side.boxes[side.sheet == sheet, 2:].max(axis=0) for sheet in shared.tolist()], axis=0)
        for side in (given.truths, given.boxes)
    ]
    if not (reach[1] > 0).all():
        return
    ratio = reach[0] / reach[1]
    pairs = given.better(given.truths, given.boxes.read(lambda boxes, _: boxes * np.concatenate([ratio, ratio])))
    if pairs:
        words = (
            f"the predicted boxes were {ratio[0]:.3g} times as wide and {ratio[1]:.3g} times as high: "
            "the pages may be of different resolution"
        )
        yield _Better(
            "scales-differ", pairs, words, "give the pages' sizes in both files, or convert one of them", given.found.source
        )


def _page_readings(given: _Sample, file_names: FileNames | None) -> Iterator[_Better]:
    """The same boxes on other pages: numbers that count from 1, ids that are off by one, text, or names of files."""
    for code, places, words, help in _other_places(given, file_names):
        if (places >= 0).any() and (places != given.places).any():
            pairs = given.better(given.truths, given.on(places))
            if pairs:
                yield _Better(code, pairs, words, help, given.found.source)


def _other_places(given: _Sample, file_names: FileNames | None) -> Iterator[tuple[str, Ints, str, str]]:
    truth, found = given.truth, given.found
    if truth.page_index.any() or found.page_index.any():
        for shift, where in _SHIFTS:
            places = sheets.same_places(truth, given.pages, found, shift)
            yield (
                "page-numbers-shifted",
                places,
                f"the predictions' page numbers were {where}",
                "count pages from 0 on both sides",
            )
    mine, theirs = _image_ids(truth, given.pages), _image_ids(found, np.arange(len(found.page_index)))
    if mine is not None and theirs is not None:
        yield from _other_ids(given, mine, theirs, file_names)
    if not given.lonely or not any(isinstance(document, str) for document in found.documents[:1]):
        return
    words = "documents were named without folder and extension"
    places = sheets.looked_up(_named(truth, given.pages), _named(found, np.arange(len(found.page_index))))
    yield "names-as-files", places, words, "pass --document-key stem"


def _other_ids(
    given: _Sample, mine: list[UnitId], theirs: list[UnitId], file_names: FileNames | None
) -> Iterator[tuple[str, Ints, str, str]]:
    """Ids of images that are off by one, text on one side, or the names of their files."""
    if isinstance(mine[0], int):
        for shift, where in _SHIFTS:
            wanted = [identity + shift if isinstance(identity, int) else identity for identity in mine]
            places = sheets.looked_up(wanted, theirs)
            yield "image-ids-shifted", places, f"the predictions' image ids were {where}", "correct the ids in the file"
    kinds = {type(identity) for identity in (mine[0], theirs[-1])}
    if not given.lonely or kinds == {int}:
        return
    help = "write the ids as numbers on both sides, or as text on both"
    yield "ids-as-text", sheets.looked_up([*map(str, mine)], [*map(str, theirs)]), "ids were compared as text", help
    names = file_names() if file_names is not None else None
    if names is not None:
        bare = [page_names.bare(str(names[page])) for page in given.pages.tolist()]
        places = sheets.looked_up(bare, [page_names.bare(str(identity)) for identity in theirs])
        words = "the predictions' image ids were the names of the images' files"
        yield "file-names-for-ids", places, words, "write each image's id and not its file_name"


def _image_ids(corpus: BoxCorpus, pages: Ints) -> list[UnitId] | None:
    """The ids of images, where each page is one."""
    if corpus.image_ids is not None:
        return [corpus.image_ids[page] for page in pages.tolist()]
    if corpus.page_index.any() or len(corpus.documents) < len(corpus.page_index):
        return None
    return [corpus.documents[code] for code in corpus.page_document[pages].tolist()]


def _named(corpus: BoxCorpus, pages: Ints) -> list[tuple[str, int]]:
    codes, index = corpus.page_document[pages].tolist(), corpus.page_index[pages].tolist()
    bare = {code: page_names.bare(str(corpus.documents[code])) for code in set(codes)}
    return [(bare[code], at) for code, at in zip(codes, index, strict=True)]


def _label_readings(given: _Sample, categories: Ints | None) -> tuple[int, list[_Better]]:
    """Class ids that are off by one: how many pair with their own class, and how many would with its neighbour."""
    mine, theirs = _class_ids(given.truth, given.truths.rows), _class_ids(given.found, given.boxes.rows)
    if categories is not None and mine is not None:
        theirs = categories[given.boxes.rows]
    if mine is None or theirs is None or not len(given.met.truth):
        return 0, []
    one, other = mine[given.met.truth], theirs[given.met.found]
    as_read = given.met.only(one == other).pairs()
    tried = []
    for shift, where in _SHIFTS:
        pairs = given.met.only(one + shift == other).pairs()
        if given.promising(pairs, as_read) and (given.clear(pairs, as_read) or pairs >= TIMES * _by_chance(one + shift, other)):
            words, help = (
                f"the predictions' class ids were {where}",
                "correct the ids in the file, or map its classes with --class-map-pred",
            )
            tried.append(_Better("class-ids-shifted", pairs, words, help, given.found.source))
    return as_read, tried


def _by_chance(one: Ints, other: Ints) -> float:
    """How many would agree if classes were dealt out anew: many do where nearly all boxes are of one class."""
    shared, mine, theirs = np.intersect1d(one, other, assume_unique=False), Counter(one.tolist()), Counter(other.tolist())
    return sum(mine[value] * theirs[value] for value in shared.tolist()) / len(one)


def _class_ids(corpus: BoxCorpus, rows: Ints) -> Ints | None:
    """The class ids of objects, where classes have whole numbers; one that no class has for objects of an unknown one."""
    ids: dict[str, int] = {}
    for key, name in (corpus.label_map or {}).items() if corpus.label_map else ((name, name) for name in corpus.labels):
        known = key if isinstance(key, int) else whole(key)
        if name in ids or known is None:
            return None
        ids[name] = known
    if not all(label in ids for label in corpus.labels) or any(abs(value) > 2**31 for value in ids.values()):
        return None
    table = np.array([*(ids[label] for label in corpus.labels), -(2**40)], dtype=np.int64)
    return np.asarray(table[corpus.label[rows]])
