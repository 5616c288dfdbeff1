"""Made-up pages of boxes, and the calls that score them."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from calque.geometry.forms import BoxForm
from calque.kernels.structs import CocoSettings, CocoTruths, PageBoxes, ScoreOrder, Verdicts

THRESHOLDS = np.linspace(0.5, 0.95, 10)
POINTS = np.linspace(0, 1, 101)
RANGES = np.array([[0, 1e10], [0, 32**2], [32**2, 96**2], [96**2, 1e10]], float)


@dataclass(frozen=True)
class Case:
    """Both sides of an evaluation, in the kernels' layout."""

    truth_boxes: np.ndarray
    truth_labels: np.ndarray
    truth_offsets: np.ndarray
    truth_areas: np.ndarray
    truth_crowd: np.ndarray
    truth_roles: np.ndarray
    found_boxes: np.ndarray
    found_labels: np.ndarray
    found_offsets: np.ndarray
    found_scores: np.ndarray
    found_roles: np.ndarray
    xywh: bool = True
    thresholds: np.ndarray = field(default_factory=lambda: THRESHOLDS)
    ranges: np.ndarray = field(default_factory=lambda: RANGES)
    max_detections: int = 100

    @property
    def form(self) -> BoxForm:
        return BoxForm.XYWH if self.xywh else BoxForm.XYXY

    @property
    def truth(self) -> PageBoxes:
        return PageBoxes(self.truth_boxes, self.form, self.truth_labels, self.truth_offsets, self.truth_roles)

    @property
    def found(self) -> PageBoxes:
        return PageBoxes(self.found_boxes, self.form, self.found_labels, self.found_offsets, self.found_roles)

    def greedy(self, kernels: SimpleNamespace, threshold: float, jobs: int = 1) -> tuple[np.ndarray, ...]:
        return kernels.match_greedy(self.truth, self.found, self.found_scores, threshold, jobs)

    def coco(self, kernels: SimpleNamespace, jobs: int = 1) -> tuple[np.ndarray, ...]:
        facts = CocoTruths(self.truth_areas, self.truth_crowd)
        settings = CocoSettings(self.thresholds, self.ranges, self.max_detections)
        return kernels.coco_match(self.truth, facts, self.found, self.found_scores, settings, jobs)

    def chain(self, kernels: SimpleNamespace, classes: int, max_dets: tuple[int, ...], jobs: int = 1) -> dict[str, np.ndarray]:
        """precision, recall and scores by threshold, (recall point,) class, area range and maxDets, as pycocotools has them."""
        case = replace(self, max_detections=max(max_dets))
        rank, matched, ignored, truth_ignored = case.coco(kernels, jobs)
        labels = np.where(self.found_roles == 0, self.found_labels, -1).astype(np.int32)
        ranking = ScoreOrder(*kernels.score_order(labels, self.found_scores, classes, jobs))
        shape = len(self.thresholds), len(POINTS), classes, len(self.ranges), len(max_dets)
        out = {"precision": np.empty(shape), "recall": np.empty(shape[:1] + shape[2:]), "scores": np.empty(shape)}
        for a in range(len(self.ranges)):
            per_class = np.bincount(self.truth_labels[truth_ignored[:, a] == 0], minlength=classes)
            truths = np.tile(per_class, (len(self.thresholds), 1))
            verdicts = Verdicts(rank, matched[:, a], ignored[:, a])
            for m, most in enumerate(max_dets):
                precision, recall, scores = kernels.coco_accumulate(
                    ranking, self.found_scores, verdicts, truths, POINTS, most, jobs
                )
                only_recall = kernels.coco_accumulate(ranking, self.found_scores, verdicts, truths, np.zeros(0), most, jobs)[1]
                assert same(recall, only_recall)
                out["precision"][..., a, m], out["recall"][..., a, m], out["scores"][..., a, m] = (
                    precision,
                    recall,
                    scores,
                )
        return out


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """Equal to the bit, in type and shape too."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def all_same(some: tuple[np.ndarray, ...], others: tuple[np.ndarray, ...]) -> bool:
    return all(same(one, other) for one, other in zip(some, others, strict=True))


# A coarse grid makes equal boxes, equal IoUs, touching edges and boxes without area frequent.
grid = st.integers(0, 6).map(float)
plain_boxes = st.tuples(grid, grid, grid, grid)
odd = st.sampled_from([float("nan"), float("inf"), -float("inf"), 1e-200, 1e308, -3.0, 1e6 + 0.1])
odd_boxes = st.tuples(*[st.one_of(grid, st.floats(0, 6), odd)] * 4)
scores = st.one_of(
    st.sampled_from([0.0, -0.0, 0.25, 0.5, 0.5, 1.0, float("nan"), float("inf"), -float("inf"), -1.0]), st.floats(0, 1)
)
any_boxes = st.one_of(plain_boxes, odd_boxes)


@st.composite
def cases(draw: Any, boxes: st.SearchStrategy = any_boxes, labels: tuple[int, ...] = (0, 1, -1, 10**9)) -> Case:
    label, flag = st.sampled_from(labels), st.sampled_from([0, 0, 0, 1])
    truth = st.tuples(boxes, label, st.one_of(grid, st.floats(0, 40)), flag, st.sampled_from([0, 0, 0, 1, 2]))
    found = st.tuples(boxes, label, scores, st.sampled_from([0, 0, 0, 0, 2]))
    pages = draw(st.lists(st.tuples(st.lists(truth, max_size=7), st.lists(found, max_size=9)), max_size=4))
    truths, founds = [row for page in pages for row in page[0]], [row for page in pages for row in page[1]]
    column = lambda rows, i, dtype: np.array([row[i] for row in rows], dtype)
    offsets = lambda side: np.cumsum([0, *(len(page[side]) for page in pages)], dtype=np.int64)
    low = st.sampled_from([-1.0, 0.0, 0.1, 0.3, 0.5, 0.5, 1.0, 1.5])
    bound = st.sampled_from([0.0, 2.0, 4.0, 9.0, 36.0, 1e10])
    return Case(
        truth_boxes=column(truths, 0, np.float64).reshape(-1, 4),
        truth_labels=column(truths, 1, np.int32),
        truth_offsets=offsets(0),
        truth_areas=column(truths, 2, np.float64),
        truth_crowd=column(truths, 3, np.uint8),
        truth_roles=column(truths, 4, np.uint8),
        found_boxes=column(founds, 0, np.float64).reshape(-1, 4),
        found_labels=column(founds, 1, np.int32),
        found_offsets=offsets(1),
        found_scores=column(founds, 2, np.float64),
        found_roles=column(founds, 3, np.uint8),
        xywh=draw(st.booleans()),
        thresholds=np.array(draw(st.one_of(st.just(list(THRESHOLDS)), st.lists(low, max_size=16))), float),
        ranges=np.array(draw(st.lists(st.tuples(bound, bound), max_size=4)), float).reshape(-1, 2),
        max_detections=draw(st.sampled_from([0, 1, 2, 3, 100])),
    )


def random_case(seed: int, pages: int, classes: int, most: int, step: float = 2.0, crowds: float = 0.1) -> Case:
    """Random boxes on a grid of ``step``, half of the found ones shaken truths, with many equal scores."""
    random = np.random.default_rng(seed)
    truths, founds = random.integers(0, most + 1, pages), random.integers(0, 2 * most + 1, pages)
    truths[random.random(pages) < 0.2] = 0
    founds[random.random(pages) < 0.2] = 0
    offsets = lambda counts: np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    n, m = truths.sum(), founds.sum()
    snap = lambda values: np.round(values / step) * step
    sizes = lambda count: np.exp(random.normal(4, 1, (count, 2)))
    truth_boxes = snap(np.hstack((random.uniform(0, 300, (n, 2)), sizes(n))))
    found_boxes = np.hstack((random.uniform(0, 300, (m, 2)), sizes(m)))
    found_labels = random.integers(0, classes, m)
    truth_labels = random.integers(0, classes, n)
    start, found_page = offsets(truths), np.repeat(np.arange(pages), founds)
    for row in np.flatnonzero((random.random(m) < 0.7) & (truths[found_page] > 0)):
        near = start[found_page[row]] + random.integers(0, truths[found_page[row]])
        found_boxes[row] = truth_boxes[near] * random.choice([1, 1.05, 0.9], 4)
        found_labels[row] = truth_labels[near]
    found_boxes = snap(found_boxes)
    area = truth_boxes[:, 2] * truth_boxes[:, 3]
    return Case(
        truth_boxes=truth_boxes,
        truth_labels=truth_labels.astype(np.int32),
        truth_offsets=offsets(truths),
        truth_areas=np.where(random.random(n) < 0.5, area, area * 0.6),
        truth_crowd=(random.random(n) < crowds).astype(np.uint8),
        truth_roles=np.zeros(n, np.uint8),
        found_boxes=found_boxes,
        found_labels=found_labels.astype(np.int32),
        found_offsets=offsets(founds),
        found_scores=random.random(m).round(2),
        found_roles=np.zeros(m, np.uint8),
    )
