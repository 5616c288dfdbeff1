"""Run-length masks as columns of runs: what they cover, joined and compared as pycocotools does it.

Masks whose runs are canonical (none is 0 but the first, and all of them are the page) go to the kernels as intervals. The
others are walked run by run, for pycocotools' answers to them follow from its walk. Where that walk would never end, because
the runs of one mask end before those of the other, what is missing is background.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints
from calque.kernels import kernels
from calque.kernels.structs import MaskFault

FAULTS = {
    MaskFault.COUNTS: "its counts are no compressed runs: a character is outside 48 to 111, or a number is cut short",
    MaskFault.RUNS: "its counts hold a run that is negative or has more than 32 bits",
}
WORTH_A_THREAD = 1000
"""With so many masks."""
WRAP = 1 << 32
"""pycocotools counts in 32 bits."""


class Endless(Exception):
    """pycocotools would walk on for ever: the runs of one mask end before those of the other."""


class Packed(NamedTuple):
    """Many masks as they came: the counts of mask ``m`` are ``counts[offsets[m]:offsets[m + 1]]``."""

    sizes: Ints
    """Height and width of each."""
    counts: Bytes
    offsets: Ints

    @classmethod
    def of(cls, masks: Sequence[Mapping[str, Any]]) -> Packed:
        """The columns of masks with compressed counts; `TypeError` where these are not."""
        counts = [mask["counts"] for mask in masks]
        sizes = np.array([mask["size"] for mask in masks], dtype=np.float64).astype(np.int64)
        sizes = sizes if len(masks) else sizes.reshape(0, 2)
        if sizes.shape != (len(masks), 2) or (sizes < 0).any():
            raise ValueError("the size of a mask is its height and its width, none of them negative")
        try:
            joined = "".join(counts).encode("ascii")
        except (TypeError, UnicodeEncodeError):
            counts = [_text(text) for text in counts]
            joined = b"".join(counts)
        offsets = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, counts), np.int64, len(counts)), out=offsets[1:])
        return cls(sizes, np.frombuffer(joined, dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.sizes)

    def intervals(self) -> tuple[Codes, Ints] | None:
        """The foreground of the masks; ``None`` where a mask is not canonical, and only its runs tell pycocotools' answers."""
        jobs = (os.cpu_count() or 1) if len(self) > WORTH_A_THREAD else 1
        runs, offsets, faults = kernels().mask_runs(self.counts, self.offsets, jobs)
        masks = Runs([(height, width) for height, width in self.sizes.tolist()], runs, offsets)
        known = masks.canonical()
        return None if faults.any() or not known.all() else masks.intervals(known)


class Runs(NamedTuple):
    """Many masks: the runs of mask ``m`` are ``runs[offsets[m]:offsets[m + 1]]``, background first."""

    sizes: list[tuple[int, int]]
    runs: Ints
    offsets: Ints

    @classmethod
    def read(cls, masks: Sequence[Mapping[str, Any]]) -> Runs:
        """The runs of masks with compressed counts; `ValueError` where these are broken."""
        return cls.of_packed(Packed.of(masks))

    @classmethod
    def of_packed(cls, packed: Packed) -> Runs:
        """The same from their columns."""
        runs, offsets, faults = kernels().mask_runs(packed.counts, packed.offsets)
        if faults.any():
            number = int(np.flatnonzero(faults)[0])
            raise ValueError(f"mask {number} cannot be read: {FAULTS[MaskFault(int(faults[number]))]}")
        return cls([(height, width) for height, width in packed.sizes.tolist()], runs, offsets)

    def __len__(self) -> int:
        return len(self.sizes)

    def of(self, mask: int) -> list[int]:
        """The runs of one mask."""
        runs: list[int] = self.runs[self.offsets[mask] : self.offsets[mask + 1]].tolist()
        return runs

    def places(self) -> Ints:
        """How many pixels each page has."""
        return np.array([height * width for height, width in self.sizes], dtype=np.int64)

    def areas(self) -> Ints:
        """The sum of the foreground runs of each mask."""
        return self._sums(self._in_mask() % 2 == 1)

    def totals(self) -> Ints:
        """The sum of all runs of each mask."""
        return self._sums(np.ones(len(self.runs), dtype=np.bool_))

    def canonical(self) -> Flags:
        """Whether the kernels may have each mask."""
        places = self.places()
        inner_zeros = self._counts((self.runs == 0) & (self._in_mask() > 0))
        flags: Flags = (inner_zeros == 0) & (self.totals() == places) & (places < 1 << 31) & (np.diff(self.offsets) > 0)
        return flags

    def intervals(self, chosen: Flags) -> tuple[Codes, Ints]:
        """The foreground of the masks that are chosen; the others have none."""
        lengths = np.where(chosen, np.diff(self.offsets), 0)
        runs = self.runs[np.repeat(chosen, np.diff(self.offsets))]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        found, bounds, _ = kernels().masks_of_runs(runs, offsets, np.where(chosen, self.places(), 0))
        return found, bounds

    def _in_mask(self) -> Ints:
        """The number of each run in its mask."""
        return np.arange(len(self.runs)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    def _sums(self, chosen: Flags) -> Ints:
        before = np.concatenate([[0], np.cumsum(np.where(chosen, self.runs, 0))])
        sums: Ints = before[self.offsets[1:]] - before[self.offsets[:-1]]
        return sums

    def _counts(self, chosen: Flags) -> Ints:
        before = np.concatenate([[0], np.cumsum(chosen)])
        counts: Ints = before[self.offsets[1:]] - before[self.offsets[:-1]]
        return counts


def strings(runs: Ints, offsets: Ints) -> list[bytes]:
    """The compressed counts of runs."""
    text, bounds = kernels().mask_counts(runs, offsets)
    whole = text.tobytes()
    return [whole[start:end] for start, end in pairwise(bounds.tolist())]


def runs_of_pixels(pixels: Bytes) -> tuple[Ints, Ints]:
    """Return the runs of masks with one row of pixels each, and their offsets. Each change of the value ends a run."""
    runs = []
    for row in pixels:
        changes = np.flatnonzero(row[1:] != row[:-1]) + 1
        first = [0] if len(row) and row[0] else []
        runs.append(np.diff(np.concatenate([[0], first, changes, [len(row)]])))
    offsets = np.cumsum([0, *map(len, runs)], dtype=np.int64)
    return np.concatenate([np.zeros(0, np.int64), *runs]).astype(np.int64), offsets


def mask_areas(intervals: Codes, offsets: Ints) -> Ints:
    """Return the number of pixels of each mask."""
    before = np.concatenate([[0], np.cumsum(intervals[:, 1] - intervals[:, 0], dtype=np.int64)])
    areas: Ints = before[offsets[1:]] - before[offsets[:-1]]
    return areas


def mask_bounds(intervals: Codes, offsets: Ints, heights: Ints) -> Ints:
    """Return the first column and row of each mask and how many of each it spans; zeros for an empty mask."""
    sizes = np.diff(offsets)
    filled = np.flatnonzero(sizes)
    bounds = np.zeros((len(sizes), 4), dtype=np.int64)
    if len(filled):
        height, start = np.repeat(heights, sizes), offsets[:-1][filled]
        left, top = np.divmod(intervals[:, 0], height)
        right, bottom = np.divmod(intervals[:, 1] - 1, height)
        whole = left != right  # an interval over two columns reaches the bottom of one and the top of the next
        first, highest = left[start], np.minimum.reduceat(np.where(whole, 0, top), start)
        lowest = np.maximum.reduceat(np.where(whole, height - 1, bottom), start)
        columns = right[offsets[1:][filled] - 1] - first + 1
        bounds[filled] = np.stack([first, highest, columns, lowest - highest + 1], axis=1)
    return bounds


def uint32(values: Ints) -> Array:
    """Whole numbers as pycocotools hands them out."""
    return (values % WRAP).astype(np.uint32)


def boxes_of(masks: Runs) -> Floats:
    """The box around each mask."""
    known = masks.canonical()
    heights = np.array([height for height, _ in masks.sizes], dtype=np.int64)
    boxes: Floats = mask_bounds(*masks.intervals(known), heights).astype(np.float64)
    for mask in np.flatnonzero(~known).tolist():
        boxes[mask] = _box(masks.of(mask), *masks.sizes[mask])
    return boxes


def _box(runs: list[int], height: int, width: int) -> tuple[int, int, int, int]:
    """The box of any runs, by pycocotools' arithmetic in 32 bits: without a foreground pixel it lies outside the page."""
    if len(runs) < 2:
        return 0, 0, 0, 0
    left, top, right, bottom = width, height, 0, 0
    place = 0
    for number, run in enumerate(runs[: len(runs) // 2 * 2]):
        start, place = place, place + run
        if number % 2 == 0 or run == 0:
            continue
        if height == 0:
            raise ValueError("a page without rows has no foreground")
        (first, above), (last, below) = divmod(start, height), divmod(place - 1, height)
        left, right = min(left, first), max(right, last)
        top, bottom = (0, height - 1) if first < last else (min(top, above), max(bottom, below))
    return left, top, (right - left + 1) % WRAP, (bottom - top + 1) % WRAP


def decoded(masks: Runs) -> Bytes:
    """The pixels of masks, all of the size of the first: height, width, number. Places after the last run are background."""
    if not len(masks):
        raise ValueError("there is no mask to decode")
    (height, width), number = masks.sizes[0], len(masks)
    places, totals = height * width, masks.totals()
    if int(totals.sum()) > places * number or (int(totals.sum()) != places * number and (totals > places).any()):
        raise ValueError("Invalid RLE mask representation: the runs exceed the page")
    values = np.repeat((masks._in_mask() % 2).astype(np.uint8), masks.runs)
    if len(values) != places * number:
        whole = np.zeros((number, places), dtype=np.uint8)
        for mask, (start, end) in enumerate(pairwise([0, *np.cumsum(totals).tolist()])):
            whole[mask, : end - start] = values[start:end]
        values = whole.ravel()
    return values.reshape((height, width, number), order="F")


def merged(masks: Runs, intersect: bool) -> tuple[list[int], Ints]:
    """The size and the runs of what any mask has, or all of them; masks of different sizes have nothing, on no page."""
    if not len(masks):
        return [0, 0], np.zeros(0, dtype=np.int64)
    size = list(masks.sizes[0])
    if len(masks) == 1:
        return size, masks.runs
    if any(other != masks.sizes[0] for other in masks.sizes):
        return [0, 0], np.zeros(0, dtype=np.int64)
    if not masks.canonical().all():
        try:
            joined = masks.of(0)
            for mask in range(1, len(masks)):
                joined = _joined(joined, masks.of(mask), intersect)
        except Endless:
            if (masks.totals() > masks.places()).any():
                raise ValueError("masks cannot be merged: the runs of one exceed the page") from None
        else:
            return size, np.array(joined, dtype=np.int64)
    return size, _merged_intervals(masks, len(masks) if intersect else 1)


def _merged_intervals(masks: Runs, depth: int) -> Ints:
    """The canonical runs of what so many masks have at least."""
    intervals, _ = masks.intervals(np.ones(len(masks), dtype=np.bool_))
    edges = intervals.T.ravel()
    steps = np.repeat([1, -1], len(intervals))
    places, where = np.unique(edges, return_inverse=True)
    deep = np.cumsum(np.bincount(where, steps, len(places))) >= depth
    changes = places[np.diff(deep, prepend=False)]
    whole = changes.reshape(-1, 2).astype(np.int32)
    return kernels().runs_of_masks(whole, np.array([0, len(whole)], dtype=np.int64), masks.places()[:1])[0]


def _walk(first: list[int], second: list[int]) -> Iterator[tuple[int, bool, bool, bool]]:
    """The pieces in which neither mask changes: length, whether each mask has it, and whether it is the last.

    It ends where both have used up a run and their next one is 0, too, as pycocotools' does.
    """
    left, right = first[0] if first else 0, second[0] if second else 0
    in_first = in_second = False
    a = b = 1
    while True:
        length = min(left, right)
        before = in_first, in_second
        left, right = left - length, right - length
        moved = bool(length)
        if not left and a < len(first):
            left, in_first, moved, a = first[a], not in_first, True, a + 1
        if not right and b < len(second):
            right, in_second, moved, b = second[b], not in_second, True, b + 1
        if not moved and left + right:
            raise Endless
        yield length, *before, left + right == 0
        if left + right == 0:
            return


def _joined(first: list[int], second: list[int], intersect: bool) -> list[int]:
    pieces = list(_walk(first, second))
    has = [(a and b) if intersect else (a or b) for _, a, b, _ in pieces]
    # What the masks have after the last piece never shows, but decides whether it is written before the end is.
    runs, run = [], 0
    for number, (length, *_, last) in enumerate(pieces):
        run += length
        if last or has[number + 1] != has[number]:
            runs.append(run)
            run = 0
    return runs


def intersection_over_union(found: Packed, truth: Packed, crowd: Array) -> Floats:
    """Of every found mask with every truth: 0 where they share nothing, -1 where their sizes differ and their boxes meet."""
    if (found.sizes == truth.sizes[:1]).all() and (truth.sizes == truth.sizes[:1]).all():
        first, second = found.intervals(), truth.intervals()
        if first is not None and second is not None:
            return _of_one_size(first, second, crowd)
    return _of_any_runs(Runs.of_packed(found), Runs.of_packed(truth), crowd)


def _of_one_size(found: tuple[Codes, Ints], truth: tuple[Codes, Ints], crowd: Array) -> Floats:
    areas = [mask_areas(*masks) for masks in (found, truth)]
    founds, truths = len(areas[0]), len(areas[1])
    d, g = np.tile(np.arange(founds), truths), np.repeat(np.arange(truths), founds)
    shared = kernels().mask_overlaps(*found, *truth, d, g).reshape(truths, founds)
    union = np.where(crowd[:, None] != 0, areas[0][None, :], areas[0][None, :] + areas[1][:, None] - shared)
    overlap: Floats = shared / np.where(shared > 0, union, 1)
    return overlap.T


def _of_any_runs(found: Runs, truth: Runs, crowd: Array) -> Floats:
    from calque.geometry.boxes import iou_of_crowds

    overlap = np.asfortranarray(iou_of_crowds(boxes_of(found), boxes_of(truth), crowd))
    d, g = np.nonzero(overlap > 0)
    same = np.array([found.sizes[i] == truth.sizes[j] for i, j in zip(d.tolist(), g.tolist(), strict=True)], dtype=np.bool_)
    overlap[d[~same], g[~same]] = -1
    d, g = d[same], g[same]
    known = found.canonical(), truth.canonical()
    shared = kernels().mask_overlaps(*found.intervals(known[0]), *truth.intervals(known[1]), d, g)
    areas = found.areas(), truth.areas()
    union = areas[0][d] + areas[1][g] - shared
    for pair in np.flatnonzero(~(known[0][d] & known[1][g])).tolist():
        shared[pair], union[pair] = _shared(found, int(d[pair]), truth, int(g[pair]))
    union = np.where(crowd[g] != 0, areas[0][d] % WRAP, union)
    overlap[d, g] = np.where(shared > 0, shared / np.where(shared > 0, union, 1), 0.0)
    return overlap


def _shared(found: Runs, d: int, truth: Runs, g: int) -> tuple[int, int]:
    """Intersection and union of two masks of any runs."""
    try:
        pieces = list(_walk(found.of(d), truth.of(g)))
    except Endless:
        one = Runs(
            [found.sizes[d], truth.sizes[g]],
            np.array([*found.of(d), *truth.of(g)], dtype=np.int64),
            np.array([0, len(found.of(d)), len(found.of(d)) + len(truth.of(g))], dtype=np.int64),
        )
        if (one.totals() > one.places()).any():
            raise ValueError("masks cannot be compared: the runs of one exceed the page") from None
        both = one.intervals(np.ones(2, dtype=np.bool_))
        shared = int(kernels().mask_overlaps(*both, *both, np.array([0]), np.array([1]))[0])
        return shared, int(one.areas().sum()) - shared
    shared = sum(length for length, a, b, _ in pieces if a and b)
    return shared, sum(length for length, a, b, _ in pieces if a or b)


def _text(counts: Any) -> bytes:
    if isinstance(counts, str):
        return counts.encode()
    if isinstance(counts, bytes):
        return counts
    raise TypeError(
        f"counts must be a compressed string or bytes, not {type(counts).__name__}; see frPyObjects for lists of runs"
    )
