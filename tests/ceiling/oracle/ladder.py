"""The ladder from units and who hits them: routes by trying every assignment, held-out choices, and what systems share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from calque.words.holdout import place

Cell = tuple[str, str]
"""A document and a class."""
Totals = list[tuple[int, int]]
"""For each system what it hits and what it has found."""


@dataclass
class Seen:
    """Everything that a ladder is made of."""

    names: list[str]
    documents: list[str]
    units: list[Cell]
    hits: list[set[int]]
    """For each system the units that it hits."""
    found: list[list[Cell]]
    """For each system the cells of what counts as found."""
    matches: Callable[[Sequence[int]], int]
    """How many units these systems reach together."""
    classes: list[str]
    pool: int | None
    recall_only: bool = False
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each column of metadata the value of each document."""


def f1(hits: int, found: int, truths: int) -> Fraction | None:
    return Fraction(2 * hits, truths + found) if truths + found else None


def ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def plain(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def ratios(hits: int, found: int, truths: int) -> dict[str, float | None]:
    return {"recall": ratio(hits, truths), "precision": ratio(hits, found), "f1": plain(f1(hits, found, truths))}


def ranking(totals: Totals, truths: int, *, recall_only: bool) -> list[int]:
    def key(system: int) -> tuple[Fraction, int, int]:
        hits, found = totals[system]
        value = (Fraction(hits, truths) if truths else None) if recall_only else f1(hits, found, truths)
        return Fraction(-1) if value is None else value, hits, -system

    return sorted(range(len(totals)), key=key, reverse=True)


def routed(cells: Sequence[Totals], truths: int, best: int, *, recall_only: bool) -> list[int]:
    """For each cell the system with which all cells together do best; the best F1 is that of every assignment tried."""
    if not cells:
        return []
    order = [best, *(system for system in range(len(cells[0])) if system != best)]
    rate = Fraction(0)
    if not recall_only:
        # Cells that are alike are tried once: a cell may only take what no other of its systems beats in both numbers.
        sums = {(0, 0)}
        for cell in cells:
            sums = {(hits + own, found + made) for hits, found in sums for own, made in set(cell)}
        rate = max((value for hits, found in sums if (value := f1(hits, found, truths)) is not None), default=Fraction(0))
    return [
        max(order, key=lambda system: (2 * cell[system][0] - rate * cell[system][1], -order.index(system))) for cell in cells
    ]


class Ladder:
    """The numbers of one level."""

    def __init__(self, seen: Seen, splits: int, seed: int) -> None:
        self.seen, self.splits, self.seed = seen, splits, seed
        self.systems = range(len(seen.names))
        self.truths = len(seen.units)
        self.totals = self.of_cells(lambda _document, _class: "")[""]
        self.ranking = ranking(self.totals, self.truths, recall_only=seen.recall_only)
        self.best = self.ranking[0]

    def of_cells(self, cell: Callable[[str, str], str], documents: Sequence[str] | None = None) -> dict[str, Totals]:
        """What each system has in each cell, over some documents."""
        kept = set(self.seen.documents if documents is None else documents)
        sums: dict[str, list[list[int]]] = {"": [[0, 0] for _ in self.systems]} if cell("", "") == "" else {}
        for system in self.systems:
            hit = [self.seen.units[unit] for unit in self.seen.hits[system]]
            for column, places in enumerate((hit, self.seen.found[system])):
                for document, name in places:
                    if document in kept:
                        sums.setdefault(cell(document, name), [[0, 0] for _ in self.systems])[system][column] += 1
        return {name: [(hits, found) for hits, found in own] for name, own in sums.items()}

    def truths_of(self, documents: Sequence[str]) -> int:
        return sum(document in documents for document, _ in self.seen.units)

    def numbers(self) -> dict[str, Any]:
        seen = self.seen
        everyone = seen.matches(self.systems)
        return {
            "truth": self.truths,
            "single": {name: self.single(*self.totals[system]) for system, name in enumerate(seen.names)},
            "best": {"system": seen.names[self.best], "held_out": self.held_out(lambda _document, _class: "")},
            "route": dict(self.routes()),
            "select": self.select(everyone),
            "repairable": self.repairable(everyone),
            "pairs": self.pairs(),
            "order": self.order(),
            "without": {
                name: everyone - seen.matches([other for other in self.systems if other != system])
                for system, name in enumerate(seen.names)
            },
        }

    def single(self, hits: int, found: int) -> dict[str, Any]:
        if self.seen.recall_only:
            return {"matched": found, "correct": hits, "recall": ratio(hits, self.truths)}
        return {"tp": hits, "found": found, **ratios(hits, found, self.truths)}

    def routes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        seen = self.seen

        def by_class(_document: str, name: str) -> str:
            return name

        def by_document(document: str, _name: str) -> str:
            return document

        if not seen.recall_only:
            yield "class", self.route(by_class, seen.classes) | {"held_out": self.held_out(by_class)}
        route = self.route(by_document, seen.documents)
        chosen = list(route["choice"].values())
        yield "document", route | {"choice": {name: chosen.count(name) for name in seen.names}}
        for column, values in seen.columns.items():

            def by_value(document: str, _name: str, values: dict[str, str] = values) -> str:
                return values.get(document, "")

            cells = sorted({by_value(document, "") for document in seen.documents})
            yield f"by:{column}", self.route(by_value, cells) | {"held_out": self.held_out(by_value)}

    def route(self, cell: Callable[[str, str], str], names: Sequence[str]) -> dict[str, Any]:
        sums = self.of_cells(cell)
        cells = [sums.get(name, [(0, 0) for _ in self.systems]) for name in names]
        chosen = routed(cells, self.truths, self.best, recall_only=self.seen.recall_only)
        route: dict[str, Any] = {"recall": ratio(sum(max(hits for hits, _ in own) for own in cells), self.truths)}
        if not self.seen.recall_only:
            hits, found = (sum(own[system][side] for own, system in zip(cells, chosen, strict=True)) for side in (0, 1))
            reached = ratios(hits, found, self.truths)
            route |= {"precision": reached["precision"], "f1": reached["f1"]}
        return route | {"choice": {name: self.seen.names[system] for name, system in zip(names, chosen, strict=True)}}

    def held_out(self, cell: Callable[[str, str], str]) -> float | None:
        values = []
        for split in range(self.splits):
            halves = [[each for each in self.seen.documents if place(each, self.seed + split) % 2 == half] for half in (0, 1)]
            if all(halves):
                values.append(self.pooled(cell, halves))
        known = [value for value in values if value is not None]
        return math.fsum(known) / len(known) if known else None

    def pooled(self, cell: Callable[[str, str], str], halves: Sequence[Sequence[str]]) -> float | None:
        hits = found = 0
        recall_only = self.seen.recall_only
        for own, other in (halves, halves[::-1]):
            seen, rest = self.of_cells(cell, own), self.of_cells(cell, other)
            names = sorted({*seen, *rest})
            nothing = [(0, 0) for _ in self.systems]
            mine = [seen.get(name, nothing) for name in names]
            truths = self.truths_of(own)
            sums = [(sum(each[system][0] for each in mine), sum(each[system][1] for each in mine)) for system in self.systems]
            best = ranking(sums, truths, recall_only=recall_only)[0]
            chosen = routed(mine, truths, best, recall_only=recall_only)
            for name, system in zip(names, chosen, strict=True):
                more = rest.get(name, nothing)[system]
                hits, found = hits + more[0], found + more[1]
        return ratio(hits, self.truths) if recall_only else plain(f1(hits, found, self.truths))

    def selected(self, matches: int) -> dict[str, float | None]:
        """F1 is that of keeping what is right and nothing else."""
        value = plain(f1(matches, matches, self.truths)) if self.truths else None
        return {"recall": ratio(matches, self.truths), **({} if self.seen.recall_only else {"f1": value})}

    def select(self, matches: int) -> dict[str, Any]:
        chosen = {"matches": matches, **self.selected(matches)}
        if self.seen.pool is None:
            return chosen
        return chosen | {
            "precision": 1.0 if matches else None,
            "pool": self.seen.pool,
            "pool_precision": ratio(matches, self.seen.pool),
        }

    def repairable(self, matches: int) -> float | None:
        most = max(hits for hits, _ in self.totals)
        if not self.truths or most == self.truths:
            return None
        single = most / self.truths
        return (matches / self.truths - single) / (1 - single)

    def pairs(self) -> dict[str, Any]:
        hits, names = self.seen.hits, self.seen.names
        made: dict[str, Any] = {name: {} for name in names}
        for one, other in product(self.systems, repeat=2):
            if one == other:
                continue
            both, first, second = len(hits[one] & hits[other]), len(hits[one] - hits[other]), len(hits[other] - hits[one])
            neither = self.truths - both - first - second
            alike, apart = both * neither, first * second
            made[names[one]][names[other]] = {
                "both": both, "first": first, "second": second, "neither": neither,
                "q": ratio(alike - apart, alike + apart), "disagreement": ratio(first + second, self.truths),
                "repairs": ratio(second, second + neither),
            }  # fmt: skip
        return made

    def order(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        taken: list[int] = []
        before = 0
        while len(taken) < len(self.systems):
            left = [system for system in self.systems if system not in taken]
            taken.append(max(left, key=lambda system: (self.seen.matches([*taken, system]), self.totals[system][0], -system)))
            now = self.seen.matches(taken)
            rows.append({"system": self.seen.names[taken[-1]], "matches": now, "gain": now - before, **self.selected(now)})
            before = now
        return rows
