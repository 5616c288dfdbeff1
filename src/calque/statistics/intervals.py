"""From replicates to statements: how sure a number is, and how sure a difference."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.base.arguments import check_type, checked_list
from calque.base.columns import Floats
from calque.evaluation.document_sums import Support
from calque.evaluation.result import Result
from calque.statistics.bootstrap import Bootstrap, Resampling
from calque.statistics.student import normal_quantile, normal_share, t_quantile, t_share

FEWEST = 5
"""Documents below which there is no interval and no test."""
FEW = 10
"""Documents below which an interval is marked unreliable."""
EQUAL = 1e-12
"""Replicates as near as this to the value count as equal to it."""
POWER = 0.8
MOST_UNDEFINED = 0.05
"""From which share of undefined replicates on the note says so."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A number of one run, and the interval in which it lies."""

    value: float | None
    low: float | None
    high: float | None
    se: float | None
    documents: int
    """How many documents count in the measure's denominator."""
    note: str = ""

    @property
    def unreliable(self) -> bool:
        """Whether there are too few documents to rely on the interval."""
        return self.documents < FEW

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {name: getattr(self, name) for name in ("value", "low", "high", "se", "documents", "note")}


@dataclass(frozen=True, slots=True)
class Delta:
    """The difference between a run and the first one."""

    value: float | None
    low: float | None
    high: float | None
    se: float | None
    p: float | None
    documents: int
    """How many documents count in the measure's denominator, in either run."""
    effect: float | None = None
    """The difference in standard deviations of one document."""
    detectable: float | None = None
    """The difference that four of five such corpora would show."""
    documents_needed: int | None = None
    """About how many documents would show a small difference."""
    monte_carlo: float | None = None
    """How far an end may move with other replicates."""
    note: str = ""
    tested: bool = False
    """Whether it is one of the tests that are corrected for each other."""
    p_adjusted: float | None = None
    verdict: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; only what is tested has a verdict."""
        names = (
            "value", "low", "high", "se", "p", "documents", "effect", "detectable", "documents_needed", "monte_carlo", "note",
        )  # fmt: skip
        return {name: getattr(self, name) for name in (*names, *(("p_adjusted", "verdict") if self.tested else ()))}


def interval(value: float | None, replicates: Floats, counted: Support, confidence: float = 0.95) -> Interval:
    """Bias-corrected percentiles of the replicates, widened as Student's t is for so many documents."""
    documents = int(np.count_nonzero(counted.documents))
    defined = replicates[~np.isnan(replicates)]
    if value is None or len(defined) < 2:
        return Interval(value, None, None, None, documents, "" if value is None else "no replicate has a value")
    se = float(np.std(defined, ddof=1))
    note = _note(documents, counted, len(defined), len(replicates))
    if documents < FEWEST:
        return Interval(value, None, None, se, documents, note)
    z = _quantile(confidence, documents) * math.sqrt(documents / (documents - 1))
    equal = np.abs(defined - value) <= EQUAL
    below = np.count_nonzero((defined < value) & ~equal) + 0.5 * np.count_nonzero(equal)
    bias = normal_quantile((below + 0.5) / (len(defined) + 1))
    low, high = np.quantile(defined, [normal_share(2 * bias - z), normal_share(2 * bias + z)])
    return Interval(value, float(low), float(high), se, documents, note)


def difference(
    values: tuple[float | None, float | None],
    replicates: Floats,
    documents: int,
    confidence: float = 0.95,
    wanted: float = 0.01,
) -> Delta:
    """The second value less the first; ``replicates`` are the paired differences. ``wanted`` is the small difference."""
    first, second = values
    if first is None or second is None:
        return Delta(None, None, None, None, None, documents)
    value = second - first
    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2:
        return Delta(value, None, None, None, None, documents, note="no replicate has a value")
    se = float(np.std(defined, ddof=1))
    note = _few(documents)
    if documents < FEWEST:
        return Delta(value, None, None, se, None, documents, note=note)
    t = _quantile(confidence, documents)
    detectable = (t + t_quantile(POWER, documents - 1)) * se
    return Delta(
        value,
        value - t * se,
        value + t * se,
        se,
        2 * t_share(-abs(value) / se, documents - 1) if se > 0 else 1.0,
        documents,
        effect=value / (se * math.sqrt(documents)) if se > 0 else None,
        detectable=detectable,
        documents_needed=math.ceil(documents * (detectable / wanted) ** 2),
        monte_carlo=t * se / math.sqrt(2 * (len(defined) - 1)),
        note=note,
    )


def _quantile(confidence: float, documents: int) -> float:
    return t_quantile(1 - (1 - confidence) / 2, documents - 1)


def _few(documents: int) -> str:
    """What is to be said of few documents."""
    shown = f"{documents} document{'' if documents == 1 else 's'}"
    if documents < FEWEST:
        return f"{shown}: too few for an interval"
    return f"{shown}: unreliable" if documents < FEW else ""


def _note(documents: int, counted: Support, defined: int, replicates: int) -> str:
    """What a reader of an interval should know."""
    rare = [label for label, flags in counted.classes.items() if 0 < np.count_nonzero(flags) < FEWEST]
    undefined = replicates - defined
    parts = [
        _few(documents),
        f"in fewer than {FEWEST} documents: {', '.join(rare)}" if rare else "",
        f"undefined in {undefined:,} of {replicates:,} replicates" if undefined > MOST_UNDEFINED * replicates else "",
    ]
    return "; ".join(part for part in parts if part)


def intervals(
    result: Result, resampling: Resampling | None = None, measures: Iterable[str] | None = None, *, jobs: int = 1
) -> dict[str, Interval]:
    """Compute bootstrap confidence intervals of the metrics of a result. Whole documents are resampled.

    Args:
        result: The result.
        resampling: The number of replicates, the seed and the confidence level.
        measures: The names of the metrics. By default all that a comparison shows.
        jobs: The number of threads.

    Returns:
        The interval of each metric by its name. A metric in too few documents has a value and no bounds.

    Raises:
        KeyError: The result does not have a metric of that name.

    >>> from calque import Evaluator, Words
    >>> texts = {f"page {number}": "the cat sat" for number in range(30)}
    >>> result = Evaluator(Words()).update(texts, {**texts, "page 0": "the cat"}).compute()
    >>> recall = intervals(result, measures=["recall"])["recall"]
    >>> recall.low <= recall.value <= recall.high
    True
    """
    check_type("intervals", "result", result, Result, "a Result")
    check_type("intervals", "resampling", resampling, Resampling | None, "a Resampling or None")
    drawing = resampling or Resampling()
    if measures is None:
        names = list(result.task.compared(result.numbers))
    else:
        names = checked_list("intervals", "measures", measures, str, "a list of texts")
    values = {name: result[name] for name in names}
    bootstrap = Bootstrap(result)
    drawn = bootstrap.draw(drawing, [name for name in names if values[name] is not None], jobs)
    nothing = np.zeros(0)
    return {
        name: interval(value, drawn.get(name, nothing), bootstrap.support[name], drawing.confidence)
        for name, value in values.items()
    }
