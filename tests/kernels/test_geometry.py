"""One geometry: plain Python, NumPy and both kernels give the same bits, and pycocotools' where boxes have sizes."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calque.geometry import boxes as columns
from calque.geometry import rectangles
from calque.geometry.forms import COCO_THRESHOLDS, DECIMAL_COCO_THRESHOLDS, DECIMAL_RECALL_POINTS, FAR, RECALL_POINTS, BoxForm
from calque.kernels.structs import PageBoxes
from calque.layout.api import bbox_iou

DENORMAL = 5e-324
coordinate = st.one_of(
    st.integers(0, 6).map(float),  # equal, touching and flat boxes
    st.floats(0, 1),
    st.floats(-1e4, 1e4),
    st.sampled_from([-FAR, -1e16, -0.0, DENORMAL, 3 * DENORMAL, 1e-200, 1e-160, 0.1 + 0.2, 1e16, 1e16 + 2, FAR]),
)
size = st.one_of(
    st.integers(0, 6).map(float),
    st.floats(0, 1e4),
    st.sampled_from([DENORMAL, 1e-200, 1e-160, 0.1 + 0.2, 1.5, 1e16, FAR]),
)


@st.composite
def with_corners(draw):
    across, down = sorted((draw(coordinate), draw(coordinate))), sorted((draw(coordinate), draw(coordinate)))
    return across[0], down[0], across[1], down[1]


with_sizes = st.tuples(coordinate, coordinate, size, size)


def pairs(boxes):
    return st.lists(st.tuples(boxes, boxes), min_size=1, max_size=20)


def table(boxes):
    return np.array(boxes, dtype=np.float64).reshape(-1, 4)


def in_columns(one, other, form):
    """Shared area and IoU of each pair, by NumPy."""
    a, b = columns.edges(table(one), form), columns.edges(table(other), form)
    shared = columns.intersection(a, b)
    return shared, columns.iou(shared, a.area, b.area)


def by_kernels(kernels, one, other, form):
    """The same by the kernels: each pair has a page of its own."""
    count = len(one)
    rest = form, np.zeros(count, np.int32), np.arange(count + 1, dtype=np.int64), np.zeros(count, np.uint8)
    sides = PageBoxes(table(one), *rest), PageBoxes(table(other), *rest)
    truth, found, areas = kernels.overlapping_pairs(*sides)
    shared = np.zeros(count)
    shared[truth] = areas
    assert truth.tolist() == found.tolist()
    greedy = kernels.match_greedy(*sides, np.zeros(count), -np.inf)[3]
    iou = np.where(np.isnan(greedy) & (shared == 0), 0.0, greedy)  # boxes that share nothing are no pair
    return shared, iou, kernels.match_best(*sides)[1]


def bits(numbers):
    return np.asarray(numbers, dtype=np.float64).tobytes()


@given(given_pairs=pairs(with_corners()))
@example(given_pairs=[((0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)), ((0.0, 0.0, 1.0, 1.0), (1.0, 0.0, 2.0, 1.0))])
@example(given_pairs=[((-FAR, -FAR, FAR, FAR), (0.0, -FAR, FAR, FAR)), ((0.0, 0.0, DENORMAL, 1.0), (0.0, 0.0, DENORMAL, 1.0))])
@example(given_pairs=[((0.0, 0.0, DENORMAL, DENORMAL), (0.0, 0.0, DENORMAL, DENORMAL))])
def test_boxes_with_corners_have_one_iou(kernels, given_pairs):
    one, other = zip(*given_pairs, strict=True)
    plain_shared = [rectangles.intersection(a, b) for a, b in given_pairs]
    plain = [rectangles.iou((*a, None), (*b, None)) for a, b in given_pairs]
    shared, iou = in_columns(one, other, BoxForm.XYXY)
    kernel_shared, kernel_iou, kernel_best = by_kernels(kernels, one, other, BoxForm.XYXY)
    assert bits(plain_shared) == bits(shared) == bits(kernel_shared)
    assert bits(plain) == bits(iou) == bits(kernel_iou) == bits(kernel_best)
    assert all(0 <= value <= 1 for value in plain)


@given(given_pairs=pairs(with_sizes))
@example(given_pairs=[((1e16, 0.0, 1.5, 1.0), (1e16, 0.0, 1.5, 1.0))])  # x + w is rounded up, and more is shared than there is
@example(given_pairs=[((0.0, 0.0, 0.5, DENORMAL), (0.0, 0.0, 0.5, DENORMAL))])
def test_boxes_with_sizes_have_one_iou_and_it_is_that_of_pycocotools(kernels, given_pairs):
    mask = pytest.importorskip("pycocotools.mask")
    one, other = zip(*given_pairs, strict=True)
    plain = [rectangles.iou_of_sized(a, b) for a, b in given_pairs]
    shared, iou = in_columns(one, other, BoxForm.XYWH)
    kernel_shared, kernel_iou, kernel_best = by_kernels(kernels, one, other, BoxForm.XYWH)
    assert bits(shared) == bits(kernel_shared)
    assert bits(iou) == bits(kernel_iou)
    assert bits(plain) == bits(kernel_best) == bits([bbox_iou(a, b) for a, b in given_pairs])
    pycocotools = np.array([mask.iou(table([b]), table([a]), [0])[0, 0] for a, b in given_pairs])
    # Of boxes whose areas are too small for a number pycocotools makes 0/0, which reaches no threshold either.
    assert bits(iou) == bits(np.where(np.isnan(pycocotools), 0.0, pycocotools))
    # A union that rounding makes negative has no IoU: the quotient that pycocotools compares never reaches a threshold.
    assert bits(plain) == bits(np.where(iou > 0, iou, 0.0))


def test_the_two_forms_differ_in_the_last_bit():
    """Why both exist: the same boxes, written in the other form, would be decided otherwise at a threshold."""
    one, other = (0.5, 0.0, 0.1, 1.0), (0.5, 0.0, 0.2, 1.0)
    cornered = [(x, y, x + w, y + h, None) for x, y, w, h in (one, other)]
    assert (rectangles.iou_of_sized(one, other), rectangles.iou(*cornered)) == (0.4999999999999997, 0.5)


@given(given_pairs=pairs(with_corners()))
def test_boxes_that_share_an_area_touch(given_pairs):
    one, other = (columns.edges(table(side), BoxForm.XYXY) for side in zip(*given_pairs, strict=True))
    assert (columns.touch(one, other) | (columns.intersection(one, other) == 0)).all()
    solid = (one.left < one.right) & (one.top < one.bottom)
    assert columns.touch(one, one).tolist() == solid.tolist()


@given(part=st.floats(0, 10), whole=st.one_of(st.just(0.0), st.floats(0, 10)))
def test_shares(part, whole):
    assert bits(rectangles.share(part, whole)) == bits(columns.share(np.array([part]), np.array([whole]))[0])


def test_grids_are_those_of_pycocotools_and_those_that_people_write():
    params = pytest.importorskip("pycocotools.cocoeval").Params()
    assert bits(COCO_THRESHOLDS) == bits(params.iouThrs)
    assert bits(RECALL_POINTS) == bits(params.recThrs)
    assert [f"{value:.2f}" for value in COCO_THRESHOLDS] == [f"{value:.2f}" for value in DECIMAL_COCO_THRESHOLDS]
    assert tuple(float(f"{value:.2f}") for value in RECALL_POINTS) == DECIMAL_RECALL_POINTS
    assert sum(map(float.__ne__, COCO_THRESHOLDS, DECIMAL_COCO_THRESHOLDS)) == 1
    assert sum(map(float.__ne__, RECALL_POINTS, DECIMAL_RECALL_POINTS)) == 10


@pytest.mark.parametrize("form", ["xyxy", "xywh", "polygon"])
def test_a_number_at_the_limit_makes_no_rectangle_on_either_side_of_zero(form):
    for place in range(4):
        for limit in (FAR, -FAR):
            numbers = [1.0, 2.0, 3.0, 4.0]
            assert rectangles.rectangle(numbers, form) is not None
            numbers[place] = limit
            assert rectangles.rectangle(numbers, form) is None, (place, limit)
