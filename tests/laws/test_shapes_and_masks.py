"""Laws of outlines and masks: what they have in common with boxes, and what no turn, split or number of workers changes."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from calque import Evaluator
from calque.base.columns import Outlines
from calque.corpus.boxes import BoxCorpus, Corpus
from calque.detection import Detection
from calque.layout import Layout
from calque.readers import read
from tests.mask_sets import coco_set

EVERYTHING: dict[str, Any] = {"page_view": True, "confusion": True, "sweep": True, "crops": True}


def result_of(truth: Any, found: Any, on: Any, jobs: int = 1, **settings: Any) -> Any:
    return Evaluator(Detection(on=on, **EVERYTHING, **settings), jobs=jobs).update(truth, found).compute()


def numbers(truth: Any, found: Any, on: Any, **more: Any) -> Any:
    return result_of(truth, found, on, **more).numbers


def rectangles(seed: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A COCO set of upright boxes on whole pixels, with crowds."""
    rng = random.Random(seed)
    truth: dict[str, Any] = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}
    results = []

    def box() -> list[int]:
        x, y = rng.randint(0, 40), rng.randint(0, 30)
        return [x, y, rng.randint(1, 60 - x), rng.randint(1, 50 - y)]

    for image in range(1, 9):
        truth["images"].append({"id": image, "width": 60, "height": 50})
        for _ in range(rng.randint(0, 5)):
            x, y, w, h = box()
            number = len(truth["annotations"]) + 1
            row = {"id": number, "image_id": image, "category_id": rng.choice([1, 2]), "bbox": [x, y, w, h]}
            truth["annotations"].append({**row, "area": w * h, "iscrowd": int(rng.random() < 0.15)})
            near = [x, y, max(w + rng.randint(-2, 0), 1), max(h + rng.randint(-2, 0), 1)]
            results.append({"image_id": image, "category_id": rng.choice([1, 2]), "bbox": near, "score": rng.random()})
        results += [
            {"image_id": image, "category_id": rng.choice([1, 2]), "bbox": box(), "score": rng.random()}
            for _ in range(rng.randint(0, 3))
        ]
    return truth, results


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("errors", ["kinds", "tide"])
def test_whole_pixel_rectangles_give_the_same_under_masks_and_boxes(seed: int, errors: str) -> None:
    truth, results = rectangles(seed)
    as_boxes, as_masks, as_shapes = (numbers(truth, results, on, errors=errors) for on in ("boxes", "masks", "shapes"))
    assert as_masks == as_boxes
    assert as_shapes == as_boxes


def outlined(seed: int, turn: bool) -> tuple[BoxCorpus, BoxCorpus]:
    """Outlines of every kind on two pages; turned by (x, y) → (3x − 4y, 4x + 3y) when asked for."""
    rng = random.Random(seed)
    sides: list[list[tuple[list[float], str, int, float]]] = [[], []]
    for page in range(2):
        for _ in range(6):
            count, x, y, r = rng.randint(3, 7), rng.uniform(10, 60), rng.uniform(10, 60), rng.uniform(4, 25)
            ring = [
                v for i in range(count) for v in (x + r * math.cos(i * 2.4), y + r * rng.uniform(0.5, 1) * math.sin(i * 2.4))
            ]
            label = rng.choice("ab")
            sides[0].append((ring, label, page, 0.0))
            if rng.random() < 0.8:
                near = [value + rng.uniform(-2, 2) for value in ring]
                sides[1].append((near, rng.choice(["a", "b", label, label]), page, rng.random()))
    return tuple(_corpus(rows, turn, scored=place == 1) for place, rows in enumerate(sides))  # type: ignore[return-value]


def _corpus(rows: list[tuple[list[float], str, int, float]], turn: bool, *, scored: bool) -> BoxCorpus:
    from dataclasses import replace

    rings = [_turned(ring) if turn else ring for ring, *_ in rows]
    boxes = [[min(ring[0::2]), min(ring[1::2]), max(ring[0::2]), max(ring[1::2])] for ring in rings]
    labels, pages, scores = ([row[place] for row in rows] for place in (1, 2, 3))
    corpus = Corpus.from_arrays(boxes, labels, pages=pages, scores=scores if scored else None, label_names=["a", "b"])
    return replace(corpus, outlines=Outlines.pack(rings))


def _turned(ring: list[float]) -> list[float]:
    return [v for x, y in zip(ring[0::2], ring[1::2], strict=True) for v in (3 * x - 4 * y, 4 * x + 3 * y)]


def flat(tree: Any, path: str = "") -> dict[str, Any]:
    if isinstance(tree, dict):
        return {k: v for key, value in tree.items() for k, v in flat(value, f"{path}/{key}").items()}
    if isinstance(tree, list):
        return {k: v for key, value in enumerate(tree) for k, v in flat(value, f"{path}/{key}").items()}
    return {path: tree}


AREAS = ("truth_area", "found_area", "missing", "overlap", "trespass", "excess", "excused")


@pytest.mark.parametrize("seed", range(5))
def test_a_turned_page_gives_the_same_shares(seed: int) -> None:
    """Turned, and five times as large: areas are 25 times as large, and nothing else moves. Crops are about boxes."""
    straight, turned = (
        flat({k: v for k, v in numbers(*outlined(seed, turn), "shapes").items() if k not in ("crops", "coco")})
        for turn in (False, True)
    )
    assert straight.keys() == turned.keys()
    for path, value in straight.items():
        scale = 25 if path.rpartition("/")[2] in AREAS else 1
        assert turned[path] == (pytest.approx(value * scale, rel=1e-9, abs=1e-9) if isinstance(value, float) else value), path


def sets() -> list[tuple[str, Any, Any]]:
    return [("masks", *coco_set(7, images=10)), ("shapes", *outlined(3, turn=False))]


@pytest.mark.parametrize("on", ["masks", "shapes"])
def test_kernels_and_workers_agree_to_the_bit(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, found = next(sides for name, *sides in sets() if name == on)
    seen = []
    for twin in ("native", "reference"):
        monkeypatch.setenv("CALQUE_KERNELS", twin)
        for jobs in (1, 3):
            seen += [(errors, numbers(truth, found, on, jobs=jobs, errors=errors)) for errors in ("kinds", "tide")]
    for errors in ("kinds", "tide"):
        mine = [tree for name, tree in seen if name == errors]
        assert all(tree == mine[0] for tree in mine)


def test_any_split_of_the_documents_gives_the_same_bits() -> None:
    truth, results = coco_set(11, images=9)
    whole = result_of(truth, results, "masks")
    expected, found = read(truth, side="ground_truth"), read(results, side="prediction")
    assert isinstance(found, BoxCorpus)
    parts = []
    for start in range(3):
        images = [image for image in truth["images"] if image["id"] % 3 == start]
        ids = {image["id"] for image in images}
        part = {**truth, "images": images, "annotations": [a for a in truth["annotations"] if a["image_id"] in ids]}
        rows = [row for row in results if row["image_id"] in ids]
        parts.append(Evaluator(Detection(on="masks", **EVERYTHING)).update(part, rows))
    merged = parts[2].merge(parts[0]).merge(parts[1]).compute()
    assert merged.numbers == whole.numbers
    assert len(expected.units()) == 9


def test_selected_documents_are_measured_anew() -> None:
    """What was measured of two sides together does not serve parts of them."""
    truth, results = coco_set(5, images=6)
    task = Detection(on="masks")
    ((expected, found),) = task.batches(truth, results)
    some = expected.units()[::2]
    one = Evaluator(task).update(expected.select(some), found.select(some)).compute()
    ids = set(some)
    part = {
        **truth,
        "images": [image for image in truth["images"] if image["id"] in ids],
        "annotations": [row for row in truth["annotations"] if row["image_id"] in ids],
    }
    two = Evaluator(task).update(part, [row for row in results if row["image_id"] in ids]).compute()
    assert one.numbers["metrics"] == two.numbers["metrics"]


def test_two_kinds_side_by_side_are_what_two_runs_give() -> None:
    truth, results = coco_set(13, images=9)
    for on, beside in (("masks", "boxes"), ("boxes", "masks"), ("shapes", "masks")):
        both = Evaluator(Detection(on=on, beside=beside)).update(truth, results).compute()  # type: ignore[arg-type]
        for kind in (on, beside):
            alone = Evaluator(Detection(on=kind)).update(truth, results).compute()  # type: ignore[arg-type]
            seen = both.numbers["beside"]["measures"]
            assert {name: values[kind] for name, values in seen.items()} == {name: alone[name] for name in seen}
        assert str(both.signature) == str(Evaluator(Detection(on=on)).update(truth, results).compute().signature)  # type: ignore[arg-type]


def test_layout_takes_outlines_too() -> None:
    truth, found = outlined(2, turn=False)
    exact, boxed = (Evaluator(Layout(on=on)).update(truth, found).compute().numbers for on in ("shapes", "boxes"))
    assert exact != boxed
    turned = Evaluator(Layout()).update(*outlined(2, turn=True)).compute().numbers
    assert turned["layout_matched_blocks"] == exact["layout_matched_blocks"]
