"""Masks: COCO's AP and AR as pycocotools has them, and what becomes of masks that are none."""

from __future__ import annotations

import contextlib
import copy
import io
import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from pycocotools import mask as tools
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from calque import Evaluator
from calque.base.errors import ContractError, Severity
from calque.detection import Detection
from calque.kernels import TWINS, native_built
from tests.mask_sets import as_counts, as_runs, coco_set, pixels
from tests.snapshots import predictions
from tests.snapshots import truth as snapshot_truth

NAMES = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")


@pytest.fixture(params=list(TWINS), autouse=True)
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test runs over both twins."""
    if request.param == "native" and not native_built():
        pytest.skip("calque was installed without a compiler")
    monkeypatch.setenv("CALQUE_KERNELS", request.param)
    return str(request.param)


def by_pycocotools(truth: dict[str, Any], results: list[dict[str, Any]], kind: str = "segm") -> list[float]:
    with contextlib.redirect_stdout(io.StringIO()):
        expected = COCO()
        expected.dataset = copy.deepcopy(truth)
        expected.createIndex()
        evaluation = COCOeval(expected, expected.loadRes(copy.deepcopy(results)), kind)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return [float(value) for value in evaluation.stats]


def evaluated(truth: Any, found: Any, **settings: Any) -> Any:
    return Evaluator(Detection(on="masks", **settings)).update(truth, found).compute()


def twelve(result: Any) -> list[float]:
    return [-1.0 if result[name] is None else result[name] for name in NAMES]


@pytest.mark.parametrize("boxes", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_ap_and_ar_are_those_of_pycocotools(tmp_path: Path, seed: int, boxes: bool) -> None:
    truth, results = coco_set(seed, boxes=boxes)
    paths = [tmp_path / "truth.json", tmp_path / "results.json"]
    for path, tree in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(tree))
    expected = by_pycocotools(truth, results)
    for sides in (paths, (truth, results)):
        assert twelve(evaluated(*sides)) == pytest.approx(expected, abs=1e-12)


def test_indented_files_and_packed_ones_are_read_alike(tmp_path: Path) -> None:
    import gzip

    truth, results = coco_set(1)
    expected = twelve(evaluated(truth, results))
    for name, pack in (("plain.json", bytes), ("packed.json.gz", gzip.compress)):
        paths = [tmp_path / f"{side}-{name}" for side in ("truth", "results")]
        for path, tree in zip(paths, (truth, results), strict=True):
            path.write_bytes(pack(json.dumps(tree, indent=1).encode()))
        assert twelve(evaluated(*paths)) == expected


def one_page(segmentation: Any, found: Any, size: tuple[int, int] | None = (20, 30), **more: Any) -> tuple[Any, Any]:
    """One truth and one prediction."""
    image = {"id": 1} if size is None else {"id": 1, "height": size[0], "width": size[1]}
    truth = {
        "images": [image],
        "categories": [{"id": 1, "name": "a"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [2, 3, 10, 8], "segmentation": segmentation}],
    }
    row = {"image_id": 1, "category_id": 1, "score": 0.9, "bbox": [2, 3, 10, 8], "segmentation": found, **more}
    return truth, [row]


SQUARE = [[2.0, 3.0, 12.0, 3.0, 12.0, 11.0, 2.0, 11.0]]
TABLE = pixels(SQUARE, 20, 30)


def issues(result: Any) -> dict[str, tuple[Severity, int]]:
    return {issue.code: (issue.severity, issue.count) for issue in result.issues}


@pytest.mark.parametrize("form", [SQUARE, as_runs(TABLE), as_counts(TABLE), None, []])
def test_every_form_of_a_mask_is_the_same_mask(form: Any) -> None:
    """A box is drawn where there is no mask, and truths among those are noted."""
    result = evaluated(*one_page(form, SQUARE))
    assert result["mean_iou@0.5"] == 1.0
    assert ("mask-missing" in issues(result)) == (form in (None, []))
    assert evaluated(*one_page(SQUARE, form))["mean_iou@0.5"] == 1.0


def broken(code: str) -> list[Any]:
    counts = as_counts(TABLE)
    ring = lambda *numbers: [list(numbers)]
    return {
        "mask-size": [
            {**counts, "size": [30, 20]}, {**counts, "size": [20]}, {**counts, "size": "x"}, {"counts": counts["counts"]},
        ],
        "mask-runs": [
            {"size": [20, 30], "counts": [0, 601]}, {"size": [20, 30], "counts": [5, -1, 6]}, {"size": [20, 30], "counts": "@"},
        ],
        "mask-counts": [
            {"size": [20, 30], "counts": "5 4"}, {"size": [20, 30], "counts": "P"}, {"size": [20, 30], "counts": "1p0"},
            {"size": [20, 30]},
        ],
        "mask-ring": [
            ring(1, 1, 5, 5), [[1, 1], [2, 2, 3, 3]], [[]], ring(1, 1, 5, 5, 4.1e8, 3), [1, 2, 3, 4, 5, 6],
        ],
    }[code]  # fmt: skip


@pytest.mark.parametrize("code", ["mask-size", "mask-runs", "mask-counts", "mask-ring"])
def test_masks_that_are_none_are_invalid_named_and_counted(tmp_path: Path, code: str) -> None:
    for form in broken(code):
        truth, results = one_page(SQUARE, form)
        results.append({**results[0], "score": 0.5, "segmentation": SQUARE})
        path = tmp_path / "results.json"
        path.write_text(json.dumps(results))
        for found in (results, path):
            result = evaluated(truth, found)
            assert issues(result) == {code: (Severity.LOSS, 1)}, form
            assert result["tp@0.5"] == 1
            assert result["fp@0.5"] == 0
            assert result["AP"] == pytest.approx(1.0)  # it is outside AP, too
            assert [row["outcome"] for row in result.outcomes().rows()].count("invalid") == 1


def test_infinite_numbers_are_no_ring() -> None:
    result = evaluated(*one_page(SQUARE, [[0.0, 0.0, float("inf"), 5.0, 3.0, 3.0]]))
    assert issues(result) == {"mask-ring": (Severity.LOSS, 1)}


def test_an_empty_mask_takes_part_and_matches_nothing() -> None:
    for form in ({"size": [20, 30], "counts": []}, {"size": [20, 30], "counts": [600]}, [[40.0, 1, 45, 1, 45, 9]]):
        result = evaluated(*one_page(SQUARE, form))
        assert issues(result)["mask-empty"] == (Severity.NOTE, 1)
        assert (result["tp@0.5"], result["fp@0.5"], result["fn@0.5"]) == (0, 1, 1)


def test_an_odd_last_number_is_dropped_and_noted() -> None:
    result = evaluated(*one_page(SQUARE, [[*SQUARE[0], 7.0]]))
    assert result["mean_iou@0.5"] == 1.0
    assert issues(result)["mask-odd"] == (Severity.NOTE, 1)


def test_a_page_without_a_size_is_refused_where_something_is_drawn() -> None:
    for truth, found in (
        one_page(SQUARE, as_counts(TABLE), None),
        one_page(as_counts(TABLE), SQUARE, None),
        one_page(as_counts(TABLE), None, None),
        one_page(SQUARE, SQUARE, (2**16, 2**15)),
    ):
        with pytest.raises(ContractError, match="the image 1 has no width and height"):
            evaluated(truth, found)


def test_a_page_size_that_is_asked_for_serves() -> None:
    truth, found = one_page(SQUARE, as_counts(TABLE), None)
    assert evaluated(truth, found, page_size=(30, 20))["mean_iou@0.5"] == 1.0


def test_runs_bring_their_size_where_the_page_has_none() -> None:
    assert evaluated(*one_page(as_runs(TABLE), as_counts(TABLE), None))["mean_iou@0.5"] == 1.0
    other = as_counts(np.ones((5, 5), np.uint8))
    assert issues(evaluated(*one_page(as_runs(TABLE), other, None))) == {"mask-size": (Severity.LOSS, 1)}


def test_masks_that_nobody_asked_for_are_noted() -> None:
    truth, results = one_page(SQUARE, SQUARE)
    note = list(Evaluator(Detection()).update(truth, results).compute().issues)
    assert [(issue.code, issue.help) for issue in note] == [("masks-not-evaluated", "pass --on masks")]
    assert "1 in the truth, 1 in the predictions" in note[0].message
    assert Evaluator(Detection(on="boxes")).update(truth, results).compute().issues == ()


@pytest.mark.parametrize("on", ["shapes", "boxes", "masks"])
def test_an_object_without_a_box_has_that_of_its_pixels(on: Any) -> None:
    truth, results = one_page(SQUARE, as_counts(TABLE))
    expected = tools.toBbox(tools.encode(np.asfortranarray(TABLE))).tolist()
    del results[0]["bbox"], truth["annotations"][0]["bbox"]
    result = Evaluator(Detection(on=on)).update(truth, results).compute()
    assert [row["box"] for row in result.outcomes().rows()] == [expected, expected]
    assert result["mean_iou@0.5"] == 1.0


def test_sizes_of_predictions_are_those_of_their_boxes_if_the_first_has_one() -> None:
    """A prediction of 2,000 pixels in a box of 900 is small for COCO, unless no prediction has a box."""
    table = np.zeros((60, 60), np.uint8)
    table[:50, :40] = 1
    truth, results = one_page(as_counts(np.zeros((60, 60), np.uint8)), as_counts(table), (60, 60))
    truth["annotations"][0] |= {"area": 100.0, "iscrowd": 0}
    results.append({**results[0], "segmentation": as_counts(table), "score": 0.3})
    for rows in (
        [{**row, "bbox": [0, 0, 30, 30]} for row in results],
        [{k: v for k, v in row.items() if k != "bbox"} for row in results],
    ):
        assert twelve(evaluated(truth, rows)) == pytest.approx(by_pycocotools(truth, rows), abs=1e-12)


def test_a_mask_of_a_hundred_megapixels_is_no_trouble(twin: str) -> None:
    if twin == "reference":
        pytest.skip("the reference draws point by point")
    ring = [[0.0, 0.0, 9_999.0, 0.0, 9_999.0, 9_999.0, 0.0, 9_999.0]]
    assert evaluated(*one_page(ring, ring, (10_000, 10_000)))["mean_iou@0.5"] == 1.0


IN_SHARES = {
    ("a", 0): [("Table", (0.1, 0.1, 0.5, 0.5)), ("Figure", (0.5, 0.5, 0.9, 0.9))],
    ("b", 1): [("Table", (0.1, 0.1, 0.3, 0.3))],
}
FOUND_IN_SHARES = {
    ("a", 0): [("Table", (0.1, 0.1, 0.5, 0.4), 0.9), ("Figure", (0.6, 0.5, 0.9, 0.9), 0.8)],
    ("b", 1): [("Table", (0.2, 0.2, 0.3, 0.3), 0.7)],
}


def test_shares_of_a_page_whose_size_is_given_are_drawn_on_it() -> None:
    """Where edges fall between pixels, a mask is what the box is."""
    sides = snapshot_truth(IN_SHARES), predictions(FOUND_IN_SHARES)
    drawn = Evaluator(Detection(on="masks", page_size=(100, 200))).update(*sides).compute().numbers
    boxes = Evaluator(Detection(on="boxes")).update(*sides).compute().numbers
    assert drawn["coco"]["AP"] == pytest.approx(boxes["coco"]["AP"])
    for level, block in boxes["metrics"].items():
        assert drawn["metrics"][level]["micro"] == pytest.approx(block["micro"])


@pytest.mark.parametrize(("pages", "more"), [(1, ""), (2, " (and 1 more)")])
def test_without_a_size_nothing_is_drawn_on_a_share_of_a_page(pages: int, more: str, tmp_path: Path) -> None:
    paths = []
    for name, tree in (
        ("t.json", snapshot_truth(dict([*IN_SHARES.items()][:pages]))),
        ("p.json", predictions(FOUND_IN_SHARES)),
    ):
        paths.append(tmp_path / name)
        paths[-1].write_text(json.dumps(tree))
    with pytest.raises(ContractError) as refused:
        Evaluator(Detection(on="masks")).update(*paths)
    (issue,) = refused.value.issues
    assert (issue.code, issue.file) == ("page-size", str(paths[0]))
    assert issue.message.startswith(f"page 0 of 'a'{more} has no width and height")


@pytest.mark.parametrize("on", ["boxes", "shapes", "masks"])
def test_a_mask_without_a_box_has_its_own_beside_boxes_that_cannot_be_used(on: Literal["boxes", "shapes", "masks"]) -> None:
    ring = [[10, 10, 20, 10, 20, 16, 10, 16]]
    row = {"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": ring}
    truth = {
        "images": [{"id": 1, "width": 50, "height": 40}],
        "categories": [{"id": 1, "name": "a"}],
        "annotations": [{**row, "id": 1, "bbox": [10, 10, 10, 6], "area": 60, "iscrowd": 0}],
    }
    for more in ([], [{**row, "bbox": [0, 0, -5, 5]}]):
        result = Evaluator(Detection(on=on)).update(truth, [row, *more]).compute()
        found = [each for each in result.outcomes().rows() if each["side"] == "prediction"]
        assert [(each["outcome"], each["box"]) for each in found] == [
            ("tp", [10.0, 10.0, 10.0, 6.0]), *[("invalid", [0.0, 0.0, -5.0, 5.0])] * len(more),
        ]  # fmt: skip
