"""How alike two values are: comparators for the fields of a record, loaded when they are used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calque.comparators.anls import ANLSComparator as ANLSComparator
    from calque.comparators.anls import ANLSStarComparator as ANLSStarComparator
    from calque.comparators.base import BaseComparator as BaseComparator
    from calque.comparators.box import BBoxIoUComparator as BBoxIoUComparator
    from calque.comparators.choice import IgnoreComparator as IgnoreComparator
    from calque.comparators.choice import OneOfComparator as OneOfComparator
    from calque.comparators.date import DateComparator as DateComparator
    from calque.comparators.numeric import NumericComparator as NumericComparator
    from calque.comparators.phone import PhoneComparator as PhoneComparator
    from calque.comparators.registry import register_comparator as register_comparator
    from calque.comparators.text import ExactComparator as ExactComparator
    from calque.comparators.text import FuzzyComparator as FuzzyComparator
    from calque.comparators.text import LevenshteinComparator as LevenshteinComparator
    from calque.comparators.text import NormalizedComparator as NormalizedComparator

_HOME = {
    "ANLSComparator": "anls",
    "ANLSStarComparator": "anls",
    "BBoxIoUComparator": "box",
    "BaseComparator": "base",
    "DateComparator": "date",
    "ExactComparator": "text",
    "FuzzyComparator": "text",
    "IgnoreComparator": "choice",
    "LevenshteinComparator": "text",
    "NormalizedComparator": "text",
    "NumericComparator": "numeric",
    "OneOfComparator": "choice",
    "PhoneComparator": "phone",
    "register_comparator": "registry",
}

__all__ = sorted(_HOME)  # noqa: PLE0605  # the names are in the table above


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'calque.comparators' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"calque.comparators.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
