"""Which found box goes with which true box: the specification of the native box kernels, in NumPy.

Both sides are ragged tables: rows sorted by page, where ``offsets[p]:offsets[p + 1]`` are the rows of page ``p``.
Only boxes on the same page and with the same label are ever compared.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calque.geometry.boxes import edges, intersection, iou
from calque.geometry.forms import BoxForm

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

COUNTS, ABSORBS, LEFT_OUT = 0, 1, 2
"""The roles of a row. Only a truth absorbs (a crowd or an ignored region); a found row counts or is left out."""

PAIRS_AT_ONCE = 1 << 18
"""How many pairs are held in memory at a time: enough to drown NumPy's overhead, few enough to stay in the cache."""


class Side(NamedTuple):
    """The rows of one side that take part, and the (page, label) group of every row."""

    rows: Rows
    groups: Rows


def match_greedy(
    truth_boxes: Floats,
    truth_labels: Ints,
    truth_offsets: Rows,
    truth_roles: Bytes,
    found_boxes: Floats,
    found_labels: Ints,
    found_offsets: Rows,
    found_scores: Floats,
    found_roles: Bytes,
    xywh: bool,
    threshold: float,
    jobs: int = 1,
) -> tuple[Ints, Ints, Floats, Floats]:
    """Pair boxes 1:1 by IoU, best first, and measure what each found box has in common with absorbing truths.

    Candidates are pairs that overlap and have IoU >= ``threshold``. Exact ties go to the higher score (NaN is the
    lowest), then to the earlier found row, then to the earlier truth.

    Returns, per truth, the row of its found box or -1; per found box, the row of its truth or -1; per truth, the
    intersection with its match or 0; per found box, the largest share of its area that lies in one absorbing truth.

    >>> truth, found = np.array([[0.0, 0, 2, 2]]), np.array([[0.0, 0, 2, 1], [0.0, 0, 2, 2]])
    >>> one, two = np.array([0, 1]), np.array([0, 2])
    >>> counts, label = np.zeros(2, np.uint8), np.zeros(2, np.int32)
    >>> match_greedy(truth, label[:1], one, counts[:1], found, label, two, np.array([0.9, 0.1]), counts, False, 0.5)
    (array([1], dtype=int32), array([-1,  0], dtype=int32), array([4.]), array([0., 0.]))
    """
    del jobs  # the native twin's threads
    check_side("truth", truth_boxes, truth_labels, truth_offsets, truth_roles)
    check_side("found", found_boxes, found_labels, found_offsets, found_roles, found_scores)
    truth_side, found_side = sides(truth_labels, truth_offsets, truth_roles, found_labels, found_offsets, found_roles)
    truths, founds = edges(truth_boxes, box_form(xywh)), edges(found_boxes, box_form(xywh))
    absorbed = np.zeros(len(found_boxes))
    candidates: list[tuple[Floats, Floats, Rows, Rows]] = []
    for truth, found in pairs(truth_side, found_side):
        one, other = truths.take(truth), founds.take(found)
        shared = intersection(one, other)
        absorbs = truth_roles[truth] == ABSORBS
        absorb(absorbed, founds.area, found[absorbs], shared[absorbs])
        overlap = iou(shared, one.area, other.area)
        keep = ~absorbs & (shared > 0) & (overlap >= threshold)
        candidates.append((overlap[keep], shared[keep], truth[keep], found[keep]))
    truth_match, found_match, matched_area = take_best_first(candidates, found_scores, len(truth_boxes), len(found_boxes))
    return truth_match, found_match, matched_area, absorbed


def match_best(
    truth_boxes: Floats,
    truth_labels: Ints,
    truth_offsets: Rows,
    truth_roles: Bytes,
    found_boxes: Floats,
    found_labels: Ints,
    found_offsets: Rows,
    found_roles: Bytes,
    xywh: bool,
    jobs: int = 1,
) -> tuple[Ints, Floats]:
    """The found box of the page that each truth overlaps most, whatever the labels, and their IoU.

    Many truths may share one found box; the first found row wins a tie; -1 and 0.0 where nothing overlaps.
    """
    del jobs  # the native twin's threads
    check_side("truth", truth_boxes, truth_labels, truth_offsets, truth_roles)
    check_side("found", found_boxes, found_labels, found_offsets, found_roles)
    alike = np.zeros_like(truth_labels), np.zeros_like(found_labels)
    truth_side, found_side = sides(alike[0], truth_offsets, truth_roles, alike[1], found_offsets, found_roles)
    truth_side = truth_side._replace(rows=truth_side.rows[truth_roles[truth_side.rows] == COUNTS])
    truths, founds = edges(truth_boxes, box_form(xywh)), edges(found_boxes, box_form(xywh))
    match, best = np.full(len(truth_boxes), -1, np.int32), np.zeros(len(truth_boxes))
    for truth, found in pairs(truth_side, found_side):
        one, other = truths.take(truth), founds.take(found)
        shared = intersection(one, other)
        overlap = iou(shared, one.area, other.area)
        order = np.lexsort((found, -overlap, truth))
        first = order[np.unique(truth[order], return_index=True)[1]]
        better = first[overlap[first] > best[truth[first]]]
        match[truth[better]], best[truth[better]] = found[better], overlap[better]
    return match, best


def take_best_first(
    candidates: list[tuple[Floats, Floats, Rows, Rows]], scores: Floats, truths: int, founds: int
) -> tuple[Ints, Ints, Floats]:
    """Walk the candidates (IoU, intersection, truth, found) from best to worst; take those whose two ends are free."""
    truth_match = np.full(truths, -1, np.int32)
    found_match = np.full(founds, -1, np.int32)
    shared = np.zeros(truths)
    if not candidates:
        return truth_match, found_match, shared
    overlap, area, truth, found = (np.concatenate(column) for column in zip(*candidates, strict=True))
    best_first = np.lexsort((truth, found, -scores[found], -overlap))
    truth_free, found_free = bytearray(b"\1" * truths), bytearray(b"\1" * founds)
    taken = []
    for pair, t, f in zip(best_first.tolist(), truth[best_first].tolist(), found[best_first].tolist(), strict=True):
        if truth_free[t] and found_free[f]:
            truth_free[t] = found_free[f] = 0
            taken.append(pair)
    truth_match[truth[taken]] = found[taken]
    found_match[found[taken]] = truth[taken]
    shared[truth[taken]] = area[taken]
    return truth_match, found_match, shared


def absorb(absorbed: Floats, areas: Floats, found: Rows, shared: Floats) -> None:
    """Raise ``absorbed`` to the share of each found box that ``shared`` is; a box without area has no share."""
    solid = areas[found] > 0
    found, shared = found[solid], shared[solid]
    with np.errstate(all="ignore"):
        np.fmax.at(absorbed, found, shared / areas[found])


def sides(
    truth_labels: Ints,
    truth_offsets: Rows,
    truth_roles: Bytes,
    found_labels: Ints,
    found_offsets: Rows,
    found_roles: Bytes,
) -> tuple[Side, Side]:
    """Number the (page, label) groups alike on both sides, and say which rows take part."""
    if len(truth_offsets) != len(found_offsets):
        raise ValueError("truth_offsets and found_offsets must have the same number of pages")
    names, label = np.unique(np.concatenate((truth_labels, found_labels)), return_inverse=True)
    pages = np.arange(len(truth_offsets) - 1)
    page = np.concatenate((np.repeat(pages, np.diff(truth_offsets)), np.repeat(pages, np.diff(found_offsets))))
    group = page * len(names) + label
    truths = len(truth_labels)
    return (
        Side(np.flatnonzero(truth_roles != LEFT_OUT), group[:truths]),
        Side(np.flatnonzero(found_roles == COUNTS), group[truths:]),
    )


def pairs(truth: Side, found: Side) -> Iterator[tuple[Rows, Rows]]:
    """Every (truth row, found row) of one group, by found row and then truth row, a bounded number at a time."""
    by_group = truth.rows[np.argsort(truth.groups[truth.rows], kind="stable")]
    ordered = truth.groups[by_group]
    wanted = found.groups[found.rows]
    first = np.searchsorted(ordered, wanted, "left")
    count = np.searchsorted(ordered, wanted, "right") - first
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    start = 0
    while start < len(wanted):
        stop = int(np.searchsorted(before, before[start] + PAIRS_AT_ONCE, "right")) - 1
        stop = min(max(stop, start + 1), len(wanted))
        here = slice(start, stop)
        within = np.arange(before[stop] - before[start]) - np.repeat(before[here] - before[start], count[here])
        yield by_group[np.repeat(first[here], count[here]) + within], np.repeat(found.rows[here], count[here])
        start = stop


def box_form(xywh: bool) -> BoxForm:
    """The form of boxes given as x, y, w, h or as x1, y1, x2, y2."""
    return BoxForm.XYWH if xywh else BoxForm.XYXY


def check_side(
    name: str,
    boxes: Floats,
    labels: npt.NDArray[np.generic],
    offsets: Rows,
    *columns: npt.NDArray[np.generic],
) -> None:
    """Refuse a table whose columns differ in length, or whose offsets do not cut it into pages."""
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"{name}_boxes must have four columns")
    rows = len(boxes)
    if any(len(column) != rows for column in (labels, *columns)):
        raise ValueError(f"every {name} column must have as many rows as {name}_boxes")
    check_offsets(f"{name}_offsets", offsets, rows)


def check_offsets(name: str, offsets: Rows, rows: int) -> None:
    """Refuse offsets that do not rise from 0 to the number of rows."""
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != rows or (np.diff(offsets) < 0).any():
        raise ValueError(f"{name} must rise from 0 to the number of rows")
