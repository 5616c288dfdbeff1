"""Which item of a batch is compared with which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from calque.checks.verdicts import SLACK
from calque.core.assignment import assign

if TYPE_CHECKING:
    from calque.core.columns import Floats

Matching = Literal["hungarian", "index", "max_matches"]
MATCHINGS: tuple[Matching, ...] = ("hungarian", "index", "max_matches")


def pair_up(scores: Floats, matching: Matching, match_threshold: float) -> list[tuple[int, int]]:
    """Pairs of rows and columns, by row.

    ``hungarian`` makes the total as large as possible; ``max_matches`` first the number of pairs at or above the
    threshold, then the total.

    >>> import numpy as np
    >>> scores = np.array([[0.6, 0.2], [0.55, 0.0]])
    >>> pair_up(scores, "hungarian", 0.5), pair_up(scores, "max_matches", 0.2)
    ([(0, 1), (1, 0)], [(0, 1), (1, 0)])
    """
    if matching == "max_matches":
        scores = scores + (min(scores.shape) + 1) * (scores >= match_threshold - SLACK)
    rows, columns = assign(scores)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))
