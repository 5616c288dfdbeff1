"""Is one run better than another? Paired differences of every measure, tests of a few, and all of it in one object."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calque.base.arguments import check_number, check_type, checked_list
from calque.base.columns import Flags
from calque.base.errors import ConfigError, nearest
from calque.base.short_repr import one_line, short_repr
from calque.base.wording import brief, counted, some
from calque.corpus.boxes import UnitId, in_canonical_order
from calque.engines import current_progress
from calque.evaluation.document_sums import Replicates, Support
from calque.evaluation.metric_names import MetricNames, direction
from calque.evaluation.result import Result
from calque.evaluation.signature import Signature
from calque.statistics.bootstrap import Bootstrap, Resampling
from calque.statistics.changes import Changes, changes
from calque.statistics.comparability import check_comparable, on_shared_documents, run_named
from calque.statistics.intervals import Delta, Interval, difference, interval


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure of all runs, and how each differs from the first."""

    name: str
    runs: Mapping[str, Interval]
    deltas: Mapping[str, Delta]
    """By run, all but the first."""
    primary: bool
    lower_is_better: bool

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Several runs on the same documents, compared with the first. `compare` returns it; ``print`` shows it as a table."""

    results: Mapping[str, Result]
    """By name, in their order."""
    resampling: Resampling
    measures: Mapping[str, Compared]
    documents: tuple[UnitId, ...]
    """Those of the truth and of any run."""
    changes: Mapping[str, Changes]
    """What each run does otherwise than the first, item by item; empty where the task does not tell."""
    wanted: float = 0.01
    """The small difference for which the number of documents is told."""

    @property
    def base(self) -> str:
        """The run that the others are compared with."""
        return next(iter(self.results))

    @property
    def signature(self) -> Signature:
        """Every setting behind the numbers and their intervals."""
        base = self.results[self.base].signature
        return replace(base, settings={**base.settings, **self.resampling.signature()})

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write an HTML report with the comparison and every object that changed.

        Args:
            path: The file to write; its name ends in ``.html``.
            options: The options of `Result.report`.

        Raises:
            ConfigError: The name does not end in ``.html``, or an evaluator did not keep the outcomes.
        """
        # The report stands above comparisons, which know nothing of files.
        importlib.import_module("calque.report").write_comparison(self, path, **options)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the differences and their intervals with matplotlib. A notebook displays the plot.

        Args:
            ax: The axes to draw into. By default calque makes a figure of its own.

        Returns:
            The figure, or ``ax`` if it was given.

        Raises:
            MissingExtra: matplotlib is not installed.
        """
        return importlib.import_module("calque.report.plots").comparison_figure(self, ax)

    def __dir__(self) -> list[str]:
        """Return the names that completion offers: those that the reference describes."""
        return ["base", "changes", "delta", "documents", "measures", "plot", "report", "resampling", "results", "signature"]

    def __repr__(self) -> str:
        runs, documents = some(map(brief, self.results), 3), counted(len(self.documents), "document")
        return one_line(f"<Comparison of {runs}: {self.signature.task}, {counted(len(self.measures), 'metric')}, {documents}>")

    def __str__(self) -> str:
        """Return the comparison as the terminal prints it."""
        from calque.evaluation.presentation.sections import to_text
        from calque.statistics.presentation import sections

        return to_text(sections(self))

    def _repr_html_(self) -> str:
        from calque.base.style import to_notebook
        from calque.evaluation.presentation.sections import to_html
        from calque.statistics.presentation import sections

        return to_notebook(to_html(sections(self, brief=True)))

    def delta(self, measure: str, run: str | None = None) -> Delta:
        """Return how a run differs from the first in a metric.

        Args:
            measure: The name of the metric, as in `measures`.
            run: The name of the run. By default the second.

        Returns:
            The difference with its interval, p-value and verdict.

        Raises:
            ConfigError: The metric or the run is unknown.
        """
        if measure not in self.measures:
            raise ConfigError(f"there is no measure {measure!r} here; {nearest(measure, self.measures)}")
        deltas = self.measures[measure].deltas
        return deltas[next(iter(deltas)) if run is None else run_named(run, deltas)]


def compare(
    results: Sequence[Result],
    names: Sequence[str] = (),
    *,
    resampling: Resampling | None = None,
    measures: Iterable[str] = (),
    primary: Iterable[str] = (),
    wanted: float = 0.01,
    shared_documents: bool = False,
    jobs: int = 1,
) -> Comparison:
    """Compare results of one task on the same ground truth. The first result is the base of every difference.

    Args:
        results: Two or more results.
        names: The names of the runs. By default ``run 1``, ``run 2`` and so on.
        resampling: The number of bootstrap replicates, the seed and the confidence level.
        measures: Metrics to compare in addition to those that a comparison always shows.
        primary: Metrics to test for significance instead of the main metrics of the task.
        wanted: A small difference. The comparison estimates how many documents would show it.
        shared_documents: Leave out documents that are not in all results.
        jobs: The number of threads.

    Returns:
        The comparison. ``print`` shows it as a table.

    Raises:
        ConfigError: There are fewer than two results, or a name is unknown or given twice.
        MergeError: The results have different tasks, settings or ground truths.

    >>> from calque import Evaluator, Words, compare
    >>> truth = {f"page {number}": "the cat sat" for number in range(30)}
    >>> better = {**truth, "page 0": "the cat"}
    >>> worse = {**better, "page 1": "sat"}
    >>> runs = [Evaluator(Words()).update(truth, predictions).compute() for predictions in (worse, better)]
    >>> comparison = compare(runs, ["old", "new"])
    >>> comparison
    <Comparison of old, new: words, 14 metrics, 30 documents>
    >>> round(comparison.delta("recall").value, 4), comparison.delta("recall").verdict
    (0.0222, 'undecided')
    """
    results = checked_list("compare", "results", results, Result, "a list of Result objects")
    names = checked_list("compare", "names", names, str, "a list of texts")
    measures = checked_list("compare", "measures", measures, str, "a list of texts")
    primary = checked_list("compare", "primary", primary, str, "a list of texts")
    check_type("compare", "resampling", resampling, Resampling | None, "a Resampling or None")
    check_number("compare", "wanted", wanted)
    runs = run_names(results, names)
    if shared_documents:
        runs = on_shared_documents(runs)
    check_comparable(runs)
    drawing = resampling or Resampling()
    everyone = list(runs.values())
    known = MetricNames(*everyone)
    tested = [known.resolve(name) for name in primary] or [name for name in everyone[0].task.primary() if name in known]
    named = [known.resolve(name) for name in measures]
    # A class that only some runs have is a measure of all of them; the others have no value there.
    shown = dict.fromkeys([*tested, *named, *(name for result in everyone for name in result.task.compared(result.numbers))])
    current_progress().expect(len(runs) * drawing.replicates, "replicate")
    sides = [_Side(result, drawing, shown, jobs) for result in runs.values()]
    compared = {name: _compared(name, list(runs), sides, drawing, wanted, primary=name in tested) for name in shown}
    units = tuple(in_canonical_order({unit for result in runs.values() for unit in result.ledger.units}))
    return Comparison(runs, drawing, _corrected(compared, 1 - drawing.confidence), units, _changes(runs), wanted)


def run_names(results: Sequence[Result], names: Sequence[str] = ()) -> dict[str, Result]:
    """The results by name: as given, or run 1, run 2 and so on."""
    if len(results) < 2:
        raise ConfigError("a comparison needs two runs or more")
    listed = list(names) or [f"run {place}" for place in range(1, len(results) + 1)]
    if len(listed) != len(results):
        raise ConfigError(f"there are {len(results)} runs and {len(listed)} names: {', '.join(listed)}")
    if len(set(listed)) < len(listed):
        raise ConfigError(f"each run needs a name of its own, not {', '.join(listed)}")
    return dict(zip(listed, results, strict=True))


def _changes(runs: Mapping[str, Result]) -> dict[str, Changes]:
    sides = {run: (result, result.task.run_outcomes(result.ledger)) for run, result in runs.items()}
    known = {run: (result, standing) for run, (result, standing) in sides.items() if standing is not None}
    first = next(iter(runs))
    return {run: changes(run, known[first], side) for run, side in known.items() if run != first} if first in known else {}


class _Side:
    """One run: its values, replicates, and the documents that count."""

    def __init__(self, result: Result, resampling: Resampling, names: Iterable[str], jobs: int) -> None:
        self.result = result
        self.bootstrap = Bootstrap(result)
        known = set(result.task.names(result.numbers))
        self.values = {name: result[name] if name in known else None for name in names}
        self.drawn: Replicates = self.bootstrap.draw(
            resampling, [name for name, v in self.values.items() if v is not None], jobs
        )
        self._nothing = Support(np.zeros(len(result.ledger.units), np.bool_))

    def counted(self, name: str) -> Support:
        return self.bootstrap.support.get(name, self._nothing)

    def documents_of_either(self, other: _Side, name: str) -> int:
        """How many documents count in this run or in the other."""
        mine, theirs = self.counted(name).documents, other.counted(name).documents
        if self.result.ledger.units == other.result.ledger.units:
            return int(np.count_nonzero(mine | theirs))
        sides: tuple[tuple[_Side, Flags], ...] = ((self, mine), (other, theirs))
        return len({side.result.ledger.units[place] for side, flags in sides for place in np.flatnonzero(flags).tolist()})

    def interval(self, name: str, confidence: float) -> Interval:
        return interval(self.values[name], self.drawn.get(name, np.zeros(0)), self.counted(name), confidence)


def _compared(
    name: str, runs: Sequence[str], sides: Sequence[_Side], resampling: Resampling, wanted: float, *, primary: bool
) -> Compared:
    base, *others = sides
    deltas = {}
    for run, side in zip(runs[1:], others, strict=True):
        both = name in base.drawn and name in side.drawn
        replicates = side.drawn[name] - base.drawn[name] if both else np.zeros(0)
        documents = base.documents_of_either(side, name)
        delta = difference((base.values[name], side.values[name]), replicates, documents, resampling.confidence, wanted)
        deltas[run] = replace(delta, tested=primary)
    shown = {run: side.interval(name, resampling.confidence) for run, side in zip(runs, sides, strict=True)}
    return Compared(name, shown, deltas, primary, direction(base.result.task, name) < 0)


def _corrected(compared: Mapping[str, Compared], level: float) -> dict[str, Compared]:
    """With the p-values of all tests corrected for each other (Holm), and what they say."""
    tests = sorted(
        (delta.p, name, run)
        for name, measure in compared.items()
        if measure.primary
        for run, delta in measure.deltas.items()
        if delta.p is not None
    )
    adjusted: dict[tuple[str, str], float] = {}
    highest = 0.0
    for place, (p, name, run) in enumerate(tests):
        highest = max(highest, min(1.0, (len(tests) - place) * p))
        adjusted[name, run] = highest
    return {name: _decided(measure, adjusted, level) for name, measure in compared.items()}


def _decided(measure: Compared, adjusted: Mapping[tuple[str, str], float], level: float) -> Compared:
    if not measure.primary:
        return measure
    deltas: dict[str, Any] = {}
    for run, delta in measure.deltas.items():
        p = adjusted.get((measure.name, run))
        deltas[run] = replace(delta, p_adjusted=p, verdict=_verdict(delta, p, level, lower=measure.lower_is_better))
    return replace(measure, deltas=deltas)


def _verdict(delta: Delta, p: float | None, level: float, *, lower: bool) -> str:
    if delta.value == 0 and delta.se == 0:
        return "equal"
    if delta.value is None or p is None or p >= level:
        return "undecided"
    return "better" if (delta.value < 0) is lower else "worse"
