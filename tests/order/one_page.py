"""A single page judged, with its counts by name, for tests that look at one page."""

from __future__ import annotations

from dataclasses import dataclass

from calque import Order
from calque.corpus.orders import OrderPage
from calque.order.judging import Judged, judged
from calque.order.page_orders import ORDER_COUNTS


@dataclass(frozen=True)
class OnePage:
    """What is said of one page."""

    counts: dict[str, int]
    places: dict[int, int]
    """The predicted block of each true block that has one."""
    judged: Judged


def one_page(truth: OrderPage, found: OrderPage, pair: str = "cover", iou: float = 0.5) -> OnePage:
    """One page, with the furniture that is usual."""
    made = judged([truth], [found], pair=pair, iou=iou, furniture=Order().furniture)
    counts = dict(zip(ORDER_COUNTS, made.counts[0].tolist(), strict=True))
    return OnePage(counts, {block: there for block, there in enumerate(made.places.tolist()) if there >= 0}, made)
