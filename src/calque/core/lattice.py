"""A lattice of words: what several engines, or one engine that is not sure, might have read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from calque.core.errors import ContractError


@dataclass(frozen=True, slots=True)
class Edge:
    """A candidate: words that lead from one place to the next, and who read them."""

    start: Hashable
    end: Hashable
    words: tuple[str, ...]
    sources: tuple[str, ...] = ()
    candidate: int = 0
    """Its number among the candidates of its slot; in a graph, its number among all edges."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """Edges between nodes, with one start and one or more finals; a path from start to final is one possible text."""

    edges: tuple[Edge, ...]
    start: Hashable
    finals: frozenset[Hashable]
    slots: int | None = None
    """The number of slots, when the lattice is a sausage."""

    @classmethod
    def from_slots(
        cls, slots: Sequence[Sequence[Sequence[str]]], sources: Sequence[Sequence[Sequence[str]]] | None = None
    ) -> Lattice:
        """A sausage: one slot after the other, each with candidates of zero or more words.

        ``sources`` names for each candidate of each slot who read it.

        >>> len(Lattice.from_slots([[["a", "b"], ["ab"], []], [["c"]]]).edges)
        4
        """
        edges = []
        for position, slot in enumerate(slots):
            if not slot:
                raise ContractError.single(
                    "empty-slot",
                    f"slot {position} has no candidates",
                    help="give it an empty candidate, [], to let it be skipped",
                )
            for number, words in enumerate(slot):
                if isinstance(words, str):
                    raise TypeError(f"slot {position}: a candidate is a list of words, not the string {words!r}")
                named = () if sources is None else tuple(sources[position][number])
                edges.append(Edge(position, position + 1, tuple(words), named, number))
        return cls(tuple(edges), 0, frozenset([len(slots)]), len(slots))

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[Hashable, Hashable, Sequence[str]]],
        start: Hashable | None = None,
        finals: Iterable[Hashable] | None = None,
    ) -> Lattice:
        """A graph of edges ``(from, to, words)``.

        Without ``start`` it is the one node that nothing leads to; without ``finals`` they are the nodes that lead nowhere.
        """
        made = tuple(Edge(a, b, tuple(words), (), number) for number, (a, b, words) in enumerate(edges))
        begins, ends = dict.fromkeys(edge.start for edge in made), dict.fromkeys(edge.end for edge in made)
        if start is None:
            roots = [node for node in begins if node not in ends]
            if len(roots) != 1:
                raise ContractError.single(
                    "no-start", f"the lattice has {len(roots)} nodes that nothing leads to", help="say which node is the start"
                )
            start = roots[0]
        last = frozenset(finals) if finals is not None else frozenset(node for node in ends if node not in begins)
        return cls(made, start, last)

    @property
    def sources(self) -> tuple[str, ...]:
        """Everyone who read some candidate, in the order of first mention."""
        return tuple(dict.fromkeys(source for edge in self.edges for source in edge.sources))

    def read_by(self, source: str) -> list[str]:
        """What one source read: the words of its candidates, slot by slot; nothing where it has none."""
        words: list[str] = []
        last: Hashable = None
        for edge in self.edges:
            if source in edge.sources and edge.start != last:
                words += edge.words
                last = edge.start
        return words
