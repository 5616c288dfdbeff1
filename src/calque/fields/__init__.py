"""Fields: records extracted from documents, with boxes and confidences, against what they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.core.start_up import lazily
from calque.fields.task import Fields as Fields

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

__getattr__, __dir__, __all__ = lazily(__name__, _HOME, own=["Fields"])
