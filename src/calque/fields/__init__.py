"""Fields: records extracted from documents, with boxes and confidences, against what they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.base.lazy_names import lazily
from calque.fields.task import Fields as Fields

if TYPE_CHECKING:
    from calque.fields.accumulators import BBoxMAPAccumulator as BBoxMAPAccumulator
    from calque.fields.accumulators import ConfidenceAccumulator as ConfidenceAccumulator
    from calque.fields.accumulators import PostComparisonAccumulator as PostComparisonAccumulator
    from calque.fields.bulk import BulkStructuredModelEvaluator as BulkStructuredModelEvaluator
    from calque.fields.failures import document_table as document_table
    from calque.fields.failures import error_table as error_table
    from calque.fields.failures import field_table as field_table
    from calque.fields.frames import compare_json as compare_json
    from calque.fields.frames import evaluate_dataframe as evaluate_dataframe

_HOME = {
    "BBoxMAPAccumulator": "calque.fields.accumulators",
    "BulkStructuredModelEvaluator": "calque.fields.bulk",
    "ConfidenceAccumulator": "calque.fields.accumulators",
    "PostComparisonAccumulator": "calque.fields.accumulators",
    "compare_json": "calque.fields.frames",
    "document_table": "calque.fields.failures",
    "error_table": "calque.fields.failures",
    "evaluate_dataframe": "calque.fields.frames",
    "field_table": "calque.fields.failures",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOME, own=["Fields"])
