"""Orders as trees: which of two blocks comes first, and how a tree becomes one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from calque.core.corpora.orders import Group


@dataclass(frozen=True, eq=False)
class Tree:
    """A group with what is asked of it often: where its blocks stand, and in which groups."""

    root: Group

    @cached_property
    def _paths(self) -> tuple[dict[int, tuple[Group, ...]], dict[int, tuple[int, ...]]]:
        """For each block the groups that it is in, the outermost first, and which member of each of them."""
        parents: dict[int, tuple[Group, ...]] = {}
        child: dict[int, tuple[int, ...]] = {}
        waiting: list[tuple[Group, tuple[Group, ...], tuple[int, ...]]] = [(self.root, (self.root,), ())]
        while waiting:
            group, above, path = waiting.pop()
            for place, member in enumerate(group.members):
                if isinstance(member, Group):
                    waiting.append((member, (*above, member), (*path, place)))
                else:
                    parents[member], child[member] = above, (*path, place)
        return parents, child

    @cached_property
    def place(self) -> dict[int, int]:
        """For each block where it is listed."""
        return {block: place for place, block in enumerate(self.root.blocks())}

    def orders(self, first: int, second: int) -> bool:
        """Whether the smallest group that holds both blocks says which comes first."""
        if not self.open_groups:
            return True
        parents, child = self._paths
        for group, mine, other in zip(parents[first], child[first], child[second], strict=False):
            if mine != other:
                return group.ordered
        return True  # a block and itself

    @cached_property
    def open_groups(self) -> list[tuple[Group, list[list[int]]]]:
        """The groups without an order, each with the blocks of its members."""
        found = []
        waiting = [self.root]
        while waiting:
            group = waiting.pop()
            waiting += [member for member in group.members if isinstance(member, Group)]
            if not group.ordered:
                members = [member.blocks() if isinstance(member, Group) else [member] for member in group.members]
                found.append((group, members))
        return found


def line(group: Group, position: Mapping[int, int]) -> list[int]:
    """The blocks of a tree in one line. Where it leaves the order open, members come as they are first read; unread ones last.

    >>> line(Group((0, Group((1, 2), ordered=False), 3)), {0: 0, 1: 5, 2: 4})
    [0, 2, 1, 3]
    """
    if group.ordered and Group not in set(map(type, group.members)):
        return group.blocks()
    return list(_walk(group, position, _first_positions(group, position)))


def _first_positions(group: Group, position: Mapping[int, int]) -> dict[int, float]:
    """For each group below, by identity, the first position of its blocks that are read."""
    first: dict[int, float] = {}
    waiting: list[tuple[Group, bool]] = [(group, False)]
    while waiting:
        here, seen = waiting.pop()
        inner = [member for member in here.members if isinstance(member, Group)]
        if not seen:
            waiting += [(here, True), *((member, False) for member in inner)]
            continue
        read = [position.get(member, float("inf")) for member in here.members if not isinstance(member, Group)]
        first[id(here)] = min([*read, *(first[id(member)] for member in inner)], default=float("inf"))
    return first


def _walk(group: Group, position: Mapping[int, int], first: Mapping[int, float]) -> Iterator[int]:
    def read_at(member: int | Group) -> float:
        return first[id(member)] if isinstance(member, Group) else position.get(member, float("inf"))

    waiting: list[int | Group] = [group]
    while waiting:
        member = waiting.pop()
        if not isinstance(member, Group):
            yield member
            continue
        members: Iterable[int | Group] = member.members if member.ordered else sorted(member.members, key=read_at)
        waiting += reversed(list(members))
