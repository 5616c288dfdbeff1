"""calque tells how good document models are: it lays what was found over what is true.

Nothing heavy is imported until a name is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.base.lazy_names import lazily

if TYPE_CHECKING:
    from calque.base.columns import Table as Table
    from calque.base.errors import CalqueError as CalqueError
    from calque.base.errors import ConfigError as ConfigError
    from calque.base.errors import ContractError as ContractError
    from calque.base.errors import Issue as Issue
    from calque.base.errors import MergeError as MergeError
    from calque.base.errors import MissingExtra as MissingExtra
    from calque.ceiling import Ceiling as Ceiling
    from calque.corpus.boxes import Corpus as Corpus
    from calque.detection import Detection as Detection
    from calque.evaluation.evaluator import Evaluator as Evaluator
    from calque.evaluation.result import Result as Result
    from calque.evaluation.task import Task as Task
    from calque.fields import Fields as Fields
    from calque.fields.schemas.comparable_field import ComparableField as ComparableField
    from calque.fields.schemas.structured_model import StructuredModel as StructuredModel
    from calque.layout import Layout as Layout
    from calque.order import Order as Order
    from calque.readers import read as read
    from calque.statistics.bootstrap import resample as resample
    from calque.statistics.comparison import compare as compare
    from calque.statistics.gates import gated as gated
    from calque.statistics.intervals import intervals as intervals
    from calque.tables import Tables as Tables
    from calque.words import Words as Words

__version__ = "0.1.0"

_HOME = {
    "CalqueError": "calque.base.errors",
    "Ceiling": "calque.ceiling",
    "ComparableField": "calque.fields.schemas.comparable_field",
    "ConfigError": "calque.base.errors",
    "ContractError": "calque.base.errors",
    "Corpus": "calque.corpus.boxes",
    "Detection": "calque.detection",
    "Evaluator": "calque.evaluation.evaluator",
    "Fields": "calque.fields",
    "Layout": "calque.layout",
    "Issue": "calque.base.errors",
    "MergeError": "calque.base.errors",
    "MissingExtra": "calque.base.errors",
    "Result": "calque.evaluation.result",
    "StructuredModel": "calque.fields.schemas.structured_model",
    "Table": "calque.base.columns",
    "Order": "calque.order",
    "Tables": "calque.tables",
    "Task": "calque.evaluation.task",
    "Words": "calque.words",
    "compare": "calque.statistics.comparison",
    "gated": "calque.statistics.gates",
    "intervals": "calque.statistics.intervals",
    "read": "calque.readers",
    "resample": "calque.statistics.bootstrap",
}

_PACKAGES = ("ceiling", "checks", "coco", "comparators", "detection", "fields", "layout", "order", "tables", "words")

__getattr__, __dir__, __all__ = lazily(__name__, _HOME, own=["__version__"], packages=_PACKAGES)
