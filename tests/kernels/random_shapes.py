"""Random calls of the kernels of boxes, COCO's curves, polygons and masks, and what all random calls are made of."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from calque.geometry.forms import RECALL_POINTS, BoxForm
from calque.kernels.structs import (
    CocoSettings,
    CocoTruths,
    KindLimits,
    PageBoxes,
    PairOverlaps,
    RowMasks,
    RowRings,
    ScoreOrder,
    Verdicts,
)

Random = np.random.Generator
Call = Callable[[Random], tuple[Any, ...]]
ODD = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-160, 5e-324, -0.0, 0.0, -3.0, 4e8, 2.0**53)


def offsets(counts: Sequence[int] | np.ndarray) -> np.ndarray:
    """Where each part begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def ragged(rng: Random, parts: int, most: int) -> np.ndarray:
    """The offsets of some parts of random length."""
    return offsets(rng.integers(0, most + 1, parts))


def floats(rng: Random, *shape: int, odd: float = 0.05) -> np.ndarray:
    """Numbers on a coarse grid, so that many are equal, and some that no sane file has."""
    values = rng.choice([1.0, 1.0, 0.25, 0.1], 1) * rng.integers(-2, 12, shape) + rng.choice([0.0, 0.0, 1e-3]) * rng.random(
        shape
    )
    return np.where(rng.random(shape) < odd, rng.choice(ODD, shape), values)


def jobs(rng: Random) -> int:
    return int(rng.choice([1, 2, 3]))


# Boxes.


def side(rng: Random, pages: np.ndarray, *, odd: float = 0.05, rings: bool = False, masks: bool = False) -> PageBoxes:
    """The rows of one side on pages with these offsets."""
    rows = int(pages[-1])
    boxes = (
        np.sort(floats(rng, rows, 2, 2, odd=odd), axis=1).reshape(rows, 4)
        if rng.random() < 0.7
        else floats(rng, rows, 4, odd=odd)
    )
    return PageBoxes(
        np.ascontiguousarray(boxes),
        BoxForm.XYXY if rng.random() < 0.5 else BoxForm.XYWH,
        rng.choice([0, 1, 2, -1], rows, p=[0.5, 0.3, 0.15, 0.05]).astype(np.int32),
        pages,
        rng.choice([0, 1, 2], rows, p=[0.8, 0.1, 0.1]).astype(np.uint8),
        None,
        None,
        _rings(rng, rows) if rings else None,
        _masks(rng, rows) if masks else None,
    )


def _rings(rng: Random, rows: int) -> RowRings:
    parts = []
    for _ in range(rows):
        ring = np.round(rng.random((int(rng.integers(3, 8)), 2)) * 10, int(rng.integers(0, 3)))
        kept = [point for place, point in enumerate(ring.tolist()) if point != ring[place - 1].tolist()]
        parts.append(kept if len(kept) >= 3 and rng.random() < 0.7 else [])
    return RowRings(
        np.array([point for part in parts for point in part], np.float64).reshape(-1, 2), offsets([*map(len, parts)])
    )


def _masks(rng: Random, rows: int) -> RowMasks:
    """Masks as JSON text, sound or not."""
    draw = random.Random(int(rng.integers(2**32)))
    text, starts, ends = b"", [], []
    for _ in range(rows):
        runs = [draw.randint(0, 9) for _ in range(draw.randint(0, 8))]
        ring = [draw.choice([draw.uniform(-2, 14), draw.randint(0, 12)]) for _ in range(draw.choice([4, 6, 8, 9]))]
        known: list[Any] = [
            {"size": [12, 10], "counts": runs}, {"size": [12, 10], "counts": "0" * draw.randint(0, 5) + "54"}, [ring],
            {"counts": runs, "size": [3, 3]}, {"size": [12, 10], "counts": [-1, 5]}, None, "x", {}, [[1e400]], [[None]], 5,
        ]  # fmt: skip
        written = json.dumps(draw.choice(known)).encode() if draw.random() < 0.8 else b""
        starts.append(len(text))
        text += written
        ends.append(len(text))
    sizes = np.where(rng.random((rows, 1)) < 0.7, [[12, 10]], [[-1, -1]]).astype(np.int64).reshape(rows, 2)
    return RowMasks("", np.frombuffer(text + b"\0", np.uint8), np.array(starts, np.int64), np.array(ends, np.int64), sizes)


def sides(rng: Random, **more: Any) -> tuple[PageBoxes, PageBoxes]:
    """Both sides of a few pages."""
    pages = int(rng.integers(0, 4))
    return side(rng, ragged(rng, pages, 6), **more), side(rng, ragged(rng, pages, 8), **more)


def scores(rng: Random, rows: int) -> np.ndarray:
    drawn = rng.integers(0, 5, rows) / 4
    return np.where(rng.random(rows) < 0.1, rng.choice([np.nan, np.inf, -np.inf, -0.0, -1.5], rows), drawn)


def _greedy(rng: Random) -> tuple[Any, ...]:
    truth, found = sides(rng)
    return truth, found, scores(rng, len(found.boxes)), float(rng.choice([0.0, 0.3, 0.5, 1.0])), jobs(rng)


def _matches(rng: Random, truth: PageBoxes, found: PageBoxes) -> np.ndarray:
    """For some truths a found row of their page, each once."""
    match = np.full(len(truth.boxes), -1, np.int32)
    for page in range(len(truth.offsets) - 1):
        ours = range(truth.offsets[page], truth.offsets[page + 1])
        theirs = rng.permutation(np.arange(found.offsets[page], found.offsets[page + 1]))
        for row, partner in zip(ours, theirs, strict=False):
            match[row] = partner if rng.random() < 0.6 else -1
    return match


def _kinds(rng: Random) -> tuple[Any, ...]:
    truth, found = sides(rng, odd=0.0)
    return truth, found, scores(rng, len(found.boxes)), _matches(rng, truth, found), KindLimits(0.5, 0.1, 0.5, 0.8), jobs(rng)


def _two(**more: Any) -> Call:
    return lambda rng: (*sides(rng, **more), jobs(rng))


def _systems(rng: Random, rows: int) -> np.ndarray:
    return rng.integers(0, int(rng.choice([1, 3, 16])), rows).astype(np.uint8)


def _match_most(rng: Random) -> tuple[Any, ...]:
    truths, founds = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    edges = sorted({(int(rng.integers(truths)), int(rng.integers(founds))) for _ in range(int(rng.integers(0, 12)))})
    first, second = (np.array([edge[side] for edge in edges], np.int32) for side in (0, 1))
    return first, second, rng.integers(0, 1 << 16, len(edges)).astype(np.uint16), truths, founds


def _agreed(rng: Random) -> tuple[Any, ...]:
    _, found = sides(rng, odd=0.0)
    levels = np.sort(rng.choice([0.3, 0.5, 1.0], int(rng.integers(1, 4))))
    return found, _systems(rng, len(found.boxes)), rng.integers(0, 5, len(found.boxes)) / 4, levels, jobs(rng)


def _contacts(rng: Random) -> tuple[Any, ...]:
    truth, found = sides(rng, odd=0.0)
    return truth, found, _systems(rng, len(found.boxes)), float(rng.choice([0.3, 0.5, 1.0])), jobs(rng)


def _fused(rng: Random) -> tuple[Any, ...]:
    _, found = sides(rng, odd=0.0)
    rows = len(found.boxes)
    return found, rng.integers(0, 5, rows) / 4, _systems(rng, rows), float(rng.choice([0.3, 0.5, 1.0])), jobs(rng)


# COCO.


def _settings(rng: Random) -> CocoSettings:
    ranges = np.sort(rng.choice([0.0, 2.0, 9.0, 36.0, 1e10], (int(rng.integers(0, 4)), 2)), axis=1)
    return CocoSettings(
        np.sort(rng.choice([0.0, 0.1, 0.5, 0.75, 1.0], int(rng.integers(0, 17)))), ranges, int(rng.choice([0, 1, 3, 100]))
    )


def _facts(rng: Random, rows: int) -> CocoTruths:
    return CocoTruths(floats(rng, rows), (rng.random(rows) < 0.2).astype(np.uint8))


def _coco(rng: Random) -> tuple[Any, ...]:
    truth, found = sides(rng)
    return truth, _facts(rng, len(truth.boxes)), found, scores(rng, len(found.boxes)), _settings(rng), jobs(rng)


def _coco_given(rng: Random) -> tuple[Any, ...]:
    truth, found = sides(rng)
    page_of = np.repeat(np.arange(len(found.offsets) - 1), np.diff(found.offsets))
    named = []
    for row, page in enumerate(page_of.tolist()):
        rows = np.arange(truth.offsets[page], truth.offsets[page + 1])
        fitting = rows[truth.labels[rows] == found.labels[row]]
        named.append(fitting[rng.random(len(fitting)) < 0.7])
    flat = np.concatenate([np.zeros(0, np.int64), *named]).astype(np.int32)
    overlap = rng.choice([0.0, 0.3, 0.5, 0.5, 1.0], len(flat))
    pairs = PairOverlaps(offsets([*map(len, named)]), flat, overlap, floats(rng, len(found.boxes)))
    partners = bool(rng.random() < 0.5)
    return (
        truth,
        _facts(rng, len(truth.boxes)),
        found,
        scores(rng, len(found.boxes)),
        pairs,
        _settings(rng),
        partners,
        jobs(rng),
    )


def _score_order(rng: Random) -> tuple[Any, ...]:
    rows, classes = int(rng.choice([0, 5, 40, 1500])), int(rng.integers(1, 5))
    return rng.integers(-1, classes, rows).astype(np.int32), scores(rng, rows), classes, jobs(rng)


def _curves(rng: Random) -> tuple[ScoreOrder, np.ndarray, Verdicts, np.ndarray, int]:
    rows, classes, thresholds = int(rng.integers(0, 40)), int(rng.integers(1, 4)), int(rng.integers(1, 17))
    bounds = np.sort(np.concatenate([[0, rows], rng.integers(0, rows + 1, classes - 1)])).astype(np.int64)
    masks = [rng.integers(0, 1 << thresholds, rows).astype(np.uint16) for _ in range(2)]
    ranking = ScoreOrder(rng.permutation(rows).astype(np.int32), bounds)
    verdicts = Verdicts(rng.integers(-1, 5, rows).astype(np.int32), masks[0], masks[1] & masks[0])
    return ranking, scores(rng, rows), verdicts, rng.integers(0, 9, (thresholds, classes)), int(rng.choice([1, 3, 100]))


def _accumulate(rng: Random) -> tuple[Any, ...]:
    ranking, rated, verdicts, truths, most = _curves(rng)
    before = rng.integers(0, 5, (2, *truths.shape)) if rng.random() < 0.3 else None
    return ranking, rated, verdicts, truths, np.array(RECALL_POINTS), most, jobs(rng), before


# Polygons and masks.


def _simple_rings(rng: Random, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rings around a point, which do not cross themselves."""
    rings = []
    for _ in range(count):
        corners = int(rng.integers(3, 9))
        angles = (np.arange(corners) + 0.8 * rng.random(corners)) * 2 * np.pi / corners
        reach = rng.uniform(0.5, 5, corners) if rng.random() < 0.5 else np.full(corners, 3.0)
        rings.append(np.stack([5 + reach * np.cos(angles), 5 + reach * np.sin(angles)], axis=1) * rng.choice([1, 1, 1e-3, 1e6]))
    return np.concatenate([np.zeros((0, 2)), *rings]), offsets([*map(len, rings)])


def _any_rings(rng: Random) -> tuple[Any, ...]:
    bounds = offsets(rng.integers(3, 9, int(rng.integers(0, 5))))
    return floats(rng, int(bounds[-1]), 2), bounds


def index_pairs(rng: Random, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = int(rng.integers(0, 6)) if first and second else 0
    return rng.integers(0, max(first, 1), pairs), rng.integers(0, max(second, 1), pairs)


def _polygon_overlaps(rng: Random) -> tuple[Any, ...]:
    first, second = (_simple_rings(rng, int(rng.integers(0, 4))) for _ in range(2))
    return *first, *second, *index_pairs(rng, len(first[1]) - 1, len(second[1]) - 1), jobs(rng)


def _counts(rng: Random) -> tuple[np.ndarray, np.ndarray]:
    bounds = ragged(rng, int(rng.integers(0, 6)), 9)
    low, high = (48, 112) if rng.random() < 0.8 else (0, 256)
    return rng.integers(low, high, int(bounds[-1])).astype(np.uint8), bounds


def _places(rng: Random, count: int) -> np.ndarray:
    return rng.choice([0, 1, 40, 10_000, 2**31 - 1], count).astype(np.int64)


def _with_places(make: Callable[[Random], tuple[np.ndarray, np.ndarray]], *more: Callable[[Random], Any]) -> Call:
    def call(rng: Random) -> tuple[Any, ...]:
        values, bounds = make(rng)
        return values, bounds, _places(rng, len(bounds) - 1), *(one(rng) for one in more)

    return call


def _runs(rng: Random) -> tuple[np.ndarray, np.ndarray]:
    bounds = ragged(rng, int(rng.integers(0, 6)), 9)
    return rng.choice([0, 0, 1, 3, 7, 2**31, 2**32, -1], int(bounds[-1])).astype(np.int64), bounds


def _small_runs(rng: Random) -> tuple[np.ndarray, np.ndarray]:
    bounds = ragged(rng, int(rng.integers(0, 6)), 9)
    return rng.choice([0, 1, 3, 31, 32, 1000, 2**31], int(bounds[-1])).astype(np.int64), bounds


def _intervals(rng: Random, places: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Masks as intervals in order, with a gap between any two."""
    masks = []
    for _ in range(int(rng.integers(0, 5))):
        cuts = np.sort(rng.choice(places, 2 * int(rng.integers(0, 5)), replace=False)).reshape(-1, 2)
        masks.append(cuts)
    return np.concatenate([np.zeros((0, 2), np.int64), *masks]).astype(np.int32), offsets([*map(len, masks)])


def _runs_of_masks(rng: Random) -> tuple[Any, ...]:
    intervals, bounds = _intervals(rng)
    return intervals, bounds, np.full(len(bounds) - 1, 120)


def _mask_rings(rng: Random) -> tuple[Any, ...]:
    masks = ragged(rng, int(rng.integers(0, 4)), 3)
    rings = ragged(rng, int(masks[-1]), 7)
    vertices = int(rings[-1])
    odd = rng.choice([np.nan, np.inf, 4.1e8, -1e300, -0.0, 1e4], (vertices, 2))  # the reference walks along edges
    points = np.where(rng.random((vertices, 2)) < 0.03, odd, rng.uniform(-5, 25, (vertices, 2)))
    count = len(masks) - 1
    return points, rings, masks, rng.integers(0, 20, count), rng.integers(0, 20, count), jobs(rng)


def _mask_overlaps(rng: Random) -> tuple[Any, ...]:
    first, second = _intervals(rng), _intervals(rng)
    return *first, *second, *index_pairs(rng, len(first[1]) - 1, len(second[1]) - 1), jobs(rng)


SHAPE_CALLS: dict[str, Call] = {
    "match_greedy": _greedy,
    "match_best": _two(),
    "overlapping_pairs": _two(),
    "error_kinds": _kinds,
    "page_areas": _two(odd=0.0),
    "match_most": _match_most,
    "contacts": _contacts,
    "agreed_boxes": _agreed,
    "fuse_boxes": _fused,
    "shape_overlaps": _two(odd=0.0, rings=True),
    "mask_facts": lambda rng: (sides(rng, odd=0.0, masks=True)[0], jobs(rng)),
    "mask_pairs": _two(odd=0.0, masks=True),
    "coco_match": _coco,
    "coco_match_given": _coco_given,
    "score_order": _score_order,
    "coco_accumulate": _accumulate,
    "polygon_simple": _any_rings,
    "polygon_overlaps": _polygon_overlaps,
    "mask_runs": lambda rng: (*_counts(rng), jobs(rng)),
    "mask_counts": _small_runs,
    "masks_of_runs": _with_places(_runs),
    "runs_of_masks": _runs_of_masks,
    "masks_of_rings": _mask_rings,
    "mask_overlaps": _mask_overlaps,
}
