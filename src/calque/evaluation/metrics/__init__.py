"""Metrics that are declared once: JSON, JSON Schema, CSV, names, explanations, gates and bootstrap replicates follow.

A task declares three things in its ``metrics.py``:

1. **Metrics**, each with a formula over counts: ``RIGHT / (RIGHT + WRONG)``.
2. **The tree of the result**: which metrics it has, over what, and under which keys.
3. **Rows**: a function that says which rows of a ledger add to which count.

Here is a whole table, for a task whose ledger has one row per word:

>>> import numpy as np
>>> from calque.base.columns import Table
>>> from calque.evaluation.ledger import Ledger
>>> WORDS, RIGHT = Count("words"), Count("right")
>>> METRICS = (
...     Metric("words", "words", "All words.", value=WORDS, better="neither"),
...     Metric("accuracy", "accuracy", "The fraction of words that are right.", undefined="no words", value=RIGHT / WORDS),
... )
>>> def rows(task, ledger):
...     tally, words = Tally(ledger), ledger.table("words")
...     tally.count("words", words, by="language")
...     tally.count("right", words, words.array("right"), by="language")
...     return tally
>>> table = MetricTable(
...     "reading", METRICS, rows=rows,
...     result=block_of(METRICS, {"per_class": Each(block_of(METRICS), by="label", over="language")}),
... )

The plain values of a ledger are those of its documents with weight 1:

>>> columns = {"unit": [0, 0, 1], "language": [0, 1, 0], "right": [True, False, True]}
>>> words = Table({name: np.array(values) for name, values in columns.items()})
>>> ledger = Ledger(units=("a.txt", "b.txt"), tables={"words": words}, names={"language": ("de", "en")})
>>> tree = table.compute(None, ledger)
>>> tree["accuracy"], tree["per_class"]["de"]
(0.6666666666666666, {'words': 2, 'accuracy': 1.0})
>>> table.names(tree)
['words', 'accuracy', 'words/de', 'accuracy/de', 'words/en', 'accuracy/en']
>>> [weighted] = table.weighted(None, ledger)
>>> weighted.replicates(np.array([[1, 2], [1, 0]], np.int32), ["accuracy"])["accuracy"].tolist()
[0.6666666666666666, 0.5]

`calque.layout.metrics` is a complete table of a task.
"""

from __future__ import annotations

from calque.evaluation.metrics.formulas import Count, Formula, Metric, Ratio, Sums
from calque.evaluation.metrics.plain import PlainMetrics, PlainSums, add_up
from calque.evaluation.metrics.table import MetricTable, one_sided_documents
from calque.evaluation.metrics.tally import Tally
from calque.evaluation.metrics.tree import Block, CsvRows, Each, MeanOfClasses, MeanOfDocuments, Total, block_of
from calque.evaluation.metrics.weighted import WeightedBlock

__all__ = [
    "Block",
    "Count",
    "CsvRows",
    "Each",
    "Formula",
    "MeanOfClasses",
    "MeanOfDocuments",
    "Metric",
    "MetricTable",
    "PlainMetrics",
    "PlainSums",
    "Ratio",
    "Sums",
    "Tally",
    "Total",
    "WeightedBlock",
    "add_up",
    "block_of",
    "one_sided_documents",
]
