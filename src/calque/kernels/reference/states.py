"""What a point of a page is to one label: the states that areas are counted by, whatever rows are made of."""

from __future__ import annotations

from collections.abc import Sequence

PREDICTED, OWN, OTHER, EXCUSING = 0, 1, 2, 3
"""What a row is to a page and label: a prediction, a truth, a truth of another label, a truth that absorbs."""
STATES = 24
"""All that matters of a point: no prediction, one or more; and whether there is a row of each other part."""
KINDS = 7


def kinds(state: int) -> tuple[bool, ...]:
    """Whether points of a state belong to each kind of area."""
    found, own, other, excusing = state >= 8, bool(state & 4), bool(state & 2), bool(state & 1)
    stray = found and not own
    return (
        own,
        found,
        own and not found,
        state >= 16,
        stray and not excusing and other,
        stray and not excusing and not other,
        stray and excusing,
    )


def covered_area(sums: Sequence[float]) -> float:
    """The area of a truth that one or more predictions cover, where nothing else was added."""
    return sums[12] + sums[20]
