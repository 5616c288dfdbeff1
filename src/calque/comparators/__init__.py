"""How alike two values are: comparators for the fields of a record, loaded when they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.base.lazy_names import lazily

if TYPE_CHECKING:
    from calque.comparators.anls import ANLSComparator as ANLSComparator
    from calque.comparators.anls import ANLSStarComparator as ANLSStarComparator
    from calque.comparators.base import BaseComparator as BaseComparator
    from calque.comparators.base import register_comparator as register_comparator
    from calque.comparators.box import BBoxIoUComparator as BBoxIoUComparator
    from calque.comparators.choice import IgnoreComparator as IgnoreComparator
    from calque.comparators.choice import OneOfComparator as OneOfComparator
    from calque.comparators.date import DateComparator as DateComparator
    from calque.comparators.numeric import NumericComparator as NumericComparator
    from calque.comparators.phone import PhoneComparator as PhoneComparator
    from calque.comparators.text import ExactComparator as ExactComparator
    from calque.comparators.text import FuzzyComparator as FuzzyComparator
    from calque.comparators.text import LevenshteinComparator as LevenshteinComparator
    from calque.comparators.text import NormalizedComparator as NormalizedComparator

_HOME = {
    "ANLSComparator": "calque.comparators.anls",
    "ANLSStarComparator": "calque.comparators.anls",
    "BBoxIoUComparator": "calque.comparators.box",
    "BaseComparator": "calque.comparators.base",
    "DateComparator": "calque.comparators.date",
    "ExactComparator": "calque.comparators.text",
    "FuzzyComparator": "calque.comparators.text",
    "IgnoreComparator": "calque.comparators.choice",
    "LevenshteinComparator": "calque.comparators.text",
    "NormalizedComparator": "calque.comparators.text",
    "NumericComparator": "calque.comparators.numeric",
    "OneOfComparator": "calque.comparators.choice",
    "PhoneComparator": "calque.comparators.phone",
    "register_comparator": "calque.comparators.base",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOME)
