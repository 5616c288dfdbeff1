"""``calque.coco.mask`` beside ``pycocotools.mask``: the same answers, bit for bit, from both kernels."""

from __future__ import annotations

import random
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as theirs

from calque.coco import mask as ours
from calque.kernels import TWINS, VARIABLE, native_built
from tests.examples import examples
from tests.kernels.test_masks import random_ring


@pytest.fixture(autouse=True, params=list(TWINS))
def _kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "native" and not native_built():
        pytest.skip("calque was installed without a compiler")
    monkeypatch.setenv(VARIABLE, request.param)


def equal(one: Any, other: Any) -> bool:
    """Equal to the bit, with types, shapes and memory order."""
    if isinstance(one, np.ndarray | np.generic):
        same = type(one) is type(other) and one.dtype == other.dtype and one.shape == other.shape
        return same and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(equal(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


def agree(name: str, *args: Any) -> None:
    one, other = getattr(ours, name)(*args), getattr(theirs, name)(*args)
    assert equal(one, other), (name, args, one, other)


def uncompressed(height: int, width: int, runs: list[int]) -> dict[str, Any]:
    return theirs.frPyObjects({"size": [height, width], "counts": runs}, height, width)


@st.composite
def tables(draw: st.DrawFn, most: int = 4) -> np.ndarray:
    height, width, number = draw(st.integers(1, 9)), draw(st.integers(1, 9)), draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return np.asfortranarray(rng.random((height, width, number)) < draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])))


@given(tables())
@examples(120)
def test_pixels_and_masks(table):
    pixels = table.astype(np.uint8)
    for name, given_ in (("encode", pixels), ("encode", table), ("encode", pixels[:, :, 0].copy("F"))):
        agree(name, given_)
    masks = theirs.encode(pixels)
    assert ours.encode(np.ascontiguousarray(table)) == ours.encode(pixels[:, :, :]) == masks
    for name in ("decode", "area", "toBbox"):
        agree(name, masks)
        agree(name, masks[0])
        agree(name, {"size": tuple(masks[0]["size"]), "counts": masks[0]["counts"].decode()})
    for intersect in (0, 1, True, False):
        agree("merge", masks, intersect)
        agree("merge", masks[:1], intersect)
    crowd = [number % 2 for number in range(len(masks))]
    agree("iou", masks, masks, crowd)
    agree("iou", masks, masks[:1], np.array([True]))
    assert ours.encode(ours.decode(masks)) == masks
    assert ours.decode(masks).flags.f_contiguous


@st.composite
def same_totals(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Masks of one page whose runs are of any form, but all as long as the page: pycocotools ends, and answers.

    They have fewer runs than the page has pixels, or it would write beyond its memory.
    """
    height, width = draw(st.integers(5, 7)), draw(st.integers(5, 7))
    masks = []
    for _ in range(draw(st.integers(2, 4))):
        cuts = sorted(draw(st.lists(st.sampled_from([0, 1, 7, 12, 13, height * width]), max_size=5)))
        runs = np.diff([0, *cuts, height * width]).tolist()
        masks.append(uncompressed(height, width, runs))
    return masks


@given(same_totals(), st.booleans())
@examples(400)
def test_runs_of_length_0_in_every_place(masks, intersect):
    for name in ("decode", "area", "toBbox"):
        agree(name, masks)
    agree("merge", masks[:2], intersect)  # of two: what it makes of them may be too short for it to end with a third
    agree("iou", masks[:-1], masks, [number % 2 for number in range(len(masks))])


@pytest.mark.parametrize("seed", range(20))
def test_rings_boxes_and_runs_become_masks(seed):
    rng = random.Random(seed)
    height, width = rng.randint(1, 60), rng.randint(1, 60)
    rings = [random_ring(rng, height, width) for _ in range(8)]
    agree("frPyObjects", rings, height, width)
    agree("frPyObjects", [np.array(ring) for ring in rings], height, width)
    agree("frPyObjects", [tuple(ring) for ring in rings], np.int64(height), width)
    agree("frPyObjects", [[*ring, 3.5] for ring in rings], height, width)
    agree("frPyObjects", [rings[0], [1, 2], [1, 2, 3, 4], []], height, width)
    agree("frPyObjects", np.array([random_ring(rng, height, width)[:4] for _ in range(5)], dtype=np.float64), height, width)
    agree("frPyObjects", np.zeros((0, 4)), height, width)
    runs = np.diff(sorted(rng.sample(range(height * width + 1), 2)), prepend=0).tolist()
    plain = {"size": [height, width], "counts": runs}
    agree("frPyObjects", plain, 9, 9)
    agree("frPyObjects", [plain, {"size": (3, 4), "counts": np.array([1, 2, 9])}], 9, 9)
    parts = ours.frPyObjects(rings, height, width)
    agree("merge", parts)
    agree("iou", parts, parts[:3], [0, 1, 0])


def test_uncompressed_runs_keep_their_form():
    for runs in ([6, 0], [0, 0, 6], [1.7, 4.3], [], [1, 2, 0, 3], [4294967295, 1, 3000000000, 0, 5]):
        agree("frPyObjects", {"size": [2, 3], "counts": runs}, 2, 3)
    for runs in ([6, 0], [0, 0, 6], [1, 2], [1, 2, 30], [1, 0, 1, 2, 2], [3, 3, 0]):
        agree("area", uncompressed(2, 3, runs))
        agree("toBbox", uncompressed(2, 3, runs))
        agree("merge", [uncompressed(2, 3, runs)])


def random_boxes(rng: random.Random, number: int) -> list[list[float]]:
    values = [0, 1, 2, 3, 0.1, 0.7, 2.5, -1, 1e-320, 1e200]
    return [[rng.choice(values) for _ in range(4)] for _ in range(number)]


@pytest.mark.parametrize("seed", range(20))
def test_boxes_are_compared(seed):
    rng = random.Random(seed)
    found, truth = random_boxes(rng, 7), random_boxes(rng, 5)
    crowd = [rng.choice([0, 1, 2]) for _ in truth]
    agree("iou", found, truth, crowd)
    agree("iou", np.array(found), np.array(truth), np.array(crowd))
    agree("iou", np.array(found), truth, crowd)
    agree("iou", [np.array(box) for box in found], truth, crowd)
    agree("iou", found[:1], [[float("nan"), 0, 2, 2]], [0])
    agree("iou", [[0, 0, float("inf"), float("inf")]], [[0, 0, float("inf"), 2]], [0])
    assert ours.iou(found, truth, crowd).flags.f_contiguous


def test_nothing_and_masks_of_other_sizes():
    mask = uncompressed(2, 3, [1, 2, 3])
    other = uncompressed(3, 2, [1, 2, 3])
    for found, truth, crowd in (([], [mask], [0]), ([mask], [], []), ([], [], []), (np.zeros((0, 4)), [[0, 0, 1, 1]], [0])):
        assert ours.iou(found, truth, crowd) == theirs.iou(found, truth, crowd) == []
    agree("iou", [mask, other], [other, uncompressed(3, 2, [5, 1])], [0, 0])
    agree("merge", [mask, other])
    agree("merge", [mask, other], 1)
    agree("merge", [])
    agree("area", [])
    agree("toBbox", [])
    for counts in (b"", b"1", b"7"):  # no foreground at all
        agree("toBbox", [{"size": [2, 3], "counts": counts}])
    agree("decode", [mask, other])
    agree("encode", np.zeros((2, 3, 0), np.uint8, order="F"))
    agree("encode", np.zeros((0, 3), np.uint8, order="F"))
    agree("encode", np.asfortranarray(np.array([[0, 1, 2], [1, 2, 255]], np.uint8)))


def test_short_runs_are_background_where_pycocotools_never_ends():
    short, whole = uncompressed(2, 3, [1, 2]), uncompressed(2, 3, [1, 2, 3])
    assert ours.decode(short).tolist() == theirs.decode(whole).tolist()
    assert ours.decode([short, short]).tolist() == theirs.decode([whole, whole]).tolist()
    assert ours.iou([short], [whole], [0]).tolist() == [[1.0]]
    assert ours.iou([short], [short], [1]).tolist() == [[1.0]]
    assert (
        ours.merge([short, uncompressed(2, 3, [4, 1])])["counts"]
        == theirs.merge([whole, uncompressed(2, 3, [4, 1, 1])])["counts"]
    )
    assert ours.area({"size": [2, 3], "counts": ""}) == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ours.area({"size": [2, 3], "counts": "z1"}), ValueError, "mask 0 cannot be read.*outside 48 to 111"),
        (lambda: ours.area([uncompressed(1, 1, [1]), {"size": [2, 3], "counts": b"3P"}]), ValueError, "mask 1 .*cut short"),
        (lambda: ours.area({"size": [2, 3], "counts": "O"}), ValueError, "negative"),
        (lambda: ours.area({"size": [2, 3], "counts": "é"}), ValueError, "outside"),
        (lambda: ours.area({"size": [-2, 3], "counts": "6"}), ValueError, "negative"),
        (lambda: ours.decode(uncompressed(2, 3, [1, 2, 30])), ValueError, "exceed the page"),
        (lambda: ours.decode([uncompressed(2, 3, [7]), uncompressed(2, 3, [3])]), ValueError, "exceed the page"),
        (lambda: ours.decode([]), ValueError, "no mask"),
        (lambda: ours.decode({"size": [2, 3], "counts": [1, 2, 3]}), TypeError, "frPyObjects"),
        (lambda: ours.merge([uncompressed(2, 3, [1, 30]), uncompressed(2, 3, [1, 2, 3])]), ValueError, "exceed the page"),
        (lambda: ours.iou([uncompressed(2, 3, [1, 30])], [uncompressed(2, 3, [1, 2, 3])], [0]), ValueError, "exceed the page"),
        (lambda: ours.iou([[0, 0, 1, 1]], [uncompressed(2, 3, [6])], [0]), TypeError, "boxes with boxes"),
        (lambda: ours.iou([[0, 0, 1, 1]], [[0, 0, 1, 1]], []), ValueError, "0 entries for 1"),
        (lambda: ours.iou([[0, 0, 1, 1, 5]], [[0, 0, 1, 1, 5]], [0]), TypeError, "four numbers"),
        (lambda: ours.iou(np.zeros((1, 5)), [[0, 0, 1, 1]], [0]), ValueError, "four columns"),
        (lambda: ours.iou("ab", [[0, 0, 1, 1]], [0]), TypeError, "not as str"),
        (lambda: ours.merge(uncompressed(2, 3, [6])), TypeError, "a list of masks"),
        (lambda: ours.encode(np.zeros((2, 3))), ValueError, "uint8 or bool, not of float64"),
        (lambda: ours.encode(np.zeros(3, np.uint8)), ValueError, "2 or 3 axes"),
        (lambda: ours.frPyObjects([], 5, 5), TypeError, "neither"),
        (lambda: ours.frPyObjects([[]], 5, 5), TypeError, "neither"),
        (lambda: ours.frPyObjects(3, 5, 5), TypeError, "neither"),
        (lambda: ours.frPyObjects([[0, 0, float("nan"), 4, 4, 4]], 5, 5), ValueError, "ring 0 cannot be drawn"),
        (lambda: ours.frPyObjects([[0, 0, 5e8, 4, 4, 4]], 5, 5), ValueError, "within 4e8"),
        (lambda: ours.frPyObjects([[[0, 0], [4, 0], [4, 4], [0, 4], [1, 1]]], 5, 5), ValueError, "one list of numbers"),
        (lambda: ours.frPyObjects([[0, 0, 4, 0, 4, 4]], -5, 5), ValueError, "cannot be drawn on"),
        (lambda: ours.frPyObjects([[0, 0, 4, 0, 4, 4]], 2**16, 2**15), ValueError, "cannot be drawn on"),
        (lambda: ours.frPyObjects(np.zeros((2, 5)), 5, 5), ValueError, "four columns"),
        (lambda: ours.frPyObjects({"size": [2, 3], "counts": "15"}, 5, 5), TypeError, "compressed already"),
        (lambda: ours.frPyObjects({"size": [2, 3], "counts": [[1]]}, 5, 5), ValueError, "one list of runs"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_one_box_or_ring_by_itself_is_one_mask():
    assert ours.frPyObjects([0, 0, 2, 2], 5, 5) == theirs.frPyObjects(np.array([[0, 0, 2, 2.0]]), 5, 5)[0]
    assert ours.frPyObjects([[0, 0, 2, 2]], 5, 5) == theirs.frPyObjects(np.array([[0, 0, 2, 2.0]]), 5, 5)
    assert ours.frPyObjects([0, 0, 4, 0, 4, 4], 5, 5) == theirs.frPyObjects([[0, 0, 4, 0, 4, 4]], 5, 5)[0]


def test_a_hundred_megapixels():
    big = uncompressed(10_000, 10_000, [49_999_999, 2, 1, 3, 49_999_995])
    ring = ours.frPyObjects([[10.0, 10.0, 9_990.0, 20.0, 9_000.0, 9_990.0]], 10_000, 10_000)
    assert ring == theirs.frPyObjects([[10.0, 10.0, 9_990.0, 20.0, 9_000.0, 9_990.0]], 10_000, 10_000)
    agree("iou", [big], ring, [0])
    agree("toBbox", ring)
    assert int(ours.decode(big).sum()) == 5
    with pytest.raises(ValueError, match="exceed the page"):
        ours.decode({"size": [10, 10], "counts": big["counts"]})


def test_threads_may_encode_at_once():
    masks = [np.random.default_rng(seed).random((50, 40)) < 0.5 for seed in range(40)]
    with ThreadPool(4) as pool:
        found = pool.map(lambda mask: ours.encode(np.asarray(mask[:, :, None], order="F", dtype="uint8"))[0], masks)
    assert found == [theirs.encode(np.asfortranarray(mask)) for mask in masks]
