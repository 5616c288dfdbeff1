"""``calque order``: in which order the blocks of a page are read."""

from __future__ import annotations

from calque.cli.evaluate import evaluation_verb
from calque.order.task import Order

command = evaluation_verb(
    "order",
    Order,
    """Evaluate the reading order of PREDICTIONS against TRUTH: pairs, next steps, distances, and where the path is left.

    Both are files or folders: PAGE XML, OmniDocBench, DoclingDocument, or page rows (NDJSON, Parquet, JSON) with order as
    nested lists of ids. Rows may have nothing but an order.

    \b
    calque order truth/ predictions/
    calque order OmniDocBench.json sorted.ndjson --pair id
    """,
)
