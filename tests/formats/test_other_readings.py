"""A wrong convention that costs recall is named by its cause, with both counts; good data, poor data and noise say nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Detection, Evaluator
from calque.base.errors import Issue, Severity
from calque.corpus.boxes import BoxCorpus
from calque.readers import read_pair
from calque.readers.sides.readings import CODES
from calque.sample import sample

WIDTH, HEIGHT = 1000.0, 1400.0
DOCUMENTS, PAGES, CLASSES = 12, 4, 4

Entry = dict[str, Any]
Change = Callable[[Entry], Entry]


def truth_entries(seed: int = 0) -> list[Entry]:
    """Three boxes a page, anywhere, as x, y, width, height; images are numbered from 1 with gaps of 10 between documents."""
    rng = random.Random(seed)
    listed = []
    for document in range(DOCUMENTS):
        for page in range(PAGES):
            for _ in range(3):
                width, height = rng.uniform(60, 400), rng.uniform(60, 400)
                box = [rng.uniform(0, WIDTH - width), rng.uniform(0, HEIGHT - height), width, height]
                place = {"document": document, "page": page, "image_id": 1 + 10 * document + page}
                listed.append({**place, "category_id": rng.randint(1, CLASSES), "bbox": box})
    return listed


def detected(entries: list[Entry], recall: float = 0.6, noise: float = 0.03, seed: int = 1) -> list[Entry]:
    """What a model might see: some of the truths, not quite in place, and as many boxes that are nothing."""
    rng = random.Random(seed)
    listed = []
    for entry in entries:
        if rng.random() < recall:
            x, y, width, height = entry["bbox"]
            box = [x + rng.gauss(0, noise) * width, y + rng.gauss(0, noise) * height, width, height]
            listed.append({**entry, "bbox": box, "score": rng.random()})
        if rng.random() < 0.4:
            box = [rng.uniform(0, 800), rng.uniform(0, 1200), rng.uniform(20, 200), rng.uniform(20, 200)]
            listed.append({**entry, "bbox": box, "category_id": rng.randint(1, CLASSES), "score": rng.random()})
    return listed


def coco(entries: list[Entry]) -> dict[str, Any]:
    images = dict.fromkeys(entry["image_id"] for entry in entries)
    keys = ("image_id", "category_id", "bbox")
    return {
        "images": [{"id": image, "file_name": f"scan-{image:03}.png", "width": WIDTH, "height": HEIGHT} for image in images],
        "categories": [{"id": number, "name": f"class {number}"} for number in range(1, CLASSES + 1)],
        "annotations": [{"id": row + 1, **{key: entry[key] for key in keys}} for row, entry in enumerate(entries)],
    }


def results(entries: list[Entry]) -> list[Entry]:
    return [{key: entry[key] for key in ("image_id", "category_id", "bbox", "score")} for entry in entries]


def plain(entries: list[Entry]) -> list[Entry]:
    """A list that leaves the meaning of a box open, with corners."""
    return [
        {
            "doc": f"d{entry['document']}",
            "page": entry["page"],
            "category": f"class {entry['category_id']}",
            "bbox": corners(entry["bbox"]),
            "width": WIDTH,
            "height": HEIGHT,
            **({"score": entry["score"]} if "score" in entry else {}),
        }
        for entry in entries
    ]


def corners(box: list[float]) -> list[float]:
    return [box[0], box[1], box[0] + box[2], box[1] + box[3]]


def slips(truth: Any, found: Any, **options: Any) -> list[Issue]:
    _, corpus = read_pair(truth, found, **options)
    told = [issue for issue in corpus.issues if issue.code in CODES]
    assert all(issue.severity is Severity.NOTE for issue in told), "nothing is lost by a slip"
    return told


def boxed(change: Callable[[list[float]], list[float]]) -> Change:
    return lambda entry: {**entry, "bbox": change(entry["bbox"])}


def keyed(key: str, change: Callable[[Any], Any]) -> Change:
    return lambda entry: {**entry, key: change(entry[key])}


IN_RESULTS: dict[str, tuple[str, Change]] = {
    "x and y swapped": ("axes-swapped", boxed(lambda b: [b[1], b[0], b[3], b[2]])),
    "origin at the bottom": ("origin-bottom", boxed(lambda b: [b[0], HEIGHT - b[1] - b[3], b[2], b[3]])),
    "corners": ("corners-for-sizes", boxed(corners)),
    "centres": ("centres-for-sizes", boxed(lambda b: [b[0] + b[2] / 2, b[1] + b[3] / 2, b[2], b[3]])),
    "shares": ("shares-for-pixels", boxed(lambda b: [b[0] / WIDTH, b[1] / HEIGHT, b[2] / WIDTH, b[3] / HEIGHT])),
    "percent": ("percent-for-pixels", boxed(lambda b: [b[0] / 10, b[1] / 14, b[2] / 10, b[3] / 14])),
    "thousandths": ("thousandths-for-pixels", boxed(lambda b: [b[0], b[1] / 1.4, b[2], b[3] / 1.4])),
    "image ids one too high": ("image-ids-shifted", keyed("image_id", lambda number: number + 1)),
    "image ids one too low": ("image-ids-shifted", keyed("image_id", lambda number: number - 1)),
    "class ids one too high": ("class-ids-shifted", keyed("category_id", lambda number: number + 1)),
    "class ids one too low": ("class-ids-shifted", keyed("category_id", lambda number: number - 1)),
    "ids as text": ("ids-as-text", keyed("image_id", str)),
    "file names for ids": ("file-names-for-ids", keyed("image_id", lambda number: f"scan-{number:03}.png")),
    "stems for ids": ("file-names-for-ids", keyed("image_id", lambda number: f"scan-{number:03}")),
}


@pytest.mark.parametrize("slip", IN_RESULTS)
@pytest.mark.parametrize("recall", [1.0, 0.6, 0.35])
def test_a_slip_in_results_is_named_with_both_counts(slip: str, recall: float) -> None:
    """The second count is what the right reading pairs, the first what the wrong one does."""
    code, change = IN_RESULTS[slip]
    truth = truth_entries()
    seen = detected(truth, recall)
    (note,) = slips(coco(truth), results([change(entry) for entry in seen]))
    assert note.code == code
    by_class = code == "class-ids-shifted"
    right = pairs(coco(truth), results(seen), by_class=by_class)
    assert f"but {right} would if" in note.message
    wrong = 0 if code in ("ids-as-text", "file-names-for-ids") else None
    assert wrong is None or f"none of {len(truth)} truths meets a prediction" in note.message
    assert note.help


def pairs(truth: Any, found: Any, *, by_class: bool) -> int:
    """True positives at IoU 0.5, with all classes taken for one unless they matter."""
    task = Detection(iou=(0.5,), class_map=() if by_class else (("*", "any"),))
    result = Evaluator(task).update(truth, found).compute()
    return int(result["tp@0.5"])


@pytest.mark.parametrize("slip", IN_RESULTS)
def test_a_slip_that_is_told_changes_nothing(slip: str) -> None:
    """Every box stays what and where the file says."""
    _, change = IN_RESULTS[slip]
    entries = truth_entries()
    listed = results([change(entry) for entry in detected(entries)])
    truth, found = read_pair(coco(entries), listed)
    assert isinstance(truth, BoxCorpus)
    assert isinstance(found, BoxCorpus)
    assert truth.boxes.tolist() == [entry["bbox"] for entry in entries]
    assert found.boxes.tolist() == [entry["bbox"] for entry in listed]
    assert [found.documents[code] for code in found.page_document[found.page]] == [entry["image_id"] for entry in listed]


@pytest.mark.parametrize("shift", [1, -1])
def test_page_numbers_that_count_from_one(shift: int) -> None:
    truth = truth_entries()
    seen = [{**entry, "page": entry["page"] + shift} for entry in detected(truth) if entry["page"] + shift >= 0]
    (note,) = slips(plain(truth), plain(seen))
    assert note.code == "page-numbers-shifted"
    assert ("too high" if shift > 0 else "too low") in note.message


def test_documents_that_only_some_files_name_with_an_extension() -> None:
    truth = truth_entries()
    seen = [{**entry, "doc": entry["doc"] + (".pdf" if entry["doc"] > "d2" else "")} for entry in plain(detected(truth))]
    (note,) = slips(plain(truth), seen)
    assert (note.code, note.help) == ("names-as-files", "pass --document-key stem")
    assert slips(plain(truth), seen, document_key="stem") == []


FORMS = {
    ("xyxy", "xywh"): "sizes-for-corners",
    ("xyxy", "cxcywh"): "centres-for-corners",
    ("xywh", "xyxy"): "corners-for-sizes",
    ("xywh", "cxcywh"): "centres-for-sizes",
    ("cxcywh", "xyxy"): "corners-for-centres",
    ("cxcywh", "xywh"): "sizes-for-centres",
}


def spelt(box: list[float], form: str) -> list[float]:
    x, y, width, height = box
    return {"xyxy": corners(box), "xywh": box, "cxcywh": [x + width / 2, y + height / 2, width, height]}[form]


@pytest.mark.parametrize(("read_as", "meant"), FORMS)
def test_boxes_in_another_form_are_told_with_the_option_that_reads_them(read_as: str, meant: str) -> None:
    truth = truth_entries()
    listed = [
        {"image_id": entry["image_id"], "category": f"class {entry['category_id']}", "bbox": spelt(entry["bbox"], meant)}
        for entry in detected(truth)
    ]
    found = [{"doc": entry.pop("image_id"), "page": 0, "score": 0.5, **entry} for entry in listed]
    (note,) = slips(coco(truth), found, boxes=read_as)
    assert (note.code, note.help) == (FORMS[read_as, meant], f"pass --boxes {meant}")
    assert slips(coco(truth), found, boxes=meant) == []


def test_a_slip_of_the_truth_is_told_of_the_truth() -> None:
    truth = truth_entries()
    sized = [{**entry, "bbox": source["bbox"]} for entry, source in zip(plain(truth), truth, strict=True)]
    notes = slips(sized, plain(detected(truth)))
    assert [note.code for note in notes] == ["sizes-for-corners"]
    assert "the boxes of the truth" in notes[0].message


@pytest.mark.parametrize("meant", ["xyxy", "xywh"])
def test_only_formats_that_leave_the_form_open_can_have_been_read_as_centres(meant: str) -> None:
    """COCO says what its four numbers are: whatever would pair, nobody is told that they were taken for centres."""

    def as_if_read_as_centres(box: list[float]) -> list[float]:
        x, y, width, height = spelt(box, meant)
        return [x - width / 2, y - height / 2, width, height]

    truth = truth_entries()
    found = results([{**entry, "bbox": as_if_read_as_centres(entry["bbox"])} for entry in detected(truth, recall=1.0)])
    told = {note.code for note in slips(coco(truth), found)}
    assert not told & {"corners-for-centres", "sizes-for-centres"}


def test_two_sides_upside_down_to_each_other_are_told_of_the_predictions() -> None:
    """It is the same for either side to be so: the truth is not accused because an option could turn it, too."""
    entries = truth_entries()
    truth = [{**entry, "doc": source["image_id"], "page": 0} for entry, source in zip(plain(entries), entries, strict=True)]
    seen = [IN_RESULTS["origin at the bottom"][1](entry) for entry in detected(entries)]
    found = coco(seen)
    for row, entry in zip(found["annotations"], seen, strict=True):
        row["score"] = entry["score"]
    (note,) = slips(truth, found)
    assert note.code == "origin-bottom"
    assert "the predicted boxes had their origin at the bottom" in note.message
    assert note.help == "no option reads it so: correct the file, or ask its producer"


def test_a_slip_of_an_open_truth_is_told_beside_predictions_that_leave_nothing_open() -> None:
    entries = truth_entries()
    sized = [
        {"doc": entry["image_id"], "page": 0, "category": f"class {entry['category_id']}", "bbox": entry["bbox"]}
        for entry in entries
    ]
    seen = detected(entries)
    found = coco(seen)
    for row, entry in zip(found["annotations"], seen, strict=True):
        row["score"] = entry["score"]
    (note,) = slips(sized, found, boxes="xyxy")
    assert (note.code, note.help) == ("sizes-for-corners", "pass --boxes xywh")
    assert "the boxes of the truth" in note.message


# What says nothing.


@given(
    st.integers(0, 10**6),
    st.floats(0.0, 1.0),
    st.sampled_from([0.0, 0.02, 0.1, 0.3]),
    st.sampled_from(["coco", "plain"]),
)
def test_good_and_poor_models_are_not_accused(seed: int, recall: float, noise: float, form: str) -> None:
    truth = truth_entries(seed)
    seen = detected(truth, recall, noise, seed + 1)
    both = (coco(truth), results(seen)) if form == "coco" else (plain(truth), plain(seen))
    assert slips(*both) == []


@given(st.integers(0, 10**6))
def test_boxes_that_have_nothing_to_do_with_each_other_are_not_accused(seed: int) -> None:
    truth, other = truth_entries(seed), truth_entries(seed + 1)
    assert slips(coco(truth), results([{**entry, "score": 0.5} for entry in other])) == []


@given(st.integers(0, 10**6))
def test_pages_that_all_look_alike_prove_nothing(seed: int) -> None:
    """Half of the truths are one form, the same on every page: any of its pages fits another as well."""
    form = [{**entry, "document": 0} for entry in truth_entries(seed)[:3]]
    truth = [{**entry, "document": document, "page": page} for document in range(10) for page in range(4) for entry in form]
    seen = [{**entry, "score": 0.5} for entry in truth if entry["page"] % 2]
    assert slips(plain(truth), plain(seen)) == []


def test_a_model_that_knows_one_class_only_is_not_accused_of_counting_classes_wrongly() -> None:
    truth = [{**entry, "category_id": 2 if row % 3 else 1} for row, entry in enumerate(truth_entries())]
    seen = [{**entry, "category_id": 1} for entry in detected(truth, recall=0.9)]
    assert slips(coco(truth), results(seen)) == []


def test_the_demo_is_not_accused() -> None:
    truth, *others = sample(documents=40).values()
    for found in others:
        assert slips(truth, found) == []


def test_real_sets_are_not_accused_as_they_are(test_data: Path) -> None:
    snapshots = test_data / "data-snapshot"
    for name in ("doclayout-yolo", "tfid_ref", "yolo11_ref"):
        assert slips(str(snapshots / "labelstudio_ref.json"), str(snapshots / f"{name}.json")) == []
    for path in (test_data / "newspaper-navigator" / "val_20_percent.json", test_data / "publaynet" / "samples.json"):
        truth = json.loads(path.read_text())
        found = [{**entry, "score": 0.5} for entry in truth["annotations"] if entry["id"] % 5]
        assert (
            slips(truth, [{key: entry[key] for key in ("image_id", "category_id", "bbox", "score")} for entry in found]) == []
        )


# The sample.


def test_the_sample_does_not_depend_on_the_order_of_the_file() -> None:
    truth = truth_entries()
    many = [{**entry, "image_id": entry["image_id"] + 1000 * turn} for turn in range(8) for entry in truth]
    seen = results([IN_RESULTS["x and y swapped"][1](entry) for entry in detected(many)])
    shuffled, (note,) = coco(many), slips(coco(many), seen)
    random.Random(3).shuffle(shuffled["images"])
    assert "on 120 pages that were looked at" in note.message
    assert slips(shuffled, seen) == [note]


def test_crowded_pages_are_thinned_and_still_told() -> None:
    rng = np.random.default_rng(0)
    boxes = np.concatenate([rng.uniform(0, 900, (4000, 2)), rng.uniform(5, 60, (4000, 2))], axis=1).tolist()
    entries = [{"image_id": row // 200, "category_id": 1, "bbox": box} for row, box in enumerate(boxes)]
    turned = [{**entry, "bbox": [entry["bbox"][place] for place in (1, 0, 3, 2)], "score": 0.5} for entry in entries]
    (note,) = slips(coco(entries), turned)
    assert note.code == "axes-swapped"
    assert "on 4 pages that were looked at" in note.message
