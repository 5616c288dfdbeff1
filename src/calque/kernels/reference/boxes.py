"""Which found box goes with which true box: the specification of the native box kernels, in NumPy.

Both sides are ragged tables: rows sorted by page, where ``offsets[p]:offsets[p + 1]`` are the rows of page ``p``.
Only boxes on the same page and with the same label are ever compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from calque.base.columns import Codes, Floats, Ints
from calque.geometry.boxes import Edges, edges, intersection, iou, share
from calque.kernels.structs import ABSORBS, LEFT_OUT, TAKES_PART, PageBoxes

PAIRS_AT_ONCE = 1 << 18
"""How many pairs are held in memory at a time: enough to drown NumPy's overhead, few enough to stay in the cache."""


class Grouped(NamedTuple):
    """The rows of one side that take part, and the group of every row, such as its page and label."""

    rows: Ints
    groups: Ints


def match_greedy(
    truth: PageBoxes, found: PageBoxes, scores: Floats, threshold: float, jobs: int = 1
) -> tuple[Codes, Codes, Floats, Floats, Floats, Floats, Floats, Floats]:
    """Pair boxes 1:1 by IoU, best first, and measure what each found box has in common with absorbing truths.

    Candidates are pairs that overlap and have IoU >= ``threshold``. Exact ties go to the higher score (NaN is the
    lowest), then to the earlier found row, then to the earlier truth.

    Returns, per truth, the row of its found box or -1; per found box, the row of its truth or -1; per found box, the
    largest share of its area that lies in one absorbing truth.

    >>> from calque.geometry.forms import BoxForm
    >>> one, two, counts, label = np.array([0, 1]), np.array([0, 2]), np.zeros(2, np.uint8), np.zeros(2, np.int32)
    >>> truth = PageBoxes(np.array([[0.0, 0, 2, 2]]), BoxForm.XYXY, label[:1], one, counts[:1])
    >>> found = PageBoxes(np.array([[0.0, 0, 2, 1], [0.0, 0, 2, 2]]), BoxForm.XYXY, label, two, counts)
    >>> [column.tolist() for column in match_greedy(truth, found, np.array([0.9, 0.1]), 0.5)]
    [[1], [-1, 0], [0.0, 0.0], [1.0], [1.0], [1.0], [[0.0, 0.0, 0.0, 0.0]], [nan, 1.0]]
    """
    del jobs  # the native kernel has threads
    truths, founds = box_edges(truth), box_edges(found)
    absorbed = np.zeros(len(found.boxes))
    candidates: list[tuple[Floats, Ints, Ints]] = []
    for t, f in pairs(*by_page_and_label(truth, found)):
        one, other = truths.take(t), founds.take(f)
        shared = shared_area(found, one, other, t, f)
        absorbs = truth.roles[t] == ABSORBS
        absorb(absorbed, founds.area, f[absorbs], shared[absorbs])
        overlap = iou(shared, one.area, other.area)
        keep = ~absorbs & (shared > 0) & (overlap >= threshold)
        candidates.append((overlap[keep], t[keep], f[keep]))
    truth_match, found_match = take_best_first(candidates, scores, len(truth.boxes))
    return truth_match, found_match, absorbed, *_pair_measures(found, truths, founds, truth_match)


def _pair_measures(
    found: PageBoxes, truths: Edges, founds: Edges, truth_match: Codes
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """IoU, coverage, purity and edge errors of each truth's pair, and the IoU of each found row's; NaN without a pair.

    An edge error is what the found box cuts off (positive) or adds (negative): left and right relative to the truth's
    width, top and bottom to its height.
    """
    truth_rows = np.flatnonzero(truth_match >= 0)
    found_rows: Ints = truth_match[truth_rows].astype(np.int64)
    one, other = truths.take(truth_rows), founds.take(found_rows)
    shared = shared_area(found, one, other, truth_rows, found_rows)
    overlap = iou(shared, one.area, other.area)
    with np.errstate(all="ignore"):
        width, height = one.right - one.left, one.bottom - one.top
        sides = [
            (other.left - one.left) / width,
            (other.top - one.top) / height,
            (one.right - other.right) / width,
            (one.bottom - other.bottom) / height,
        ]
    rows = len(truth_match)
    return (
        _spread(overlap, truth_rows, rows),
        _spread(share(shared, one.area), truth_rows, rows),
        _spread(share(shared, other.area), truth_rows, rows),
        np.stack([_spread(side, truth_rows, rows) for side in sides], axis=1),
        _spread(overlap, found_rows, len(found.boxes)),
    )


def _spread(values: Floats, rows: Ints, size: int) -> Floats:
    column = np.full(size, np.nan)
    column[rows] = values
    return column


def match_best(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Codes, Floats]:
    """The found box of the page that each truth overlaps most, whatever the labels, and their IoU.

    Many truths may share one found box; the first found row wins a tie; -1 and 0.0 where nothing overlaps.
    """
    del jobs  # the native kernel has threads
    truths, founds = box_edges(truth), box_edges(found)
    match, best = np.full(len(truth.boxes), -1, np.int32), np.zeros(len(truth.boxes))
    for t, f in pairs(by_page(truth), by_page(found)):
        one, other = truths.take(t), founds.take(f)
        overlap = iou(shared_area(found, one, other, t, f), one.area, other.area)
        order = np.lexsort((f, -overlap, t))
        first = order[np.unique(t[order], return_index=True)[1]]
        better = first[overlap[first] > best[t[first]]]
        match[t[better]], best[t[better]] = f[better], overlap[better]
    return match, best


def take_best_first(candidates: list[tuple[Floats, Ints, Ints]], scores: Floats, truths: int) -> tuple[Codes, Codes]:
    """Walk the candidates (IoU, truth, found) from best to worst; take those whose two ends are free."""
    truth_match = np.full(truths, -1, np.int32)
    found_match = np.full(len(scores), -1, np.int32)
    if not candidates:
        return truth_match, found_match
    overlap, truth, found = (np.concatenate(column) for column in zip(*candidates, strict=True))
    best_first = np.lexsort((truth, found, -scores[found], -overlap))
    truth_free, found_free = bytearray(b"\1" * truths), bytearray(b"\1" * len(scores))
    taken = []
    for pair, t, f in zip(best_first.tolist(), truth[best_first].tolist(), found[best_first].tolist(), strict=True):
        if truth_free[t] and found_free[f]:
            truth_free[t] = found_free[f] = 0
            taken.append(pair)
    truth_match[truth[taken]] = found[taken]
    found_match[found[taken]] = truth[taken]
    return truth_match, found_match


def absorb(absorbed: Floats, areas: Floats, found: Ints, shared: Floats) -> None:
    """Raise ``absorbed`` to the share of each found box that ``shared`` is; a box without area has no share."""
    solid = areas[found] > 0
    found, shared = found[solid], shared[solid]
    with np.errstate(all="ignore"):
        np.fmax.at(absorbed, found, shared / areas[found])


def box_edges(side: PageBoxes) -> Edges:
    """The sides of the boxes, and the areas of the rows."""
    read = edges(side.boxes, side.form)
    return read if side.areas is None else read._replace(area=side.areas)


def shared_area(found: PageBoxes, one: Edges, other: Edges, t: Ints, f: Ints) -> Floats:
    """What the truths ``t``, whose edges are ``one``, share with the found rows ``f`` (``other``), pair by pair."""
    if found.shared is None:
        return intersection(one, other)
    offsets, truths, areas = found.shared
    size = int(truths.max(initial=0)) + 1
    known = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * size + truths
    wanted = np.where(t < size, f * size + t, -1)
    at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    return np.where(known[at] == wanted, areas[at], 0.0) if len(known) else np.zeros(len(wanted))


def by_page(side: PageBoxes) -> Grouped:
    """The rows that count, grouped by page alone."""
    return Grouped(np.flatnonzero(side.roles == TAKES_PART), pages_of(side.offsets))


def by_page_and_label(truth: PageBoxes, found: PageBoxes) -> tuple[Grouped, Grouped]:
    """Number the (page, label) groups alike on both sides, and say which rows take part."""
    names, label = np.unique(np.concatenate((truth.labels, found.labels)), return_inverse=True)
    group = np.concatenate((pages_of(truth.offsets), pages_of(found.offsets))) * len(names) + label
    truths = len(truth.labels)
    return (
        Grouped(np.flatnonzero(truth.roles != LEFT_OUT), group[:truths]),
        Grouped(np.flatnonzero(found.roles == TAKES_PART), group[truths:]),
    )


def pages_of(offsets: Ints) -> Ints:
    """The page of each row."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def pairs(truth: Grouped, found: Grouped) -> Iterator[tuple[Ints, Ints]]:
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
