"""``calque order``: in which order the blocks of a page are read."""

from __future__ import annotations

from calque.cli.evaluate import evaluation_verb
from calque.order.task import Order

command = evaluation_verb(
    "order",
    Order,
    """Evaluate reading order: pairs, successors, distances and breaks.

    TRUTH and PREDICTIONS are files or folders: PAGE XML, OmniDocBench, DoclingDocument, or page rows (NDJSON, Parquet, JSON)
    with the order as nested lists of ids.

    \b
    calque order truth/ predictions/
    calque order OmniDocBench.json sorted.ndjson --pair id
    """,
)
