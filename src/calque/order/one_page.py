"""One page: where its true blocks are in the prediction, and how far the two orders are apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from calque.core.columns import Floats
from calque.core.corpora.orders import OrderPage
from calque.order.inversions import agreement, longest_rise
from calque.order.placing import by_position, placed
from calque.order.trees import Tree, line

BREAKS = ("furniture", "interleaved", "column_jump", "skip", "back")
COUNTS = (
    "truth", "unordered", "placed", "unplaced", "missing", "pred", "concordant", "discordant", "open", "pairs_merged",
    "links_required", "links_predicted", "links_right", "moves", "displacement", "largest", "edits", *BREAKS,
)  # fmt: skip
"""What is counted of a page. ``displacement`` is the sum of differences of ranks, ``largest`` the most it could be."""


@dataclass(frozen=True)
class Break:
    """A step of the prediction that is not one of the truth."""

    before: int
    after: int
    kind: str


@dataclass(frozen=True, eq=False)
class Judged:
    """A page with all that is counted of it, and its true blocks one by one."""

    counts: Mapping[str, int]
    line: Sequence[int]
    """The true blocks in one line, those that are not placed too."""
    read: Sequence[int]
    """Those that are placed, as the prediction reads them."""
    places: Mapping[int, int]
    """The predicted block of each true block that has one."""
    discordant: Mapping[int, int]
    breaks: Sequence[Break]


def judged(truth: OrderPage, found: OrderPage, *, pair: str, iou: float, furniture: Collection[str]) -> Judged:
    """Everything that is said of one page."""
    places = placed(truth, found, pair, iou)
    position = by_position(found, places)
    ours, theirs = Tree(truth.order), Tree(found.order)
    straight = line(truth.order, position)
    rank = {block: place for place, block in enumerate(straight)}
    read = sorted(position, key=lambda block: (position[block], rank[block]))
    pairs = _Pairs(ours, theirs, position, places)
    links = _links(ours, theirs, [block for block in straight if block in position], read, places)
    breaks = _breaks(truth, links, read, pairs.discordant, rank, furniture)
    n = len(read)
    short = {block: place for place, block in enumerate(block for block in straight if block in position)}
    ranks = np.array([short[block] for block in read], dtype=np.int64)
    counts = {
        "truth": len(straight),
        "unordered": len(truth.ids) - len(straight),
        "placed": n,
        "unplaced": len(places) - n,
        "missing": len(straight) - len(places),
        "pred": len(found.ids),
        **pairs.counts,
        "links_required": len(links.required),
        "links_predicted": len(links.predicted),
        "links_right": len(links.required & links.predicted.keys()),
        "moves": n - longest_rise(ranks),
        "displacement": int(np.abs(ranks - np.arange(n)).sum()),
        "largest": n * n // 2,
        "edits": _edits(straight, read),
        **{kind: sum(each.kind == kind for each in breaks) for kind in BREAKS},
    }
    return Judged(counts, straight, read, places, pairs.discordant, breaks)


def _edits(straight: Sequence[int], read: Sequence[int]) -> int:
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(list(straight), list(read))


class _Pairs:
    """Pairs of blocks that the truth orders: in the same order, reversed, left open, or not to be told apart.

    Pairs are counted in one line, and those that a group leaves open are taken out again, group by group.
    """

    def __init__(self, ours: Tree, theirs: Tree, position: Mapping[int, int], places: Mapping[int, int]) -> None:
        self._ours, self._position = ours, position
        blocks = sorted(position, key=ours.place.__getitem__)
        self._row = {block: row for row, block in enumerate(blocks)}
        self._blocks = blocks
        self._all, self._open = _Counted(len(blocks)), _Counted(len(blocks))
        self._count(blocks, self._all, 1)
        held: dict[int, list[int]] = {}
        for block in blocks:
            held.setdefault(places[block], []).append(block)
        for _, members in theirs.open_groups:
            parts = [[block for there in member for block in held.get(there, ())] for member in members]
            together = [block for part in parts for block in part]
            for some, sign in [(together, 1), *((part, -1) for part in parts)]:
                self._count(sorted(some, key=ours.place.__getitem__), self._open, sign)
        concordant, discordant = self._all.rising - self._open.rising, self._all.falling - self._open.falling
        self.counts = {
            "concordant": int(concordant.sum()) // 2,
            "discordant": int(discordant.sum()) // 2,
            "open": int((self._open.rising + self._open.falling).sum()) // 2,
            "pairs_merged": self._all.equal,
        }
        self.discordant = dict(zip(blocks, discordant.tolist(), strict=True))

    def _count(self, blocks: Sequence[int], into: _Counted, sign: int) -> None:
        """Add, for each block, how many of the pairs among these that the truth orders rise and fall; or take them away."""
        self._add(blocks, into, sign)
        chosen = set(blocks) if len(blocks) > 1 else set()
        for _, members in self._ours.open_groups if chosen else ():
            parts = [[block for block in member if block in chosen] for member in members]
            self._add([block for part in parts for block in part], into, -sign)
            for part in parts:
                self._add(part, into, sign)

    def _add(self, blocks: Sequence[int], into: _Counted, sign: int) -> None:
        if len(blocks) < 2:
            return
        positions = np.array([self._position[block] for block in blocks], dtype=np.int64)
        rows = [self._row[block] for block in blocks]
        rising, falling = agreement(positions)
        into.rising[rows] += sign * rising
        into.falling[rows] += sign * falling
        sizes = (
            np.unique(positions, return_counts=True)[1] if len(set(positions.tolist())) < len(rows) else np.ones(1, np.int64)
        )
        into.equal += sign * int((sizes * (sizes - 1) // 2).sum())


class _Counted:
    """For each block how many pairs with it rise and fall; and how many pairs are in one place."""

    def __init__(self, blocks: int) -> None:
        self.rising, self.falling, self.equal = np.zeros(blocks, dtype=np.int64), np.zeros(blocks, dtype=np.int64), 0


@dataclass(frozen=True)
class _Links:
    """Steps from a block to the next: those of the truth, and those of the prediction with their place in its line."""

    required: set[tuple[int, int]]
    predicted: dict[tuple[int, int], int]


def _links(ours: Tree, theirs: Tree, straight: Sequence[int], read: Sequence[int], places: Mapping[int, int]) -> _Links:
    def judged_pair(first: int, second: int) -> bool:
        return places[first] != places[second] and ours.orders(first, second)

    required = {link for link in pairwise(straight) if judged_pair(*link)}
    predicted = {
        (first, second): place
        for place, (first, second) in enumerate(pairwise(read))
        if judged_pair(first, second) and theirs.orders(places[first], places[second])
    }
    return _Links(required, predicted)


def _breaks(
    truth: OrderPage,
    links: _Links,
    read: Sequence[int],
    discordant: Mapping[int, int],
    rank: Mapping[int, int],
    furniture: Collection[str],
) -> list[Break]:
    """Every step of the prediction that is not right, with the first kind that holds."""
    outside = {
        block for block in read if _plain(truth.labels[block] if truth.labels else "") in furniture and discordant[block]
    }
    wrong = {link: place for link, place in links.predicted.items() if link not in links.required}
    jumps = {
        place
        for (first, second), place in wrong.items()
        if not {first, second} & outside and truth.boxes is not None and _apart(truth.boxes[first], truth.boxes[second])
    }
    found = []
    for (first, second), place in wrong.items():
        if {first, second} & outside:
            kind = "furniture"
        elif place in jumps:
            kind = "interleaved" if {place - 1, place + 1} & jumps else "column_jump"
        else:
            kind = "skip" if rank[second] > rank[first] else "back"
        found.append(Break(first, second, kind))
    return found


@lru_cache(maxsize=1024)
def _plain(label: str) -> str:
    """A label as furniture is named: what follows the last colon, in small letters, with hyphens."""
    return label.rpartition(":")[2].lower().replace("_", "-")


def _apart(one: Floats, other: Floats) -> bool:
    """Whether two blocks are in different columns: their widths share less than half of the narrower one."""
    shared = min(one[2], other[2]) - max(one[0], other[0])
    return bool(shared < 0.5 * min(one[2] - one[0], other[2] - other[0]))
