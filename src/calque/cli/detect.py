"""``calque detect``: boxes on pages."""

from __future__ import annotations

from calque.cli.evaluate import evaluation_verb
from calque.detection.task import Detection

command = evaluation_verb(
    "detect",
    Detection,
    """Evaluate PREDICTIONS against TRUTH: which boxes were found, and how well they fit.

    Both are snapshot files (schema 1.3), or COCO ground truth and COCO results. Boxes of one page and label are paired
    greedily by IoU for precision, recall and fit, and by score for AP.

    \b
    calque detect truth.json predictions.json
    calque detect truth.json predictions.json --iou 0.5 --format markdown -o report.md
    """,
)
