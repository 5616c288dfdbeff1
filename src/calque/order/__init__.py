"""Reading order: in which order a system reads the blocks of a page, and where it leaves the path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.base.lazy_names import lazily
from calque.order.task import Order as Order

if TYPE_CHECKING:
    from calque.corpus.orders import OrderCorpus as OrderCorpus
    from calque.order.api import Compared as Compared
    from calque.order.api import compare as compare

_HOME = {
    "Compared": "calque.order.api",
    "OrderCorpus": "calque.corpus.orders",
    "compare": "calque.order.api",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOME, own=["Order"])
