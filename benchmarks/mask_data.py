"""Seeded, made-up COCO sets with masks: truths as rings (crowds as runs), detections as compressed runs.

    python benchmarks/mask_data.py masks5k [--cache FOLDER]

prints, as JSON, where the files of each set are. pycocotools draws the masks. Images are made one by one, each from its own
seed, so that a smaller set is the beginning of a larger one.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from pycocotools import mask as tools

GENERATOR_VERSION = 1  # Part of the cache's key: raise it with any change to the bytes written.
DEFAULT_CACHE = Path(__file__).resolve().parent / ".cache"
SETS = {"masks1k": 1_250, "masks5k": 5_000, "masks20k": 20_000}
HEIGHT, WIDTH = 480, 640
CLASSES = 80
DETECTIONS = 40
CROWD_SHARE = 0.01
Random = np.random.Generator


def blob(rng: Random, x: float, y: float, radius: float, rough: float) -> list[float]:
    """A ring around a point, rough as an annotator's hand."""
    count = int(rng.integers(12, 40))
    angles = np.sort(rng.uniform(0, 2 * np.pi, count))
    radii = radius * (1 + rng.uniform(-rough, rough, count))
    points = np.stack([x + radii * np.cos(angles), y + 0.8 * radii * np.sin(angles)], axis=1)
    return [round(float(value), 2) for value in np.clip(points, 0, (WIDTH, HEIGHT)).reshape(-1)]


def moved(rng: Random, ring: list[float], by: float) -> list[float]:
    """The ring elsewhere, and with other bumps."""
    shift = rng.normal(0, by, 2)
    noise = rng.normal(0, by / 2, len(ring))
    return [round(float(value), 2) for value in np.array(ring) + np.tile(shift, len(ring) // 2) + noise]


def image(number: int) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """One image with its annotations and its detections."""
    rng = np.random.default_rng((18, number))
    truths, found = [], []
    rings = [
        blob(rng, *rng.uniform((0, 0), (WIDTH, HEIGHT)), float(np.exp(rng.normal(4.1, 0.7))), 0.15)
        for _ in range(int(rng.integers(3, 12)))
    ]
    classes = [int(CLASSES * rng.random() ** 2) + 1 for _ in rings]
    for ring, label in zip(rings, classes, strict=True):
        truths.append(annotation(rng, number, ring, label))
    for _ in range(DETECTIONS):
        place = int(rng.integers(0, len(rings)))
        near = rng.random() < 0.7
        ring = (
            moved(rng, rings[place], float(rng.exponential(4)))
            if near
            else blob(rng, *rng.uniform((0, 0), (WIDTH, HEIGHT)), 60, 0.3)
        )
        label = classes[place] if near and rng.random() < 0.8 else int(rng.integers(1, CLASSES + 1))
        found.append(detection(number, ring, label, round(float(rng.beta(1, 3)), 5)))
    return {"id": number, "width": WIDTH, "height": HEIGHT, "file_name": f"{number:012}.jpg"}, truths, found


def drawn(ring: list[float]) -> dict[str, Any]:
    """The pixels of a ring as compressed runs."""
    made: dict[str, Any] = tools.merge(tools.frPyObjects([ring], HEIGHT, WIDTH))
    return made


def annotation(rng: Random, number: int, ring: list[float], label: int) -> dict[str, Any]:
    """A truth: a ring, or the runs of a crowd."""
    mask = drawn(ring)
    crowd = rng.random() < CROWD_SHARE
    segmentation: Any = [ring]
    if crowd:
        flat = tools.decode(mask).reshape(-1, order="F")
        edges = np.flatnonzero(np.diff(flat)) + 1
        runs = np.diff([0, *edges.tolist(), len(flat)]).tolist()
        segmentation = {"size": [HEIGHT, WIDTH], "counts": ([0] if flat[0] else []) + runs}
    return {
        "image_id": number,
        "category_id": label,
        "segmentation": segmentation,
        "area": float(tools.area(mask)),
        "bbox": tools.toBbox(mask).tolist(),
        "iscrowd": int(crowd),
    }


def detection(number: int, ring: list[float], label: int, score: float) -> dict[str, Any]:
    """A prediction: compressed runs and their box."""
    mask = drawn(ring)
    segmentation = {"size": [HEIGHT, WIDTH], "counts": mask["counts"].decode()}
    return {
        "image_id": number,
        "category_id": label,
        "bbox": tools.toBbox(mask).tolist(),
        "score": score,
        "segmentation": segmentation,
    }


def write(images: int, truth: IO[str], detections: IO[str]) -> None:
    """Both files, image by image; images and categories stand at the end of the truth."""
    entries = []
    truth.write('{"annotations": [')
    detections.write("[")
    count = 0
    for number in range(1, images + 1):
        entry, truths, found = image(number)
        entries.append(entry)
        for row in numbered(truths, count + 1):
            truth.write((", " if count else "") + json.dumps(row))
            count += 1
        detections.write(("" if number == 1 else ", ") + ", ".join(map(json.dumps, found)))
    categories = [{"id": code, "name": f"thing-{code:02d}"} for code in range(1, CLASSES + 1)]
    truth.write(f'], "images": {json.dumps(entries)}, "categories": {json.dumps(categories)}}}')
    detections.write("]")


def numbered(rows: list[dict[str, Any]], first: int) -> Iterator[dict[str, Any]]:
    """The rows with ids that go on from those before."""
    return ({"id": first + place, **row} for place, row in enumerate(rows))


def prepare(name: str, cache: Path) -> dict[str, str]:
    """The files of a set, made if they are not there."""
    folder = cache / f"{name}-v{GENERATOR_VERSION}"
    files = {file: folder / file for file in ("truth.json", "detections.json")}
    if not all(path.exists() for path in files.values()):
        folder.mkdir(parents=True, exist_ok=True)
        parts = [path.with_suffix(".part") for path in files.values()]
        with parts[0].open("w") as truth, parts[1].open("w") as detections:
            write(SETS[name], truth, detections)
        for part, path in zip(parts, files.values(), strict=True):
            os.replace(part, path)
    return {file: str(path) for file, path in files.items()}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=sorted(SETS), metavar="NAME")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    arguments = parser.parse_args()
    print(json.dumps({name: prepare(name, arguments.cache) for name in arguments.names}))


if __name__ == "__main__":
    main()
