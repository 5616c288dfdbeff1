"""Fields: records extracted from documents, with boxes and confidences, against what they should be."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from calque.fields.task import Fields

if TYPE_CHECKING:
    from calque.fields.accumulators import BBoxMAPAccumulator as BBoxMAPAccumulator
    from calque.fields.accumulators import ConfidenceAccumulator as ConfidenceAccumulator
    from calque.fields.accumulators import PostComparisonAccumulator as PostComparisonAccumulator
    from calque.fields.bulk import BulkStructuredModelEvaluator as BulkStructuredModelEvaluator

_HOME = {
    "BBoxMAPAccumulator": "calque.fields.accumulators",
    "BulkStructuredModelEvaluator": "calque.fields.bulk",
    "ConfidenceAccumulator": "calque.fields.accumulators",
    "PostComparisonAccumulator": "calque.fields.accumulators",
}

__all__ = ["Fields", *sorted(_HOME)]  # noqa: PLE0604  # the names are strings, in the table above


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'calque.fields' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
