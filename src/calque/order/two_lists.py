"""Two orders of one page in one call: nested lists of ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calque.core.arguments import names_arguments
from calque.core.corpora.orders import OrderPage
from calque.core.errors import IssueLog
from calque.kernels.structs import ORDER_COUNTS
from calque.order.judging import judged
from calque.readers.orders.building import of_names


@dataclass(frozen=True)
class Compared:
    """What two orders have in common; ``None`` where there is nothing to judge."""

    pairs: float | None
    successors: float | None
    footrule: float | None
    edit: float | None
    moves: int
    counts: dict[str, int]


@names_arguments
def compare(truth: list[Any], pred: list[Any]) -> Compared:
    """The four numbers of two nested lists of ids, in which ``{"unordered": [...]}`` leaves the order open.

    >>> compare(["a", "b", "c", "d"], ["b", "a", "c", "d"]).pairs
    0.8333333333333334
    """
    pages = [OrderPage(*of_names(order, "", IssueLog(""))) for order in (truth, pred)]
    made = judged(*([page] for page in pages), pair="id", iou=0.5, furniture=())
    counts = dict(zip(ORDER_COUNTS, made.counts[0].tolist(), strict=True))
    c = counts
    pairs = c["concordant"] + c["discordant"] + c["open"]
    links = c["links_required"] + c["links_predicted"]
    return Compared(
        (c["concordant"] + c["open"] / 2) / pairs if pairs else None,
        2 * c["links_right"] / links if pairs and links else None,
        1 - c["displacement"] / c["largest"] if pairs and c["largest"] else None,
        1 - c["edits"] / c["truth"] if c["truth"] else None,
        c["moves"],
        counts,
    )
