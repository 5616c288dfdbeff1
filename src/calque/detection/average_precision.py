"""COCO's AP and AR: precision over recall at ten IoU thresholds, for objects of every size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Flags, Floats, Ints, where_else
from calque.base.wording import counted
from calque.corpus.boxes import Extent
from calque.engines import run_parallel
from calque.evaluation.ledger import UNIT, Ledger, Piece
from calque.evaluation.measures import Measure, Undefined, counts
from calque.evaluation.storage.ranking import RankRange, Rows
from calque.geometry.forms import COCO_THRESHOLDS, RECALL_POINTS
from calque.kernels import kernels
from calque.kernels.structs import Verdicts

if TYPE_CHECKING:
    from calque.detection.task import Detection

LARGEST = 1e5**2
AREA_RANGES = {"": (0.0, LARGEST), "s": (0.0, 32.0**2), "m": (32.0**2, 96.0**2), "l": (96.0**2, LARGEST)}
"""The suffix of a number (``APs``) and the areas in pixels that it is about, as pycocotools has them."""

NO_SIZES = "sizes are in pixels, and these boxes are shares of the page"
NO_TRUTHS = "no truths"
NO_SCORES = "no prediction has a score"
SOURCE = "the COCO detection challenge, as pycocotools 2.0.11 computes it"

_SIZES = {"s": ("small", "less than 32²"), "m": ("medium", "32² to 96²"), "l": ("large", "more than 96²")}


def _average(name: str, definition: str, formula: str, title: str = "") -> Measure:
    return Measure(name, title or name, definition, formula, SOURCE, "no truths, or predictions without scores")


def average_recall(count: int) -> Measure:
    """Return the metric of the best predictions of each page and class; ``--max-detections`` sets how many."""
    return _average(
        f"AR{count}",
        f"Average recall with the {count} best predictions of each page and class.",
        "mean over thresholds and classes of the largest recall",
    )


MEASURES = (
    _average(
        "AP",
        "Average precision: the precision at 101 recall points, averaged over ten IoU thresholds and all classes.",
        "mean over thresholds, recall points and classes of the envelope of TP / (TP + FP)",
    ),
    _average("AP50", "Average precision at IoU 0.5.", "as AP, at one threshold"),
    _average("AP75", "Average precision at IoU 0.75.", "as AP, at one threshold"),
    *(
        _average(f"AP{key}", f"Average precision for truths of {size} pixels.", "as AP, others are ignored", f"AP {title}")
        for key, (title, size) in _SIZES.items()
    ),
    *map(average_recall, (1, 10, 100)),
    *(
        _average(f"AR{key}", f"Average recall for truths of {size} pixels.", "as AR100, others are ignored", f"AR {title}")
        for key, (title, size) in _SIZES.items()
    ),
)
NAMES = tuple(measure.name for measure in MEASURES)


def area_ranges(extent: Extent, min_area: float) -> Floats:
    """The ranges to match for: all sizes, and COCO's three where areas are in pixels."""
    shown = list(AREA_RANGES.values()) if extent is Extent.PIXELS else [AREA_RANGES[""]]
    return np.array([(max(low, min_area), high) for low, high in shown])


class Facts:
    """What has to be known of predictions and truths before they are ranked."""

    def __init__(self, piece: Piece) -> None:
        found, truth = piece.ledger.table("found"), piece.ledger.table("truth")
        missing = np.isnan(found.array("score"))
        self.rows = len(missing)
        self.unscored = int(np.count_nonzero(missing))
        self.unranked = int(np.count_nonzero(missing & (found.array("rank") >= 0))) if self.unscored else 0
        out = truth.array("out_of_range")
        to_find = [np.flatnonzero(out[:, area] == 0) for area in range(out.shape[1])]
        classes = len(piece.ledger.names["label"])
        self.truths = np.stack([counts(truth.array("label")[rows], classes) for rows in to_find])
        """For each area range and class the number of truths that count."""

    def join(self, other: Facts) -> Facts:
        """Of both together; a part without boxes does not tell how many ranges there are."""
        self.rows += other.rows
        self.unscored += other.unscored
        self.unranked += other.unranked
        longer, shorter = (self.truths, other.truths) if len(self.truths) >= len(other.truths) else (other.truths, self.truths)
        self.truths = longer + shorter if len(longer) == len(shorter) else longer
        return self

    def why_not(self) -> str:
        """Why nothing can be ranked; nothing where it can."""
        if self.rows and self.unscored == self.rows:
            return NO_SCORES
        return without_score(self.unranked) if self.unranked else ""


def without_score(count: int) -> str:
    """Why predictions cannot be ranked."""
    return f"{counted(count, 'prediction')} {'has' if count == 1 else 'have'} no score"


def ranked_rows(images: ImagePlaces, piece: Piece) -> Rows:
    """The predictions of a piece that AP sees, with what matching says of them."""
    found = piece.ledger.table("found")
    labels = where_else(found.array("rank") >= 0, found.array("label"), -1)
    columns = [labels, *(found.array(name) for name in ("score", "rank", "matched", "ignored"))]
    by_image = image_order(piece.ledger)
    labels, scores, *rest = columns if by_image is None else [column[by_image] for column in columns]
    return Rows(labels, scores, tuple(rest), partial(images.ties, piece, by_image))


@dataclass(frozen=True, eq=False)
class Curves:
    """What is drawn of predictions by rank; -1 for classes without truths."""

    precision: Sequence[Floats]
    """For each area range the precision by threshold, recall point and class."""
    recall: Sequence[Floats]
    """For each area range the recall by threshold and class."""
    hits_within: Sequence[Floats]
    """How many truths of all sizes are found within each of the lower limits of predictions, by threshold and class."""

    def join(self, other: Curves) -> Curves:
        """The envelope of both; recall only rises from rank to rank, and hits add up."""
        precision, recall = (
            [np.maximum(one, two) for one, two in zip(ours, theirs, strict=True)]
            for ours, theirs in ((self.precision, other.precision), (self.recall, other.recall))
        )
        hits = [one + two for one, two in zip(self.hits_within, other.hits_within, strict=True)]
        return Curves(precision, recall, hits)


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Computes the curves of ranges of a ranking."""

    truths: Ints
    limits: Sequence[int]
    """How many predictions of a page and class are seen: the last limit is that of curves, the others are for recall alone."""
    jobs: int = 1

    def _wanted(self, area: int) -> Ints:
        return np.tile(self.truths[area], (len(COCO_THRESHOLDS), 1))

    def count(self, ranked: RankRange) -> Ints:
        """True and false positives for each area range."""
        return np.stack([_hits(ranked, area, self.limits[-1]) for area in range(len(self.truths))])

    def __call__(self, ranked: RankRange, before: Ints | None) -> Curves:
        """The curves of a range."""
        if before is None:
            return self._whole(ranked)
        works = (partial(self._part, ranked, area, before[area]) for area in range(len(self.truths)))
        drawn = run_parallel(self.jobs, *works)
        within = [_hits(ranked, 0, limit)[0].astype(np.float64) for limit in self.limits[:-1]]
        return Curves([precision for precision, _ in drawn], [recall for _, recall in drawn], within)

    def _part(self, ranked: RankRange, area: int, before: Ints | None, jobs: int = 1) -> tuple[Floats, Floats]:
        precision, recall, _ = kernels().coco_accumulate(
            ranked.order,
            ranked.scores,
            _verdicts(ranked, area),
            self._wanted(area),
            np.array(RECALL_POINTS),
            self.limits[-1],
            jobs,
            before,
        )
        return precision, recall

    def _whole(self, ranked: RankRange) -> Curves:
        """All predictions at once: the kernel's threads share the classes."""
        drawn = [self._part(ranked, area, None, self.jobs) for area in range(len(self.truths))]
        wanted, verdicts = self._wanted(0), _verdicts(ranked, 0)
        nowhere = np.zeros(0)  # without recall points only the recall is computed
        within = [
            kernels().coco_accumulate(ranked.order, ranked.scores, verdicts, wanted, nowhere, limit, self.jobs)[1]
            for limit in self.limits[:-1]
        ]
        hits = [np.where(wanted > 0, np.rint(recall * wanted), 0.0) for recall in within]
        return Curves([precision for precision, _ in drawn], [recall for _, recall in drawn], hits)

    def within(self, hits: Floats) -> Floats:
        """The recall that so many hits are."""
        wanted = self._wanted(0)
        return np.where(wanted > 0, hits / np.maximum(wanted, 1), -1.0)


def precision_of(ledger: Ledger, most: int, jobs: int = 1) -> Floats:
    """The precision for objects of every size, by threshold, recall point and class; -1 for classes without truths."""
    drawing = Drawing(ledger.fold(Facts).truths[:1], (most,), jobs)
    ranked = ledger.ranked(partial(ranked_rows, ImagePlaces(ledger)), len(ledger.names["label"]), jobs)
    return ranked.fold(drawing.count, drawing).precision[0]


def _verdicts(ranked: RankRange, area: int) -> Verdicts:
    rank, matched, ignored = ranked.columns
    return Verdicts(rank, matched[:, area], ignored[:, area])


def _hits(ranked: RankRange, area: int, limit: int) -> Ints:
    """How many rows of a range are true positives, and how many are false ones, by threshold and class."""
    rank, matched, ignored = _verdicts(ranked, area)
    classes = len(ranked.order.class_offsets) - 1
    bits = len(COCO_THRESHOLDS)
    every = (1 << bits) - 1
    sees: Flags = (rank >= 0) & (rank < limit)
    place = ranked.classes().astype(np.int64) << bits
    sums = []
    for mask in (matched & ~ignored, ~matched & ~ignored):
        of_mask = counts((place + (mask & every))[sees], classes << bits).reshape(classes, -1)
        sums.append(np.stack([of_mask[:, (np.arange(1 << bits) >> bit) & 1 == 1].sum(axis=1) for bit in range(bits)]))
    return np.stack(sums)


class Images:
    """The images of some documents, where those are grouped into documents."""

    def __init__(self, piece: Piece) -> None:
        pages = piece.ledger.table("pages")
        self.names = set(pages["image"]) if "image" in pages else set()

    def join(self, other: Images) -> Images:
        """Those of both."""
        self.names |= other.names
        return self


class ImagePlaces:
    """By what ties in score go: documents, or images where those are grouped into documents."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger: Ledger | None = ledger
        self._known: dict[str, int] | None = None
        if ledger.elsewhere:
            self._places()

    def __getstate__(self) -> dict[str, Any]:
        """What other processes need to know."""
        return {"_ledger": None, "_known": self._places()}

    def _places(self) -> dict[str, int]:
        if self._known is None:
            images = sorted(self._ledger.fold(Images).names) if self._ledger is not None else []
            self._known = {image: place for place, image in enumerate(images)}
        return self._known

    def ties(self, piece: Piece, rows: Ints | None) -> Ints:
        """For each prediction of a piece, in the order of these rows, the place of its document, or of its image."""
        found, pages = piece.ledger.table("found"), piece.ledger.table("pages")
        if "image" not in pages:
            return np.asarray(piece.places[found.array(UNIT)], dtype=np.int64)
        known = self._places()
        places = np.array([known[image] for image in pages["image"]], dtype=np.int64)
        page = piece.ledger.absolute("pages", found.array(UNIT), found.array("page"))
        return places[page] if rows is None else places[page[rows]]


def image_order(ledger: Ledger) -> Ints | None:
    """The predictions by image id, when images are grouped into documents: ties in score go by image, not by document."""
    pages, found = ledger.table("pages"), ledger.table("found")
    if "image" not in pages:
        return None
    images = list(pages["image"])
    place = np.empty(len(images), dtype=np.int64)
    place[sorted(range(len(images)), key=images.__getitem__)] = np.arange(len(images))
    page = ledger.absolute("pages", found.array(UNIT), found.array("page"))
    return np.argsort(place[page], kind="stable")


def measure(task: Detection, ledger: Ledger, jobs: int = 1) -> dict[str, Any]:
    """The twelve numbers, AP of each class, and the precision-recall curves."""
    labels = ledger.names["label"]
    facts = ledger.fold(Facts)
    if facts.why_not():
        return _nothing(labels, task, facts.why_not())
    drawing = Drawing(facts.truths, (*map(int, task.max_detections[:-1]), task.most_detections()), jobs)
    curves = ledger.ranked(partial(ranked_rows, ImagePlaces(ledger)), len(labels), jobs).fold(drawing.count, drawing)
    precision = curves.precision[0]
    numbers: dict[str, Any] = {
        "AP": _mean(precision),
        "AP50": _mean(precision[0]),
        "AP75": _mean(precision[5]),
    }
    by_size = list(_SIZES)
    sized = len(curves.precision) > 1
    for area, name in enumerate(by_size, start=1):
        numbers[f"AP{name}"] = _mean(curves.precision[area]) if sized else Undefined(NO_SIZES)
    for limit, hits in zip(task.max_detections[:-1], curves.hits_within, strict=True):
        numbers[f"AR{limit}"] = _mean(drawing.within(hits))
    numbers[f"AR{task.max_detections[-1]}"] = _mean(curves.recall[0])
    for area, name in enumerate(by_size, start=1):
        numbers[f"AR{name}"] = _mean(curves.recall[area]) if sized else Undefined(NO_SIZES)
    numbers["per_class"] = {
        label: {"AP": _mean(precision[:, :, k]), "AP50": _mean(precision[0, :, k]), "AP75": _mean(precision[5, :, k])}
        for k, label in enumerate(labels)
        if _asked_for(task, label)
    }
    numbers["curves"] = _curves(labels, precision)
    return numbers


def _asked_for(task: Detection, label: str) -> bool:
    return not task.labels or label in task.labels


def _mean(values: Floats) -> float | Undefined:
    defined = values[values > -1]
    return float(np.mean(defined)) if defined.size else Undefined(NO_TRUTHS)


def _nothing(labels: Sequence[str], task: Detection, reason: str) -> dict[str, Any]:
    names = [*NAMES[:6], *(f"AR{limit}" for limit in task.max_detections), *NAMES[-3:]]
    per_class = {label: dict.fromkeys(("AP", "AP50", "AP75"), Undefined(reason)) for label in labels if _asked_for(task, label)}
    return {**dict.fromkeys(names, Undefined(reason)), "per_class": per_class, "curves": {}}


def _curves(labels: Sequence[str], precision: Floats) -> dict[str, Any]:
    """Precision at the 101 recall points for each class that has truths, at IoU 0.5, at 0.75 and as the mean of all ten."""
    shown = {"0.5": precision[0], "0.75": precision[5], "mean": precision.mean(axis=0)}
    present = [(k, label) for k, label in enumerate(labels) if precision.shape[2] and precision[0, 0, k] > -1]
    return {
        "recall": list(RECALL_POINTS),
        "precision": {text: {label: values[:, k].tolist() for k, label in present} for text, values in shown.items()},
    }
