"""Mask kernels, both twins: against pycocotools on drawn rings and strings, and against tables of pixels."""

from __future__ import annotations

import random
from itertools import pairwise
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as oracle

from calque.coco.runs import mask_areas, mask_bounds, runs_of_pixels
from calque.kernels.structs import MaskFault
from tests.examples import examples

Ring = list[float]


def ragged(rows: list[list[int]], kind: type = np.int64) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return np.array([value for row in rows for value in row], dtype=kind), offsets


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def letters(*texts: bytes) -> tuple[np.ndarray, np.ndarray]:
    return ragged([list(text) for text in texts], np.uint8)


def drawn(kernels: ModuleType, masks: list[list[Ring]], height: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rings = [ring for mask in masks for ring in mask]
    points = np.array([value for ring in rings for value in ring], dtype=np.float64).reshape(-1, 2)
    ring_offsets = np.cumsum([0, *(len(ring) // 2 for ring in rings)], dtype=np.int64)
    mask_offsets = np.cumsum([0, *map(len, masks)], dtype=np.int64)
    sizes = np.full(len(masks), height), np.full(len(masks), width)
    return kernels.masks_of_rings(points, ring_offsets, mask_offsets, *sizes)


def strings(kernels: ModuleType, intervals: np.ndarray, offsets: np.ndarray, places: int) -> list[bytes]:
    runs = kernels.runs_of_masks(intervals, offsets, np.full(len(offsets) - 1, places))
    text, bounds = kernels.mask_counts(*runs)
    return [text[start:end].tobytes() for start, end in pairwise(bounds.tolist())]


def random_ring(rng: random.Random, height: int, width: int) -> Ring:
    """Outside, tiny, with repeated vertices, crossing, on halves, fifths and tenths."""
    snap = rng.choice([None, 1, 2, 5, 10])
    reach = rng.choice([0.1, 1, 1, 2])
    ring: Ring = []
    for _ in range(rng.randint(3, 9)):
        if ring and rng.random() < 0.1:
            ring += ring[-2:]
            continue
        for size in (width, height):
            value = rng.uniform(-0.3, 1.3) * size * reach
            ring.append(value if snap is None else round(value * snap) / snap)
    return ring


@pytest.mark.parametrize("seed", range(12))
def test_rings_are_drawn_as_pycocotools_draws_them(kernels, seed):
    rng = random.Random(seed)
    height, width = rng.randint(0, 40), rng.randint(1, 40)
    rings = [random_ring(rng, height + 1, width + 1) for _ in range(20)]
    intervals, offsets, faults = drawn(kernels, [[ring] for ring in rings], height, width)
    assert not faults.any()
    expected = [row["counts"] for row in oracle.frPyObjects([list(map(float, ring)) for ring in rings], height, width)]
    assert strings(kernels, intervals, offsets, height * width) == expected


def test_large_rings_are_drawn_alike(native, reference):
    rng = random.Random(3)
    rings = [[rng.uniform(-3000, 9000) for _ in range(2 * rng.randint(3, 6))] for _ in range(6)]
    ours = drawn(native, [[ring] for ring in rings], 4000, 5000)
    for one, other in zip(ours, drawn(reference, [[ring] for ring in rings], 4000, 5000), strict=True):
        np.testing.assert_array_equal(one, other)
    assert strings(native, *ours[:2], 20_000_000) == [row["counts"] for row in oracle.frPyObjects(rings, 4000, 5000)]


def test_parts_are_united_and_an_inner_ring_is_no_hole(kernels):
    outer, inner, apart = [0, 0, 6, 0, 6, 6, 0, 6], [2, 2, 4, 2, 4, 4, 2, 4], [7, 7, 8, 7, 8, 8, 7, 8]
    intervals, offsets, faults = drawn(kernels, [[outer, inner, apart], [inner], [], [[1, 1, 5, 5]]], 8, 8)
    assert mask_areas(intervals, offsets).tolist() == [37, 4, 0, 0]
    assert faults.tolist() == [0, 0, 0, 0]
    merged = oracle.merge(oracle.frPyObjects([outer, inner, apart], 8, 8))
    assert strings(kernels, intervals, offsets, 64)[0] == merged["counts"]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 4.1e8, -5e9, 1e300])
def test_a_vertex_that_cannot_be_drawn_is_a_fault(kernels, bad):
    rings = [[[0, 0, 4, 0, 4, 4], [0, 0, bad, 0, 4, 4]], [[0, 0, 4, 0, 4, 4]]]
    intervals, offsets, faults = drawn(kernels, rings, 5, 5)
    assert faults.tolist() == [MaskFault.RING, MaskFault.NONE]
    assert mask_areas(intervals, offsets).tolist() == [0, 6]


def test_the_farthest_vertices_are_drawn_at_once(native):
    ring = [-4e8, -4e8, 4e8, -3.9e8, 4e8, 4e8, -3e8, 4e8]
    intervals, offsets, faults = drawn(native, [[ring]], 10_000, 10_000)
    assert (faults.tolist(), mask_areas(intervals, offsets).tolist()) == ([0], [100_000_000])


def of_counts(
    kernels: ModuleType, counts: np.ndarray, offsets: np.ndarray, places: np.ndarray, jobs: int = 1
) -> tuple[np.ndarray, ...]:
    """The intervals of compressed strings, their offsets, and the fault of each string or of its runs."""
    runs, bounds, broken = kernels.mask_runs(counts, offsets, jobs)
    intervals, ends, faults = kernels.masks_of_runs(runs, bounds, places)
    return intervals, ends, np.where(broken > 0, broken, faults)


@st.composite
def pixel_tables(draw: st.DrawFn) -> np.ndarray:
    height, width = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    share = draw(st.sampled_from([0.05, 0.5, 0.95]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return (rng.random((draw(st.integers(1, 4)), height, width)) < share).astype(np.uint8)


def by_columns(tables: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(tables.transpose(0, 2, 1)).reshape(len(tables), -1)


def encoded(kernels: ModuleType, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    runs, offsets = runs_of_pixels(by_columns(tables))
    intervals, bounds, faults = kernels.masks_of_runs(runs, offsets, np.full(len(tables), tables[0].size))
    assert not faults.any()
    return intervals, bounds


@given(pixel_tables())
@examples(60)
def test_pixels_to_strings_and_back_as_pycocotools(kernels, tables):
    places = np.full(len(tables), tables[0].size)
    expected = [row["counts"] for row in oracle.encode(np.asfortranarray(tables.transpose(1, 2, 0)))]
    text, offsets = kernels.mask_counts(*runs_of_pixels(by_columns(tables)))
    assert [text[start:end].tobytes() for start, end in pairwise(offsets.tolist())] == expected
    intervals, bounds = encoded(kernels, tables)
    again, again_bounds, faults = of_counts(kernels, text, offsets, places)
    assert (again.tolist(), again_bounds.tolist(), faults.any()) == (intervals.tolist(), bounds.tolist(), False)
    assert strings(kernels, intervals, bounds, tables[0].size) == expected
    runs, run_offsets, faults = kernels.mask_runs(text, offsets)
    assert [column.tolist() for column in kernels.mask_counts(runs, run_offsets)] == [text.tolist(), offsets.tolist()]
    assert not faults.any()


@given(pixel_tables())
@examples(60)
def test_areas_bounds_and_overlaps_are_counts_of_pixels(kernels, tables):
    intervals, offsets = encoded(kernels, tables)
    assert mask_areas(intervals, offsets).tolist() == tables.sum(axis=(1, 2)).tolist()
    bounds = mask_bounds(intervals, offsets, np.full(len(tables), tables.shape[1]))
    expected = []
    for table in tables:
        rows, columns = np.nonzero(table)
        box = [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1] if len(rows) else [0, 0, 0, 0]
        # COCO's tools take the whole height as soon as a run goes on in the next column.
        if any(start // len(table) != (end - 1) // len(table) for start, end in encoded(kernels, table[None])[0].tolist()):
            box[1], box[3] = 0, len(table)
        expected.append(box)
    assert bounds.tolist() == expected
    first, second = (index.ravel() for index in np.indices((len(tables), len(tables))))
    shared = kernels.mask_overlaps(intervals, offsets, intervals, offsets, first, second)
    assert shared.tolist() == (tables[first] & tables[second]).sum(axis=(1, 2)).tolist()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"", MaskFault.NONE),
        (b"0", MaskFault.NONE),
        (b"6", MaskFault.NONE),
        (b"/", MaskFault.COUNTS),
        (b"p", MaskFault.COUNTS),
        (b"3P", MaskFault.COUNTS),
        (b"3\x00", MaskFault.COUNTS),
        (b"oooooooo0", MaskFault.COUNTS),
        (b"O", MaskFault.RUNS),
        (b"1234N", MaskFault.RUNS),
        (b"34", MaskFault.RUNS),
        (b"34z", MaskFault.COUNTS),
        (b"7", MaskFault.RUNS),
    ],
)
def test_a_broken_string_is_told_apart_from_one_that_is_too_long(kernels, text, fault):
    intervals, offsets, faults = of_counts(kernels, *letters(b"15", text, b"15"), ints(6, 6, 6))
    assert (faults.tolist(), offsets.tolist()) == ([0, fault, 0], [0, 1, 1, 2])
    assert intervals.tolist() == [[1, 6], [1, 6]]


def test_runs_of_length_0_are_allowed_anywhere_and_the_rest_is_background(kernels):
    runs = [[1, 0, 1, 2, 0, 1], [0, 0, 2, 0], [0, 6], [6, 0], [2, 1], []]
    intervals, offsets, faults = kernels.masks_of_runs(*ragged(runs), np.full(6, 6))
    assert [intervals[start:end].tolist() for start, end in pairwise(offsets.tolist())] == [
        [[2, 5]], [], [[0, 6]], [], [[2, 3]], []
    ]  # fmt: skip
    assert not faults.any()
    canonical, _ = kernels.runs_of_masks(intervals, offsets, np.full(6, 6))
    assert canonical.tolist() == [2, 3, 1, 6, 0, 6, 6, 2, 1, 3, 6]


def test_negative_runs_and_runs_beyond_the_page_are_faults(kernels):
    _, offsets, faults = kernels.masks_of_runs(*ragged([[-1, 3], [3, 4], [3, 3], [2**40]]), np.full(4, 6))
    assert (faults.tolist(), offsets.tolist()) == ([2, 2, 0, 2], [0, 0, 0, 1, 1])


@given(st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=6), max_size=4))
@examples(60)
def test_any_runs_survive_their_string(kernels, runs):
    text, offsets = kernels.mask_counts(*ragged(runs))
    again, again_offsets, faults = kernels.mask_runs(text, offsets)
    assert [again.tolist(), again_offsets.tolist(), faults.any()] == [*(column.tolist() for column in ragged(runs)), False]


@given(st.binary(max_size=12))
@examples(100)
def test_any_bytes_are_read_alike_by_both_twins(native, reference, text):
    for read in (lambda twin: twin.mask_runs(*letters(text)), lambda twin: of_counts(twin, *letters(text), ints(40))):
        ours, theirs = (read(twin) for twin in (native, reference))
        assert [column.tolist() for column in ours] == [column.tolist() for column in theirs]


def test_any_number_of_threads_gives_the_same_tables(native):
    rng = np.random.default_rng(5)
    tables = (rng.random((3000, 12, 10)) < 0.4).astype(np.uint8)
    counts = native.mask_counts(*runs_of_pixels(by_columns(tables)))
    places = np.full(3000, 120)
    one, many = (of_counts(native, *counts, places, jobs=jobs) for jobs in (1, 4))
    assert all((a == b).all() for a, b in zip(one, many, strict=True))
    assert mask_areas(*one[:2]).tolist() == tables.sum(axis=(1, 2)).tolist()


def test_tables_that_do_not_belong_together_are_refused(kernels):
    intervals, offsets, _ = kernels.masks_of_runs(*ragged([[1, 2]]), ints(6))
    with pytest.raises(ValueError, match="places must have a number"):
        kernels.masks_of_runs(*ragged([[1, 2]]), ints(2**31))
    with pytest.raises(ValueError, match="must rise from 0"):
        kernels.runs_of_masks(intervals, ints(0, 3), ints(6))
    for broken in ([[-1, 2]], [[3, 2]]):
        with pytest.raises(ValueError, match="an interval must begin at 0 or after it"):
            kernels.runs_of_masks(np.array(broken, dtype=np.int32), ints(0, 1), ints(6))
    with pytest.raises(ValueError, match="names a mask that does not exist"):
        kernels.mask_overlaps(intervals, offsets, intervals, offsets, ints(0), ints(1))
    with pytest.raises(ValueError, match="the same length"):
        kernels.mask_overlaps(intervals, offsets, intervals, offsets, ints(0), ints())
    with pytest.raises(ValueError, match="fewer than 2147483648 pixels"):
        kernels.masks_of_rings(np.zeros((0, 2)), ints(0), ints(0, 0), ints(2**16), ints(2**15))
