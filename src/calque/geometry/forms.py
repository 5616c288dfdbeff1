"""How numbers say where a box is, and how large they may be."""

from __future__ import annotations

from enum import StrEnum


class BoxForm(StrEnum):
    """How four numbers describe a box. Kept as read: converting could flip a decision at a threshold.

    The two differ in more than their third and fourth numbers. The area of a box with corners is the product of two
    differences. That of a box with a size is the product of the numbers that were read, as in pycocotools: taken from its
    corners (``x + w`` is rounded) it would differ in the last bit.
    """

    XYXY = "xyxy"
    XYWH = "xywh"


BOX_SPELLINGS = ("xyxy", "xywh", "cxcywh", "polygon")
"""How files may spell a box: two corners, a corner and a size, a centre and a size, or points whose bounds count."""
FOUR_NUMBER_SPELLINGS = ("xyxy", "xywh", "cxcywh")
"""Those that take exactly four numbers."""

FAR = 1e150
"""Coordinates beyond this would overflow an area."""
