"""Measures of greedy pairs, against plain arithmetic."""

import math

import numpy as np
import pytest
from hypothesis import given

from tests.kernels.box_cases import cases, plain_boxes


def corners(box, xywh):
    left, top, third, fourth = box
    return (left, top, left + third, top + fourth) if xywh else (left, top, third, fourth)


@given(case=cases(boxes=plain_boxes))
def test_pairs_are_measured_as_by_hand(kernels, case):
    match, _, _, iou, coverage, purity, edges, found_iou = case.greedy(kernels, 0.1)
    for t, f in enumerate(match.tolist()):
        if f < 0:
            assert all(math.isnan(value) for value in (iou[t], coverage[t], purity[t], *edges[t]))
            continue
        a, b = corners(case.truth_boxes[t].tolist(), case.xywh), corners(case.found_boxes[f].tolist(), case.xywh)
        width, height = a[2] - a[0], a[3] - a[1]
        shared = (min(a[2], b[2]) - max(a[0], b[0])) * (min(a[3], b[3]) - max(a[1], b[1]))
        other = (b[2] - b[0]) * (b[3] - b[1])
        assert iou[t] == found_iou[f] == pytest.approx(shared / (width * height + other - shared))
        assert (coverage[t], purity[t]) == (pytest.approx(shared / (width * height)), pytest.approx(shared / other))
        cut = [(b[0] - a[0]) / width, (b[1] - a[1]) / height, (a[2] - b[2]) / width, (a[3] - b[3]) / height]
        assert edges[t].tolist() == pytest.approx(cut)
    assert np.isnan(found_iou).sum() == len(found_iou) - (match >= 0).sum()
