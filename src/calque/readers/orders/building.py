"""What readers of orders share: pages that are put together block by block, with what is wrong about their orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calque.base.columns import Floats
from calque.base.errors import ContractError, IssueLog, Severity
from calque.corpus.orders import Group, OrderPage
from calque.readers.sources.json_tree import identity, number, pointer, shown

DEEPEST = 200
"""Groups inside groups. No page needs as many, and more would be a file that wants to do harm."""


@dataclass(eq=False)
class Blocks:
    """The blocks of one page while they are read."""

    ids: list[str | int] = field(default_factory=list)
    boxes: list[Sequence[float]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    size: tuple[float, float] | None = None
    image: str = ""
    edges: Floats | None = None
    """All boxes at once, where a reader has them so."""

    def sized(self, width: Any, height: Any) -> None:
        """Take in the size of the page, if it is one."""
        sides = [number(side) for side in (width, height)]
        if all(side is not None and side > 0 for side in sides):
            self.size = (float(sides[0] or 0), float(sides[1] or 0))

    def add(self, id: str | int, box: Sequence[float] | None, label: str) -> int:
        """A block; its place on the page."""
        self.ids.append(id)
        self.labels.append(label)
        if box is not None:
            self.boxes.append(box)
        return len(self.ids) - 1

    def page(self, order: Group) -> OrderPage:
        """The page, with boxes where every block has one."""
        whole = len(self.boxes) == len(self.ids) and bool(self.ids)
        boxes = np.array(self.boxes, dtype=np.float64).reshape(-1, 4) if whole else self.edges
        return OrderPage(tuple(self.ids), order, boxes, tuple(self.labels), self.size, self.image)


class Ordering:
    """Turns names into blocks: a name that is no block, one that comes again, and one of two blocks are told."""

    def __init__(self, ids: Sequence[str | int], log: IssueLog, where: str = "") -> None:
        self._places: dict[str | int, int] = {}
        for place, name in enumerate(ids):
            if self._places.setdefault(name, place) != place:
                text = f"two blocks are called {shown(name)}; an order means the first"
                log.add("block-twice", where, text, severity=Severity.LOSS)
        self._seen: set[int] = set()
        self._log = log

    def block(self, name: Any, where: str) -> int | None:
        """The block of a name."""
        known = identity(name)
        place = None if known is None else self._places.get(known)
        if place is None:
            help = "an order names the blocks of its page by their ids"
            text = f"{shown(name)} is no block of this page, and is left out of its order"
            self._log.add("unknown-block", where, text, help=help, severity=Severity.LOSS)
            return None
        if place in self._seen:
            text = f"block {shown(name)} comes twice; its first place counts"
            self._log.add("block-twice", where, text, severity=Severity.LOSS)
            return None
        self._seen.add(place)
        return place

    def group(self, node: Any, where: str, file: str, depth: int = 0) -> Group:
        """A nested list of names, in which ``{"unordered": [...]}`` leaves the order open."""
        if depth > DEEPEST:
            raise ContractError.single("order-shape", f"groups are nested more than {DEEPEST} deep", file=file, pointer=where)
        if (plain := self._plain(node)) is not None:
            return plain
        ordered = isinstance(node, list)
        members = node if ordered else node.get("unordered") if isinstance(node, Mapping) else None
        if not isinstance(members, list) or (isinstance(node, Mapping) and set(node) != {"unordered"}):
            help = 'an order is a list of ids, of lists, and of {"unordered": [...]}'
            raise ContractError.single("order-shape", f"{shown(node)} is no order", file=file, pointer=where, help=help)
        found: list[int | Group] = []
        for place, member in enumerate(members):
            inside = where + pointer(place) if ordered else where + pointer("unordered", place)
            if isinstance(member, list | Mapping):
                found.append(self.group(member, inside, file, depth + 1))
            elif (block := self.block(member, inside)) is not None:
                found.append(block)
        return Group(tuple(found), ordered)

    def _plain(self, node: Any) -> Group | None:
        """A list of names of which each is a block that comes once: most orders are, and need no look at every name."""
        if not isinstance(node, list) or set(map(type, node)) != {str}:
            return None
        places = [*map(self._places.get, node)]
        known = {place for place in places if place is not None}
        if len(known) < len(places) or known & self._seen:
            return None
        self._seen |= known
        return Group(tuple(places))  # type: ignore[arg-type]  # as many are known as there are


def of_names(order: Any, where: str, log: IssueLog) -> tuple[tuple[str | int, ...], Group]:
    """The blocks of an order that is all that is known of a page, and the order itself."""
    if isinstance(order, list) and set(map(type, order)) == {str} and len(names := {*order}) == len(order) and "" not in names:
        return tuple(order), listed(len(order))
    ids = tuple(_names_in(order))
    return ids, Ordering(ids, log).group(order, where, log.file)


def _names_in(node: Any) -> list[Any]:
    """All names in a nested order, once each, as they come; what is no order is left for `Ordering.group` to tell."""
    found: dict[Any, None] = {}
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Mapping):
            waiting += list(here.values())
        elif isinstance(here, list):
            waiting += reversed(here)
        elif identity(here) is not None:
            found.setdefault(here)
    return list(found)


def listed(count: int) -> Group:
    """Blocks one after the other, as they are listed."""
    return Group(range(count))


NO_ORDER = Group(())
"""The order of a page that has none."""
