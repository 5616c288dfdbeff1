"""Gates: everything that must hold of a result, and the verdict on it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping

from calque.core.comparison.compare import compare
from calque.core.comparison.resample import Resampling
from calque.core.errors import ConfigError
from calque.core.evaluator import Evaluator
from calque.core.gates.baselines import TOLERANCE, Pair, Tolerance, full_name
from calque.core.gates.limits import OVER, UNDER, Limit
from calque.core.result import Result
from calque.core.start_up import Frozen
from calque.core.task import Task
from calque.core.verdict import Condition, Verdict

BASELINE = "--baseline"
THIS = "this run"
"""What the run is called that is held against a baseline."""


class Baseline(Frozen, eq=False):
    """An accepted run."""

    name: str
    result: Result

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Baseline:
        """The baseline that a state holds."""
        return cls(os.fspath(path), Evaluator.load(path).compute())


class Gates(Frozen, eq=False):
    """Everything that must hold of a result."""

    limits: tuple[Limit, ...] = ()
    tolerances: tuple[Tolerance, ...] = ()
    baseline: Baseline | None = None
    resampling: Resampling = Resampling()
    primary: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.baseline is None and self.tolerances:
            raise ConfigError(f"{TOLERANCE} is about the difference to a baseline; add {BASELINE} STATE")

    def check(self, task: Task | type[Task]) -> None:
        """Refuse what no result of a task could be held to, before the work."""
        for limit in self.limits:
            limit.check(task)
        if self.baseline is not None and self.baseline.result.task.name != task.name:
            other = self.baseline.result.task.name
            raise ConfigError(f"{BASELINE} {self.baseline.name}: is a state of another task: {other}, not {task.name}")
        for tolerance in self.tolerances:
            tolerance.check(task)

    def judged(self, result: Result, *, jobs: int = 1) -> Result:
        """The result with what the gates say of it; `ConfigError` when a gate is about something that is not there."""
        conditions = [limit.judged(result) for limit in self.limits]
        if self.baseline is None:
            return dataclasses.replace(result, verdict=Verdict(tuple(conditions)))
        self.check(result.task)
        pair = self._pair(result, self.baseline, jobs)
        conditions += self._against(pair)
        shown = pair.section(tolerance.measure for tolerance in self.tolerances)
        return dataclasses.replace(result, verdict=Verdict(tuple(conditions), pair.deltas(), (shown,)))

    def _pair(self, result: Result, baseline: Baseline, jobs: int) -> Pair:
        full = [full_name(tolerance.measure, result, baseline.result) for tolerance in self.tolerances]
        known = set(baseline.result.task.names(baseline.result.numbers))
        named = [name for name in full if name in known]
        runs, names = [baseline.result, result], [baseline.name, THIS]
        comparison = compare(runs, names, resampling=self.resampling, measures=named, primary=self.primary, jobs=jobs)
        return Pair(comparison, THIS)

    def _against(self, pair: Pair) -> list[Condition]:
        """Tolerances where there are some; otherwise no primary measure may be significantly worse."""
        return [tolerance.judged(pair) for tolerance in self.tolerances] if self.tolerances else pair.significance()


def gated(
    result: Result,
    *,
    fail_under: Mapping[str, float] | None = None,
    fail_over: Mapping[str, float] | None = None,
    baseline: Evaluator | Result | str | os.PathLike[str] | None = None,
    tolerance: Mapping[str, float | str] | None = None,
    resampling: Resampling | None = None,
    primary: Iterable[str] = (),
) -> Result:
    """The result with what gates say of it: `Result.failures` lists what does not hold, one line each.

    The keywords are the options of the command line. ``baseline`` is a state's file, an evaluator or a result.

    >>> from calque import Corpus, Detection, Evaluator
    >>> truth = Corpus.from_arrays([[0, 0, 10, 10], [20, 0, 30, 10]], ["Table", "Table"])
    >>> found = Corpus.from_arrays([[0, 0, 10, 9]], ["Table"], scores=[0.8])
    >>> result = Evaluator(Detection()).update(truth, found).compute()
    >>> gated(result, fail_under={"recall@0.5": 0.9, "precision@0.5": 1}, fail_over={"fp@0.5": 0}).failures
    ['recall@0.5 0.5000 is below 0.9']
    >>> gated(result, baseline=result, tolerance={"AP": 0, "recall@0.5": "significant"}).failures
    []
    """
    limits = ((UNDER, fail_under), (OVER, fail_over))
    gates = Gates(
        tuple(Limit.of(name, value, flag) for flag, given in limits for name, value in (given or {}).items()),
        tuple(Tolerance.of(name, most) for name, most in (tolerance or {}).items()),
        _baseline(baseline),
        resampling or Resampling(),
        tuple(primary),
    )
    return gates.judged(result)


def _baseline(given: Evaluator | Result | str | os.PathLike[str] | None) -> Baseline | None:
    if given is None or isinstance(given, Result):
        return None if given is None else Baseline("the baseline", given)
    return Baseline("the baseline", given.compute()) if isinstance(given, Evaluator) else Baseline.load(given)
