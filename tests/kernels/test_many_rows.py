"""Columns so long that their memory comes from the system itself, and is zero before anybody writes to it."""

import numpy as np

from calque.geometry.forms import BoxForm
from calque.kernels.structs import PageBoxes
from tests.kernels.box_cases import same

MANY = 1_200_000
"""More than 4 MB in every column but those of bytes."""


def test_scores_are_sorted_within_classes(native):
    random = np.random.default_rng(1)
    labels, scores = random.integers(-1, 5, MANY).astype(np.int32), random.integers(0, 1000, MANY) / 1000
    order, offsets = native.score_order(labels, scores, 5, 2)
    expected = np.lexsort((-scores, labels))[np.count_nonzero(labels < 0) :]
    assert same(order, expected.astype(np.int32))
    assert offsets.tolist() == np.searchsorted(labels[expected], np.arange(6)).tolist()


def test_each_box_finds_its_twin(native):
    rows = np.arange(MANY, dtype=np.int32)
    boxes = np.tile([[0.0, 0.0, 2.0, 2.0]], (MANY, 1))
    roles = np.where(rows % 3 == 0, np.uint8(1), np.uint8(0))  # every third truth absorbs, and is no target
    truth = PageBoxes(boxes, BoxForm.XYXY, np.zeros(MANY, np.int32), np.arange(MANY + 1), roles)
    found = truth._replace(roles=np.zeros(MANY, np.uint8))
    truth_match, found_match, absorbed, *_ = native.match_greedy(truth, found, np.ones(MANY), 0.5, 2)
    assert same(truth_match, np.where(roles, np.int32(-1), rows))
    assert same(found_match, truth_match)
    assert same(absorbed, np.where(roles, 1.0, 0.0))
