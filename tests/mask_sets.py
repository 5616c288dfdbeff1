"""Small COCO sets with masks of every kind, drawn at random: rings, runs, compressed runs, crowds, boxes and none."""

from __future__ import annotations

import math
import random
import warnings
from typing import Any

import numpy as np
from pycocotools import mask as tools

SIZES = ((40, 50), (64, 48), (33, 71))
"""Height and width of pages."""


def ring(rng: random.Random, height: int, width: int) -> list[float]:
    """A ring that may reach beyond the page, cross itself, or lie on halves and tenths."""
    count = rng.randint(3, 8)
    x, y, r = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(2, 20)
    snap = rng.choice([1, 2, 10, 1000])
    numbers = []
    for i in range(count):
        angle = 2 * math.pi * (i if rng.random() < 0.9 else rng.random() * count) / count
        numbers += [round((x + r * math.cos(angle)) * snap) / snap, round((y + r * math.sin(angle)) * snap) / snap]
    return numbers


def pixels(rings: list[list[float]], height: int, width: int) -> np.ndarray:
    """What pycocotools draws."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of pycocotools itself
        return tools.decode(tools.merge(tools.frPyObjects(rings, height, width)))


def as_runs(table: np.ndarray) -> dict[str, Any]:
    """Uncompressed runs."""
    flat = np.asarray(table, dtype=np.uint8).reshape(-1, order="F")
    edges = np.flatnonzero(np.diff(flat)) + 1
    runs = np.diff([0, *edges.tolist(), len(flat)]).tolist()
    return {"size": list(table.shape), "counts": ([0] if flat[0] else []) + runs}


def as_counts(table: np.ndarray) -> dict[str, Any]:
    made = tools.encode(np.asfortranarray(table, dtype=np.uint8))
    return {"size": made["size"], "counts": made["counts"].decode()}


def shifted(numbers: list[float], rng: random.Random, by: float) -> list[float]:
    return [value + rng.uniform(-by, by) for value in numbers]


def coco_set(seed: int, *, images: int = 8, boxes: bool = True) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Truth and results. Without ``boxes`` results have masks alone."""
    rng = random.Random(seed)
    truth: dict[str, Any] = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}
    results: list[dict[str, Any]] = []
    for image in range(1, images + 1):
        height, width = rng.choice(SIZES)
        truth["images"].append({"id": image, "height": height, "width": width})
        for _ in range(rng.randint(0, 5)):
            rings = [ring(rng, height, width) for _ in range(rng.choice([1, 1, 2]))]
            table = pixels(rings, height, width)
            crowd = rng.random() < 0.2
            form: Any = rng.choice([rings, as_runs(table), as_counts(table)]) if not crowd else as_runs(table)
            x, y, w, h = tools.toBbox(tools.encode(np.asfortranarray(table))).tolist()
            category = rng.choice([1, 2])
            truth["annotations"].append({
                "id": len(truth["annotations"]) + 1, "image_id": image, "category_id": category, "segmentation": form,
                "bbox": [x, y, w, h], "area": float(table.sum()) * rng.choice([1, 1, 30]), "iscrowd": int(crowd),
            })  # fmt: skip
            for _ in range(rng.choice([0, 1, 1, 2])):
                moved = [shifted(numbers, rng, rng.choice([0, 0.6, 3])) for numbers in rings]
                guess = pixels(moved, height, width)
                row = {
                    "image_id": image,
                    "category_id": rng.choice([category, category, 1, 2]),
                    "score": round(rng.random(), 2),
                }
                row["segmentation"] = as_counts(guess)
                if boxes:
                    row["bbox"] = tools.toBbox(tools.encode(np.asfortranarray(guess))).tolist()
                results.append(row)
        for _ in range(rng.randint(0, 2)):
            guess = pixels([ring(rng, height, width)], height, width)
            row = {"image_id": image, "category_id": rng.choice([1, 2]), "score": round(rng.random(), 2)}
            row["segmentation"] = as_counts(guess)
            if boxes:
                row["bbox"] = tools.toBbox(tools.encode(np.asfortranarray(guess))).tolist()
            results.append(row)
    return truth, results
