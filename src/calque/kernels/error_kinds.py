"""The kinds of errors, as the numbers that kernels and ledgers hold."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What an object is, as a prediction, as a truth, or as both."""

    NONE = 0
    """It does not count."""
    TP = 1
    CLS = 2
    """The right place under another label."""
    MERGE = 3
    """A prediction that holds several truths."""
    MERGED = 4
    """A truth inside a prediction that holds several."""
    SPLIT = 5
    """A truth found in pieces, and the pieces."""
    DUP = 6
    """A second prediction of a truth that is found, as the next three."""
    DUP_CLS = 7
    FRAGMENT = 8
    ENVELOPE = 9
    LOC = 10
    """The right label in a poor place."""
    BOTH = 11
    """Another label and a poor place."""
    BKG = 12
    """A prediction where nothing is."""
    MISS = 13
    """A truth where nothing was predicted."""
    PARTIAL = 14
    """A truth that predictions touch, and none of them explains."""


class Subtype(IntEnum):
    """What more there is to say about a prediction of some kinds."""

    NONE = 0
    TIGHT = 1
    """Of LOC, as the next two: cuts parts off."""
    LOOSE = 2
    SHIFT = 3
    SWALLOWS = 4
    """Of TP and CLS: it covers a further truth that nothing else finds."""
    EMPTY_PAGE = 5
    """Of BKG: the page has no truth at all."""
