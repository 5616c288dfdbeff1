"""What a lattice offers where its readings part: every candidate of every choice, and the one that the best path takes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np

from calque.core.columns import Codes, Strings, Table
from calque.core.corpora.words import Edge
from calque.core.ledger import UNIT
from calque.words.lattice.best_path import Oracle

COLUMNS = ("choice", "first", "last", "taken", "text", "sources")
"""What viewers alone need, all but the document."""


def candidates_table(best: Sequence[Oracle | None], units: Codes) -> Table:
    """One row for each candidate of each choice on the best path of each document.

    ``choice`` counts within a document; from ``first`` to before ``last`` are the true words that can lie there: those between
    the nearest words before and behind it that the path has right.
    """
    unit: list[int] = []
    numbers: list[tuple[int, int, int, bool]] = []
    texts: list[str] = []
    sources: list[str] = []
    for code, one in zip(units.tolist(), best, strict=True):
        for choice, (first, last, taken, offered) in enumerate(() if one is None else _choices(one)):
            for edge in offered:
                unit.append(code)
                numbers.append((choice, first, last, edge is taken))
                texts.append(" ".join(edge.words))
                sources.append(", ".join(edge.sources))
    table = np.array(numbers, dtype=np.int64).reshape(-1, 4)
    return Table({
        UNIT: np.array(unit, dtype=np.int32),
        "choice": table[:, 0].astype(np.int32),
        "first": table[:, 1].astype(np.int32),
        "last": table[:, 2].astype(np.int32),
        "taken": table[:, 3].astype(np.bool_),
        "text": Strings.pack(texts),
        "sources": Strings.pack(sources),
    })  # fmt: skip


def _choices(best: Oracle) -> Iterator[tuple[int, int, Edge, list[Edge]]]:
    """Each place of the path that several candidates leave: its true words, what is taken, and all that is offered."""
    leaving: dict[object, list[Edge]] = {}
    for edge in best.edges:
        leaving.setdefault(edge.start, []).append(edge)
    truths = [truth for truth, _ in best.pairs]
    words = [word for _, word in best.pairs]
    at = 0
    for edge in best.taken:
        begin, at = at, at + len(edge.words)
        offered = leaving[edge.start]
        if len(offered) < 2:
            continue
        before, behind = bisect_left(words, begin), bisect_left(words, at)
        first = truths[before - 1] + 1 if before else 0
        last = truths[behind] if behind < len(truths) else best.n_ref
        yield first, last, edge, offered
