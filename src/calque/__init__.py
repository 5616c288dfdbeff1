"""calque tells how good document models are: it lays what was found over what is true.

Nothing heavy is imported until a name is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.core.start_up import lazily

if TYPE_CHECKING:
    from calque.ceiling import Ceiling as Ceiling
    from calque.core.columns import Table as Table
    from calque.core.comparison.compare import compare as compare
    from calque.core.comparison.intervals import intervals as intervals
    from calque.core.comparison.resample import resample as resample
    from calque.core.corpus import Corpus as Corpus
    from calque.core.errors import CalqueError as CalqueError
    from calque.core.errors import ConfigError as ConfigError
    from calque.core.errors import ContractError as ContractError
    from calque.core.errors import Issue as Issue
    from calque.core.errors import MergeError as MergeError
    from calque.core.errors import MissingExtra as MissingExtra
    from calque.core.evaluator import Evaluator as Evaluator
    from calque.core.gates.judging import gated as gated
    from calque.core.result import Result as Result
    from calque.core.task import Task as Task
    from calque.detection import Detection as Detection
    from calque.fields import Fields as Fields
    from calque.fields.schemas.comparable_field import ComparableField as ComparableField
    from calque.fields.schemas.structured_model import StructuredModel as StructuredModel
    from calque.layout import Layout as Layout
    from calque.order import Order as Order
    from calque.readers import read as read
    from calque.tables import Tables as Tables
    from calque.words import Words as Words

__version__ = "0.1.0"

_HOME = {
    "CalqueError": "calque.core.errors",
    "Ceiling": "calque.ceiling",
    "ComparableField": "calque.fields.schemas.comparable_field",
    "ConfigError": "calque.core.errors",
    "ContractError": "calque.core.errors",
    "Corpus": "calque.core.corpus",
    "Detection": "calque.detection",
    "Evaluator": "calque.core.evaluator",
    "Fields": "calque.fields",
    "Layout": "calque.layout",
    "Issue": "calque.core.errors",
    "MergeError": "calque.core.errors",
    "MissingExtra": "calque.core.errors",
    "Result": "calque.core.result",
    "StructuredModel": "calque.fields.schemas.structured_model",
    "Table": "calque.core.columns",
    "Order": "calque.order",
    "Tables": "calque.tables",
    "Task": "calque.core.task",
    "Words": "calque.words",
    "compare": "calque.core.comparison.compare",
    "gated": "calque.core.gates.judging",
    "intervals": "calque.core.comparison.intervals",
    "read": "calque.readers",
    "resample": "calque.core.comparison.resample",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOME, own=["__version__"])
