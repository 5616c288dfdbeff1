"""Reading orders of pages: the counts, ranks, reversed pairs and breaks of two orders of each page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Flags, Floats, Ints


class PageOrders(NamedTuple):
    """The reading orders of pages: lists of blocks, and groups as stretches of such a list.

    Groups come the outer ones first; two of a page are apart, or one is inside the other. What is in no group is in order.
    """

    blocks: Ints
    """Page ``p`` has the blocks ``blocks[p]:blocks[p + 1]``."""
    listed: Codes
    """Blocks, counted from the first of their page, each at most once."""
    listed_offsets: Ints
    starts: Codes
    """Of groups, as the ends: counted from the first listed block of the page."""
    ends: Codes
    ordered: Bytes
    group_offsets: Ints


BREAKS = ("furniture", "interleaved", "column_jump", "skip", "back")
"""Why a step from one block to the next is not one of the truth."""

ORDER_COUNTS = (
    "truth", "unordered", "placed", "unplaced", "missing", "pred", "concordant", "discordant", "open", "pairs_merged",
    "links_required", "links_predicted", "links_right", "moves", "displacement", "largest", "edits", *BREAKS,
)  # fmt: skip
"""What is counted of a page. ``displacement`` is the sum of differences of ranks, ``largest`` the most it could be."""


SMALL = 128
"""Up to so many entries it is quicker to look at every pair."""


def agreement(positions: Array) -> tuple[Ints, Ints]:
    """For each entry of a sequence with how many others it stands in rising order, and with how many in falling order.

    Equal entries are in neither. Entries are whole numbers from 0.

    >>> [counts.tolist() for counts in agreement(np.array([0, 2, 1, 1]))]
    [[3, 1, 1, 1], [0, 2, 1, 1]]
    """
    values = np.asarray(positions, dtype=np.int64)
    size = len(values)
    if size <= SMALL:
        rises = np.triu(values[:, None] < values, 1)
        falls = np.triu(values[:, None] > values, 1)
        return rises.sum(0) + rises.sum(1), falls.sum(0) + falls.sum(1)
    falling = np.zeros(size, dtype=np.int64)
    rising = np.zeros(size, dtype=np.int64)
    at = np.arange(size)
    bits = int(values.max(initial=0)).bit_length()
    for bit in range(bits - 1, -1, -1):
        # Entries that agree in all higher bits stand together, in their order; two of them first differ in this bit or below.
        ones: Flags = (values[at] >> bit & 1).astype(np.bool_)
        begin = _group_starts(values[at] >> (bit + 1))
        before = np.concatenate([[0], np.cumsum(ones)])
        group_ones = before[_group_ends(begin)] - before[begin]
        ones_before = before[:-1] - before[begin]
        place = np.arange(size) - begin
        zeros = _group_ends(begin) - begin - group_ones
        zeros_before = place - ones_before
        falling[at] += np.where(ones, zeros - zeros_before, ones_before)
        rising[at] += np.where(ones, zeros_before, group_ones - ones_before)
        target = begin + np.where(ones, zeros + ones_before, zeros_before)
        moved = np.empty_like(at)
        moved[target] = at
        at = moved
    return rising, falling


def _group_starts(keys: Ints) -> Ints:
    """For each entry where the run of equal keys that it is in begins."""
    new = np.concatenate([[True], keys[1:] != keys[:-1]]) if len(keys) else np.zeros(0, dtype=np.bool_)
    starts: Ints = np.maximum.accumulate(np.where(new, np.arange(len(keys)), 0)) if len(keys) else np.zeros(0, dtype=np.int64)
    return starts


def _group_ends(starts: Ints) -> Ints:
    """For each entry where the run that it is in ends."""
    first, size = np.unique(starts, return_counts=True)
    ends: Ints = np.repeat(first + size, size)
    return ends


def longest_rise(ranks: Array) -> int:
    """The length of the longest rising subsequence of different numbers.

    >>> longest_rise(np.array([2, 0, 1, 3]))
    3
    """
    from bisect import bisect_left

    tails: list[int] = []
    for rank in ranks.tolist():
        place = bisect_left(tails, rank)
        tails[place : place + 1] = [rank]
    return len(tails)


def judge_orders(
    truth: PageOrders, found: PageOrders, places: Codes, furniture: Bytes, columns: Floats
) -> tuple[Ints, Codes, Codes, Codes, Ints, Codes, Codes, Bytes]:
    """What is counted of each page (`ORDER_COUNTS`), and what became of each true block and of each step.

    ``places`` has the found block of each true block, counted from the first of its page, or -1; ``furniture`` says which true
    blocks are furniture, ``columns`` has their left and right edges (NaN where nobody knows). Of each true block come its rank
    in the true line, its place in what was read (both -1 where it has none), and how many pairs with it are reversed. Of the
    steps that are not the truth's: where those of each page begin, both blocks, and the kind (`BREAKS`).

    >>> page, none, no_group = np.array([0, 3]), np.zeros(0, np.int32), np.array([0, 0])
    >>> truth = PageOrders(page, np.array([0, 1, 2], np.int32), page, none, none, none.astype(np.uint8), no_group)
    >>> found = truth._replace(listed=np.array([0, 2, 1], np.int32))
    >>> made = judge_orders(truth, found, np.arange(3, dtype=np.int32), np.zeros(3, np.uint8), np.full((3, 2), np.nan))
    >>> dict(zip(ORDER_COUNTS, made[0][0].tolist()))["discordant"], made[2].tolist()
    (1, [0, 2, 1])
    """
    rank, position = np.full(len(places), -1, np.int32), np.full(len(places), -1, np.int32)
    discordant = np.zeros(len(places), np.int32)
    counts: list[list[int]] = []
    steps: list[tuple[int, int, int]] = []
    offsets = [0]
    for number, (ours, theirs) in enumerate(zip(_pages(truth), _pages(found), strict=True)):
        rows = slice(*truth.blocks[number : number + 2].tolist())
        page = _Judged(ours, theirs, places[rows].tolist(), furniture[rows].tolist(), columns[rows].tolist())
        rank[rows][page.listed(page.line)] = np.arange(len(page.line))
        position[rows][page.listed(page.read)] = np.arange(len(page.read))
        discordant[rows][page.listed(range(len(ours.blocks)))] = page.falling
        steps += [(ours.blocks[one], ours.blocks[other], kind) for one, other, kind in page.breaks]
        counts.append([page.counts[name] for name in ORDER_COUNTS])
        offsets.append(len(steps))
    before, after, kinds = (np.array([step[side] for step in steps], np.int32) for side in range(3))
    made = np.array(counts, np.int64).reshape(-1, len(ORDER_COUNTS))
    return made, rank, position, discordant, np.array(offsets, np.int64), before, after, kinds.astype(np.uint8)


@dataclass(frozen=True, eq=False)
class _Order:
    """The order of one page: its blocks as they are listed, and groups as stretches of places in that list."""

    size: int
    blocks: list[int]
    groups: list[tuple[int, int, bool]]

    @cached_property
    def parents(self) -> list[int]:
        """For each group the smallest that holds it, or -1."""
        found: list[int] = []
        for number, (start, end, _) in enumerate(self.groups):
            above = number - 1
            while above >= 0 and not (self.groups[above][0] <= start and end <= self.groups[above][1]):
                above = found[above]
            found.append(above)
        return found

    @cached_property
    def innermost(self) -> list[int]:
        """For each place the smallest group that it is in, or -1."""
        found = [-1] * len(self.blocks)
        for number, (start, end, _) in enumerate(self.groups):
            found[start:end] = [number] * (end - start)
        return found

    def holders(self, place: int) -> Iterator[int]:
        """The groups that a place is in, the innermost first."""
        number = self.innermost[place]
        while number >= 0:
            yield number
            number = self.parents[number]

    def sign(self, number: int) -> int:
        """How often pairs inside of a group are to be counted besides all pairs, so that those with an order are left."""
        above = self.parents[number]
        return (above >= 0 and not self.groups[above][2]) - (not self.groups[number][2])

    def orders(self, one: int, other: int) -> bool:
        """Whether the smallest group that holds both places says which comes first."""
        for number in self.holders(one):
            start, end, ordered = self.groups[number]
            if start <= other < end:
                return ordered
        return True


def _pages(side: PageOrders) -> Iterator[_Order]:
    groups = [*zip(side.starts.tolist(), side.ends.tolist(), side.ordered.astype(np.bool_).tolist(), strict=True)]
    sizes = np.diff(side.blocks).tolist()
    stretches = pairwise(side.listed_offsets.tolist()), pairwise(side.group_offsets.tolist())
    for size, (first, last), (begin, end) in zip(sizes, *stretches, strict=True):
        yield _Order(size, side.listed[first:last].tolist(), groups[begin:end])


class _Judged:
    """One page. Blocks are told by their places in the list of the truth."""

    def __init__(
        self, ours: _Order, theirs: _Order, places: list[int], furniture: list[int], columns: list[tuple[float, float]]
    ) -> None:
        self._ours, self._theirs = ours, theirs
        listed = {block: place for place, block in enumerate(theirs.blocks)}
        self._at = [listed.get(places[block], -1) for block in ours.blocks]
        """Where each block is read: a place in the list of the prediction."""
        self.line = _line(ours, self._at)
        rank = {place: number for number, place in enumerate(self.line)}
        self._straight = [place for place in self.line if self._at[place] >= 0]
        self.read = sorted(self._straight, key=lambda place: (self._at[place], rank[place]))
        self.falling, pairs = self._pairs()
        links = self._links()
        wrong = [step for step in links["predicted"] if step not in links["required"]]
        outside = {place for place in self.read if furniture[ours.blocks[place]] and self.falling[place] > 0}
        self.breaks = self._breaks(wrong, outside, [columns[block] for block in ours.blocks], rank)
        short = {place: number for number, place in enumerate(self._straight)}
        ranks = np.array([short[place] for place in self.read], dtype=np.int64)
        count, there = len(self.read), [places[block] for block in ours.blocks]
        self.counts = {
            "truth": len(there),
            "unordered": ours.size - len(there),
            "placed": count,
            "unplaced": sum(place >= 0 for place in there) - count,
            "missing": sum(place < 0 for place in there),
            "pred": theirs.size,
            **pairs,
            "links_required": len(links["required"]),
            "links_predicted": len(links["predicted"]),
            "links_right": len(links["predicted"]) - len(wrong),
            "moves": count - longest_rise(ranks),
            "displacement": int(np.abs(ranks - np.arange(count)).sum()),
            "largest": count * count // 2,
            "edits": _edits(self.line, self.read),
            **{kind: sum(code == number for *_, code in self.breaks) for number, kind in enumerate(BREAKS)},
        }

    def listed(self, places: Sequence[int]) -> Ints:
        """The blocks at some places."""
        return np.array([self._ours.blocks[place] for place in places], dtype=np.int64)

    def _pairs(self) -> tuple[list[int], dict[str, int]]:
        """For each block how many pairs with it are reversed, and how many pairs there are of each sort.

        Pairs are counted in one list. Those that a group leaves open are taken out again, and those inside of its members
        put back, for the truth as for the prediction.
        """
        placed = [place for place, at in enumerate(self._at) if at >= 0]
        whole, judged = _Counted(len(self._at)), _Counted(len(self._at))
        self._add(placed, 1, whole, judged)
        for number, (start, end, _) in enumerate(self._theirs.groups):
            if sign := self._theirs.sign(number):
                self._add([place for place in placed if start <= self._at[place] < end], sign, judged)
        rising, falling = int(judged.rising.sum()) // 2, int(judged.falling.sum()) // 2
        together = (int(whole.rising.sum()) + int(whole.falling.sum())) // 2
        counts = {"concordant": rising, "discordant": falling, "open": together - rising - falling, "pairs_merged": whole.equal}
        return judged.falling.tolist(), counts

    def _add(self, places: list[int], sign: int, *into: _Counted) -> None:
        """The pairs among some places that the truth orders."""
        held: dict[int, list[int]] = {}
        for place in places:
            for number in self._ours.holders(place):
                held.setdefault(number, []).append(place)
        parts = [(places, sign), *((part, sign * self._ours.sign(number)) for number, part in held.items())]
        for part, often in parts:
            if often and len(part) > 1:
                positions = np.array([self._at[place] for place in part], dtype=np.int64)
                for each in into:
                    each.add(part, positions, often)

    def _links(self) -> dict[str, dict[tuple[int, int], int]]:
        """Steps from a block to the next, with their places: those of the truth, and those of the prediction."""

        def told_apart(one: int, other: int) -> bool:
            return self._at[one] != self._at[other] and self._ours.orders(one, other)

        def ordered(one: int, other: int) -> bool:
            return self._theirs.orders(self._at[one], self._at[other])

        required = {step: place for place, step in enumerate(pairwise(self._straight)) if told_apart(*step)}
        predicted = {step: place for place, step in enumerate(pairwise(self.read)) if told_apart(*step) and ordered(*step)}
        self._step_at = predicted
        return {"required": required, "predicted": predicted}

    def _breaks(
        self, wrong: list[tuple[int, int]], outside: set[int], columns: list[tuple[float, float]], rank: dict[int, int]
    ) -> list[tuple[int, int, int]]:
        """Every step of the prediction that is not right, with the first kind that holds."""
        at = self._step_at
        jumps = {at[step] for step in wrong if not {*step} & outside and _apart(*(columns[place] for place in step))}
        found = []
        for one, other in wrong:
            place = at[one, other]
            if {one, other} & outside:
                kind = "furniture"
            elif place in jumps:
                kind = "interleaved" if {place - 1, place + 1} & jumps else "column_jump"
            else:
                kind = "skip" if rank[other] > rank[one] else "back"
            found.append((one, other, BREAKS.index(kind)))
        return found


class _Counted:
    """For each block how many pairs with it rise and fall; and how many pairs are in one place."""

    def __init__(self, blocks: int) -> None:
        self.rising, self.falling, self.equal = np.zeros(blocks, dtype=np.int64), np.zeros(blocks, dtype=np.int64), 0

    def add(self, places: list[int], positions: Ints, sign: int) -> None:
        rising, falling = agreement(positions)
        self.rising[places] += sign * rising
        self.falling[places] += sign * falling
        sizes = np.bincount(positions)
        self.equal += sign * int((sizes * (sizes - 1) // 2).sum())


def _line(order: _Order, at: list[int]) -> list[int]:
    """An order in one line. Where it is open, members come as they are first read; unread ones last."""
    return _laid(0, len(order.blocks), order.groups, True, at)


def _laid(place: int, end: int, groups: list[tuple[int, int, bool]], ordered: bool, at: list[int]) -> list[int]:
    """The places of one group, each of its members kept together."""
    members: list[list[int]] = []
    while place < end:
        if groups and groups[0][0] == place:
            (_, stop, inner), *rest = groups
            inside = [group for group in rest if group[0] < stop]
            members.append(_laid(place, stop, inside, inner, at))
            groups, place = rest[len(inside) :], stop
        else:
            members.append([place])
            place += 1
    if not ordered:
        members.sort(key=lambda member: min((at[place] for place in member if at[place] >= 0), default=float("inf")))
    return [place for member in members for place in member]


def _edits(line: list[int], read: list[int]) -> int:
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(line, read)


def _apart(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two blocks are in different columns: their widths share less than half of the narrower one."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared < 0.5 * min(one[1] - one[0], other[1] - other[0])
