"""Reading orders of pages: blocks, and a tree that says which of them is read before which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from calque.base.columns import Floats
from calque.base.errors import Issue
from calque.corpus.boxes import Corpus, UnitId, canonical, json_digest


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks and groups that are read one after the other, or of which nobody says which comes first.

    >>> Group((0, Group((1, 2), ordered=False), 3)).blocks()
    [0, 1, 2, 3]
    """

    members: tuple[int | Group, ...] | range
    """Places of blocks on their page, and groups; a range where blocks are read as they are listed."""
    ordered: bool = True

    def blocks(self) -> list[int]:
        """All blocks below, as they are listed."""
        if isinstance(self.members, range):
            return list(self.members)
        found: list[int] = []
        waiting: list[int | Group] = [self]
        while waiting:
            member = waiting.pop()
            if isinstance(member, Group):
                waiting += reversed(member.members)
            else:
                found.append(member)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class OrderPage:
    """The blocks of a page and their order; blocks outside of it have none."""

    ids: tuple[str | int, ...]
    order: Group
    boxes: Floats | None = None
    """Left, top, right, bottom of each block; nothing where only names are known."""
    labels: tuple[str, ...] = ()
    """What each block is called; nothing where none is."""
    size: tuple[float, float] | None = None
    """Width and height of the page, where the file gives them."""
    image: str = ""
    """The name of the page's picture, where the file gives one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OrderCorpus(Corpus):
    """The pages of documents with their reading orders."""

    pages: Mapping[UnitId, Mapping[int, OrderPage]]
    model: str = ""
    source: str = ""
    issues: tuple[Issue, ...] = ()

    def __repr__(self) -> str:
        return f"<OrderCorpus {self.source or 'from memory'}: {self.contents()}>"

    def contents(self) -> str:
        """How much there is."""
        count = sum(len(page.ids) for pages in self.pages.values() for page in pages.values())
        return f"{super().contents()} with {count:,} block{'' if count == 1 else 's'}"

    def units(self) -> tuple[UnitId, ...]:
        """The ids of all documents."""
        return tuple(sorted(self.pages, key=canonical))

    def digests(self) -> list[int]:
        """Return a digest of each document: the blocks of its pages and their order."""
        return [
            json_digest([[number, _plain(page)] for number, page in sorted(self.pages[unit].items())]) for unit in self.units()
        ]

    def select(self, units: Iterable[UnitId]) -> OrderCorpus:
        """Only these documents (those that are here), whole."""
        wanted = set(units)
        return replace(self, pages={unit: pages for unit, pages in self.pages.items() if unit in wanted})


def _plain(page: OrderPage) -> list[Any]:
    """Return all of a page that can change a number, as JSON. Pages without boxes are paired by ids."""
    boxes = None if page.boxes is None else page.boxes.tolist()
    return [list(page.ids), boxes, list(page.labels), None if page.size is None else list(page.size), _nested(page.order)]


def _nested(group: Group) -> list[Any]:
    """Return a group as a flat list of brackets and blocks: a deep tree must not exhaust the stack."""
    flat: list[Any] = []
    waiting: list[Any] = [group]
    while waiting:
        member = waiting.pop()
        if isinstance(member, Group):
            flat.append("ordered" if member.ordered else "unordered")
            waiting.append("end")
            waiting += reversed(member.members)
        else:
            flat.append(member)
    return flat
