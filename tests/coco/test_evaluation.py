"""Whole evaluations with any parameters, by pycocotools and by calque: every field of every attribute is the same."""

from __future__ import annotations

import contextlib
import copy
import io
import pickle
import random
from typing import Any

import numpy as np
import pytest
from pycocotools.coco import COCO as TheirCOCO
from pycocotools.cocoeval import COCOeval as TheirCOCOeval

from calque.coco import COCO, COCOeval
from tests.coco.sets import made
from tests.coco.test_mask import equal

KINDS = {"theirs": (TheirCOCO, TheirCOCOeval), "ours": (COCO, COCOeval)}


@contextlib.contextmanager
def quiet() -> Any:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        yield said


def close(one: Any, other: Any, place: str = "$") -> None:
    """The same types and shapes; numbers to 1e-12, everything else exactly."""
    if isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray), place
        assert (one.dtype, one.shape) == (other.dtype, other.shape), place
        if one.dtype == object:
            close(one.tolist(), other.tolist(), place)
        else:
            assert np.allclose(one.astype(float), other.astype(float), rtol=0, atol=1e-12, equal_nan=True), place
    elif isinstance(one, dict):
        assert list(one) == list(other), place
        for key in one:
            close(one[key], other[key], f"{place}[{key!r}]")
    elif isinstance(one, list | tuple):
        assert type(one) is type(other), place
        assert len(one) == len(other), place
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            close(a, b, f"{place}[{number}]")
    elif isinstance(one, float):
        assert type(one) is type(other), place
        assert one == other or abs(one - other) <= 1e-12 or (one != one and other != other), place
    else:
        assert equal(one, other), (place, one, other)


def same(theirs: TheirCOCOeval, ours: COCOeval) -> None:
    """Every attribute; the rows of both sides too, which are completed and marked in place."""
    for name in ("evalImgs", "ious", "_gts", "_dts"):
        close(getattr(theirs, name), getattr(ours, name), name)
    close(vars(theirs.params), vars(ours.params), "params")
    close(vars(theirs._paramsEval), vars(ours._paramsEval), "_paramsEval")
    for key in ("counts", "precision", "recall", "scores"):
        if theirs.eval:
            close(theirs.eval[key], ours.eval[key], key)
    close(theirs.stats, ours.stats, "stats")
    close(theirs.cocoGt.dataset, ours.cocoGt.dataset, "truth")
    close(theirs.cocoDt.dataset, ours.cocoDt.dataset, "found")


def random_params(rng: random.Random, truth: dict[str, Any]) -> dict[str, Any]:
    images, classes = ([row["id"] for row in truth[key]] for key in ("images", "categories"))
    choices = {
        "maxDets": [[1, 10, 100], [100, 300, 1000], [2, 1, 3], [1, 2, 100], [5, 10, 100, 200], [0, 1, 2]],
        "iouThrs": [
            np.array([0.5]), np.linspace(0.05, 1.0, 20), np.array([0.75, 0.5, 0.1]), np.array([0.5, 0.75, 1.0]),
            np.linspace(0.5, 0.95, 10, dtype=np.float32).astype(float), np.array([0.0, 0.5]),
        ],
        "recThrs": [np.linspace(0, 1, 11), np.linspace(0, 1, 101, dtype=np.float32).astype(float), np.array([0.9, 0.1, 0.5])],
        "areaRng": [[[0, 1e10], [0, 100], [100, 400], [400, 1e10]], [[0, 50], [50, 1e5], [0, 1e10], [30, 60]]],
        "useCats": [0],
        "imgIds": [rng.sample(images, max(1, len(images) // 2)), images * 2, [*images, 10**6], np.array(images)],
        "catIds": [rng.sample(classes, 1), [*classes, 77], classes[::-1], classes],
        "useSegm": [0, 1],
    }  # fmt: skip
    return {name: copy.deepcopy(rng.choice(values)) for name, values in choices.items() if rng.random() < 0.35}


def evaluation(kind: str, truth: Any, found: Any, iou_type: str, params: dict[str, Any]) -> Any:
    api, evaluator = KINDS[kind]
    gt = api()
    gt.dataset = copy.deepcopy(truth)
    gt.createIndex()
    rows = copy.deepcopy(found)
    if iou_type == "segm" and params.get("without boxes"):
        for row in rows:
            del row["bbox"]
    one = evaluator(gt, gt.loadRes(rows), iou_type)
    for name, value in params.items():
        setattr(one.params, name, copy.deepcopy(value))
    return one


def both(seed: int, iou_type: str, **settings: int) -> tuple[TheirCOCOeval, COCOeval, random.Random]:
    rng = random.Random(seed)
    truth, found = made(seed, **settings)
    if not found:
        pytest.skip("pycocotools cannot load empty results")
    params = random_params(rng, truth) if seed else {}
    with quiet():
        pair = [evaluation(kind, truth, found, iou_type, params) for kind in KINDS]
    return pair[0], pair[1], rng


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
@pytest.mark.parametrize("seed", range(30))
def test_any_parameters(seed, iou_type):
    pair = both(seed, iou_type)[:2]
    for _ in range(2):  # the second time on the rows that the first has marked
        texts = []
        for one in pair:
            with quiet() as said:
                one.evaluate()
                one.accumulate()
                one.summarize()
            texts.append([line for line in said.getvalue().splitlines() if "t=" not in line])
        assert texts[0] == texts[1]
        same(*pair)


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_many_alike_are_taken_in_their_order(iou_type):
    """Which of truths that overlap as much is taken hangs on their order, however many there are."""
    box = {"image_id": 1, "category_id": 1, "bbox": [5, 5, 20, 10], "segmentation": [[5, 5, 25, 5, 25, 15, 5, 15]]}
    more = {"area": 200, "iscrowd": 0}
    truth = {"images": [{"id": 1, "height": 40, "width": 40}], "categories": [{"id": 1, "name": "k"}]}
    truth["annotations"] = [{**box, **more, "id": 7 + number * 31 % 60} for number in range(60)]
    found = [{**box, "score": 0.5 + number % 2 / 4} for number in range(40)]
    with quiet():
        pair = [evaluation(kind, truth, found, iou_type, {}) for kind in KINDS]
        for one in pair:
            one.evaluate()
            one.accumulate()
            one.summarize()
    same(*pair)


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_the_usual_way_goes_over_the_kernels_and_makes_nothing_that_nobody_reads(iou_type):
    _, ours, _ = both(0, iou_type)
    with quiet():
        ours.evaluate()
        ours.accumulate()
        ours.summarize()
    assert not {"evalImgs", "ious", "_gts", "_dts"} & set(vars(ours))
    assert len(ours.evalImgs) == ours._evaluated.size


@pytest.mark.parametrize("seed", range(12))
def test_parameters_of_its_own_for_accumulate(seed):
    """A part of classes, sizes, limits and images, changed recall points; the places are taken as pycocotools takes them."""
    theirs, ours, rng = both(seed, "bbox", classes=4)
    classes, images = (len(values) for values in (ours.params.catIds, ours.params.imgIds))
    picked = {
        "catIds": rng.randint(1, classes), "imgIds": rng.randint(1, images), "maxDets": 2, "areaRng": rng.randint(1, 4)
    }  # fmt: skip
    chosen = {name for name in picked if rng.random() < 0.6}
    for one in (theirs, ours):
        with quiet():
            one.evaluate()
            p = copy.deepcopy(one.params)
            for name in chosen:
                setattr(p, name, list(getattr(p, name))[: picked[name]])
            p.recThrs = np.linspace(0, 1, 5)
            one.accumulate(p)
    for key in ("counts", "precision", "recall", "scores"):
        close(theirs.eval[key], ours.eval[key], key)
    assert ours.eval["params"] is not ours.params


def by_rank(api: Any, evaluator: Any, truth: Any, found: Any, iou_type: str) -> list[Any]:
    """Batch by batch as distributed training does it, with `evalImgs` put together by hand, and every step by hand."""
    gt = api()
    gt.dataset = copy.deepcopy(truth)
    gt.createIndex()
    images = [row["id"] for row in truth["images"]]
    one = evaluator(gt, iouType=iou_type)
    parts = []
    for batch in (images[:3], images[3:4], images[4:]):
        rows = [copy.deepcopy(row) for row in found if row["image_id"] in batch]
        one.cocoDt = api.loadRes(gt, rows) if rows else api()
        one.params.imgIds = list(batch)
        one.evaluate()
        shape = len(one.params.catIds), len(one.params.areaRng), len(one.params.imgIds)
        parts.append(np.asarray(one.evalImgs).reshape(shape))
        # The same by single steps, as DETR does it.
        one._prepare()
        p = one.params
        one.ious = {(image, c): one.computeIoU(image, c) for image in p.imgIds for c in p.catIds}
        steps = [one.evaluateImg(image, c, area, 100) for c in p.catIds for area in p.areaRng for image in p.imgIds]
        parts.append(np.asarray(steps).reshape(shape)[..., :0])
        close(steps, parts[-2].ravel().tolist(), "steps")
    order = np.argsort([*images[:3], *images[3:4], *images[4:]], kind="stable")
    one.evalImgs = list(np.concatenate(parts, 2)[..., order].flatten())
    one.params.imgIds = sorted(images)
    one._paramsEval = copy.deepcopy(one.params)
    one.accumulate()
    one.summarize()
    return [one.stats, one.eval["precision"], one.eval["scores"], one.evalImgs]


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
@pytest.mark.parametrize("seed", range(5))
def test_verdicts_put_together_by_the_caller(seed, iou_type):
    truth, found = made(seed + 50)
    truth["images"].sort(key=lambda row: row["id"])
    with quiet():
        close(*(by_rank(*KINDS[kind], truth, found, iou_type) for kind in KINDS))


def test_verdicts_that_were_changed_in_place_count():
    pair = both(0, "bbox")[:2]
    for one in pair:
        with quiet():
            one.evaluate()
            for verdict in one.evalImgs:
                if verdict is not None:
                    verdict["dtIgnore"][:, ::2] = True
            one.accumulate()
            one.summarize()
    close(pair[0].stats, pair[1].stats)


def steps_of(base: Any) -> Any:
    """A subclass that has its own steps, and writes down in which order they are called."""

    class Own(base):
        def _prepare(self):
            self.calls = ["prepare"]
            super()._prepare()
            for rows in self._gts.values():
                for row in rows:
                    row["ignore"] = row["ignore"] or row["id"] % 3 == 0

        def computeIoU(self, imgId, catId):
            self.calls.append(("iou", int(imgId), int(catId)))
            return super().computeIoU(imgId, catId)

        def evaluateImg(self, imgId, catId, aRng, maxDet):
            self.calls.append(("image", int(imgId), int(catId), tuple(aRng), maxDet))
            return super().evaluateImg(imgId, catId, aRng, maxDet)

    return Own


@pytest.mark.parametrize("use_cats", [0, 1])
@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_steps_of_a_subclass_are_called_in_order(iou_type, use_cats):
    truth, found = made(4)
    pair = []
    with quiet():
        for api, evaluator in KINDS.values():
            gt = api()
            gt.dataset = copy.deepcopy(truth)
            gt.createIndex()
            one = steps_of(evaluator)(gt, gt.loadRes(copy.deepcopy(found)), iou_type)
            one.params.useCats = use_cats
            one.evaluate()
            one.accumulate()
            one.summarize()
            pair.append(one)
    assert pair[0].calls == pair[1].calls
    same(*pair)


def test_a_step_put_on_the_object_is_called_too():
    pair = both(0, "bbox")[:2]
    for one in pair:
        one.computeIoU = lambda image, category: []
        with quiet():
            one.evaluate()
            one.accumulate()
            one.summarize()
    close(pair[0].stats, pair[1].stats)
    assert pair[1].stats[0] == 0


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_copies_and_pickles_go_on_where_they_were(iou_type):
    theirs, ours, _ = both(2, iou_type)
    with quiet():
        theirs.evaluate()
        ours.evaluate()
        for again in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
            theirs.accumulate()
            again.accumulate()
            close(theirs.eval["precision"], again.eval["precision"])
            close(theirs.evalImgs, again.evalImgs)
            close(theirs.ious, again.ious)


def test_objects_of_pycocotools_are_taken():
    theirs, ours, _ = both(0, "segm")
    with quiet():
        mixed = COCOeval(theirs.cocoGt, theirs.cocoDt, "segm")
        for one in (mixed, theirs):
            one.evaluate()
            one.accumulate()
            one.summarize()
    assert isinstance(ours.cocoGt, COCO)
    close(theirs.stats, mixed.stats)
    close(theirs.evalImgs, mixed.evalImgs)


def test_before_evaluate_everything_is_empty():
    for kind in KINDS:
        one = KINDS[kind][1]()
        assert (one.evalImgs, one.eval, one._gts, one._dts, one._paramsEval, one.stats, one.ious) == (
            {},
            {},
            {},
            {},
            {},
            [],
            {},
        )
        assert (one.params.iouType, one.params.useSegm, one.params.imgIds) == ("segm", None, [])
        assert list(vars(one.params)) == list(vars(TheirCOCOeval().params))
        close(vars(one.params), vars(TheirCOCOeval().params))


def test_one_box_beyond_all_measure_among_others():
    """Its area is no number, and what it overlaps is none; the others are what they are."""
    truth, found = made(3)
    image = truth["images"][0]["id"]
    category = truth["categories"][0]["id"]
    huge = {"image_id": image, "category_id": category, "bbox": [0, 0, 1e200, 1e200]}
    truth["annotations"].append({**huge, "id": 10**6, "area": 1e300, "iscrowd": 0})
    found.append({**huge, "score": 0.5})
    with quiet(), np.errstate(all="ignore"):
        pair = [evaluation(kind, truth, found, "bbox", {}) for kind in KINDS]
        for one in pair:
            one.evaluate()
            one.accumulate()
            one.summarize()
    same(*pair)
