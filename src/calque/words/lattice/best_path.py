"""The oracle: the path through a lattice that shares most words with the reference, in order."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from calque.base.arguments import check_type, check_words, checked_list, renamed_arguments, wrong_argument
from calque.base.columns import Codes, Ints
from calque.base.errors import ContractError
from calque.corpus.words import Edge, Lattice
from calque.kernels import kernels
from calque.words.alignment import Alignment, align, coded

ROWS_AT_ONCE = 64 << 20
"""Bytes of table rows that are held at once while a path is found."""


@dataclass(frozen=True, eq=False)
class Oracle:
    """The best path of a lattice: most matches, then fewest words, then lowest candidates."""

    matches: int
    n_ref: int
    path: list[int]
    """For each slot the candidate taken; in a graph, the edges in the order in which they are walked."""
    words: list[str]
    """What the path reads."""
    lattice: Lattice
    pruned: int
    """How many nodes no path from start to final goes through."""
    edges: tuple[Edge, ...]
    """The edges that remain, in their own order."""
    taken: tuple[Edge, ...]
    """The edges of the path."""
    alignment: Alignment
    """The path's words against the reference."""
    reference: tuple[str, ...]

    @property
    def recall(self) -> float | None:
        """The share of the reference that the best path has; ``None`` when there is no reference."""
        return self.matches / self.n_ref if self.n_ref else None

    @property
    def precision(self) -> float | None:
        """The share of the path's words that match; ``None`` when the path has none."""
        return self.matches / len(self.words) if self.words else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two."""
        return self.alignment.f1

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(reference index, index in ``words``) of every match."""
        return self.alignment.pairs

    @property
    def n_slots(self) -> int:
        """The number of slots; in a graph, of nodes that something leaves."""
        return self.lattice.slots if self.lattice.slots is not None else len({edge.start for edge in self.edges})

    @property
    def n_candidates(self) -> int:
        """The number of candidates, or edges, that lie on some path."""
        return len(self.edges)

    @cached_property
    def n_paths(self) -> int:
        """How many paths there are, exactly."""
        return _count_paths(self.lattice, self.edges)

    @cached_property
    def log10_paths(self) -> float:
        """The decimal logarithm of the number of paths."""
        if self.lattice.slots is None:
            return math.log10(self.n_paths)
        sizes: dict[Hashable, int] = {}
        for edge in self.edges:
            sizes[edge.start] = sizes.get(edge.start, 0) + 1
        return math.fsum(math.log10(size) for size in sizes.values())

    @cached_property
    def flat_bound(self) -> int:
        """Matches of all candidates one after the other: more than any path can have."""
        everything = [word for edge in self._in_order() for word in edge.words]
        return align(self.reference, everything).matches

    def _in_order(self) -> list[Edge]:
        """The edges by the place they start from, so that every path's words come in the path's order."""
        rank = {node: position for position, node in enumerate(_sorted_nodes(self.lattice.start, self.edges))}
        return sorted(self.edges, key=lambda edge: (rank[edge.start], edge.candidate))

    @cached_property
    def edit_distance(self) -> int:
        """The fewest insertions, deletions and substitutions that any path needs: the oracle of the word error rate."""
        return _fewest_edits(self.reference, self, substitution=1)

    @cached_property
    def indel_distance(self) -> int:
        """The fewest insertions and deletions that any path needs."""
        return _fewest_edits(self.reference, self, substitution=2)

    def __repr__(self) -> str:
        return f"<Oracle: {self.matches} of {self.n_ref} words, {self.n_slots} slots>"


@renamed_arguments(ref="truth")
def oracle(
    truth: Sequence[str],
    slots: Sequence[Sequence[Sequence[str]]] | None = None,
    *,
    edges: Iterable[tuple[Hashable, Hashable, Sequence[str]]] | None = None,
    start: Hashable | None = None,
    finals: Iterable[Hashable] | None = None,
    lattice: Lattice | None = None,
) -> Oracle:
    """Find the path through a lattice that has the most words in common with the ground truth, in order.

    Give the lattice in one of three forms.

    Args:
        truth: The words of the ground truth, in order.
        slots: One list of candidates per slot. Each candidate is a list of words.
        edges: The start node, the end node and the words of each edge of a graph.
        start: The node at which every path through ``edges`` begins.
        finals: The nodes at which a path through ``edges`` may end.
        lattice: A lattice that `build_lattice` returned.

    Returns:
        The best path, its words and its metrics.

    Raises:
        TypeError: Not exactly one of ``slots``, ``edges`` and ``lattice`` is given.
        ContractError: The graph has a cycle, or no path leads from ``start`` to a final node.

    >>> best = oracle("the cat sat".split(), [[["the"]], [["cot"], ["cat"]], [["sat"], ["sot"]]])
    >>> best.matches, best.recall, best.path, best.words
    (3, 1.0, [0, 1, 0], ['the', 'cat', 'sat'])
    >>> parts = [(0, 1, ["sand"]), (1, 2, ["stone"]), (0, 2, ["sandstone"])]
    >>> oracle(["sandstone"], edges=parts, start=0, finals=[2]).path
    [2]
    """
    check_words("oracle", truth=truth)
    check_type("oracle", "lattice", lattice, Lattice | None, "a Lattice or None")
    given = [name for name, value in (("slots", slots), ("edges", edges), ("lattice", lattice)) if value is not None]
    if len(given) != 1:
        raise TypeError(f"give one of slots, edges and lattice, not {len(given)}")
    if slots is not None:
        for slot in checked_list("oracle", "slots", slots, Iterable, "a list of slots"):
            checked_list("oracle", "slots", slot, Iterable, "a list of slots, each a list of candidates")
        lattice = Lattice.from_slots(slots)
    elif edges is not None:
        edges = checked_list("oracle", "edges", edges, tuple | list, "a list of (start, end, words)")
        if not all(len(edge) == 3 for edge in edges):
            raise wrong_argument("oracle", "edges", edges, "a list of (start, end, words)")
        check_type("oracle", "start", start, Hashable, "a node, which is hashable")
        if finals is not None:
            finals = checked_list("oracle", "finals", finals, Hashable, "a list of nodes")
        lattice = Lattice.from_edges(edges, start, finals)
    assert lattice is not None  # noqa: S101  # one of the three was given
    return _best(truth, lattice)


def _best(ref: Sequence[str], lattice: Lattice) -> Oracle:
    nodes, edges = _trimmed(lattice)
    spelled = list(chain.from_iterable(edge.words for edge in edges))
    (reference, words), vocabulary = coded(ref, spelled)
    rank = {node: position for position, node in enumerate(nodes)}
    matches, path = kernels().lattice_path(
        reference,
        _codes([rank[edge.start] for edge in edges]),
        _codes([rank[edge.end] for edge in edges]),
        np.cumsum([0, *(len(edge.words) for edge in edges)], dtype=np.int64),
        words,
        np.array([node in lattice.finals for node in nodes], dtype=np.uint8),
        vocabulary,
        max(16, ROWS_AT_ONCE * 8 // max(len(ref), 64)),
    )
    taken = [edges[number] for number in path.tolist()]
    read = [word for edge in taken for word in edge.words]
    (ours, theirs), size = coded(ref, read)
    everyone = {lattice.start, *lattice.finals, *(node for edge in lattice.edges for node in (edge.start, edge.end))}
    return Oracle(
        matches=matches,
        n_ref=len(ref),
        path=[edge.candidate for edge in taken],
        words=read,
        lattice=lattice,
        pruned=len(everyone) - len(nodes),
        edges=tuple(edges),
        taken=tuple(taken),
        alignment=Alignment(ours, theirs, size),
        reference=tuple(ref),
    )


def _codes(values: Sequence[int]) -> Codes:
    return np.array(values, dtype=np.int32)


def _trimmed(lattice: Lattice) -> tuple[list[Hashable], list[Edge]]:
    """The nodes that lie on a path from start to final, in walking order, and the edges between them."""
    after: dict[Hashable, list[Hashable]] = {}
    before: dict[Hashable, list[Hashable]] = {}
    for edge in lattice.edges:
        after.setdefault(edge.start, []).append(edge.end)
        before.setdefault(edge.end, []).append(edge.start)
    useful = _reachable([lattice.start], after) & _reachable(lattice.finals, before)
    if lattice.start not in useful:
        raise ContractError.single("no-path", "no path from start to a final node", help="check start, finals and the edges")
    edges = [edge for edge in lattice.edges if edge.start in useful and edge.end in useful]
    return _sorted_nodes(lattice.start, edges), edges


def _reachable(roots: Iterable[Hashable], neighbours: dict[Hashable, list[Hashable]]) -> set[Hashable]:
    seen = set(roots)
    waiting = list(seen)
    while waiting:
        for node in neighbours.get(waiting.pop(), ()):
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen


def _sorted_nodes(start: Hashable, edges: Iterable[Edge]) -> list[Hashable]:
    """The nodes such that every edge leads onwards; a cycle is an error."""
    entering: dict[Hashable, int] = {start: 0}
    leaving: dict[Hashable, list[Hashable]] = {}
    for edge in edges:
        entering[edge.end] = entering.get(edge.end, 0) + 1
        leaving.setdefault(edge.start, []).append(edge.end)
    order = [start] if not entering[start] else []
    for node in order:  # grows while it is walked
        for end in leaving.get(node, ()):
            entering[end] -= 1
            if not entering[end]:
                order.append(end)
    if len(order) < len(entering):
        stuck = next(node for node, count in entering.items() if count)
        raise ContractError.single("cycle", f"the lattice has a cycle at node {stuck!r}", help="a path must not meet itself")
    return order


def _count_paths(lattice: Lattice, edges: Sequence[Edge]) -> int:
    leaving: dict[Hashable, list[Hashable]] = {}
    for edge in edges:
        leaving.setdefault(edge.start, []).append(edge.end)
    paths: dict[Hashable, int] = {}
    for node in reversed(_sorted_nodes(lattice.start, edges)):
        paths[node] = int(node in lattice.finals) + sum(paths[end] for end in leaving.get(node, ()))
    return paths[lattice.start]


def _fewest_edits(reference: Sequence[str], best: Oracle, *, substitution: int) -> int:
    """The smallest edit distance of any path: one row of the table for each node, the minimum over its in-edges."""
    known: dict[str, int] = {}
    ours = np.array([known.setdefault(word, len(known)) for word in reference], dtype=np.int32)
    steps = np.arange(len(ours) + 1, dtype=np.int64)
    rows: dict[Hashable, Ints] = {best.lattice.start: steps}
    entering: dict[Hashable, list[Edge]] = {}
    for edge in best.edges:
        entering.setdefault(edge.end, []).append(edge)
    for node in _sorted_nodes(best.lattice.start, best.edges)[1:]:
        reached = [_edit_row(rows[edge.start], ours, edge.words, known, substitution) for edge in entering[node]]
        rows[node] = np.minimum.reduce(reached)
    return int(min(rows[node][-1] for node in rows if node in best.lattice.finals))


def _edit_row(row: Ints, ours: Codes, words: Sequence[str], known: dict[str, int], substitution: int) -> Ints:
    steps = np.arange(len(row), dtype=np.int64)
    for word in words:
        beside = row[:-1] + np.where(ours == known.get(word, -1), 0, substitution)
        new = np.concatenate([row[:1] + 1, np.minimum(row[1:] + 1, beside)])
        # Deleting reference words: a running minimum of what is left when each step costs one.
        row = np.minimum.accumulate(new - steps) + steps
    return row
