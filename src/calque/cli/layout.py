"""``calque layout``: blocks of a page and their categories."""

from __future__ import annotations

from calque.cli.evaluate import evaluation_verb
from calque.layout.task import Layout

command = evaluation_verb(
    "layout",
    Layout,
    """Evaluate the layout blocks in PREDICTIONS against TRUTH.

    Each true block takes the prediction that it overlaps most, and several may take the same one. Reported are the blocks
    that are found, how often their category is right, and what was taken for what.

    \b
    calque layout truth.json predictions.json --iou 0.5
    """,
)
