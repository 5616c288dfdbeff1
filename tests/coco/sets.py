"""Made-up COCO sets with everything that scripts meet: rings, runs, crowds, ties, empty images, classes without truths."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
from pycocotools import mask

Tree = dict[str, Any]


def made(seed: int, *, images: int = 8, classes: int = 3, dense: int = 5, size: int = 60) -> tuple[Tree, list[Tree]]:
    """A data set and results for it."""
    rng = random.Random(seed)
    truth: Tree = {
        "info": {"description": "made up"},
        "images": [
            {
                "id": number * 3 + 1,
                "height": rng.randint(size // 2, size),
                "width": rng.randint(size // 2, size),
                "file_name": f"{number}.png",
            }
            for number in rng.sample(range(images), images)
        ],
        "categories": [
            {"id": number * 2 + 1, "name": f"k{number}", "supercategory": "xy"[number % 2]} for number in range(classes)
        ],
        "annotations": [],
    }
    found: list[Tree] = []
    for image in truth["images"]:
        if rng.random() < 0.15:
            continue
        for _ in range(rng.randint(0, dense)):
            row = _truth(rng, image, truth["categories"][: max(1, classes - 1)])
            truth["annotations"].append({"id": len(truth["annotations"]) + 1, **row})
            found += [_near(rng, row, image, truth["categories"]) for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))]
        strays = [_truth(rng, image, truth["categories"]) for _ in range(rng.randint(0, 2))]
        found += [_near(rng, row, image, truth["categories"]) for row in strays]
    rng.shuffle(truth["annotations"])
    rng.shuffle(found)
    return truth, found


def _ring(rng: random.Random, image: Tree) -> list[float]:
    x, y = rng.uniform(0, image["width"] * 0.8), rng.uniform(0, image["height"] * 0.8)
    reach = rng.choice([4, 10, 20, 35])
    turns = sorted(rng.uniform(0, 6.28) for _ in range(rng.randint(3, 7)))
    ring = [value for turn in turns for value in (x + reach * (1 + np.cos(turn)) / 2, y + reach * (1 + np.sin(turn)) / 2)]
    return [round(float(value), rng.choice([0, 1, 2])) for value in ring]


def _box(ring: list[float]) -> list[float]:
    x, y = min(ring[::2]), min(ring[1::2])
    return [x, y, round(max(ring[::2]) - x, 2), round(max(ring[1::2]) - y, 2)]


def _truth(rng: random.Random, image: Tree, categories: list[Tree]) -> Tree:
    ring = _ring(rng, image)
    parts = [ring] + ([_ring(rng, image)] if rng.random() < 0.15 else [])
    rle = mask.merge(mask.frPyObjects(parts, image["height"], image["width"]))
    crowd = int(rng.random() < 0.15)
    segmentation: Any = parts
    if crowd or rng.random() < 0.2:
        runs = mask.decode(rle).ravel(order="F")
        edges = np.flatnonzero(np.diff(np.concatenate([[0], runs, [2]])))
        segmentation = {"size": rle["size"], "counts": np.diff([0, *edges]).tolist()}
    elif rng.random() < 0.3:
        segmentation = {"size": rle["size"], "counts": rle["counts"].decode()}
    return {
        "image_id": image["id"],
        "category_id": rng.choice(categories)["id"],
        "bbox": _box(ring),
        "segmentation": segmentation,
        "area": float(mask.area(rle)) if rng.random() < 0.7 else round(rng.uniform(1, 12_000), 1),
        "iscrowd": crowd,
    }


def _near(rng: random.Random, row: Tree, image: Tree, categories: list[Tree]) -> Tree:
    """A detection somewhat off the truth, or exactly on it, now and then of another class; scores have ties."""
    x, y, width, height = row["bbox"]
    off = rng.choice([0, 0, 0.5, 1, 3])
    box = [x + rng.uniform(-off, off), y + rng.uniform(-off, off), width + rng.uniform(0, off), height + rng.uniform(0, off)]
    box = [round(value, 3) for value in box]
    left, top, right, bottom = box[0], box[1], box[0] + box[2], box[1] + box[3]
    ring = [left, top, right, top, right, bottom, left, bottom]
    if isinstance(row["segmentation"], list) and rng.random() < 0.6:
        ring = [value + rng.uniform(-off, off) for value in row["segmentation"][0]]
    rle = mask.merge(mask.frPyObjects([ring], image["height"], image["width"]))
    return {
        "image_id": image["id"],
        "category_id": row["category_id"] if rng.random() < 0.85 else rng.choice(categories)["id"],
        "bbox": box,
        "score": round(rng.random(), rng.choice([1, 3])),
        "segmentation": {"size": rle["size"], "counts": rle["counts"].decode()},
    }


def written(folder: Path, seed: int, **settings: int) -> tuple[str, str]:
    """The paths of both files."""
    paths = folder / "truth.json", folder / "found.json"
    for path, tree in zip(paths, made(seed, **settings), strict=True):
        path.write_text(json.dumps(tree))
    return str(paths[0]), str(paths[1])
