"""Masks in plain Python: the specification of the native mask kernels, to the bit as COCO's own tools have it.

Pixel (row, column) of a page has the place ``column * height + row``. A mask is the intervals ``[start, end)`` of its
foreground places, in order and with a gap between any two. Masks are ragged tables: mask ``m`` has the rows
``offsets[m]:offsets[m + 1]``. Runs alternate background and foreground, background first.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Floats, Ints
from calque.kernels.structs import MaskFault

Interval: TypeAlias = tuple[int, int]
Point: TypeAlias = tuple[int, int]

RUN_LIMIT = 1 << 32
MOST_GROUPS = 7
"""Seven groups of five bits hold every difference of two runs."""
MOST_PLACES = 1 << 31
MOST_TOGGLES = 1 << 22
"""So many columns of pixels a ring may cross, each time counted: it takes a few hundred megabytes to draw it."""
FARTHEST = 4e8
"""Five times as much still fits the 32 bits that COCO's tools have."""


class Faulty(Exception):
    """A mask that cannot be read."""

    def __init__(self, fault: MaskFault) -> None:
        super().__init__(fault)
        self.fault = fault


def mask_runs(counts: Bytes, offsets: Ints, jobs: int = 1) -> tuple[Ints, Ints, Bytes]:
    """The runs of compressed strings. A string with a fault has none."""
    del jobs  # the native kernel has threads
    return _made(lambda text: read_counts(text.tolist()), _split(counts, offsets), np.int64)


def mask_counts(runs: Ints, offsets: Ints) -> tuple[Bytes, Ints]:
    """The compressed strings of runs, each number in the fewest groups that keep its value and sign."""
    return _made(lambda each: _write_counts(each.tolist()), _split(runs, offsets), np.uint8)[:2]


def masks_of_runs(runs: Ints, offsets: Ints, places: Ints) -> tuple[Codes, Ints, Bytes]:
    """The intervals of runs; places after the last run are background."""
    given = zip(_split(runs, offsets), places.tolist(), strict=True)
    return _made(lambda one: read_runs(one[0].tolist(), one[1]), given, np.int32)


def runs_of_masks(intervals: Codes, offsets: Ints, places: Ints) -> tuple[Ints, Ints]:
    """The canonical runs of masks: no run is 0 but perhaps the first, and all of them are the page."""
    given = zip(_split(intervals, offsets), places.tolist(), strict=True)
    return _made(lambda one: _write_runs(one[0].tolist(), one[1]), given, np.int64)[:2]


def masks_of_rings(
    points: Floats, ring_offsets: Ints, mask_offsets: Ints, heights: Ints, widths: Ints, jobs: int = 1
) -> tuple[Codes, Ints, Bytes]:
    """What any ring of a mask covers, ring by ring even-odd; two vertices and fewer enclose nothing."""
    del jobs  # the native kernel has threads
    sizes = list(zip(heights.tolist(), widths.tolist(), strict=True))
    rings = [ring.tolist() for ring in _split(points, ring_offsets)]
    parts = [rings[start:end] for start, end in pairwise(mask_offsets.tolist())]
    given = zip(parts, sizes, strict=True)
    return _made(lambda one: united([drawn(ring, *one[1]) for ring in one[0]]), given, np.int32)


def mask_overlaps(
    first_intervals: Codes,
    first_offsets: Ints,
    second_intervals: Codes,
    second_offsets: Ints,
    first_index: Ints,
    second_index: Ints,
    jobs: int = 1,  # noqa: ARG001  # the native kernel has threads
) -> Ints:
    """How many pixels two masks share, for each pair of indices."""
    firsts, seconds = _split(first_intervals, first_offsets), _split(second_intervals, second_offsets)
    pairs = zip(first_index.tolist(), second_index.tolist(), strict=True)
    return np.array([shared_pixels(firsts[i].tolist(), seconds[j].tolist()) for i, j in pairs], dtype=np.int64)


def _split(rows: Array, offsets: Ints) -> list[Array]:
    return [rows[start:end] for start, end in pairwise(offsets.tolist())]


def _made(make: Callable[[Any], Sequence[Any]], given: Iterable[Any], kind: type[Any]) -> tuple[Array, Ints, Bytes]:
    """The table of what is made of each, and the fault of what cannot be made."""
    masks: list[Sequence[Any]] = []
    faults: list[MaskFault] = []
    for one in given:
        try:
            masks.append(make(one))
            faults.append(MaskFault.NONE)
        except Faulty as fault:
            masks.append([])
            faults.append(fault.fault)
    rows = np.array([row for mask in masks for row in mask], dtype=kind)
    shaped = rows.reshape(-1, 2) if kind is np.int32 else rows
    return shaped, np.cumsum([0, *map(len, masks)], dtype=np.int64), np.array(faults, dtype=np.uint8)


def read_counts(letters: list[int]) -> list[int]:
    """From the fourth number on, what is written is the difference to the number two before."""
    runs: list[int] = []
    groups: list[int] = []
    for letter in letters:
        bits = letter - 48
        if not 0 <= bits < 64 or len(groups) == MOST_GROUPS:
            raise Faulty(MaskFault.COUNTS)
        groups.append(bits & 31)
        if bits & 32:
            continue
        value = sum(group << 5 * place for place, group in enumerate(groups))
        if bits & 16:
            value -= 1 << 5 * len(groups)
        run = value + (runs[-2] if len(runs) > 2 else 0)
        if not 0 <= run < RUN_LIMIT:
            raise Faulty(MaskFault.RUNS)
        runs.append(run)
        groups = []
    if groups:
        raise Faulty(MaskFault.COUNTS)
    return runs


def _write_counts(runs: list[int]) -> list[int]:
    letters: list[int] = []
    for place, run in enumerate(runs):
        value = run - runs[place - 2] if place > 2 else run
        more = True
        while more:
            group = value & 31
            value >>= 5
            more = value != (-1 if group & 16 else 0)
            letters.append(48 + group + (32 if more else 0))
    return letters


def read_runs(runs: list[int], places: int) -> list[Interval]:
    """The foreground of runs that start with background."""
    intervals: list[Interval] = []
    place = 0
    for number, run in enumerate(runs):
        if not 0 <= run <= places - place:
            raise Faulty(MaskFault.RUNS)
        if number % 2 and run:
            joined = bool(intervals) and intervals[-1][1] == place
            start = intervals.pop()[0] if joined else place
            intervals.append((start, place + run))
        place += run
    return intervals


def _write_runs(intervals: list[Interval], places: int) -> list[int]:
    edges = [0, *(place for interval in intervals for place in interval), places]
    runs = [after - before for before, after in pairwise(edges)]
    return runs[:-1] if len(runs) > 1 and runs[-1] == 0 else runs


def bounds_of(intervals: list[Interval], height: int) -> tuple[int, int, int, int]:
    """The first column and row of a mask, and how many of each it spans."""
    if not intervals or not height:
        return 0, 0, 0, 0
    left, right = intervals[0][0] // height, (intervals[-1][1] - 1) // height
    if any(start // height != (end - 1) // height for start, end in intervals):
        return left, 0, right - left + 1, height
    top = min(start % height for start, _ in intervals)
    bottom = max((end - 1) % height for _, end in intervals)
    return left, top, right - left + 1, bottom - top + 1


def shared_pixels(first: list[Interval], second: list[Interval]) -> int:
    """Pixels of both: for each interval of the first, what the second has of it."""
    starts = [start for start, _ in second]
    before = np.cumsum([0, *(end - start for start, end in second)]).tolist()

    def up_to(place: int) -> int:
        """How many pixels of the second have a smaller place."""
        number = bisect_right(starts, place)
        beyond = max(second[number - 1][1] - place, 0) if number else 0
        return int(before[number] - beyond)

    return sum(up_to(end) - up_to(start) for start, end in first)


def united(parts: list[list[Interval]]) -> list[Interval]:
    """What any of the parts covers."""
    joined: list[Interval] = []
    for start, end in sorted(interval for part in parts for interval in part):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def drawn(ring: Sequence[tuple[float, float]], height: int, width: int) -> list[Interval]:
    """A pixel is in the mask when an odd number of toggles have a place up to its own."""
    if not all(math.isfinite(value) and abs(value) <= FARTHEST for vertex in ring for value in vertex):
        raise Faulty(MaskFault.RING)
    if len(ring) < 3:
        return []
    grid = [(int(5 * x + 0.5), int(5 * y + 0.5)) for x, y in ring]
    toggles: list[int] = []
    for start, end in zip(grid, [*grid[1:], grid[0]], strict=True):
        columns, above = _crossings(start, end, width)
        if len(toggles) + len(columns) > MOST_TOGGLES:
            raise Faulty(MaskFault.RING)
        rows = ((column, above(column)) for column in columns)
        toggles += [column * height + (0 if row < 0 else min(height, (row + 2) // 5)) for column, row in rows]
    toggles.sort()
    pairs = zip(toggles[::2], toggles[1::2], strict=True)
    return united([[(start, end) for start, end in pairs if start < end]])


def _crossings(start: Point, end: Point, width: int) -> tuple[range, Callable[[int], int]]:
    """Return the pixel columns whose center line an edge crosses, and a function that gives the y of a crossing.

    An edge is a row of grid points, five to a pixel. It crosses the line of a column between two of them, and the smaller y of
    the two counts. The direction of the edge does not matter.
    """
    dx, dy = abs(end[0] - start[0]), abs(end[1] - start[1])
    if dx == 0:
        return range(0), lambda _: 0
    if dx >= dy:
        (x, y), (far, other) = sorted([start, end], key=lambda point: point[0])
        slope = (other - y) / dx

        def flat(column: int) -> int:
            t = 5 * column + 2 - x
            return min(int(y + slope * t + 0.5), int(y + slope * (t + 1) + 0.5))

        return _columns(x, far, width), flat
    (x, y), (other, _) = sorted([start, end], key=lambda point: point[1])
    slope = (other - x) / dy

    def at(t: int) -> int:
        return int(x + slope * t + 0.5)

    def steep(column: int) -> int:
        line = 5 * column + 2
        steps = range(1, dy + 1)
        return y + bisect_left(steps, True, key=lambda t: at(t) > line if other > x else at(t) <= line)

    return _columns(min(at(0), at(dy)), max(at(0), at(dy)), width), steep


def _columns(left: int, right: int, width: int) -> range:
    """Return the columns of a page whose center line is between two grid points."""
    return range(max(0, (left + 2) // 5), min(width - 1, (right - 3) // 5) + 1)
