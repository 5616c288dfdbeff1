"""COCO files: AP and AR as pycocotools has them to 1e-12, and right where it is not."""

from __future__ import annotations

import contextlib
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from calque import ContractError, Detection, Evaluator, MergeError, Result, read
from calque.corpus.boxes import Flaw, Side

NAMES = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")
Tree = dict[str, Any]
Found = list[dict[str, Any]]


def theirs(truth: Tree, found: Found) -> COCOeval:
    """pycocotools' evaluation."""
    with contextlib.redirect_stdout(io.StringIO()):
        ground = COCO()
        ground.dataset = json.loads(json.dumps(truth))
        ground.createIndex()
        evaluation = COCOeval(ground, ground.loadRes(json.loads(json.dumps(found))), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation


def ours(truth: Any, found: Any, **settings: Any) -> Result:
    return Evaluator(Detection(**settings)).update(truth, found).compute()


def assert_same(truth: Tree, found: Found) -> None:
    expected, result = theirs(truth, found), ours(truth, found)
    for name, value in zip(NAMES, expected.stats, strict=True):
        assert result[name] == (None if value == -1 else pytest.approx(value, abs=1e-12)), name
    names = {category["id"]: category["name"] for category in truth["categories"]}
    for position, category in enumerate(expected.params.catIds):
        curve = expected.eval["precision"][:, :, position, 0, 2]
        value = curve[curve > -1].mean() if (curve > -1).any() else None
        assert result[names[category], "AP"] == (None if value is None else pytest.approx(value, abs=1e-12))


def generated(seed: int, *, images: int = 12, classes: int = 4, dense: int = 5, many: int = 1) -> tuple[Tree, Found]:
    """A set with crowds, ties in score, all sizes, classes without truths, and images without anything."""
    rng = random.Random(seed)
    truth: Tree = {
        "images": [{"id": 3 * k + 1, "width": 400, "height": 400} for k in rng.sample(range(images), images)],
        "categories": [{"id": 5 * k + 2, "name": f"class {k}"} for k in range(classes)],
        "annotations": [],
    }
    found: Found = []
    for image in truth["images"]:
        for _ in range(rng.randint(0, dense)):
            size = rng.choice([10, 40, 150])
            box = [rng.randint(0, 200), rng.randint(0, 200), rng.randint(1, size), rng.randint(1, size)]
            label = rng.choice(truth["categories"][:-1])["id"]
            row = {
                "image_id": image["id"],
                "category_id": label,
                "bbox": box,
                "area": box[2] * box[3] * rng.choice([1, 1, 0.7]),
            }
            truth["annotations"].append({**row, "id": len(truth["annotations"]) + 1, "iscrowd": int(rng.random() < 0.1)})
            for _ in range(rng.randint(0, 3 * many)):
                jitter = [value + rng.choice([0, 0, 1, -1, 3]) for value in box]
                jitter[2:] = [max(value, 0) for value in jitter[2:]]
                other = rng.choice(truth["categories"])["id"] if rng.random() < 0.2 else label
                found.append({"image_id": image["id"], "category_id": other, "bbox": jitter, "score": rng.randint(0, 9) / 10})
    found.append({"image_id": truth["images"][0]["id"], "category_id": 2, "bbox": [0, 0, 5, 5], "score": 0.05})
    rng.shuffle(found)
    return truth, found


@given(st.integers(0, 10_000))
def test_parity_on_generated_sets(kernels: str, seed: int) -> None:
    assert_same(*generated(seed))


def test_parity_with_more_detections_than_count(kernels: str) -> None:
    assert_same(*generated(1, images=2, classes=2, dense=4, many=60))


@pytest.mark.parametrize(
    "name", [pytest.param("newspaper-navigator/val_20_percent.json", marks=pytest.mark.long), "publaynet/samples.json"]
)
def test_parity_on_real_truth_with_generated_predictions(test_data: Path, kernels: str, name: str) -> None:
    truth = json.loads((test_data / name).read_text("utf-8"))
    rng = random.Random(5)
    found = []
    for row in truth["annotations"]:
        row["id"] += 1  # pycocotools does not find the annotation with id 0
        x, y, w, h = row["bbox"]
        for _ in range(rng.choice([0, 1, 1, 2])):
            box = [x + rng.gauss(0, 0.08) * w, y + rng.gauss(0, 0.08) * h, w * rng.uniform(0.8, 1.2), h * rng.uniform(0.8, 1.2)]
            found.append({"image_id": row["image_id"], "category_id": row["category_id"], "bbox": box, "score": rng.random()})
    assert_same(truth, found)


def test_files_are_sniffed_and_read_by_both_readers(tmp_path: Path, kernels: str) -> None:
    truth, found = generated(3)
    for name, tree in (("gt.json", truth), ("dt.json", found)):
        (tmp_path / name).write_text(json.dumps(tree), "utf-8")
    from_files = ours(tmp_path / "gt.json", tmp_path / "dt.json")
    assert from_files.numbers == ours(truth, found).numbers


# Right where pycocotools is not.

ONE: Tree = {
    "images": [{"id": 1}],
    "categories": [{"id": 1, "name": "Table"}],
    "annotations": [{"id": 0, "image_id": 1, "category_id": 1, "bbox": [0, 0, 100, 100]}],
}
HIT = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 100, 100], "score": 0.9}


def test_annotation_id_zero_and_missing_area_and_crowd() -> None:
    assert ours(ONE, [HIT])["AP"] == pytest.approx(1.0)


def test_no_predictions_at_all() -> None:
    result = ours(ONE, [])
    assert (result["AP"], result["AR100"], result["recall@0.5"]) == (0.0, 0.0, 0.0)
    assert result["precision@0.5"] is None


def test_string_ids() -> None:
    truth = json.loads(json.dumps(ONE).replace('"image_id": 1', '"image_id": "p-1"').replace('{"id": 1}', '{"id": "p-1"}'))
    assert ours(truth, [{**HIT, "image_id": "p-1"}])["AP"] == pytest.approx(1.0)


def test_any_number_of_detections() -> None:
    truth, found = generated(8, images=2, classes=2, dense=4, many=60)
    few, most = ours(truth, found, max_detections=(1, 5)), ours(truth, found, max_detections=(1, 10, 100_000))
    assert few["AP"] is not None
    assert few["AR5"] <= most["AR100000"]  # type: ignore[operator]
    assert few.numbers["coco"].keys() >= {"AR1", "AR5"}


def test_categories_of_the_same_name_are_told_apart() -> None:
    truth = {**ONE, "categories": [{"id": 1, "name": "Table"}, {"id": 2, "name": "Table"}]}
    assert list(ours(truth, [HIT]).numbers["coco"]["per_class"]) == ["Table (1)", "Table (2)"]


# Nothing is lost in silence.


@pytest.mark.parametrize(
    ("change", "code", "fp"),
    [
        ({"image_id": 99}, "unknown-image", 1),
        ({"category_id": 99}, "unknown-category", 0),
        ({"score": None}, "score-missing", 1),
        ({"score": float("nan")}, "score-missing", 1),
        ({"bbox": [0, 0, -5, 5]}, "box-invalid", 0),
        ({"bbox": [0, 0, float("inf"), 5]}, "box-invalid", 0),
    ],
)
def test_what_cannot_be_evaluated_is_counted(kernels: str, tmp_path: Path, change: dict[str, Any], code: str, fp: int) -> None:
    odd = {**HIT, "bbox": [300, 300, 10, 10], **change}
    for name, tree in (("gt.json", ONE), ("dt.json", [HIT, odd])):
        (tmp_path / name).write_text(json.dumps(tree), "utf-8")
    result = ours(tmp_path / "gt.json", tmp_path / "dt.json")
    assert [issue.code for issue in result.issues] == [code]
    assert result.incomplete
    assert result.numbers["metrics"]["0.5"]["micro"]["fp"] == fp
    assert result["AP"] == pytest.approx(1.0)  # never in AP
    rows = list(result.outcomes().rows())
    assert len(rows) == 3
    assert [row["label"] for row in rows if row["outcome"] == "invalid"] == ["" if code == "unknown-category" else "Table"] * (
        code != "unknown-image" and not fp
    )


def test_results_by_themselves_are_predictions_whoever_reads_them(tmp_path: Path) -> None:
    (tmp_path / "dt.json").write_text(json.dumps([HIT, {**HIT, "score": None}]), "utf-8")
    for side in ({}, {"side": "prediction"}):
        corpus = read(tmp_path / "dt.json", **side)
        assert (corpus.side, [issue.code for issue in corpus.issues]) == (Side.FOUND, ["score-missing"])
        assert corpus.flaws.tolist() == [0, Flaw.NO_SCORE]


def test_left_out_under_intersect() -> None:
    stray = {**HIT, "image_id": 99}
    assert ours(ONE, [HIT, stray], missing="intersect").numbers["metrics"]["0.5"]["micro"]["fp"] == 0


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ([{"image_id": 1, "category_id": 1, "score": 1}], "'bbox' is missing"),
        ([{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3], "score": 1}], "four numbers"),
        ([{"image_id": True, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 1}], "integer or a string"),
        ([{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": "high"}], "expected a number"),
        ([HIT, 7], "expected an object"),
    ],
)
def test_results_of_the_wrong_shape_are_refused(tree: Any, words: str) -> None:
    with pytest.raises(ContractError, match=words):
        ours(ONE, tree)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"images": [{"id": 1}, {"id": 1}]}, "also that of image"),
        ({"categories": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]}, "more than once"),
        ({"categories": None}, "array of categories"),
        ({"annotations": {}}, "expected an array"),
        ({"annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "iscrowd": 3}]}, "expected 0 or 1"),
    ],
)
def test_truth_of_the_wrong_shape_is_refused(change: Tree, words: str) -> None:
    with pytest.raises(ContractError, match=words):
        ours({**ONE, **change}, [HIT])


def test_a_truth_on_an_unknown_image_is_invalid_and_named() -> None:
    lost = {"id": 5, "image_id": 7, "category_id": 1, "bbox": [0, 0, 1, 1]}
    result = ours({**ONE, "annotations": [*ONE["annotations"], lost]}, [HIT])
    assert result.incomplete
    assert result["recall@0.5"] == 1.0
    assert [row["outcome"] for row in result.outcomes().rows()] == ["tp", "invalid", "tp"]


def test_results_as_truth_are_refused() -> None:
    with pytest.raises(ContractError, match="cannot be the truth"):
        ours([HIT], [HIT])


# Documents.


def grouped() -> tuple[Tree, Found]:
    truth, found = generated(4)
    for position, image in enumerate(truth["images"]):
        image["doc_name"] = f"doc {position % 3}"
        image["file_name"] = f"{image['id']}.png"
    return truth, found


def test_grouping_images_into_documents_changes_no_ap(kernels: str) -> None:
    truth, found = grouped()
    by_document, by_image = ours(truth, found), ours(truth, found, document_key="id")
    by_file = ours(truth, found, document_key="file_name")
    assert (by_document.numbers["counts"]["documents"], by_image.numbers["counts"]["documents"]) == (3, 12)
    assert by_document.numbers["coco"] == by_image.numbers["coco"] == by_file.numbers["coco"]
    assert by_document["recall@0.5"] == by_image["recall@0.5"]
    with pytest.raises(ContractError, match="did you mean 'doc_name'"):
        ours(truth, found, document_key="doc_nam")


def test_shards_by_image_merge_to_the_same_bits(kernels: str) -> None:
    truth, found = grouped()

    def part(keep: set[int]) -> Evaluator:
        images = [image for image in truth["images"] if image["id"] in keep]
        rows = [row for row in truth["annotations"] if row["image_id"] in keep]
        shard = {**truth, "images": images, "annotations": rows}
        return Evaluator(Detection(document_key="id")).update(shard, [row for row in found if row["image_id"] in keep])

    ids = sorted(image["id"] for image in truth["images"])
    merged = part(set(ids[::2])).merge(part(set(ids[1::2]))).compute()
    assert merged.numbers == ours(truth, found, document_key="id").numbers
    with pytest.raises(MergeError, match="--document-key file_name"):
        part(set(ids)).merge(part(set(ids[:1])))


# The drop-in.
