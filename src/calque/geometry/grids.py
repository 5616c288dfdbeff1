"""COCO's grids: the IoU thresholds that are averaged over, and the recalls at which precision is read off.

Each exists twice, and the two differ in the last bit of some values; a box or a recall that falls between them would be
decided otherwise. pycocotools makes its grids by adding up steps, and detection has to agree with it to the bit. Fields,
whose contract spells thresholds in decimals (they stand in signatures and as keys of results), use the nearest doubles.

Plain tuples, so that the settings of a task need no NumPy.
"""

from __future__ import annotations

COCO_THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.8999999999999999, 0.95)
"""pycocotools' ``np.linspace(0.5, 0.95, 10)``."""
DECIMAL_COCO_THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
"""The same as people write them: only the ninth differs."""

RECALL_POINTS = tuple(0.01 * point for point in range(101))
"""pycocotools' ``np.linspace(0, 1, 101)``."""
DECIMAL_RECALL_POINTS = tuple(point / 100 for point in range(101))
"""The same as people write them: ten of them differ, from 0.35 on."""
