"""Functions that compare two reading orders without files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.arguments import renamed_arguments
from calque.base.errors import IssueLog
from calque.base.short_repr import short_repr
from calque.corpus.orders import OrderPage
from calque.order.judging import judged
from calque.order.metrics import FOUR_NAMES, page_counts, page_values
from calque.order.page_orders import ORDER_COUNTS
from calque.readers.orders.building import of_names


@dataclass(frozen=True)
class Compared:
    """The metrics of two orders; ``None`` if there is nothing to judge."""

    pairs: float | None
    successors: float | None
    footrule: float | None
    edit: float | None
    moves: int
    counts: dict[str, int]

    __repr__ = short_repr


@renamed_arguments(pred="predictions")
def compare(truth: list[Any], predictions: list[Any]) -> Compared:
    """Compare two reading orders, given as nested lists of block ids.

    Args:
        truth: The ground-truth order. ``{"unordered": [...]}`` marks blocks that may come in any order.
        predictions: The predicted order, in the same form.

    Returns:
        The metrics of the pair.

    >>> compare(["a", "b", "c", "d"], ["b", "a", "c", "d"]).pairs
    0.8333333333333334
    """
    pages = [OrderPage(*of_names(order, "", IssueLog(""))) for order in (truth, predictions)]
    made = judged(*([page] for page in pages), pair="id", iou=0.5, furniture=())
    counts = dict(zip(ORDER_COUNTS, made.counts[0].tolist(), strict=True))
    values = page_values(page_counts(dict(zip(ORDER_COUNTS, made.counts.T, strict=True))))
    four = {name: None if np.isnan(values[name][0]) else float(values[name][0]) for name in FOUR_NAMES}
    return Compared(**four, moves=counts["moves"], counts=counts)
