"""``calque fields``: extracted records."""

from __future__ import annotations

from calque.cli.evaluate import evaluation_verb
from calque.fields.task import Fields

command = evaluation_verb(
    "fields",
    Fields,
    """Evaluate PREDICTIONS against TRUTH: which fields are right, where they are, and what confidences are worth.

    Both are JSON, JSON Lines, or folders of JSON files. Values may be plain or {"_value": …, "_confidence": …, "_bbox": …}.

    \b
    calque fields truth.jsonl predictions.jsonl --schema invoice.json
    calque fields truth/ predictions/ --schema invoice.json --format json -o result.json
    """,
)
