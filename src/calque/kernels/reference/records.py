"""Texts and lists of records: edit distances of chosen pairs, and partners that nobody else wants."""

from __future__ import annotations

import numpy as np
from rapidfuzz.distance import Levenshtein

from calque.core.columns import Bytes, Codes, Floats, Ints
from calque.kernels.structs import TextPoints


def edit_distances(texts: TextPoints, first: Codes, second: Codes, jobs: int = 1) -> Codes:  # noqa: ARG001  # as the compiled twin
    """How many characters have to be put in, taken out or exchanged to make one text of each pair the other.

    >>> points = np.frombuffer("catcoat".encode("utf-32-le"), dtype=np.int32)
    >>> texts = TextPoints(points, np.array([0, 3, 7]))
    >>> edit_distances(texts, np.array([0, 1], dtype=np.int32), np.array([1, 1], dtype=np.int32)).tolist()
    [1, 0]
    """
    listed = [part.tolist() for part in np.split(texts.points, texts.offsets[1:-1])] if len(texts.offsets) > 1 else []
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return np.array([Levenshtein.distance(listed[a], listed[b]) for a, b in pairs], dtype=np.int32)


def plain_partners(scores: Floats, heights: Ints, widths: Ints, slack: float) -> tuple[Codes, Bytes]:
    """Each row's best column, or each column's best row where there are fewer columns, for matrices one after the other.

    A matrix is settled (1) when no two want the same partner and each prefers its own by more than ``slack``: then nothing
    beats these pairs. The rows of the others have no partner yet (-1).

    >>> partners, settled = plain_partners(np.array([0.1, 0.9, 0.8, 0.2, 0.5, 0.5]), np.array([2, 1]), np.array([2, 2]), 0.0)
    >>> partners.tolist(), settled.tolist()
    ([1, 0, -1], [1, 0])
    """
    partners = np.full(int(heights.sum()), -1, dtype=np.int32)
    settled = np.zeros(len(heights), dtype=np.uint8)
    row = cell = 0
    for place, (height, width) in enumerate(zip(heights.tolist(), widths.tolist(), strict=True)):
        matrix = scores[cell : cell + height * width].reshape(height, width)
        mine = partners[row : row + height]
        turned = height > width
        wanted = _wanted(matrix.T if turned else matrix, slack)
        if wanted is not None:
            settled[place] = 1
            if turned:
                mine[wanted] = np.arange(width)
            else:
                mine[:] = wanted
        row, cell = row + height, cell + height * width
    return partners, settled


def _wanted(matrix: Floats, slack: float) -> Ints | None:
    """The best column of each row, unless one is wanted twice or another is as good."""
    best = matrix.argmax(axis=1)
    if matrix.shape[1] > 1:
        ordered = np.partition(matrix, -2, axis=1)
        if (ordered[:, -1] - ordered[:, -2] <= slack).any():
            return None
    return best if len(set(best.tolist())) == len(best) else None
