"""Ceilings of boxes and layout blocks by the contract: greedy pairs, largest pairings, edges, fused boxes and suspects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.ceiling.oracle.ladder import Ladder, Seen, ratio, ratios

Corners = Sequence[float]


@dataclass
class Object:
    """A box with its page (document and number), label, score, and where it is listed."""

    page: tuple[str, int]
    label: str
    box: Corners
    score: float | None = None
    position: int = 0
    system: int = -1


def area(box: Corners) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def shared(one: Corners, other: Corners) -> float:
    return max(min(one[2], other[2]) - max(one[0], other[0]), 0) * max(min(one[3], other[3]) - max(one[1], other[1]), 0)


def iou(one: Corners, other: Corners) -> float:
    both = shared(one, other)
    return both / (area(one) + area(other) - both) if both > 0 else 0.0


def alike(one: Object, other: Object) -> bool:
    return one.page == other.page and one.label == other.label


def greedy(truths: Sequence[Object], boxes: Sequence[Object], least: float) -> dict[int, tuple[int, float]]:
    """For each truth that is paired its box and their IoU, the best pairs first."""
    tried = sorted(
        (-iou(g.box, p.box), -(p.score or 0), p.position, g.position, at, there)
        for at, g in enumerate(truths)
        for there, p in enumerate(boxes)
        if alike(g, p) and iou(g.box, p.box) >= least
    )
    made: dict[int, tuple[int, float]] = {}
    for overlap, *_, at, there in tried:
        if at not in made and there not in {box for box, _ in made.values()}:
            made[at] = there, -overlap
    return made


def largest_pairing(wanted: Sequence[Sequence[int]]) -> int:
    """How many rows can have one of the boxes that each wants, all different: by augmenting paths."""
    holder: dict[int, int] = {}

    def placed(row: int, tried: set[int]) -> bool:
        for box in wanted[row]:
            if box not in tried:
                tried.add(box)
                if box not in holder or placed(holder[box], tried):
                    holder[box] = row
                    return True
        return False

    return sum(placed(row, set()) for row in range(len(wanted)))


@dataclass
class Pages:
    """The objects of a truth and of several systems."""

    names: list[str]
    documents: list[str]
    truths: list[Object]
    crowds: list[Object]
    systems: list[list[Object]]
    layout: bool
    levels: Sequence[float]
    fuse_iou: float
    columns: dict[str, dict[str, str]]

    def __post_init__(self) -> None:
        self.all = [box for own in self.systems for box in own]

    def level(self, threshold: float, splits: int, seed: int) -> dict[str, Any]:
        hits, found = zip(*(self.of_system(own, threshold) for own in self.systems), strict=True)
        units = [(g.page[0], g.label) for g in self.truths]
        cells = [[(p.page[0], p.label) for p in own] for own in found]
        seen = Seen(
            names=self.names,
            documents=self.documents,
            units=units,
            hits=[*hits],
            found=cells,
            matches=lambda chosen: self.matches(chosen, threshold),
            classes=sorted({label for _, label in units} | {label for own in cells for _, label in own}),
            pool=None if self.layout else self.pool(threshold),
            recall_only=self.layout,
            columns=self.columns,
        )
        made = Ladder(seen, splits, seed).numbers() | self.edges(threshold)
        if not self.layout:
            made |= self.votes(threshold)
        unfound = [g for g in self.truths if not any(self.edge(g, p, threshold) for p in self.all)]
        contested = len(self.truths) - len(unfound) - made["select"]["matches"]
        return made | {
            "missed": {"unfound": len(unfound), "contested": contested},
            "suspects": self.suspects(unfound, threshold),
        }

    def edge(self, truth: Object, box: Object, threshold: float) -> bool:
        return alike(truth, box) and iou(truth.box, box.box) >= threshold

    def excused(self, box: Object, threshold: float) -> bool:
        """Whether a crowd has so much of a box that it is neither right nor wrong."""
        return any(
            alike(crowd, box) and area(box.box) > 0 and shared(crowd.box, box.box) / area(box.box) >= threshold
            for crowd in self.crowds
        )

    def of_system(self, boxes: Sequence[Object], threshold: float) -> tuple[set[int], list[Object]]:
        """The truths that a system hits, and what counts as found: boxes, or of layout the truths that are matched."""
        if self.layout:
            best = [self.nearest(g, [p for p in boxes if p.page == g.page]) for g in self.truths]
            matched = {at: p for at, p in enumerate(best) if p is not None and iou(self.truths[at].box, p.box) >= threshold}
            right = {at for at, p in matched.items() if p.label == self.truths[at].label}
            return right, [self.truths[at] for at in matched]
        return self.scored(boxes, threshold)[::2]  # type: ignore[return-value]  # the first and the last of three

    def scored(self, boxes: Sequence[Object], threshold: float) -> tuple[set[int], set[int], list[Object]]:
        """Truths that are hit, boxes that are right, and boxes that count. Pairs are made once, at the lowest level."""
        pairs = greedy(self.truths, boxes, min(self.levels))
        hit = {at for at, (_, overlap) in pairs.items() if overlap >= threshold}
        right = {pairs[at][0] for at in hit}
        return hit, right, [p for at, p in enumerate(boxes) if at in right or not self.excused(p, threshold)]

    def nearest(self, truth: Object, boxes: Sequence[Object]) -> Object | None:
        """The box with the highest IoU above 0; the first wins a tie."""
        best = max(boxes, key=lambda p: iou(truth.box, p.box), default=None)
        return best if best is not None and iou(truth.box, best.box) > 0 else None

    def matches(self, chosen: Sequence[int], threshold: float) -> int:
        boxes = [p for system in chosen for p in self.systems[system]]
        wanted = [[at for at, p in enumerate(boxes) if self.edge(g, p, threshold)] for g in self.truths]
        return sum(map(bool, wanted)) if self.layout else largest_pairing(wanted)

    def pool(self, threshold: float) -> int:
        return sum(any(self.edge(g, p, threshold) for g in self.truths) or not self.excused(p, threshold) for p in self.all)

    def edges(self, threshold: float) -> dict[str, Any]:
        reached: dict[str, list[float]] = {"any": [], "recombine": [], "average": []}
        for g in self.truths:
            near = [self.nearest(g, [p for p in own if alike(g, p)]) for own in self.systems]
            boxes = [p.box for p in near if p is not None]
            sides = [sorted({box[side] for box in boxes}) for side in range(4)]
            mixed = [box for box in product(*sides) if box[0] < box[2] and box[1] < box[3]]
            mean = [min(max(g.box[side], own[0]), own[-1]) for side, own in enumerate(sides)] if boxes else None
            reached["any"].append(max((iou(g.box, box) for box in boxes), default=0.0))
            reached["recombine"].append(max((iou(g.box, box) for box in mixed), default=0.0))
            reached["average"].append(0.0 if mean is None else iou(g.box, mean))
        count = len(self.truths)
        return {
            name: {
                "recall": ratio(sum(value >= threshold for value in values), count),
                "mean_iou": math.fsum(values) / count if count else None,
            }
            for name, values in reached.items()
        }

    def fused(self) -> list[tuple[Object, int]]:
        """Weighted boxes fusion: fused boxes, and of how many systems each is."""
        made: list[tuple[Object, int]] = []
        for page, label in sorted({(p.page, p.label) for p in self.all}):
            own = [p for p in self.all if (p.page, p.label) == (page, label)]
            clusters: list[list[Object]] = []
            for p in sorted(own, key=lambda p: (-weight(p), list(p.box), p.system, p.position)):
                overlaps = [iou(mean_box(cluster), p.box) for cluster in clusters]
                best = max(range(len(clusters)), key=overlaps.__getitem__, default=-1)
                if best >= 0 and overlaps[best] > 0 and overlaps[best] >= self.fuse_iou:
                    clusters[best].append(p)
                else:
                    clusters.append([p])
            for place, cluster in enumerate(clusters):
                score = sum(map(weight, cluster)) / len(cluster)
                made.append((Object(page, label, mean_box(cluster), score, place), len({p.system for p in cluster})))
        return made

    def votes(self, threshold: float) -> dict[str, Any]:
        fused = self.fused()
        systems = range(1, len(self.systems) + 1)
        votes = {}
        for least in systems:
            _, right, counting = self.scored([box for box, count in fused if count >= least], threshold)
            numbers = ratios(len(right), len(counting), len(self.truths))
            votes[str(least)] = {"tp": len(right), "found": len(counting), **numbers}
        _, right, counting = self.scored([box for box, _ in fused], threshold)
        agreement = {
            str(exact): {
                "n": sum(count == exact and any(box is each for each in counting) for box, count in fused),
                "right": sum(fused[at][1] == exact for at in right),
            }
            for exact in systems
        }
        return {"votes": votes, "majority": len(self.systems) // 2 + 1, "agreement": agreement}

    def suspects(self, unfound: Sequence[Object], threshold: float) -> dict[str, Any]:
        listed = [self.missed(g, threshold) for g in unfound] + self.agreed(threshold)
        kinds = ("label", "agreed", "unfound")
        listed.sort(key=lambda row: (-row["systems"], kinds.index(row["kind"]), row["document"], row["page"], row["box"]))
        return {**{kind: sum(row["kind"] == kind for row in listed) for kind in kinds}, "listed": listed}

    def missed(self, truth: Object, threshold: float) -> dict[str, Any]:
        here = [p for p in self.all if p.page == truth.page]
        others: dict[str, set[int]] = {}
        for p in here:
            if p.label != truth.label and iou(truth.box, p.box) >= threshold:
                others.setdefault(p.label, set()).add(p.system)
        row = {"document": truth.page[0], "page": truth.page[1], "label": truth.label, "box": [*truth.box]}
        if not others:
            best = max((iou(truth.box, p.box) for p in here), default=0.0)
            return row | {"kind": "unfound", "systems": 0, "best_iou": best}
        label = min(others, key=lambda name: (-len(others[name]), name))
        return row | {"kind": "label", "systems": len(others[label]), "other": label}

    def agreed(self, threshold: float) -> list[dict[str, Any]]:
        free = [
            p
            for p in self.all
            if not any(g.page == p.page and iou(g.box, p.box) >= threshold for g in self.truths)
            and not self.excused(p, threshold)
        ]
        groups = [{at} for at in range(len(free))]
        for (one, p), (other, q) in product(enumerate(free), repeat=2):
            if alike(p, q) and p.system != q.system and iou(p.box, q.box) >= threshold:
                joined = next(group for group in groups if one in group) | next(group for group in groups if other in group)
                groups = [group for group in groups if not group & joined] + [joined]
        rows = []
        for group in groups:
            members = [free[at] for at in sorted(group)]
            systems = len({p.system for p in members})
            if systems < 2:
                continue
            box = [sum(p.box[side] for p in members) / len(members) for side in range(4)]
            page, label = members[0].page, members[0].label
            inside = [g for g in self.truths if g.page == page and 0 < area(g.box) <= 2 * shared(g.box, box)]
            rows.append({
                "document": page[0], "page": page[1], "label": label, "box": box, "kind": "agreed", "systems": systems,
                "covers": len(inside),
            })  # fmt: skip
        return rows


def weight(p: Object) -> float:
    return 1.0 if p.score is None else p.score


def mean_box(cluster: Sequence[Object]) -> list[float]:
    weights = [weight(p) for p in cluster]
    if not sum(weights):
        weights = [1.0] * len(cluster)
    return [sum(w * p.box[side] for w, p in zip(weights, cluster, strict=True)) / sum(weights) for side in range(4)]
