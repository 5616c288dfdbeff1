"""COCO's chain of kernels: against pycocotools, reference against native, and thread counts against each other."""

import contextlib
import io
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from calque.geometry.forms import BoxForm
from calque.kernels.structs import CocoSettings, CocoTruths, PageBoxes, ScoreOrder, Verdicts
from tests.examples import examples
from tests.kernels.box_cases import POINTS, RANGES, THRESHOLDS, Case, all_same, cases, random_case, same


def rows(offsets: np.ndarray) -> list[int]:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)).tolist()


def pycocotools(case: Case, classes: int, max_dets: tuple[int, ...]) -> COCOeval:
    truth, found = COCO(), COCO()
    images, categories = [{"id": p} for p in range(len(case.truth_offsets) - 1)], [{"id": k} for k in range(classes)]
    annotations = [
        {"id": i + 1, "image_id": page, "category_id": int(case.truth_labels[i]), "bbox": case.truth_boxes[i].tolist(),
         "area": float(case.truth_areas[i]), "iscrowd": int(case.truth_crowd[i])}
        for i, page in enumerate(rows(case.truth_offsets))
    ]  # fmt: skip
    results: list[dict[str, Any]] = [
        {"id": i + 1, "image_id": page, "category_id": int(case.found_labels[i]), "bbox": case.found_boxes[i].tolist(),
         "area": float(case.found_boxes[i, 2] * case.found_boxes[i, 3]), "iscrowd": 0, "score": float(case.found_scores[i])}
        for i, page in enumerate(rows(case.found_offsets))
    ]  # fmt: skip
    truth.dataset = {"images": images, "categories": categories, "annotations": annotations}
    found.dataset = {"images": images, "categories": categories, "annotations": results}
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        found.createIndex()
        evaluation = COCOeval(truth, found, "bbox")
        evaluation.params.imgIds = [image["id"] for image in images]
        evaluation.params.catIds = [category["id"] for category in categories]
        evaluation.params.iouThrs = case.thresholds
        evaluation.params.areaRng = case.ranges.tolist()
        evaluation.params.maxDets = list(max_dets)
        evaluation.evaluate()
        evaluation.accumulate()
        if max_dets == (1, 10, 100) and case.thresholds is THRESHOLDS:
            evaluation.summarize()
    return evaluation


@pytest.mark.parametrize("max_dets", [(1, 10, 100), (1, 2, 3)], ids=str)
@pytest.mark.parametrize(("seed", "pages", "classes", "most", "step"), [
    (1, 40, 3, 6, 2.0), (2, 40, 3, 6, 20.0), (3, 60, 1, 4, 40.0), (4, 10, 4, 30, 8.0), (5, 80, 12, 5, 0.01), (6, 6, 1, 90, 4.0),
])  # fmt: skip
def test_every_number_is_pycocotools(kernels, seed, pages, classes, most, step, max_dets):
    case = random_case(seed, pages, classes, most, step)
    theirs, ours = pycocotools(case, classes, max_dets).eval, case.chain(kernels, classes, max_dets)
    for name in ("precision", "recall", "scores"):
        assert same(np.ascontiguousarray(theirs[name]), ours[name]), name


def plain_case_rows() -> st.SearchStrategy[Case]:
    """Cases that pycocotools can take: x, y, w, h, finite scores, no row left out."""

    def tidy(case: Case) -> Case:
        return Case(**{
            **vars(case), "xywh": True, "thresholds": THRESHOLDS, "ranges": np.array([[0, 1e10], [0, 4], [4, 9.0]]),
            "truth_roles": np.zeros_like(case.truth_roles), "found_roles": np.zeros_like(case.found_roles),
            "found_scores": np.where(np.isfinite(case.found_scores), case.found_scores, 0.75),
        })  # fmt: skip

    whole = st.tuples(*[st.integers(0, 5).map(float)] * 4)
    return cases(boxes=whole, labels=(0, 1)).map(tidy)


@examples(150)
@given(case=plain_case_rows())
def test_ties_crowds_and_empty_boxes_are_pycocotools(kernels, case):
    if not len(case.truth_offsets) > 1:
        return
    theirs, ours = pycocotools(case, 2, (1, 2, 4)).eval, case.chain(kernels, 2, (1, 2, 4))
    for name in ("precision", "recall", "scores"):
        assert same(np.ascontiguousarray(theirs[name]), ours[name]), name


def little_pages(seed: int) -> Case:
    """Hundreds of pages with a few small boxes on a coarse grid: equal IoUs, and later boxes that suffer from the choice."""
    random = np.random.default_rng(seed)
    case = random_case(seed, pages=400, classes=1, most=4, crowds=0.3)
    boxes = lambda rows: np.hstack((random.integers(0, 4, (rows, 2)), random.integers(1, 4, (rows, 2)))).astype(float)
    truth, found = boxes(len(case.truth_boxes)), boxes(len(case.found_boxes))
    return replace(
        case,
        truth_boxes=truth,
        truth_areas=truth[:, 2] * truth[:, 3],
        found_boxes=found,
        thresholds=np.array([0.1, 0.2, 1 / 3, 0.5, 1.0]),
        ranges=np.array([[0, 1e10], [0, 3], [3, 9.0]]),
    )


@pytest.mark.parametrize("seed", range(3))
def test_every_match_is_pycocotools(kernels, seed):
    """Not only the curves: each found box is matched and ignored at the very thresholds where pycocotools says so."""
    case = little_pages(seed)
    rank, matched, ignored, truth_ignored = case.coco(kernels)
    pages, bits = len(case.truth_offsets) - 1, np.arange(len(case.thresholds))[:, None]
    images = pycocotools(case, 1, (1, 10, 100)).evalImgs
    compared = 0
    for a in range(len(case.ranges)):
        for page, theirs in enumerate(images[a * pages : (a + 1) * pages]):
            if theirs is None:
                continue
            here = slice(case.found_offsets[page], case.found_offsets[page + 1])
            by_rank = np.argsort(rank[here])
            assert ((matched[here, a][by_rank] >> bits & 1) == (theirs["dtMatches"] > 0)).all()
            assert ((ignored[here, a][by_rank] >> bits & 1) == theirs["dtIgnore"]).all()
            truths = truth_ignored[case.truth_offsets[page] : case.truth_offsets[page + 1], a]
            assert np.sort(truths).tolist() == theirs["gtIgnore"].tolist()
            compared += len(by_rank)
    assert compared > 1000


@pytest.mark.parametrize("crowd", [0, 1])
def test_the_overlap_is_pycocotools_to_the_bit(kernels, crowd):
    """A threshold of exactly pycocotools' IoU is reached, and the next number above it is not."""
    random = np.random.default_rng(crowd)
    rest = BoxForm.XYWH, np.zeros(1, np.int32), np.array([0, 1]), np.zeros(1, np.uint8)
    facts = CocoTruths(np.ones(1), np.full(1, crowd, np.uint8))
    for _ in range(400):
        truth = np.hstack((random.uniform(0, 90, (1, 2)), random.uniform(20, 90, (1, 2))))
        found = truth * random.uniform(0.8, 1.2, (1, 4))
        overlap = mask.iou(found, truth, [crowd])[0, 0]
        if not 0 < overlap < 1 - 1e-9:
            continue
        limits = np.array([overlap, np.nextafter(overlap, 2)])
        sides = PageBoxes(truth, *rest), PageBoxes(found, *rest)
        matched = kernels.coco_match(sides[0], facts, sides[1], np.ones(1), CocoSettings(limits, RANGES[:1], 100))[1]
        assert matched.tolist() == [[0b01]]
        if not crowd:
            assert [kernels.match_greedy(*sides, np.ones(1), limit)[0].tolist() for limit in limits] == [[0], [-1]]


def test_a_box_equal_to_its_truth_passes_a_threshold_of_1(kernels):
    """Rounding puts the IoU of a box with itself a little below 1; pycocotools' ceiling of 1 - 1e-10 forgives it."""
    boxes = np.random.default_rng(0).uniform(0.1, 90, (200, 4))
    overlaps = np.array([mask.iou(box[None], box[None], [0])[0, 0] for box in boxes])
    boxes = boxes[(overlaps < 1) & (overlaps > 1 - 1e-11)]
    count = len(boxes)
    zero = np.zeros(count, np.uint8)
    side = PageBoxes(boxes, BoxForm.XYWH, np.zeros(count, np.int32), np.arange(count + 1), zero)
    settings = CocoSettings(np.ones(1), RANGES[:1], 100)
    matched = kernels.coco_match(side, CocoTruths(np.ones(count), zero), side, np.ones(count), settings)[1]
    assert count > 10
    assert matched.all()


def summary(precision: np.ndarray, recall: np.ndarray) -> list[float]:
    """pycocotools' twelve numbers; the last axis is maxDets 1, 10, 100."""
    mean = lambda values: values[values > -1].mean() if (values > -1).any() else -1.0
    return [
        mean(precision[..., 0, 2]), mean(precision[0, ..., 0, 2]), mean(precision[5, ..., 0, 2]),
        *(mean(precision[..., a, 2]) for a in (1, 2, 3)),
        *(mean(recall[..., 0, m]) for m in (0, 1, 2)),
        *(mean(recall[..., a, 2]) for a in (1, 2, 3)),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", [11, 12])
def test_the_twelve_numbers_are_pycocotools(kernels, seed):
    case = random_case(seed, pages=60, classes=5, most=20, step=0.01)
    ours = case.chain(kernels, 5, (1, 10, 100))
    stats = pycocotools(case, 5, (1, 10, 100)).stats
    assert summary(ours["precision"], ours["recall"]) == pytest.approx(stats, abs=1e-12)
    assert stats.min() > 0


def test_annotation_id_0_counts(kernels):
    """pycocotools takes a match with the annotation of id 0 for no match; positions have no such hole."""
    case = random_case(7, pages=1, classes=1, most=1)
    one = np.array([[0.0, 0, 50, 50]])
    case = Case(**{
        **vars(case), "truth_boxes": one, "found_boxes": one, "truth_areas": np.array([2500.0]), "found_scores": np.ones(1),
        "truth_offsets": np.array([0, 1]), "found_offsets": np.array([0, 1]), "truth_labels": np.zeros(1, np.int32),
        "found_labels": np.zeros(1, np.int32), **{name: np.zeros(1, np.uint8) for name in (
            "truth_crowd", "truth_roles", "found_roles")},
    })  # fmt: skip
    assert case.chain(kernels, 1, (100,))["recall"][:, 0, 0, 0].tolist() == [1.0] * 10


@given(case=cases())
def test_reference_and_native_match_to_the_bit(reference, native, case):
    assert all_same(case.coco(reference), case.coco(native))


@given(case=cases(labels=(0, 1, 2)))
def test_reference_and_native_chains_agree_to_the_bit(reference, native, case):
    for theirs, ours in zip(case.chain(reference, 3, (1, 3)).values(), case.chain(native, 3, (1, 3)).values(), strict=True):
        assert same(theirs, ours)


@pytest.mark.parametrize("seed", range(4))
def test_many_pages_agree_to_the_bit_for_any_number_of_threads(reference, native, seed):
    case = random_case(seed, pages=600, classes=4, most=30 if seed % 2 else 8, step=0.01 if seed < 2 else 8.0)
    matched, chain = case.coco(reference), case.chain(reference, 4, (1, 10, 100))
    for jobs in (1, 2, 5):
        assert all_same(matched, case.coco(native, jobs))
        assert all_same(tuple(chain.values()), tuple(case.chain(native, 4, (1, 10, 100), jobs).values()))


def test_rows_left_out_do_not_exist(kernels):
    case = random_case(8, pages=30, classes=2, most=8)
    random = np.random.default_rng(0)
    truth_out, found_out = random.random(len(case.truth_boxes)) < 0.3, random.random(len(case.found_boxes)) < 0.3
    roles = Case(**{**vars(case), "truth_roles": truth_out * np.uint8(2), "found_roles": found_out * np.uint8(2)})
    fewer = {
        name: value[~truth_out] for name, value in vars(case).items() if name.startswith("truth_") and name != "truth_offsets"
    }
    fewer |= {
        name: value[~found_out] for name, value in vars(case).items() if name.startswith("found_") and name != "found_offsets"
    }
    cut = lambda offsets, out: np.concatenate((np.zeros(1, np.int64), np.cumsum(~out)))[offsets]
    fewer |= {"truth_offsets": cut(case.truth_offsets, truth_out), "found_offsets": cut(case.found_offsets, found_out)}
    rank, matched, ignored, truth_ignored = roles.coco(kernels)
    expected = Case(**{**vars(case), **fewer}).coco(kernels)
    assert all_same((rank[~found_out], matched[~found_out], ignored[~found_out], truth_ignored[~truth_out]), expected)
    assert (rank[found_out] == -1).all()
    assert not matched[found_out].any()
    assert not ignored[found_out].any()
    assert truth_ignored[truth_out].all()


def test_rows_past_max_detections_have_a_rank_and_no_match(kernels):
    case = Case(**{**vars(random_case(9, pages=10, classes=1, most=20)), "max_detections": 3})
    rank, matched, ignored, _ = case.coco(kernels)
    assert rank.max() > 3
    assert not matched[rank >= 3].any()
    assert not ignored[rank >= 3].any()


# The radix sort needs rows by the hundred, and scores that differ only in their last bits.
score_kinds = {
    "random": lambda random, m: random.random(m),
    "single precision": lambda random, m: random.random(m).astype(np.float32).astype(np.float64),
    "two digits": lambda random, m: random.random(m).round(2),
    "last bits": lambda random, m: 0.5 + random.integers(0, 50, m) * 2.0**-53,
    "all alike": lambda random, m: np.full(m, 0.5),
    "odd": lambda random, m: random.choice([0.0, -0.0, -1.0, 1e-320, 1e308, np.nan, np.inf, -np.inf, 0.3], m),
}


@pytest.mark.parametrize("kind", score_kinds)
@pytest.mark.parametrize("m", [0, 1, 100, 511, 512, 5_000, 60_000])
def test_score_order_is_stable_and_falls(kernels, kind, m):
    random = np.random.default_rng(m)
    labels, scores = random.integers(-1, 6, m).astype(np.int32), score_kinds[kind](random, m)
    order, offsets = kernels.score_order(labels, scores, 7, 1)
    label, score = labels.tolist(), scores.tolist()
    kept = (row for row in range(m) if label[row] >= 0 and math.isfinite(score[row]))
    expected = sorted(kept, key=lambda row: (label[row], -score[row]))
    assert order.tolist() == expected
    assert offsets.tolist() == [sum(label[row] < k for row in expected) for k in range(8)]
    assert (order.dtype, offsets.dtype) == (np.int32, np.int64)
    assert all_same((order, offsets), kernels.score_order(labels, scores, 7, 5))


@given(data=st.data())
def test_any_masks_accumulate_alike(reference, native, data):
    """Masks that no matching would give, recall points in any order, more true positives than truths."""
    m, t = data.draw(st.integers(0, 30)), data.draw(st.integers(0, 16))
    number = lambda low, high, dtype: np.array(data.draw(st.lists(st.integers(low, high), min_size=m, max_size=m)), dtype)
    labels, rank, scores = number(-1, 2, np.int32), number(-1, 4, np.int32), number(0, 5, np.float64)
    tables = np.stack((number(0, 65535, np.uint16), number(0, 65535, np.uint16)), axis=1)
    truths = np.array(data.draw(st.lists(st.integers(0, 9), min_size=3 * t, max_size=3 * t)), np.int64).reshape(t, 3)
    points = np.array(data.draw(st.lists(st.one_of(st.floats(-0.5, 1.5), st.floats()), max_size=8)), np.float64)
    ranking, verdicts = ScoreOrder(*reference.score_order(labels, scores, 3)), Verdicts(rank, tables[:, 0], tables[:, 1])
    arguments = ranking, scores, verdicts, truths, points, 3
    assert all_same(reference.coco_accumulate(*arguments), native.coco_accumulate(*arguments))
    earlier = st.lists(st.integers(0, 9), min_size=6 * t, max_size=6 * t)
    before = np.array(data.draw(earlier), np.int64).reshape(2, t, 3)
    assert all_same(reference.coco_accumulate(*arguments, before=before), native.coco_accumulate(*arguments, before=before))


@given(data=st.data())
def test_a_ranking_may_come_in_pieces(kernels, data):
    """Two classes, two thresholds: the precision of the whole is the highest of its pieces."""
    rows = data.draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), max_size=30))
    label, matched = (np.array([row[place] for row in rows], kind) for place, kind in ((0, np.int32), (1, np.uint16)))
    truths = np.array(data.draw(st.lists(st.integers(0, 9), min_size=4, max_size=4)), np.int64).reshape(2, 2)
    nothing, none = np.zeros(len(rows), np.int32), np.zeros(len(rows), np.uint16)
    scores = -np.arange(len(rows), dtype=np.float64)

    def drawn(start, end, before):
        piece = slice(start, end)
        ranking = ScoreOrder(*kernels.score_order(label[piece], scores[piece], 2))
        verdicts = Verdicts(nothing[piece], matched[piece], none[piece])
        return kernels.coco_accumulate(ranking, scores[piece], verdicts, truths, POINTS, 1, before=before)

    whole, whole_recall, _ = drawn(0, len(rows), None)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    best, before = np.full_like(whole, -1.0), np.zeros((2, 2, 2), np.int64)
    for start, end in pairwise([0, *cuts, len(rows)]):
        precision, recall, _ = drawn(start, end, before)
        best = np.maximum(best, precision)
        for of, hits in rows[start:end]:
            for bit in (0, 1):
                before[0 if hits >> bit & 1 else 1, bit, of] += 1
    assert same(best, whole)
    assert same(recall, whole_recall)


def refusal(work) -> str:
    with pytest.raises(ValueError) as caught:
        work()
    return str(caught.value)


def test_bad_arguments_are_refused_in_the_same_words(reference, native):
    rank, masks, truths = np.zeros(2, np.int32), np.zeros(2, np.uint16), np.ones((10, 1), np.int64)
    order, offsets, scores = np.array([0, 1], np.int32), np.array([0, 2]), np.zeros(2)
    good = [ScoreOrder(order, offsets), scores, Verdicts(rank, masks, masks), truths, POINTS, 100]
    bad = [
        (0, ScoreOrder(order + 1, offsets)),
        (0, ScoreOrder(order - 1, offsets)),
        (0, ScoreOrder(order, np.array([0, 1]))),
        (1, np.zeros(3)),
        (2, Verdicts(rank, masks[:1], masks)),
        (2, Verdicts(rank, masks, masks[:1])),
        (3, np.ones((10, 2), np.int64)),
        (3, np.ones((17, 1), np.int64)),
    ]
    for place, value in bad:
        arguments = [*good[:place], value, *good[place + 1 :]]
        assert refusal(lambda a=arguments: reference.coco_accumulate(*a)) == refusal(
            lambda a=arguments: native.coco_accumulate(*a)
        )
    shape = 2, *good[3].shape
    for odd in (np.zeros((2, 10, 2), np.int64), np.full(shape, -1), np.full(shape, 2**53 + 1), np.full(shape, 2**63 - 1)):
        assert refusal(lambda before=odd: reference.coco_accumulate(*good, before=before)) == refusal(
            lambda before=odd: native.coco_accumulate(*good, before=before)
        )
    label = np.array([3, 0], np.int32)
    assert refusal(lambda: reference.score_order(label, scores, 3)) == refusal(lambda: native.score_order(label, scores, 3))
    case = Case(**{**vars(random_case(1, 2, 1, 3)), "thresholds": np.linspace(0, 1, 17), "ranges": RANGES})
    assert refusal(lambda: case.coco(reference)) == refusal(lambda: case.coco(native))
