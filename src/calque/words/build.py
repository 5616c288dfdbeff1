"""A lattice from what several engines read: slots between the words that all of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calque.core.lattice import Lattice
from calque.words.alignment import align


def build_lattice(readings: Mapping[str, Sequence[str]]) -> Lattice:
    """The lattice of several readings of one text, so that every reading is a path.

    A word that all engines have, in order, is a slot of its own; what lies between two such words is one slot with each
    engine's words as a candidate, possibly none. Equal candidates are one, with several sources.

    >>> lattice = build_lattice({"a": ["the", "cat", "sat"], "b": ["the", "cot", "sat"], "c": ["the", "sat"]})
    >>> [(edge.words, edge.sources) for edge in lattice.edges if edge.start == 1]
    [(('cat',), ('a',)), (('cot',), ('b',)), ((), ('c',))]
    """
    names = list(readings)
    places = _anchors([readings[name] for name in names])
    slots: list[list[Sequence[str]]] = []
    sources: list[list[list[str]]] = []
    begins = tuple(0 for _ in names)
    for anchor in [*places, None]:
        ends = tuple(len(readings[name]) for name in names) if anchor is None else anchor
        segments = [tuple(readings[name][begin:end]) for name, begin, end in zip(names, begins, ends, strict=True)]
        if any(segments):
            distinct = list(dict.fromkeys(segments))
            slots.append(list(distinct))
            sources.append([[name for name, mine in zip(names, segments, strict=True) if mine == kept] for kept in distinct])
        if anchor is not None:
            slots.append([(readings[names[0]][anchor[0]],)])
            sources.append([names])
            begins = tuple(place + 1 for place in anchor)
    return Lattice.from_slots(slots, sources)


def _anchors(readings: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    """Positions, one for each reading, of words that all share in order."""
    shared: list[tuple[int, ...]] = [(position,) for position in range(len(readings[0]))]
    for reading in readings[1:]:
        words = [readings[0][place[0]] for place in shared]
        shared = [(*shared[mine], theirs) for mine, theirs in align(words, reading).pairs]
    return shared
