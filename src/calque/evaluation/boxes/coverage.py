"""Which documents and pages two sides of boxes share, added up over the pieces of a ledger."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calque.base.columns import Flags, Table
from calque.evaluation.ledger import Piece


class Meetings:
    """Where truths and predictions are."""

    def __init__(self, counted: Callable[[Table], Flags], piece: Piece) -> None:
        documents, pages, truth, found = (piece.ledger.table(name) for name in ("documents", "pages", "truth", "found"))
        unit = found.array("unit")
        predicted = np.diff(piece.ledger.offsets("found")) > 0
        self._flags = [(piece.places, np.stack([documents.array("in_truth"), documents.array("in_found"), predicted]))]
        self.truths, self.counting = truth.height, int(np.count_nonzero(counted(truth)))
        self.rows = len(unit)
        self.told = "in_truth" in pages
        """Whether pages say that the truth has them."""
        self.shared = False
        """Whether any prediction is on a page of the truth."""
        if self.told:
            page = piece.ledger.absolute("pages", unit, found.array("page"))
            self.shared = bool(np.take(pages.array("in_truth"), page).any())

    def join(self, other: Meetings) -> Meetings:
        """Of both together."""
        self._flags += other._flags
        self.truths, self.counting, self.rows = (
            self.truths + other.truths,
            self.counting + other.counting,
            self.rows + other.rows,
        )
        self.told, self.shared = self.told and other.told, self.shared or other.shared
        return self

    def flags(self, documents: int) -> tuple[Flags, Flags, Flags]:
        """For each document whether the truth has it, whether the predictions do, and whether something is predicted in it."""
        flags = np.zeros((3, documents), dtype=np.bool_)
        for places, own in self._flags:
            flags[:, places] = own
        return flags[0], flags[1], flags[2]
