"""COCO's AP and AR: precision over recall at ten IoU thresholds, for objects of every size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.columns import Codes, Floats, Ints, where_else
from calque.core.corpus import Extent
from calque.core.ledger import UNIT, Ledger
from calque.core.measures import Measure, Undefined, counts
from calque.core.start_up import Frozen
from calque.engines import at_once, threads_for
from calque.geometry.forms import COCO_THRESHOLDS, RECALL_POINTS
from calque.kernels import kernels
from calque.kernels.structs import Masks, ScoreOrder, Verdicts

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
    *(
        _average(
            f"AR{count}",
            f"Average recall with the {count} best predictions of each page and class.",
            "mean over thresholds and classes of the largest recall",
        )
        for count in (1, 10, 100)
    ),
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


class Ranking(Frozen, eq=False):
    """The predictions of a ledger by class and score, and how many truths there are to find."""

    rank: Codes
    scores: Floats
    matched: Masks
    ignored: Masks
    order: ScoreOrder
    truths: Ints
    """For each area range and class the number of truths that count."""

    @classmethod
    def of(cls, ledger: Ledger, jobs: int = 1) -> Ranking:
        """Sort once; every curve reads the same order."""
        found, truth = ledger.table("found"), ledger.table("truth")
        classes = len(ledger.names["label"])
        labels = where_else(found.array("rank") >= 0, found.array("label"), -1)
        columns = [labels, *(found.array(name) for name in ("score", "rank", "matched", "ignored"))]
        images = image_order(ledger)
        labels, scores, rank, matched, ignored = columns if images is None else [column[images] for column in columns]
        order, class_offsets = kernels().score_order(labels, scores, classes, jobs)
        # Curves are drawn many times: from columns that lie in order, and not all over the memory.
        rows = order.astype(np.int64)  # once for all four: NumPy would do so for each
        in_order = (partial(np.take, column, rows, axis=0) for column in (scores, rank, matched, ignored))
        scores, rank, matched, ignored = at_once(threads_for(len(rows), jobs), *in_order)
        out = truth.array("out_of_range")
        to_find = [np.flatnonzero(out[:, area] == 0) for area in range(out.shape[1])]
        truths = np.stack([counts(truth.array("label")[rows], classes) for rows in to_find])
        in_place = ScoreOrder(np.arange(len(order), dtype=np.int32), class_offsets)
        return cls(rank, scores, matched, ignored, in_place, truths)

    def curves(self, area: int, max_detections: int, jobs: int = 1) -> tuple[Floats, Floats]:
        """Precision by threshold, recall point and class; recall by threshold and class; -1 for classes without truths."""
        precision, recall, _ = kernels().coco_accumulate(
            self.order,
            self.scores,
            self._verdicts(area),
            self._truths_at_all_thresholds(area),
            np.array(RECALL_POINTS),
            max_detections,
            jobs,
        )
        return precision, recall

    def recall(self, area: int, max_detections: int, jobs: int = 1) -> Floats:
        """Recall by threshold and class."""
        truths = self._truths_at_all_thresholds(area)
        return kernels().coco_recall(self.order, self._verdicts(area), truths, max_detections, jobs)

    def _verdicts(self, area: int) -> Verdicts:
        return Verdicts(self.rank, self.matched[:, area], self.ignored[:, area])

    def _truths_at_all_thresholds(self, area: int) -> Ints:
        return np.tile(self.truths[area], (len(COCO_THRESHOLDS), 1))


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
    found = ledger.table("found")
    scores = found.array("score")
    if len(scores) and np.isnan(scores).all():
        return _nothing(labels, task, NO_SCORES)
    unranked = int(np.count_nonzero(np.isnan(scores) & (found.array("rank") >= 0)))
    if unranked:
        return _nothing(labels, task, f"{unranked:,} predictions have no score")
    ranking = Ranking.of(ledger, jobs)
    most = task.most_detections()
    precision, recall = ranking.curves(0, most, jobs)
    numbers: dict[str, Any] = {
        "AP": _mean(precision),
        "AP50": _mean(precision[0]),
        "AP75": _mean(precision[5]),
    }
    by_size = list(_SIZES)
    sized = (
        {name: ranking.curves(area, most, jobs) for area, name in enumerate(by_size, start=1)}
        if len(ranking.truths) > 1
        else {}
    )
    for name in by_size:
        numbers[f"AP{name}"] = _mean(sized[name][0]) if sized else Undefined(NO_SIZES)
    for limit in task.max_detections[:-1]:
        numbers[f"AR{limit}"] = _mean(ranking.recall(0, limit, jobs))
    numbers[f"AR{task.max_detections[-1]}"] = _mean(recall)
    for name in by_size:
        numbers[f"AR{name}"] = _mean(sized[name][1]) if sized else Undefined(NO_SIZES)
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
