"""Gates: everything that must hold of a result, and the verdict on it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from calque.base.arguments import names_arguments
from calque.base.errors import ConfigError
from calque.evaluation.evaluator import Evaluator
from calque.evaluation.result import Result
from calque.evaluation.task import Task
from calque.evaluation.verdict import Condition, Verdict
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import Comparison, compare
from calque.statistics.gates.baselines import ANYWHERE, NO_BROKEN, TOLERANCE, FullNames, Pair, Tolerance, unbroken
from calque.statistics.gates.limits import OVER, UNDER, Limit

BASELINE, PRIMARY = "--baseline", "--primary"
THIS = "this run"
"""What the run is called that is held against a baseline."""


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """An accepted run."""

    name: str
    result: Result

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Baseline:
        """The baseline that a state holds."""
        return cls(os.fspath(path), Evaluator.load(path).compute())


@dataclass(frozen=True, slots=True, eq=False)
class Gates:
    """Everything that must hold of a result."""

    limits: tuple[Limit, ...] = ()
    tolerances: tuple[Tolerance, ...] = ()
    no_broken: tuple[str, ...] = ()
    """Classes, fields or documents in which nothing may be broken; an empty name is everywhere."""
    baseline: Baseline | None = None
    resampling: Resampling = Resampling()
    primary: tuple[str, ...] = ()

    def check(self, task: Task | type[Task]) -> None:
        """Refuse what no result of a task could be held to, before the work."""
        for limit in self.limits:
            limit.check(task)
        if self.baseline is None:
            for flag, given in ((TOLERANCE, self.tolerances), (NO_BROKEN, self.no_broken), (PRIMARY, self.primary)):
                if given:
                    raise ConfigError(f"{flag} is about the difference to a baseline; add {BASELINE} STATE")
        elif self.baseline.result.task.name != task.name:
            other = self.baseline.result.task.name
            raise ConfigError(f"{BASELINE} {self.baseline.name}: is a state of another task: {other}, not {task.name}")
        for tolerance in self.tolerances:
            tolerance.check(task)

    def judged(self, result: Result, *, jobs: int = 1) -> Result:
        """The result with what the gates say of it; `ConfigError` when a gate is about something that is not there."""
        self.check(result.task)
        conditions = [limit.judged(result) for limit in self.limits]
        if self.baseline is None:
            return dataclasses.replace(result, verdict=Verdict(tuple(conditions)))
        comparison = self._compared(result, self.baseline, jobs)
        conditions += self._against(comparison, THIS, held=True)
        added = Pair(comparison, THIS).addition(self._full_names(result, self.baseline.result))
        return dataclasses.replace(result.adding(added), verdict=Verdict(tuple(conditions)))

    def judged_runs(self, comparison: Comparison, *, held: bool) -> Verdict:
        """What the gates say of every run of a comparison but the first, which is the baseline of the others.

        ``held``: whether it was named as that, so that no primary measure may be significantly worse.
        """
        base, *runs = comparison.results
        for tolerance in self.tolerances:
            tolerance.check(comparison.results[base].task)
        conditions = []
        for run in runs:
            own = [limit.judged(comparison.results[run]) for limit in self.limits]
            own += self._against(comparison, run, held=held)
            conditions += [one.of_run(run) for one in own] if len(runs) > 1 else own
        return Verdict(tuple(conditions))

    def measures(self, base: Result, *others: Result) -> list[str]:
        """The measures that must be compared for the tolerances, of those that the base has."""
        known = set(base.task.names(base.numbers))
        return [name for name in self._full_names(*others, base) if name in known]

    def _full_names(self, *results: Result) -> list[str]:
        if not self.tolerances:
            return []
        names = FullNames(*results)
        return [names[tolerance.measure] for tolerance in self.tolerances]

    def _compared(self, result: Result, baseline: Baseline, jobs: int) -> Comparison:
        runs, names = [baseline.result, result], [baseline.name, THIS]
        named = self.measures(baseline.result, result)
        return compare(runs, names, resampling=self.resampling, measures=named, primary=self.primary, jobs=jobs)

    def _against(self, comparison: Comparison, run: str, *, held: bool) -> list[Condition]:
        """Tolerances where there are some, else no primary measure may be significantly worse; and nothing broken."""
        pair = Pair(comparison, run)
        lost = [tolerance.judged(pair) for tolerance in self.tolerances]
        if held and not self.tolerances:
            lost = pair.significance()
        return [*lost, *(unbroken(comparison, run, self.no_broken) if self.no_broken else [])]


@names_arguments
def gated(
    result: Result,
    *,
    fail_under: Mapping[str, float] | None = None,
    fail_over: Mapping[str, float] | None = None,
    baseline: Evaluator | Result | str | os.PathLike[str] | None = None,
    tolerance: Mapping[str, float | str] | None = None,
    no_broken: Iterable[str] | bool = (),
    resampling: Resampling | None = None,
    primary: Iterable[str] = (),
) -> Result:
    """Check a result against limits and a baseline. The keywords are the gate options of the command line.

    Args:
        result: The result to check.
        fail_under: The lowest allowed value of each metric, by its name.
        fail_over: The highest allowed value of each metric, by its name.
        baseline: An accepted run: a result, an evaluator, or the file of a saved state.
        tolerance: How much worse than the baseline each metric may be: a number, or ``"significant"`` to fail only if the
            difference is significant.
        no_broken: Classes, fields or documents in which nothing may be worse than in the baseline; ``True`` for all.
        resampling: The number of bootstrap replicates, the seed and the confidence level.
        primary: Metrics to test for significance instead of the main metrics of the task.

    Returns:
        The result with its verdict. `Result.failures` lists the gates that failed, one line each.

    Raises:
        ConfigError: A metric is unknown, or a gate needs a baseline and there is none.

    >>> from calque import Corpus, Detection, Evaluator
    >>> truth = Corpus.from_arrays([[0, 0, 10, 10], [20, 0, 30, 10]], ["Table", "Table"])
    >>> predictions = Corpus.from_arrays([[0, 0, 10, 9]], ["Table"], scores=[0.8])
    >>> result = Evaluator(Detection()).update(truth, predictions).compute()
    >>> gated(result, fail_under={"recall@0.5": 0.9, "precision@0.5": 1}, fail_over={"fp@0.5": 0}).failures
    ['recall@0.5 0.5000 is below 0.9']
    >>> gated(result, baseline=result, tolerance={"AP": 0, "recall@0.5": "significant"}).failures
    []
    """
    limits = ((UNDER, fail_under), (OVER, fail_over))
    gates = Gates(
        tuple(Limit.of(name, value, flag) for flag, given in limits for name, value in (given or {}).items()),
        tuple(Tolerance.of(name, most) for name, most in (tolerance or {}).items()),
        _places(no_broken),
        _baseline(baseline),
        resampling or Resampling(),
        tuple(primary),
    )
    return gates.judged(result)


def _baseline(given: Evaluator | Result | str | os.PathLike[str] | None) -> Baseline | None:
    if given is None or isinstance(given, Result):
        return None if given is None else Baseline("the baseline", given)
    return Baseline("the baseline", given.compute()) if isinstance(given, Evaluator) else Baseline.load(given)


def _places(given: Iterable[str] | bool) -> tuple[str, ...]:
    if isinstance(given, bool):
        return (ANYWHERE,) if given else ()
    return (given,) if isinstance(given, str) else tuple(given)
