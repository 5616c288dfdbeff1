"""How much area of each page and class is missing, doubled, out of place or made up: exact unions, no raster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calque.core.columns import Array, Bytes, Column, Flags, Floats, Ints, Table
from calque.core.geometry import corners
from calque.core.ledger import UNIT
from calque.core.overlay import Overlay
from calque.core.pairing import ABSORBS, LEFT_OUT, TAKES_PART

AREAS = ("truth_area", "found_area", "missing", "overlap", "trespass", "excess", "excused")

FOUND, OWN, OTHER, EXCUSES = 0, 1, 2, 3
"""What a box is to a page and class: a prediction, a truth, a truth of another class, an ignored truth."""
PADDING = 4

CELLS_AT_ONCE = 1 << 19


@dataclass(frozen=True, slots=True, eq=False)
class _Members:
    """The boxes that matter to each group, a group being a page and a class."""

    keys: Ints
    """Page times number of labels plus label, ascending."""
    offsets: Ints
    boxes: Floats
    roles: Bytes


def page_areas(overlay: Overlay, truth_roles: Bytes, found_roles: Bytes) -> Table:
    """One row for each page and class that has a truth or a prediction, by page and class.

    Every area is that of a union of boxes, so that nothing is counted twice. With T the truths of the class, O those of
    other classes, P the predictions of the class and X the ignored truths of the class: ``missing`` is T without P,
    ``overlap`` what two or more of P cover, ``excused`` P on X outside T, ``trespass`` the rest of P on O outside T,
    ``excess`` P on none of them. So ``found_area`` = (``truth_area`` − ``missing``) + ``trespass`` + ``excess`` + ``excused``.
    """
    labels = max(len(overlay.labels), 1)
    members = _members(overlay, truth_roles, found_roles, labels)
    areas, entangled = _lone_areas(members)
    for groups, _, boxes, roles in _batches(entangled):
        areas[groups] += _batch_areas(boxes, roles)
    page, label = np.divmod(members.keys, labels)
    unit = overlay.page_document[page]
    first_page = np.searchsorted(overlay.page_document, np.arange(len(overlay.documents)))
    columns: dict[str, Column] = {
        UNIT: unit,
        "page": (page - first_page[unit]).astype(np.int32),
        "label": label.astype(np.int32),
        **{name: np.ascontiguousarray(areas[:, place]) for place, name in enumerate(AREAS)},
    }
    return Table(columns)


def _members(overlay: Overlay, truth_roles: Bytes, found_roles: Bytes, labels: int) -> _Members:
    truth, found = overlay.truth, overlay.found
    truth_key = truth.page.astype(np.int64) * labels + truth.label
    found_key = found.page.astype(np.int64) * labels + found.label
    predictions = np.flatnonzero(found_roles == TAKES_PART)
    keys = np.unique(np.concatenate([truth_key[truth_roles == TAKES_PART], found_key[predictions]]))
    # Every truth of the page matters to each class on it.
    page = keys // labels
    count = truth.offsets[page + 1] - truth.offsets[page]
    truth_group = np.repeat(np.arange(len(keys)), count)
    truth_row = np.repeat(truth.offsets[page] - (np.cumsum(count) - count), count) + np.arange(count.sum())
    role = _truth_role(truth_key[truth_row] == keys[truth_group], truth_roles[truth_row])
    kept = np.flatnonzero(role != PADDING)
    group = np.concatenate([np.searchsorted(keys, found_key[predictions]), truth_group[kept]])
    order = np.argsort(group, kind="stable")
    boxes = np.concatenate([
        corners(found.boxes[predictions], found.form),
        corners(truth.boxes[truth_row[kept]], truth.form),
    ])  # fmt: skip
    roles = np.concatenate([np.full(len(predictions), FOUND, dtype=np.uint8), role[kept]])
    offsets = np.searchsorted(group[order], np.arange(len(keys) + 1)).astype(np.int64)
    return _Members(keys, offsets, boxes[order], roles[order])


def _truth_role(own: Array, role: Bytes) -> Bytes:
    counts = np.where(own, OWN, OTHER)
    absorbs = np.where(own, EXCUSES, PADDING)
    return np.where(role == LEFT_OUT, PADDING, np.where(role == ABSORBS, absorbs, counts)).astype(np.uint8)


def _lone_areas(members: _Members) -> tuple[Floats, _Members]:
    """The areas of boxes that have nothing to do with another, and the other boxes, which need the grid.

    Most boxes of most pages are alone or in small company; what is left makes small grids.
    """
    alone = np.ones(len(members.boxes), dtype=np.bool_)
    for _, rows, boxes, roles in _batches(members):
        alone[rows[_entangled(boxes, roles)]] = False
    group = np.repeat(np.arange(len(members.keys)), np.diff(members.offsets))
    own_area = (members.boxes[:, 2] - members.boxes[:, 0]) * (members.boxes[:, 3] - members.boxes[:, 1])

    def sums(role: int) -> Floats:
        rows = np.flatnonzero(alone & (members.roles == role))
        return np.asarray(np.bincount(group[rows], weights=own_area[rows], minlength=len(members.keys)), dtype=np.float64)

    areas = np.zeros((len(members.keys), len(AREAS)))
    areas[:, AREAS.index("truth_area")] = areas[:, AREAS.index("missing")] = sums(OWN)
    areas[:, AREAS.index("found_area")] = areas[:, AREAS.index("excess")] = sums(FOUND)
    kept = np.flatnonzero(~alone)
    offsets = np.searchsorted(group[kept], np.arange(len(members.keys) + 1)).astype(np.int64)
    return areas, _Members(members.keys, offsets, members.boxes[kept], members.roles[kept])


def _entangled(boxes: Floats, roles: Bytes) -> Flags:
    """For each box of each group whether it overlaps one that matters to it: a prediction, or for truths each other."""
    left, top, right, bottom = (boxes[:, :, side] for side in range(4))
    touch = (left[:, :, None] < right[:, None, :]) & (left[:, None, :] < right[:, :, None])
    touch &= (top[:, :, None] < bottom[:, None, :]) & (top[:, None, :] < bottom[:, :, None])
    found, own, real = roles == FOUND, roles == OWN, roles != PADDING
    matters = (found[:, :, None] & real[:, None, :]) | (own[:, :, None] & own[:, None, :])
    matters |= real[:, :, None] & found[:, None, :]
    touch &= matters & ~np.eye(boxes.shape[1], dtype=np.bool_)
    return np.asarray(touch.any(axis=2))


def _batches(members: _Members) -> Iterator[tuple[Ints, Ints, Floats, Bytes]]:
    """Groups of similar size together, filled up to one size with boxes that have none: groups, rows, boxes, roles.

    What a group is filled up to depends on its own size only: other groups never change its bits.
    """
    sizes = np.diff(members.offsets)
    filled = np.where(sizes > 0, 2 ** np.ceil(np.log2(np.maximum(sizes, 2))).astype(np.int64), 0)
    for size in np.unique(filled[filled > 0]).tolist():
        chosen = np.flatnonzero(filled == size)
        at_once = max(1, CELLS_AT_ONCE // (2 * size) ** 2)
        for start in range(0, len(chosen), at_once):
            groups = chosen[start : start + at_once]
            place = np.minimum(np.arange(size), sizes[groups, None] - 1)
            rows = members.offsets[groups, None] + place
            boxes, roles = members.boxes[rows], members.roles[rows].copy()
            roles[np.arange(size) >= sizes[groups, None]] = PADDING
            yield groups, rows, boxes, roles


def _batch_areas(boxes: Floats, roles: Bytes) -> Floats:
    """The areas of groups of one size, on the grid that the edges of their boxes span."""
    xs, ys = (np.sort(np.concatenate([boxes[:, :, axis], boxes[:, :, axis + 2]], axis=1), axis=1) for axis in (0, 1))
    widths, heights = np.diff(xs, axis=1), np.diff(ys, axis=1)
    places = [_places(boxes[:, :, side], grid) for side, grid in enumerate((xs, ys, xs, ys))]
    found, own, other, excuses = (_layers(places, roles == role) for role in (FOUND, OWN, OTHER, EXCUSES))
    groups, slabs = widths.shape
    lengths = np.zeros((groups, len(AREAS), slabs))
    at_once = max(1, CELLS_AT_ONCE // (groups * slabs))
    for start in range(0, slabs, at_once):
        part = slice(start, start + at_once)
        lengths[:, :, part] = _lengths(found[:, part], own[:, part] > 0, other[:, part] > 0, excuses[:, part] > 0, heights)
    return np.asarray((lengths * widths[:, None, :]).sum(axis=-1))


def _places(edges: Floats, grid: Floats) -> Ints:
    """For each box the line of its group's grid that an edge lies on."""
    return np.asarray((grid[:, None, :] < edges[:, :, None]).sum(axis=-1))


def _layers(places: Sequence[Ints], chosen: Flags) -> Array:
    """How many of the chosen boxes cover each cell: steps up and down at the corners, added up along both axes."""
    group, box = np.nonzero(chosen)
    left, top, right, bottom = (place[group, box] for place in places)
    lines = 2 * chosen.shape[1]
    steps = np.zeros((len(chosen), lines, lines), dtype=np.int32)
    for x, y, step in ((left, top, 1), (right, top, -1), (left, bottom, -1), (right, bottom, 1)):
        np.add.at(steps, (group, x, y), step)
    np.cumsum(steps, axis=1, out=steps)
    np.cumsum(steps, axis=2, out=steps)
    return steps[:, :-1, :-1]


def _lengths(found: Array, own: Array, other: Array, excuses: Array, heights: Floats) -> Floats:
    """For each slab of the grid the length of what belongs to each kind of area, in the order of `AREAS`."""
    present = found > 0
    stray = present & ~own
    regions = (
        own,
        present,
        own & ~present,
        found > 1,
        stray & ~excuses & other,
        stray & ~excuses & ~other,
        stray & excuses,
    )
    return np.stack([(region * heights[:, None, :]).sum(axis=-1) for region in regions], axis=1)
