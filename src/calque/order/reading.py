"""Both sides of a comparison of orders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from calque.core.errors import ContractError
from calque.core.order_corpus import OrderCorpus
from calque.readers.orders.files import is_single, read_orders


def read_sides(expected: Any, found: Any) -> tuple[OrderCorpus, OrderCorpus]:
    """Truth and prediction; every issue of both in one error."""
    sides: list[OrderCorpus] = []
    errors: list[ContractError] = []
    for source, is_truth in ((expected, True), (found, False)):
        try:
            sides.append(read_orders(source, truth=is_truth))
        except ContractError as error:
            errors.append(error)
    if errors:
        raise ContractError([issue for error in errors for issue in error.issues], total=sum(error.total for error in errors))
    truth, other = sides
    if is_single(expected) and is_single(found) and len(truth.pages) == len(other.pages) == 1:
        # Two single files are two readings of one document, whatever they are called.
        other = replace(other, pages=dict(zip(truth.pages, other.pages.values(), strict=True)))
    return truth, other
