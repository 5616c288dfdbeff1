"""``calque detect``: boxes on pages."""

from __future__ import annotations

from calque.cli.evaluate import evaluation_verb
from calque.detection.task import Detection

command = evaluation_verb(
    "detect",
    Detection,
    """Evaluate predicted boxes: precision, recall, F1, box fit and COCO AP.

    TRUTH and PREDICTIONS are files or folders. Formats: alto, coco, coco-results, cvat, docling, dota, label-studio, labelme,
    ndjson, omnidocbench, page, parquet, plain, snapshot, voc, yolo.

    \b
    calque detect truth.json predictions.json
    calque detect truth.json predictions.json --iou 0.5 -o result.md
    """,
)
