"""How numbers say where a box is, how large they may be, and COCO's grids of thresholds and recalls; all without NumPy.

Each grid exists twice, and the two differ in the last bit of some values; a box or a recall that falls between them would be
decided otherwise. pycocotools makes its grids by adding up steps, and detection has to agree with it to the bit. Fields,
whose contract spells thresholds in decimals (they stand in signatures and as keys of results), use the nearest doubles.
"""

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


FORMS = tuple(BoxForm)
"""What the numbers of a row's box are, by the code in its column ``form``."""
BOX_SPELLINGS = ("xyxy", "xywh", "cxcywh", "polygon")
"""How files may spell a box: two corners, a corner and a size, a centre and a size, or points whose bounds count."""
ON = ("shapes", "boxes", "masks")
"""What objects can be taken for: what their format draws, the boxes around that, or sets of pixels."""
AUTO = "auto"
"""As the file itself says, where it does; else the usual: two corners, in pixels."""
FOUR_NUMBER_SPELLINGS = ("xyxy", "xywh", "cxcywh")
"""Those that take exactly four numbers."""

FAR = 1e150
"""Coordinates beyond this would overflow an area."""

COCO_THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.8999999999999999, 0.95)
"""pycocotools' ``np.linspace(0.5, 0.95, 10)``."""
DECIMAL_COCO_THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
"""The same as people write them: only the ninth differs."""

RECALL_POINTS = tuple(0.01 * point for point in range(101))
"""pycocotools' ``np.linspace(0, 1, 101)``."""
DECIMAL_RECALL_POINTS = tuple(point / 100 for point in range(101))
"""The same as people write them: ten of them differ, from 0.35 on."""
