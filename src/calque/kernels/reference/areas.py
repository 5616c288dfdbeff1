"""How much area of each page and label is missing, doubled, out of place or made up: exact unions, no raster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from calque.base.columns import Bytes, Codes, Flags, Floats, Ints
from calque.geometry.boxes import Edges, touch
from calque.kernels.reference.boxes import PAIRS_AT_ONCE, Grouped, box_edges, pages_of, pairs
from calque.kernels.reference.mask_rows import mask_states
from calque.kernels.reference.shapes import ring_states
from calque.kernels.reference.slabs import EXCUSING, KINDS, OTHER, OWN, PREDICTED, STATES, kinds
from calque.kernels.structs import ABSORBS, LEFT_OUT, TAKES_PART, PageBoxes, SharedAreas


class Table(NamedTuple):
    """One side, row by row."""

    edges: Edges
    page: Ints
    label: Ints
    roles: Bytes


class Members(NamedTuple):
    """The boxes that matter to each group, a group being a page and a label; by group."""

    group: Ints
    part: Bytes
    left: Floats
    top: Floats
    right: Floats
    bottom: Floats


class Slabs(NamedTuple):
    """The strips into which the left and right edges of its boxes cut each group; by group, from left to right."""

    group: Ints
    width: Floats
    first: Ints
    """For each member its first slab, and in ``last`` the one after its last."""
    last: Ints


def page_areas(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Codes, Codes, Floats]:
    """The areas of each page and label that has a truth that counts or a found box, by page and label.

    Every area is that of a union of boxes, so that nothing is counted twice. With T the truths of the label, O those of
    other labels, P the found boxes of the label and X the absorbing truths of the label, the seven areas are: T; P; T
    without P; what two or more of P cover; the rest of P on O outside T; P on none of them; P on X outside T.

    Returns pages, labels and areas. The plane is cut at the left and right edges of P, T and what of O and X touches P;
    the edges of boxes cut such a slab into cells. Boxes without an area, or with a size that is no number, have none here.

    >>> from calque.geometry.forms import BoxForm
    >>> one, two, counts, label = np.array([0, 1]), np.array([0, 2]), np.zeros(2, np.uint8), np.zeros(2, np.int32)
    >>> truth = PageBoxes(np.array([[0.0, 0, 4, 4]]), BoxForm.XYXY, label[:1], one, counts[:1])
    >>> found = PageBoxes(np.array([[1.0, 0, 4, 4], [3.0, 0, 5, 4]]), BoxForm.XYXY, label, two, counts)
    >>> page_areas(truth, found)
    (array([0], dtype=int32), array([0], dtype=int32), array([[16., 16.,  4.,  4.,  0.,  4.,  0.]]))
    """
    del jobs  # the native kernel has threads
    names, label = np.unique(np.concatenate((truth.labels, found.labels)), return_inverse=True)
    below = Table(box_edges(truth), pages_of(truth.offsets), label[: len(truth.labels)], truth.roles)
    above = Table(box_edges(found), pages_of(found.offsets), label[len(truth.labels) :], found.roles)
    size = max(len(names), 1)
    truth_key, found_key = (side.page * size + side.label for side in (below, above))
    keys = np.unique(np.concatenate((truth_key[truth.roles == TAKES_PART], found_key[found.roles == TAKES_PART])))
    if found.shared is not None:
        sums = [
            _states(truth, found, found.shared, page, names[label]) for page, label in zip(*divmod(keys, size), strict=True)
        ]
        return (keys // size).astype(np.int32), names[keys % size], _by_kind(np.array(sums).reshape(-1, STATES))
    members = _members(below, above, np.searchsorted(keys, truth_key), np.searchsorted(keys, found_key))
    areas = _areas(members, len(keys))
    return (keys // size).astype(np.int32), names[keys % size], areas


def _states(truth: PageBoxes, found: PageBoxes, shared: SharedAreas, page: int, label: int) -> list[float]:
    """The areas of states of one page and label, where rows are more than boxes."""
    here = range(*found.offsets[page : page + 2].tolist())
    founds = [row for row in here if found.roles[row] == TAKES_PART and found.labels[row] == label]
    touched = {t for row in founds for t in shared.truths[shared.offsets[row] : shared.offsets[row + 1]].tolist()}
    truths = []
    for row in range(*truth.offsets[page : page + 2].tolist()):
        same, absorbs = bool(truth.labels[row] == label), bool(truth.roles[row] == ABSORBS)
        if truth.roles[row] != LEFT_OUT and ((same and not absorbs) or (same == absorbs and row in touched)):
            truths.append((row, OWN if same and not absorbs else EXCUSING if same else OTHER))
    return states_of(truth, found, truths, founds)


def _solid(boxes: Edges) -> Flags:
    """Whether boxes have an area; those with a size that is no number have none."""
    with np.errstate(all="ignore"):
        finite = np.isfinite(boxes.right - boxes.left) & np.isfinite(boxes.bottom - boxes.top)
    return np.asarray(finite & (boxes.left < boxes.right) & (boxes.top < boxes.bottom))


def _members(truth: Table, found: Table, truth_group: Ints, found_group: Ints) -> Members:
    predicted = np.flatnonzero(_solid(found.edges) & (found.roles == TAKES_PART))
    solid = _solid(truth.edges)
    own = np.flatnonzero(solid & (truth.roles == TAKES_PART))
    touched = _touched(
        truth, found, Grouped(np.flatnonzero(solid & (truth.roles != LEFT_OUT)), truth.page), predicted, found_group
    )
    part = np.where(truth.roles[touched[1]] == ABSORBS, EXCUSING, OTHER)
    group = np.concatenate((found_group[predicted], truth_group[own], touched[0]))
    parts = np.concatenate((np.full(len(predicted), PREDICTED), np.full(len(own), OWN), part)).astype(np.uint8)
    order = np.argsort(group, kind="stable")
    rows = np.concatenate((own, touched[1]))
    left, top, right, bottom = (
        np.concatenate((column[predicted], true[rows]))[order]
        for column, true in zip(found.edges[:4], truth.edges[:4], strict=True)
    )
    return Members(group[order], parts[order], left, top, right, bottom)


def _touched(truth: Table, found: Table, truths: Grouped, predicted: Ints, group: Ints) -> tuple[Ints, Ints]:
    """Groups, and the truths of other labels and absorbing truths of their own that touch one of their predictions."""
    rows = len(truth.roles)
    codes = [np.zeros(0, np.int64)]
    for t, f in pairs(truths, Grouped(predicted, found.page)):
        touched = touch(truth.edges.take(t), found.edges.take(f))
        touched &= (truth.label[t] == found.label[f]) == (truth.roles[t] == ABSORBS)
        codes.append(np.unique(group[f[touched]] * rows + t[touched]))
    return np.divmod(np.unique(np.concatenate(codes)), max(rows, 1))


def _areas(members: Members, groups: int) -> Floats:
    slabs = _slabs(members)
    sums = np.zeros(groups * STATES)
    for start, stop in _batches(slabs):
        slab, height, state = _cells(members, slabs, start, stop)
        with np.errstate(all="ignore"):
            # One after the other, in order: the sums of a group do not depend on how slabs are batched.
            np.add.at(sums, slabs.group[slab] * STATES + state, slabs.width[slab] * height)
    return _by_kind(sums.reshape(groups, STATES))


def _by_kind(sums: Floats) -> Floats:
    areas = np.zeros((len(sums), KINDS))
    for number, of_state in enumerate(sums.T):
        for kind, belongs in enumerate(kinds(number)):
            if belongs:
                areas[:, kind] += of_state
    return areas


def _slabs(members: Members) -> Slabs:
    """The slab right of every distinct edge of a group; the one right of its last edge holds nothing."""
    group, x = np.tile(members.group, 2), np.concatenate((members.left, members.right))
    order = np.lexsort((x, group))
    group, x = group[order], x[order]
    new = np.ones(len(x), np.bool_)
    new[1:] = (group[1:] != group[:-1]) | (x[1:] != x[:-1])
    place = np.empty(len(x), np.int64)
    place[order] = np.cumsum(new) - 1
    cuts = x[new]
    with np.errstate(all="ignore"):
        width = np.append(np.diff(cuts), 0.0)[: len(cuts)]
    first, last = np.split(place, 2)
    return Slabs(group[new], width, first, last)


def _batches(slabs: Slabs) -> Iterator[tuple[int, int]]:
    """Runs of slabs with a bounded number of boxes in them."""
    count = len(slabs.group)
    boxes = np.cumsum(np.bincount(slabs.first, minlength=count) - np.bincount(slabs.last, minlength=count))
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(boxes)))
    start = 0
    while start < count:
        stop = int(np.searchsorted(before, before[start] + PAIRS_AT_ONCE, "right")) - 1
        stop = min(max(stop, start + 1), count)
        yield start, stop
        start = stop


def _cells(members: Members, slabs: Slabs, start: int, stop: int) -> tuple[Ints, Floats, Ints]:
    """The cells of some slabs from top to bottom, cut at the edges of boxes: their slabs, heights and states."""
    here = slice(*np.searchsorted(members.group, (slabs.group[start], slabs.group[stop - 1] + 1)).tolist())
    first, last = np.maximum(slabs.first[here], start), np.minimum(slabs.last[here], stop)
    count = np.maximum(last - first, 0)
    member = np.repeat(np.arange(here.start, here.stop), count)
    slab = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(len(member))
    slab, y = np.tile(slab, 2), np.concatenate((members.top[member], members.bottom[member]))
    change = np.zeros((4, len(slab)), np.int64)
    change[np.tile(members.part[member], 2), np.arange(len(slab))] = np.repeat((1, -1), len(member))
    order = np.lexsort((y, slab))
    # Below the last edge of a slab nothing is left, so that one sum over all slabs serves each of them.
    depth = np.cumsum(change[:, order], axis=1)
    state = 8 * np.minimum(depth[PREDICTED], 2) + 4 * (depth[OWN] > 0) + 2 * (depth[OTHER] > 0) + (depth[EXCUSING] > 0)
    with np.errstate(all="ignore"):
        return slab[order], np.append(np.diff(y[order]), 0.0)[: len(y)], state


def states_of(truth: PageBoxes, found: PageBoxes, truths: Sequence[tuple[int, int]], founds: Sequence[int]) -> list[float]:
    """The areas of states that rows of one page make: truths, each with its part, and predictions."""
    if truth.masks is not None and found.masks is not None:
        return mask_states(truth, found, truths, founds)
    return ring_states(truth, found, truths, founds)
