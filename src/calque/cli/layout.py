"""``calque layout``: blocks of a page and their categories."""

from __future__ import annotations

from calque.cli.evaluate import evaluation_verb
from calque.layout.task import Layout

command = evaluation_verb(
    "layout",
    Layout,
    """Evaluate layout blocks: blocks found, category accuracy and confusion.

    TRUTH and PREDICTIONS are files or folders, in the formats of calque detect. Each ground-truth block is matched with the
    prediction that it overlaps most; several blocks may share one prediction.

    \b
    calque layout truth.json predictions.json --iou 0.5
    """,
)
