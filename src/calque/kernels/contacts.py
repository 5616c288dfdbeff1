"""Truths and predictions that share some area, as columns to choose from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calque.base.columns import Array, Codes, Flags, Floats, Ints
from calque.geometry.boxes import iou


@dataclass(frozen=True, kw_only=True, eq=False)
class Contacts:
    """Every truth and prediction of one page that count and share some area, whatever their labels."""

    truth: Ints
    found: Ints
    iou: Floats
    coverage: Floats
    purity: Floats
    same: Flags
    """Whether the two have the same label."""

    @classmethod
    def of(
        cls,
        overlapping: tuple[Codes, Codes, Floats],
        areas: tuple[Floats, Floats],
        labels: tuple[Codes, Codes],
    ) -> Contacts:
        """From the rows of overlapping pairs with the area that they share, and each side's areas and labels."""
        truth, found, shared = overlapping
        truth_area, found_area = areas[0][truth], areas[1][found]
        with np.errstate(all="ignore"):
            contacts = cls(
                truth=truth.astype(np.int64),
                found=found.astype(np.int64),
                iou=iou(shared, truth_area, found_area),
                coverage=shared / truth_area,
                purity=shared / found_area,
                same=labels[0][truth] == labels[1][found],
            )
        # Boxes too large for a number have no IoU.
        return contacts.where(~np.isnan(contacts.iou))

    def where(self, holds: Flags) -> Contacts:
        """Only the contacts for which this holds."""
        return self.take(np.flatnonzero(holds))

    def take(self, chosen: Ints) -> Contacts:
        """Only the contacts at these positions."""
        return Contacts(**{name: getattr(self, name)[chosen] for name in self.__dataclass_fields__})


def best(group: Ints, value: Floats, *ties: Array) -> Ints:
    """For each group the position of its highest value; among equals the lowest of the ties, one after the other.

    >>> best(np.array([4, 4, 7]), np.array([0.2, 0.9, 0.1])).tolist()
    [1, 2]
    """
    if not len(group):
        return np.zeros(0, np.int64)
    highest = np.full(int(group.max()) + 1, -np.inf)
    np.maximum.at(highest, group, value)
    top = np.flatnonzero(value == highest[group])
    tied = np.bincount(group[top])[group[top]] > 1
    contested = top[tied]
    order = contested[np.lexsort((*(tie[contested] for tie in reversed(ties)), group[contested]))]
    first = np.ones(len(order), np.bool_)
    first[1:] = group[order][1:] != group[order][:-1]
    return np.sort(np.concatenate([top[~tied], order[first]]))
