"""Fields: records extracted from documents, with boxes and confidences, against what they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.core.start_up import lazily
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

__getattr__ = lazily(__name__, _HOME)


def __dir__() -> list[str]:
    return __all__
