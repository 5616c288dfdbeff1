"""Reading order by the contract, looking at every pair: plain loops, which share no code with the product."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

FURNITURE = ("header", "footer", "page-header", "page-footer", "page-number")
BREAKS = ("furniture", "interleaved", "column_jump", "skip", "back")
Corners = Sequence[float]


@dataclass
class Page:
    """The blocks of a page by their ids, and the order as nested lists."""

    ids: list[str] = field(default_factory=list)
    boxes: list[Corners] | None = None
    labels: list[str] = field(default_factory=list)
    order: Any = field(default_factory=list)

    def box(self, name: str) -> Corners:
        assert self.boxes is not None
        return self.boxes[self.ids.index(name)]


def flat(order: Any) -> list[str]:
    members = order["unordered"] if isinstance(order, dict) else order
    return [name for member in members for name in (flat(member) if isinstance(member, list | dict) else [member])]


def first_of(order: Any, one: str, other: str) -> str | None:
    """Which of two names comes first in the smallest group that holds both; nothing where that is open."""
    members = order["unordered"] if isinstance(order, dict) else order
    names = [flat(member) if isinstance(member, list | dict) else [member] for member in members]
    for member, inside in zip(members, names, strict=True):
        if one in inside and other in inside:
            return first_of(member, one, other)
    return None if isinstance(order, dict) else next(name for own in names for name in (one, other) if name in own)


def area(box: Corners) -> float:
    return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)


def shared(one: Corners, other: Corners) -> float:
    return max(min(one[2], other[2]) - max(one[0], other[0]), 0) * max(min(one[3], other[3]) - max(one[1], other[1]), 0)


def iou(one: Corners, other: Corners) -> float:
    both = shared(one, other)
    return both / (area(one) + area(other) - both) if both else 0.0


def placed(truth: Page, found: Page, how: str, least: float) -> dict[str, str]:
    """For each true block of the order the predicted block that it is in."""
    wanted, listed = flat(truth.order), flat(found.order)
    if how == "id" or truth.boxes is None or found.boxes is None:
        return {name: name for name in wanted if name in found.ids}

    def rank(name: str) -> tuple[bool, int]:
        return (False, listed.index(name)) if name in listed else (True, found.ids.index(name))

    tried = sorted(
        (-iou(truth.box(one), found.box(other)), rank(other), wanted.index(one), one, other)
        for one in wanted
        for other in found.ids
        if iou(truth.box(one), found.box(other)) >= least
    )
    places: dict[str, str] = {}
    for *_, one, other in tried:
        if one not in places and other not in places.values():
            places[one] = other
    for one in wanted if how == "cover" else ():
        fits = [other for other in found.ids if one not in places and covers(truth.box(one), found.box(other))]
        if fits:
            places[one] = min(fits, key=lambda other: (-iou(truth.box(one), found.box(other)), rank(other)))
    return places


def covers(truth: Corners, box: Corners) -> bool:
    both = shared(truth, box)
    return both > 0 and both >= 0.5 * min(area(truth), area(box)) and both >= 0.1 * area(truth)


def line(order: Any, position: dict[str, int]) -> list[str]:
    """The truth in one line, in the prediction's favour where it is open."""
    if isinstance(order, str):
        return [order]
    members = order["unordered"] if isinstance(order, dict) else order
    lines = [line(member, position) for member in members]
    if isinstance(order, dict):
        lines.sort(key=lambda names: min((position[name] for name in names if name in position), default=math.inf))
    return [name for names in lines for name in names]


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    row = list(range(len(other) + 1))
    for number, name in enumerate(one, start=1):
        above, row = row, [number]
        for place, there in enumerate(other):
            row.append(min(above[place + 1] + 1, row[-1] + 1, above[place] + (name != there)))
    return row[-1]


def longest_rise(ranks: Sequence[int]) -> int:
    best: list[int] = []
    for place, rank in enumerate(ranks):
        best.append(1 + max((best[before] for before in range(place) if ranks[before] < rank), default=0))
    return max(best, default=0)


class Judged:
    """One page, pair by pair and step by step."""

    def __init__(self, truth: Page, found: Page, how: str, least: float) -> None:
        self.truth, self.found = truth, found
        self.where = placed(truth, found, how, least)
        listed = flat(found.order)
        at = {name: listed.index(there) for name, there in self.where.items() if there in listed}
        self.line = line(truth.order, at)
        self.straight = [name for name in self.line if name in at]
        self.read = sorted(self.straight, key=lambda name: (at[name], self.line.index(name)))
        self.reversed = dict.fromkeys(at, 0)
        self.counts: dict[str, int] = {
            "truth": len(self.line),
            "unordered": len(truth.ids) - len(self.line),
            "placed": len(at),
            "unplaced": len(self.where) - len(at),
            "missing": len(self.line) - len(self.where),
            "pred": len(found.ids),
            **self.pairs(),
        }
        self.steps()
        ranks = [self.straight.index(name) for name in self.read]
        self.counts |= {
            "moves": len(at) - longest_rise(ranks),
            "displacement": sum(abs(rank - place) for place, rank in enumerate(ranks)),
            "largest": len(at) ** 2 // 2,
            "edits": edit_distance(self.line, self.read),
        }

    def pairs(self) -> dict[str, int]:
        counts = dict.fromkeys(("concordant", "discordant", "open", "pairs_merged"), 0)
        for one, other in combinations(self.straight, 2):
            ours = first_of(self.truth.order, one, other)
            if ours is None:
                continue
            if self.where[one] == self.where[other]:
                counts["pairs_merged"] += 1
                continue
            theirs = first_of(self.found.order, self.where[one], self.where[other])
            kind = "open" if theirs is None else "concordant" if theirs == self.where[ours] else "discordant"
            counts[kind] += 1
            if kind == "discordant":
                self.reversed[one] += 1
                self.reversed[other] += 1
        return counts

    def told_apart(self, one: str, other: str) -> bool:
        return self.where[one] != self.where[other] and first_of(self.truth.order, one, other) is not None

    def steps(self) -> None:
        required = [step for step in pairwise(self.straight) if self.told_apart(*step)]
        predicted = [
            (place, one, other)
            for place, (one, other) in enumerate(pairwise(self.read))
            if self.told_apart(one, other) and first_of(self.found.order, self.where[one], self.where[other]) is not None
        ]
        wrong = [step for step in predicted if step[1:] not in required]
        self.counts |= {
            "links_required": len(required),
            "links_predicted": len(predicted),
            "links_right": len(predicted) - len(wrong),
        }
        jumps = {
            place for place, one, other in wrong if not self.outside(one) and not self.outside(other) and self.apart(one, other)
        }
        self.breaks = [self.kind(place, one, other, jumps) for place, one, other in wrong]

    def kind(self, place: int, one: str, other: str, jumps: set[int]) -> str:
        if self.outside(one) or self.outside(other):
            return "furniture"
        if place in jumps:
            return "interleaved" if {place - 1, place + 1} & jumps else "column_jump"
        return "skip" if self.line.index(other) > self.line.index(one) else "back"

    def outside(self, name: str) -> bool:
        label = self.truth.labels[self.truth.ids.index(name)] if self.truth.labels else ""
        return label.split(":")[-1].lower().replace("_", "-") in FURNITURE and self.reversed[name] > 0

    def apart(self, one: str, other: str) -> bool:
        if self.truth.boxes is None:
            return False
        a, b = self.truth.box(one), self.truth.box(other)
        return min(a[2], b[2]) - max(a[0], b[0]) < 0.5 * min(a[2] - a[0], b[2] - b[0])


def parts(page: dict[str, int]) -> dict[str, tuple[float, int]]:
    """What is above and below of each number of a page; of the first three nothing where no pair is judged."""
    judged = page["concordant"] + page["discordant"] + page["open"]
    on = bool(judged)
    return {
        "pairs": (page["concordant"] + page["open"] / 2, judged),
        "successors": (2 * page["links_right"] * on, (page["links_required"] + page["links_predicted"]) * on),
        "footrule": ((page["largest"] - page["displacement"]) * on, page["largest"] * on),
        "edit": (page["truth"] - page["edits"], page["truth"]),
    }


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def numbers(pages: Sequence[Judged]) -> dict[str, Any]:
    """The JSON of some pages, but for documents."""
    made = [parts(page.counts) for page in pages]
    micro: dict[str, float | None] = {}
    macro: dict[str, float | None] = {}
    for name in ("pairs", "successors", "footrule", "edit"):
        above, below = (sum(each[name][side] for each in made) for side in (0, 1))
        micro[name] = above / below if below else None
        macro[name] = mean([each[name][0] / each[name][1] for each in made if each[name][1]])

    def total(of: Callable[[dict[str, int]], int]) -> int:
        return sum(of(page.counts) for page in pages)

    shown = (
        "truth", "unordered", "placed", "unplaced", "missing", "pred", "concordant", "discordant", "open", "pairs_merged",
        "links_required", "links_predicted", "links_right", "moves",
    )  # fmt: skip
    kinds = [kind for page in pages for kind in page.breaks]
    return {
        "micro": micro,
        "macro": macro,
        "counts": {
            "pages": total(lambda page: page["truth"] > 0),
            "pages_judged": sum(each["pairs"][1] > 0 for each in made),
            "pairs_judged": sum(each["pairs"][1] for each in made),
            **{name: total(lambda page, name=name: page[name]) for name in shown},
        },
        "breaks": {kind: kinds.count(kind) for kind in BREAKS},
        "profiles": {
            "docling_ard": mean([1 - p.counts["displacement"] / p.counts["placed"] ** 2 for p in pages if p.counts["placed"]]),
            "omnidocbench_edit": mean([p.counts["edits"] / p.counts["truth"] for p in pages if p.counts["truth"]]),
        },
    }
