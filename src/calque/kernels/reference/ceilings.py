"""What several systems could reach together on boxes: the specification of the native kernels, in plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from calque.base.columns import Bytes, Codes, Floats
from calque.geometry.boxes import intersection, iou
from calque.kernels.reference.boxes import (
    box_edges,
    by_page_and_label,
    pages_of,
    pairs,
)
from calque.kernels.reference.overlaps import overlapping_pairs
from calque.kernels.structs import TAKES_PART, Masks, PageBoxes

SYSTEMS = 16
"""How many systems, and how many problems, a mask has room for."""


def _reached(truth: Floats, area: float, boxes: Floats, best: float) -> tuple[float, float, float]:
    """Only the nearest edge on either side of the truth's can win: IoU rises as an edge moves towards it."""
    near = []
    for side in range(4):
        below, above = boxes[boxes[:, side] <= truth[side], side], boxes[boxes[:, side] >= truth[side], side]
        near.append([*sorted(below.tolist())[-1:], *sorted(above.tolist())[:1]])
    recombined = max([best, *(_overlap(truth, area, box) for box in product(*near))])
    mean = np.clip(truth, boxes.min(axis=0), boxes.max(axis=0)).tolist()
    return best, recombined, max(recombined, _overlap(truth, area, mean))


def _overlap(truth: Floats, area: float, box: Sequence[float]) -> float:
    left, top, right, bottom = box
    width = min(float(truth[2]), right) - max(float(truth[0]), left)
    height = min(float(truth[3]), bottom) - max(float(truth[1]), top)
    shared = width * height if width > 0 and height > 0 else 0.0
    return shared / (area + (right - left) * (bottom - top) - shared) if shared > 0 else 0.0


def match_most(truth: Codes, found: Codes, problems: Masks, truths: int, founds: int) -> Masks:  # noqa: ARG001
    """For each truth in which problems a pairing of as many truths as can be has it, one found row each.

    Bit ``p`` of an edge says that it is one of problem ``p``. Of equally large pairings the one counts whose truths come first.

    >>> match_most(np.array([0, 0, 1], np.int32), np.array([0, 1, 0], np.int32), np.array([1, 1, 1], np.uint16), 2, 2)
    array([1, 1], dtype=uint16)
    """
    matched = np.zeros(truths, np.uint16)
    for bit in range(SYSTEMS):
        wanted: dict[int, list[int]] = {}
        for row, box, mask in zip(truth.tolist(), found.tolist(), problems.tolist(), strict=True):
            if mask >> bit & 1:
                wanted.setdefault(row, []).append(box)
        holder: dict[int, int] = {}
        for row in sorted(wanted):
            if _placed(row, wanted, holder):
                matched[row] |= 1 << bit
    return matched


def _placed(row: int, wanted: dict[int, list[int]], holder: dict[int, int]) -> bool:
    """Whether a truth gets a box, others moving on to boxes of their own; the shortest way first."""
    came: dict[int, tuple[int, int]] = {}
    line = [row]
    for here in line:
        for box in wanted[here]:
            if box in came:
                continue
            came[box] = here, -1
            if box not in holder:
                _move(box, came, holder, row)
                return True
            line.append(holder[box])
    return False


def _move(box: int, came: dict[int, tuple[int, int]], holder: dict[int, int], first: int) -> None:
    held = {row: taken for taken, row in holder.items()}
    while True:
        row = came[box][0]
        before = held.get(row, -1)
        holder[box] = row
        if row == first:
            return
        box = before


def contacts(
    truth: PageBoxes, found: PageBoxes, systems: Bytes, threshold: float, jobs: int = 1
) -> tuple[Codes, Codes, Floats, Floats, Floats, Codes, Floats]:
    """Pairs of boxes of one page whose IoU reaches the threshold, whatever their labels, by found row and then truth row.

    Beside truth rows, found rows and IoUs: for each truth and for each found row its highest IoU, for each truth the found row
    of its label with the highest IoU (the first wins a tie), or -1, and three IoUs: of that box, of the best box with edges of
    several, and of the best mean of boxes. For these each system takes part with its box of the truth's label that has the
    highest IoU; a mean has each of its edges between the smallest and the largest of them.

    >>> from calque.geometry.forms import BoxForm
    >>> label, counts = np.zeros(2, np.int32), np.zeros(2, np.uint8)
    >>> truth = PageBoxes(np.array([[0.0, 0, 8, 1]]), BoxForm.XYXY, label[:1], np.array([0, 1]), counts[:1])
    >>> found = PageBoxes(np.array([[0.0, 0, 4, 1], [4.0, 0, 8, 1]]), BoxForm.XYXY, label, np.array([0, 2]), counts)
    >>> made = contacts(truth, found, np.array([0, 1], np.uint8), 0.6)
    >>> [column.tolist() for column in made]
    [[], [], [], [0.5], [0.5, 0.5], [0], [[0.5, 1.0, 1.0]]]
    """
    rows, boxes, shared = overlapping_pairs(truth, found, jobs)
    overlap = iou(shared, box_edges(truth).area[rows], box_edges(found).area[boxes])
    truth_best, found_best = np.zeros(len(truth.boxes)), np.zeros(len(found.boxes))
    np.fmax.at(truth_best, rows, overlap)
    np.fmax.at(found_best, boxes, overlap)
    same = truth.labels[rows] == found.labels[boxes]
    nearest, reached = _by_systems(truth, found, systems, rows[same], boxes[same], overlap[same])
    kept = overlap >= threshold
    return rows[kept], boxes[kept], overlap[kept], truth_best, found_best, nearest, reached


def _by_systems(
    truth: PageBoxes, found: PageBoxes, systems: Bytes, rows: Codes, boxes: Codes, overlap: Floats
) -> tuple[Codes, Floats]:
    """The nearest box of each truth, and what it could reach with the best box of each system."""
    best: dict[int, dict[int, tuple[float, int]]] = {}
    for row, box, share in zip(rows.tolist(), boxes.tolist(), overlap.tolist(), strict=True):
        taken = best.setdefault(row, {})
        if share > taken.get(int(systems[box]), (0.0, -1))[0]:
            taken[int(systems[box])] = share, box
    nearest, reached = np.full(len(truth.boxes), -1, np.int32), np.zeros((len(truth.boxes), 3))
    truths, founds = (np.stack(box_edges(side)[:4], axis=1) for side in (truth, found))
    areas = box_edges(truth).area
    for row, taken in best.items():
        if taken:
            share, first = max((share, -box) for share, box in taken.values())
            nearest[row] = -first
            own = founds[[box for _, box in taken.values()]]
            reached[row] = _reached(truths[row], float(areas[row]), own, share)
    return nearest, reached


def agreed_boxes(
    found: PageBoxes, systems: Bytes, taken: Floats, thresholds: Floats, jobs: int = 1
) -> tuple[Bytes, Codes, Masks, Floats]:
    """Groups of boxes on which systems agree: the threshold's place, the first row, the systems, and the mean of the edges.

    At a threshold two boxes of one page and label are joined when they are of two systems, their IoU reaches it, and what
    either is taken for does not. Groups come by page, threshold and first row.

    >>> from calque.geometry.forms import BoxForm
    >>> label, counts = np.zeros(3, np.int32), np.zeros(3, np.uint8)
    >>> boxes = np.array([[0.0, 0, 4, 1], [9.0, 0, 10, 1], [0.0, 0, 5, 1]])
    >>> found = PageBoxes(boxes, BoxForm.XYXY, label, np.array([0, 3]), counts)
    >>> made = agreed_boxes(found, np.array([0, 0, 1], np.uint8), np.zeros(3), np.array([0.5, 0.9]))
    >>> [column.tolist() for column in made]
    [[0], [0], [3], [[0.0, 0.0, 4.5, 1.0]]]
    """
    del jobs  # the native kernel has threads
    edges = box_edges(found._replace(areas=None))
    corners, page = np.stack(edges[:4], axis=1), pages_of(found.offsets)
    _, rows = by_page_and_label(found, found)
    links: list[tuple[int, int, float]] = []
    for one, other in pairs(rows, rows):
        apart = (one < other) & (systems[one] != systems[other])
        a, b = one[apart], other[apart]
        near = iou(intersection(edges.take(a), edges.take(b)), edges.area[a], edges.area[b])
        links += zip(a.tolist(), b.tolist(), near.tolist(), strict=True)
    groups: list[tuple[int, int, int, int, list[float]]] = []
    for level, threshold in enumerate(thresholds.tolist()):
        free = ~(taken >= threshold)
        for members in _joined([(a, b) for a, b, near in links if near >= threshold and free[a] and free[b]]):
            mask = sum(1 << system for system in set(systems[members].tolist()))
            sums = [0.0] * 4
            for row in members:  # one after the other, so that both kernels round alike
                sums = [whole + edge for whole, edge in zip(sums, corners[row].tolist(), strict=True)]
            groups.append((int(page[members[0]]), level, members[0], mask, [whole / len(members) for whole in sums]))
    groups.sort(key=lambda group: group[:3])
    return (
        np.array([level for _, level, *_ in groups], np.uint8),
        np.array([first for _, _, first, _, _ in groups], np.int32),
        np.array([mask for _, _, _, mask, _ in groups], np.uint16),
        np.array([box for *_, box in groups], np.float64).reshape(-1, 4),
    )


def _joined(links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Rows that are linked, by way of others too; each group rising."""
    lead: dict[int, int] = {}
    members: dict[int, list[int]] = {}
    for link in links:
        one, other = sorted(lead.setdefault(row, row) for row in link)
        if one != other or one not in members:
            moved = {*members.pop(other, [other]), *members.pop(one, [one])}
            lead.update(dict.fromkeys(moved, one))
            members[one] = sorted(moved)
    return list(members.values())


class _Cluster:
    """A fused box while boxes still join it; sums grow box by box, so that both kernels round alike."""

    def __init__(self) -> None:
        self.weighted, self.plain = [0.0] * 4, [0.0] * 4
        self.lowest, self.total, self.count, self.systems = np.inf, 0.0, 0.0, 0

    def add(self, box: Sequence[float], score: float, system: int) -> None:
        self.weighted = [sums + score * edge for sums, edge in zip(self.weighted, box, strict=True)]
        self.plain = [sums + edge for sums, edge in zip(self.plain, box, strict=True)]
        self.lowest, self.total, self.count = min(self.lowest, score), self.total + score, self.count + 1
        self.systems |= 1 << system

    def fused(self) -> list[float]:
        """The score-weighted mean of its boxes; plain where scores do not weigh: all are 0, or one is below."""
        weighs = self.lowest >= 0 and self.total > 0
        return [edge / (self.total if weighs else self.count) for edge in (self.weighted if weighs else self.plain)]


def fuse_boxes(
    found: PageBoxes, scores: Floats, systems: Bytes, threshold: float, jobs: int = 1
) -> tuple[Codes, Codes, Floats, Floats, Masks]:
    """Weighted boxes fusion on each page and for each label: page, label, corners, score and systems of each fused box.

    Boxes come by score, the highest first, then by coordinates, then by row. Each joins the fused box that it overlaps most,
    if their IoU reaches the threshold (the first wins a tie), or else begins one.

    >>> from calque.geometry.forms import BoxForm
    >>> label, counts = np.zeros(2, np.int32), np.zeros(2, np.uint8)
    >>> found = PageBoxes(np.array([[0.0, 0, 4, 1], [1.0, 0, 5, 1]]), BoxForm.XYXY, label, np.array([0, 2]), counts)
    >>> _, _, boxes, score, masks = fuse_boxes(found, np.array([0.75, 0.25]), np.array([0, 1], np.uint8), 0.5)
    >>> boxes.tolist(), score.tolist(), masks.tolist()
    ([[0.25, 0.0, 4.25, 1.0]], [0.5], [3])
    """
    del jobs  # the native kernel has threads
    boxes = np.stack(box_edges(found._replace(areas=None))[:4], axis=1)
    rows = np.flatnonzero(found.roles == TAKES_PART)
    pages = pages_of(found.offsets)
    order = np.lexsort((*boxes[rows].T[::-1], -scores[rows], found.labels[rows], pages[rows]))
    made: list[tuple[int, int, _Cluster]] = []
    groups: dict[tuple[int, int], list[_Cluster]] = {}
    for row in rows[order].tolist():
        place = int(pages[row]), int(found.labels[row])
        clusters = groups.setdefault(place, [])
        shares = [_share(cluster.fused(), boxes[row].tolist()) for cluster in clusters]
        nearest = int(np.argmax(shares)) if shares else -1
        if nearest < 0 or not (shares[nearest] > 0 and shares[nearest] >= threshold):
            nearest = len(clusters)
            clusters.append(_Cluster())
            made.append((*place, clusters[-1]))
        clusters[nearest].add(boxes[row].tolist(), float(scores[row]), int(systems[row]))
    return (
        np.array([page for page, _, _ in made], np.int32),
        np.array([label for _, label, _ in made], np.int32),
        np.array([cluster.fused() for _, _, cluster in made], np.float64).reshape(-1, 4),
        np.array([cluster.total / cluster.count for _, _, cluster in made], np.float64),
        np.array([cluster.systems for _, _, cluster in made], np.uint16),
    )


def _share(one: Sequence[float], other: Sequence[float]) -> float:
    """The IoU of two boxes by their corners."""
    width, height = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    shared = width * height if width > 0 and height > 0 else 0.0
    area = (one[2] - one[0]) * (one[3] - one[1])
    return shared / (area + (other[2] - other[0]) * (other[3] - other[1]) - shared) if shared > 0 else 0.0
