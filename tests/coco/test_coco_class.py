"""`COCO` by itself: what pycocotools answers, and answers where it has none."""

from __future__ import annotations

import contextlib
import copy
import gc
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pycocotools.coco import COCO as TheirCOCO

from calque.coco import COCO, COCOeval, Params
from tests.coco.sets import made
from tests.coco.test_evaluation import close, quiet


def apis(seed: int = 0) -> tuple[TheirCOCO, COCO, list[dict[str, Any]]]:
    truth, found = made(seed)
    pair = []
    with quiet():
        for kind in (TheirCOCO, COCO):
            api = kind()
            api.dataset = copy.deepcopy(truth)
            api.createIndex()
            pair.append(api)
    return pair[0], pair[1], found


def test_getters_answer_alike():
    theirs, ours, _ = apis()
    images, classes = theirs.getImgIds(), theirs.getCatIds()
    calls: dict[str, list[tuple[Any, ...]]] = {
        "getAnnIds": [
            (), (images[:3],), (images[0], classes[0]), ([], classes[:2]), ([], [], [10, 300]), ([], [], [], True),
            (np.array(images[:2]), np.array(classes), [], 0), ([10**9],), (None,), ([], [[1], classes[0]]),
        ],
        "getCatIds": [(), (["k0", "k1"],), ("k0",), ([], ["x"]), ([], "y"), ([], [], 3), ([], [], classes[::-1])],
        "getImgIds": [(), (images[:2],), ([], classes[0]), ([], classes), (images[:3], classes[:1])],
        "loadAnns": [(theirs.getAnnIds(),), (1,), ()],
        "loadCats": [(classes,), (classes[0],)],
        "loadImgs": [(images,), (images[0],), ("",), (1.5,)],
    }  # fmt: skip
    for name, each in calls.items():
        for args in each:
            close(getattr(theirs, name)(*args), getattr(ours, name)(*args), f"{name}{args}")
    assert ours.loadAnns(np.int64(1)) == theirs.loadAnns(1)
    for name in ("anns", "imgs", "cats", "imgToAnns", "catToImgs"):
        close(getattr(theirs, name), getattr(ours, name), name)
        assert type(getattr(theirs, name)) is type(getattr(ours, name))


@pytest.mark.parametrize("seed", range(4))
def test_results_are_completed_alike(seed, tmp_path: Path):
    theirs, ours, found = apis(seed)
    path = tmp_path / "found.json"
    path.write_text(json.dumps(found))
    table = np.array([[row["image_id"], *row["bbox"], row["score"], row["category_id"]] for row in found])
    without_boxes = [{key: value for key, value in row.items() if key != "bbox"} for row in found]
    empty_boxes = [{**row, "bbox": []} for row in found]
    no_masks = [{key: value for key, value in row.items() if key != "segmentation"} for row in found]
    five = [{**row, "bbox": [*row["bbox"], 30.0]} for row in no_masks]
    captions = [{"image_id": row["image_id"], "caption": "a page"} for row in found]
    keypoints = [
        {"image_id": row["image_id"], "category_id": 1, "keypoints": [1, 2, 1, 5, 9, 2], "score": 0.5} for row in found
    ]
    for rows in (
        str(path),
        found,
        table,
        table.astype(np.float32),
        without_boxes,
        empty_boxes,
        no_masks,
        five,
        captions,
        keypoints,
    ):
        given = [copy.deepcopy(rows) for _ in range(2)]
        with quiet() as their_words:
            their_results = theirs.loadRes(given[0])
        with quiet() as our_words:
            our_results = ours.loadRes(given[1])
        close(their_results.dataset, our_results.dataset, "results")
        close(given[0], given[1], "rows")
        words = ([line for line in said.getvalue().splitlines() if "t=" not in line] for said in (their_words, our_words))
        assert next(words) == next(words)
        for row in our_results.dataset["annotations"][:3]:
            if "segmentation" in row:
                close(their_results.annToRLE(row), our_results.annToRLE(row))
                close(their_results.annToMask(row), our_results.annToMask(row))
    with quiet():
        assert ours.loadRes(path).dataset == ours.loadRes(str(path)).dataset
        close(COCO.loadRes(theirs, copy.deepcopy(found)).dataset, theirs.loadRes(copy.deepcopy(found)).dataset)


def test_a_file_may_hold_what_only_python_writes(tmp_path: Path):
    path = tmp_path / "truth.json"
    tree = {
        "images": [],
        "annotations": [],
        "categories": [],
        "info": {"x": [float("nan"), float("inf"), "\ud800", 2**70, -0.0, 1e400]},
    }
    path.write_text(json.dumps(tree))
    with quiet():
        theirs, ours = TheirCOCO(str(path)), COCO(path)
    assert theirs.dataset["info"]["x"][1:] == ours.dataset["info"]["x"][1:]
    assert np.isnan(ours.dataset["info"]["x"][0])


def test_copies_pickles_and_what_is_printed(capsys):
    theirs, ours, _ = apis()
    for api in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        close(api.dataset, ours.dataset)
        assert list(api.anns) == list(ours.anns)
    capsys.readouterr()
    for api in (theirs, ours):
        api.info()
        api.createIndex()
    said = capsys.readouterr().out.splitlines()
    assert said[: len(said) // 2] == said[len(said) // 2 :]


def test_a_printed_evaluation_is_its_summary(capsys):
    _, ours, found = apis()
    with quiet():
        one = COCOeval(ours, ours.loadRes(found), "bbox")
        one.evaluate()
        one.accumulate()
    capsys.readouterr()
    assert str(one) == ""
    printed = capsys.readouterr().out
    one.summarize()
    assert capsys.readouterr().out == printed
    assert len(printed.splitlines()) == 12
    assert COCOeval.evalImgs is COCOeval.__dict__["evalImgs"]


# Where pycocotools raises an exception.


def test_a_row_without_a_box_among_others_has_that_of_its_mask():
    theirs, ours, found = apis()
    rows = [{key: value for key, value in row.items() if place < 2 or key != "bbox"} for place, row in enumerate(found)]
    with quiet():
        made = ours.loadRes(copy.deepcopy(rows)).dataset["annotations"]
        expected = theirs.loadRes(copy.deepcopy(rows[2:])).dataset["annotations"]
    for one, other in zip(made[2:], expected, strict=True):
        close(one["bbox"], other["bbox"], "bbox")
        assert one["area"] == other["area"]
    assert [row["bbox"] for row in made[:2]] == [row["bbox"] for row in found[:2]]


def test_empty_results_are_zeros():
    _, ours, _ = apis()
    with quiet():
        results = ours.loadRes([])
        for iou_type in ("bbox", "segm"):
            one = COCOeval(ours, results, iou_type)
            one.evaluate()
            one.accumulate()
            one.summarize()
            assert (one.stats[:2].tolist(), one.stats[6:9].tolist()) == ([0.0, 0.0], [0.0, 0.0, 0.0])
    assert (results.dataset["annotations"], len(results.imgs), len(results.cats)) == ([], len(ours.imgs), len(ours.cats))


@pytest.mark.parametrize("every", [1, 2])
def test_a_missing_area_and_crowd_are_those_of_the_box_and_none(every):
    truth, found = made(3)
    whole, bare = copy.deepcopy(truth), copy.deepcopy(truth)
    for rows in (whole["annotations"], bare["annotations"]):
        for row in rows:
            row["area"], row["iscrowd"] = row["bbox"][2] * row["bbox"][3], 0
    for row in bare["annotations"][::every]:
        del row["area"], row["iscrowd"]
    stats = []
    with quiet():
        for tree in (whole, bare):
            api = COCO(tree)
            one = COCOeval(api, api.loadRes(copy.deepcopy(found)), "bbox")
            one.evaluate()
            one.accumulate()
            one.summarize()
            stats.append(one.stats)
            again = type("Own", (COCOeval,), {"_prepare": lambda self: super(type(self), self)._prepare()})(
                api, one.cocoDt, "bbox"
            )
            again.evaluate()
            again.accumulate()
            again.summarize()
            assert np.array_equal(again.stats, one.stats)
    assert np.array_equal(*stats)


def test_fewer_than_three_limits():
    _, ours, found = apis()
    with quiet():
        one = COCOeval(ours, ours.loadRes(found), "bbox")
        one.params.maxDets = [100]
        one.evaluate()
        one.accumulate()
        one.summarize()
    assert one.eval["precision"].shape[-1] == 1
    assert one.stats[6] == one.stats[7] == one.stats[8] > 0


def test_paths_rows_and_dictionaries_stand_for_data_sets(tmp_path: Path):
    truth, found = made(0)
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "found.json").write_text(json.dumps(found))
    stats = []
    with quiet():
        for gt, dt in ((truth, found), (tmp_path / "truth.json", str(tmp_path / "found.json"))):
            kept = copy.deepcopy(found)
            one = COCOeval(copy.deepcopy(gt), dt, "bbox")
            one.evaluate()
            one.accumulate()
            one.summarize()
            stats.append(one.stats)
            assert found == kept
    assert np.array_equal(*stats)


def test_the_box_is_drawn_where_there_is_no_segmentation():
    _, ours, found = apis()
    row = {"id": 1, "image_id": found[0]["image_id"], "category_id": 1, "bbox": [2, 3, 4, 5]}
    for extra in ({}, {"segmentation": None}, {"segmentation": []}):
        assert ours.annToMask({**row, **extra}).sum() == 20
    assert ours.annToMask({**row, "segmentation": [[0, 0, 9, 9]]}).sum() == 0  # two vertices enclose nothing
    rings = [{"size": [5, 5], "counts": [1, 2, 22]}, {"size": [5, 5], "counts": [20, 2, 3]}]
    assert ours.annToMask({**row, "segmentation": rings}).sum() == 4


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"segmentation": [[0, 0, float("nan"), 4, 4, 4]]}, "annotation 7 of image 1: ring 0 cannot be drawn"),
        ({"segmentation": [[0, 0, 5e8, 4, 4, 4]]}, "annotation 7 of image 1: ring 0 cannot be drawn"),
        ({"image_id": 2, "segmentation": [[0, 0, 4, 4, 0, 4]]}, "image 2 has no height and width"),
        ({"segmentation": None}, "annotation 7 has neither a segmentation nor a box"),
        ({"segmentation": {"size": [9, 9], "counts": "zz"}}, "annotation 7 of image 1: mask 0 cannot be read"),
    ],
)
def test_masks_that_cannot_be_made_are_refused_by_name(row, message):
    truth = {
        "images": [{"id": 1, "height": 9, "width": 9}, {"id": 2}],
        "categories": [{"id": 1, "name": "a"}],
        "annotations": [
            {"id": 5, "image_id": 1, "category_id": 1, "segmentation": [[0, 0, 4, 4, 0, 4]], "area": 1, "iscrowd": 0},
            {"id": 7, "image_id": 1, "category_id": 1, "area": 1, "iscrowd": 0, **row},
        ],
    }
    found = [{"image_id": 1, "category_id": 1, "score": 1, "segmentation": {"size": [9, 9], "counts": "0Y2"}}]
    with quiet():
        api = COCO(truth)
        one = COCOeval(api, api.loadRes(found), "segm")
        with pytest.raises(ValueError, match=message):
            one.evaluate()


def test_what_is_not_supported_says_so():
    _, ours, found = apis()
    with pytest.raises(ValueError, match="keypoints"):
        Params("keypoints")
    with pytest.raises(ValueError, match="keypoints"):
        COCOeval(ours, None, "keypoints")
    with pytest.raises(ValueError, match="'boundary' is not supported"):
        COCOeval(ours, None, "boundary")
    with quiet():
        one = COCOeval(ours, ours.loadRes(found), "bbox")
        one.params.iouType = "keypoints"
        with pytest.raises(ValueError, match="keypoints"):
            one.evaluate()
    with pytest.raises(ValueError, match="keypoints"):
        one.computeOks(1, 1)
    with pytest.raises(NotImplementedError, match="network"):
        ours.download("somewhere")
    with quiet(), pytest.raises(ValueError, match="no detections"):
        COCOeval(ours, None, "bbox").evaluate()
    with quiet(), pytest.raises(RuntimeError, match=r"evaluate\(\) first"):
        COCOeval(ours, None, "bbox").accumulate()
    with pytest.raises(RuntimeError, match=r"accumulate\(\) first"):
        COCOeval(ours, None, "bbox").summarize()
    with quiet(), pytest.raises(AssertionError, match="do not correspond"):
        ours.loadRes([{"image_id": 10**6, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1}])
    with quiet(), pytest.raises(AssertionError, match="not an array"):
        ours.loadRes({"image_id": 1})
    with quiet(), pytest.raises(AssertionError, match="seven columns"):
        ours.loadRes(np.zeros((2, 6)))


# The exception that is kept.


def with_id_zero() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    truth = {
        "images": [{"id": 1, "height": 50, "width": 50}],
        "categories": [{"id": 1, "name": "a"}],
        "annotations": [
            {"id": 0, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0},
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [20, 20, 9, 9], "area": 81, "iscrowd": 0},
        ],
    }
    return truth, [{"image_id": 1, "category_id": 1, "bbox": row["bbox"], "score": 0.9} for row in truth["annotations"]]


@pytest.mark.parametrize("by_hand", [False, True])
def test_an_annotation_with_id_0_can_be_found(by_hand):
    truth, found = with_id_zero()
    with quiet():
        api = COCO(truth)
        one = COCOeval(api, api.loadRes(found), "bbox")
        with pytest.warns(RuntimeWarning, match="id 0"):
            one.evaluate()
        if by_hand:
            one.evalImgs = list(one.evalImgs)
        one.accumulate()
        one.summarize()
    assert one.stats[0] == pytest.approx(1.0)


@pytest.mark.parametrize("by_hand", [False, True])
def test_or_cannot_where_pycocotools_numbers_are_wanted(by_hand):
    truth, found = with_id_zero()
    stats = []
    with quiet():
        for api, kind in ((TheirCOCO, None), (COCO, type("Alike", (COCOeval,), {"id_zero_counts": False}))):
            from pycocotools.cocoeval import COCOeval as TheirCOCOeval

            gt = api()
            gt.dataset = copy.deepcopy(truth)
            gt.createIndex()
            one = (kind or TheirCOCOeval)(gt, gt.loadRes(copy.deepcopy(found)), "bbox")
            one.evaluate()
            if by_hand:
                one.evalImgs = list(one.evalImgs)
            one.accumulate()
            one.summarize()
            stats.append(one.stats)
    close(*stats)
    assert stats[0][0] < 1


@pytest.mark.parametrize("collecting", [True, False])
@pytest.mark.parametrize("text", ['{"images": [], "annotations": [], "categories": []}', '{"images": [NaN]}', "{"])
def test_whether_garbage_is_collected_is_as_it_was(tmp_path: Path, collecting: bool, text: str):
    """While a file is read it is not; afterwards it is if it was, whatever the file holds."""
    (tmp_path / "a.json").write_text(text)
    (gc.enable if collecting else gc.disable)()
    try:
        with contextlib.suppress(Exception):
            COCO(str(tmp_path / "a.json"))
        assert gc.isenabled() is collecting
    finally:
        gc.enable()
