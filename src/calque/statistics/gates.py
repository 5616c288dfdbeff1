"""Gates: limits of metrics, the loss that a baseline allows, and items that must not break."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from calque.base.arguments import check_type, checked_list
from calque.base.errors import ConfigError, nearest
from calque.base.wording import counted
from calque.evaluation.evaluator import Evaluator
from calque.evaluation.measures import MeasureName
from calque.evaluation.metric_names import MetricNames, direction, value_or_none
from calque.evaluation.presentation.sections import Section
from calque.evaluation.result import Addition, Result
from calque.evaluation.task import Task
from calque.evaluation.verdict import Condition, Verdict
from calque.statistics.bootstrap import Resampling
from calque.statistics.changes import Changed
from calque.statistics.comparison import Comparison, compare
from calque.statistics.intervals import EQUAL, Delta

UNDER, OVER, TOLERANCE, NO_BROKEN, BASELINE, PRIMARY = (
    "--fail-under", "--fail-over", "--tolerance", "--no-broken", "--baseline", "--primary",
)  # fmt: skip
SIGNIFICANT = "significant"
ANYWHERE = ""
"""The place of `NoBroken` that contains all items."""
THIS_RUN = "this run"
"""The name of a run that is compared with a baseline."""


@dataclass(frozen=True, slots=True, eq=False)
class MetricChange:
    """One metric in the baseline and in the run."""

    metric: str
    baseline: str
    """The name of the baseline."""
    before: float | None
    now: float | None
    delta: Delta
    better: int
    """1 if higher is better, -1 if lower is."""
    why_undefined: str = ""

    @property
    def is_worse(self) -> bool:
        """Whether the run is worse, by more than rounding."""
        return self.delta.value is not None and -self.better * self.delta.value > EQUAL

    def __str__(self) -> str:
        if self.before is None or self.now is None or self.delta.value is None:
            return f"{self.metric} was {_number(self.before)} in {self.baseline} and is {_number(self.now)}"
        if self.now == self.before:
            return f"{self.metric} {_number(self.now)} as in {self.baseline}"
        low, high = self.delta.low, self.delta.high
        between = "" if low is None or high is None else f" [{low:+.4f}, {high:+.4f}]"
        both = f"{self.metric} {close_to(self.now, self.before)} against {close_to(self.before, self.now)} in {self.baseline}"
        return f"{both}: {self.delta.value:+.4g}{between}"


class GateContext:
    """A run that gates judge, with its comparison if there is a baseline."""

    def __init__(self, result: Result, comparison: Comparison | None = None, run: str = THIS_RUN) -> None:
        self.result = result
        self.run = run
        self._comparison = comparison

    @property
    def comparison(self) -> Comparison:
        """The comparison of the run with its baseline, which is the first run."""
        if self._comparison is None:
            raise ConfigError(f"this gate is about the difference to a baseline; add {BASELINE} STATE")
        return self._comparison

    @property
    def baseline(self) -> Result:
        """The result of the baseline."""
        return self.comparison.results[self.comparison.base]

    @property
    def level(self) -> float:
        """The p-value below which a difference is significant."""
        return 1 - self.comparison.resampling.confidence

    def primary(self) -> list[str]:
        """Return the metrics that the comparison tests."""
        return [name for name, compared in self.comparison.measures.items() if compared.primary]

    def change(self, metric: str) -> MetricChange:
        """Return how a metric differs from the baseline; `ConfigError` if neither run has it."""
        name = self._names.resolve(metric, f"{TOLERANCE} {metric}")
        compared = self.comparison.measures.get(name)
        delta = Delta(None, None, None, None, None, 0) if compared is None else compared.deltas[self.run]
        before, now = value_or_none(self.baseline, name), value_or_none(self.result, name)
        why = self.result.why_undefined(name) if now is None else ""
        return MetricChange(metric, self.comparison.base, before, now, delta, direction(self.result.task, metric), why)

    @cached_property
    def _names(self) -> MetricNames:
        return MetricNames(self.result, self.baseline)

    @cached_property
    def broken_items(self) -> list[Changed]:
        """The items that the baseline has right and the run has wrong."""
        comparison = self.comparison
        if self.run not in comparison.changes:
            raise ConfigError(f"{NO_BROKEN}: {self.baseline.task.name} does not tell what became of single items")
        for name in (comparison.base, self.run):
            ledger = comparison.results[name].ledger
            if ledger.units and not ledger.details:
                raise ConfigError(f"{NO_BROKEN}: {name} has numbers only, and nothing of single items; keep outcomes")
        return [item for item in comparison.changes[self.run].changed if item.change == "broken"]

    @cached_property
    def places(self) -> tuple[set[str], set[str]]:
        """The classes, fields and documents of the ground truth, and the fields that only contain other fields."""
        outcomes = self.baseline.task.run_outcomes(self.baseline.ledger)
        labels = set() if outcomes is None else set(outcomes.truths.label)
        known = labels | {str(document) for document in self.comparison.documents}
        return known, set[str]().union(*map(_fields_above, labels)) - known


@dataclass(frozen=True, slots=True)
class Limit:
    """A value that a metric must reach or must not exceed. The value itself passes."""

    metric: str
    value: float
    flag: str = UNDER

    @classmethod
    def parse(cls, text: str, flag: str = UNDER) -> Limit:
        """Return the limit that ``METRIC=VALUE`` gives.

        >>> Limit.parse("recall@0.50/Table=0.9")
        Limit(metric='recall@0.5/Table', value=0.9, flag='--fail-under')
        """
        name, value = _metric_and_value(text, flag)
        try:
            return cls.of(name, float(value), flag)
        except ValueError:
            raise ConfigError(f"{flag} {text}: {value!r} is not a number; write {flag} {name}=0.9") from None

    @classmethod
    def of(cls, metric: str, value: float, flag: str = UNDER) -> Limit:
        """Return the limit of a metric, after a check of its name and its value."""
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise ConfigError(f"{flag} {metric}: {value!r} is not a finite number")
        return cls(_canonical_name(metric, flag), float(value), flag)

    def check(self, task: Task | type[Task]) -> None:
        """Refuse the wrong one of the two options before the work, if the task declares the metric."""
        if task.full_name(MeasureName.parse(self.metric)).name in {metric.name for metric in task.measures()}:
            self._check_direction(task)

    def _check_direction(self, task: Task | type[Task]) -> None:
        better = direction(task, self.metric)
        if better and better != (1 if self.flag == UNDER else -1):
            other, why = (OVER, "lower") if self.flag == UNDER else (UNDER, "higher")
            raise ConfigError(f"{self.flag} {self.metric}: {why} is better there; use {other} {self.metric}={self.value:g}")

    def judge(self, context: GateContext) -> Condition:
        """Return whether the run keeps the limit."""
        name = f"{self.metric} {'>=' if self.flag == UNDER else '<='} {self.value!r}"
        value, reason = self._value(context.result)
        self._check_direction(context.result.task)
        wanted = f"at {'least' if self.flag == UNDER else 'most'} {self.value!r}"
        if value is None:
            return Condition(name, failures=(f"{self.metric} has no value{reason}; it must be {wanted}",))
        shown = close_to(value, self.value)
        if (value >= self.value) if self.flag == UNDER else (value <= self.value):
            return Condition(name, f"{self.metric} is {shown}, {wanted}")
        beyond = "below" if self.flag == UNDER else "above"
        return Condition(name, failures=(f"{self.metric} {shown} is {beyond} {self.value!r}",))

    def _value(self, result: Result) -> tuple[float | None, str]:
        """Return the value of the metric, or ``None`` and the reason."""
        known, option = result.task.names(result.numbers), f"{self.flag} {self.metric}"
        try:
            value = result[self.metric]
        except KeyError:
            if result.unevaluated is not None:  # the result says first that nothing was evaluated
                return None, " (nothing was evaluated)"
            name = str(result.task.full_name(MeasureName.parse(self.metric)))
            raise ConfigError(f"{option}: no measure of this result is called so; {nearest(name, known)}") from None
        if isinstance(value, bool | str):
            raise ConfigError(f"{option}: this is no number; {nearest(self.metric, known)}")
        reason = result.why_undefined(self.metric)
        return value, f" ({reason})" if reason else ""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much worse than in the baseline a metric may be."""

    metric: str
    most: float | None = None
    """The largest loss that passes; ``None`` if any loss passes that is not significant."""
    is_primary: bool = False
    """Whether this is the test of a main metric, with a p-value that is corrected for all tests of the comparison."""

    @classmethod
    def parse(cls, text: str) -> Tolerance:
        """Return the tolerance that ``METRIC=VALUE`` gives.

        >>> Tolerance.parse("AP=0.01").most, Tolerance.parse("recall@0.50=significant").metric
        (0.01, 'recall@0.5')
        """
        name, value = _metric_and_value(text, TOLERANCE)
        if value == SIGNIFICANT:
            return cls.of(name, SIGNIFICANT)
        try:
            return cls.of(name, float(value))
        except ValueError:
            raise ConfigError(f"{TOLERANCE} {text}: {value!r} is neither a number nor {SIGNIFICANT!r}") from None

    @classmethod
    def of(cls, metric: str, most: float | str) -> Tolerance:
        """Return the tolerance of a metric, after a check of its name and its value."""
        name = _canonical_name(metric, TOLERANCE)
        if most == SIGNIFICANT:
            return cls(name)
        if not isinstance(most, int | float) or isinstance(most, bool) or not 0 <= most < math.inf:
            raise ConfigError(f"{TOLERANCE} {name}: must be a number from 0 or {SIGNIFICANT!r}, not {most!r}")
        return cls(name, float(most))

    def check(self, task: Task | type[Task]) -> None:
        """Refuse a metric of which neither higher nor lower values are better."""
        if not direction(task, self.metric):
            raise ConfigError(f"{TOLERANCE} {self.metric}: neither more nor less is better there, so that nothing can be lost")

    def judge(self, context: GateContext) -> Condition:
        """Return whether the loss of the run is tolerated."""
        return self.judge_change(context.change(self.metric), context.level)

    def judge_change(self, change: MetricChange, level: float) -> Condition:
        """Return whether a change is tolerated; ``level`` is the p-value below which it is significant."""
        return self._within(change, self.most) if self.most is not None else self._insignificant(change, level)

    def _insignificant(self, change: MetricChange, level: float) -> Condition:
        name = f"{change.metric} not significantly worse than in {change.baseline}"
        if change.now is None and not (self.is_primary and change.before is None):
            return _without_value(name, change)
        p, p_name = (change.delta.p_adjusted, "p (Holm)") if self.is_primary else (change.delta.p, "p")
        if not change.is_worse:
            return Condition(name, f"{change}: not worse")
        if p is None:
            few = change.delta.note or "nothing to test"
            return Condition(name, f"{change}; whether that is chance cannot be told ({few})")
        if not change.delta.se:  # p is 1 there, which is meant for runs that are the same
            return Condition(name, failures=(f"{change}, the same in every resample: significantly worse",))
        text = f"{change}, {p_name} {p:.3g}"
        if p >= level:
            return Condition(name, f"{text}: not significantly worse")
        return Condition(name, failures=(f"{text}: significantly worse",))

    def _within(self, change: MetricChange, most: float) -> Condition:
        name = f"{change.metric} at most {most!r} worse than in {change.baseline}"
        if change.now is None:
            return _without_value(name, change)
        lost = 0.0 if change.before is None else change.better * (change.before - change.now)
        if lost <= most + EQUAL:
            return Condition(name, f"{change}; up to {most!r} worse is tolerated")
        return Condition(name, failures=(f"{change}; {close_to(lost, most)} is more than the {most!r} that is tolerated",))


@dataclass(frozen=True, slots=True)
class NoBroken:
    """A class, field or document in which no item may be wrong that the baseline has right; `ANYWHERE` for all."""

    place: str = ANYWHERE

    def judge(self, context: GateContext) -> Condition:
        """Return whether no item in this place is broken."""
        items, base = context.broken_items, context.comparison.base
        known, enclosing = context.places
        if self.place != ANYWHERE and self.place not in known | enclosing:
            hint = nearest(self.place, known | enclosing)
            raise ConfigError(f"{NO_BROKEN} {self.place}: is no class, field or document here; {hint}")
        broken = [item for item in items if self.contains(item, enclosing)]
        where = f" in {self.place}" if self.place else ""
        name = f"nothing that {base} had right is broken{where}"
        if not broken:
            return Condition(name, name)
        first = f"{counted(len(broken), 'item')} that {base} had right {'is' if len(broken) == 1 else 'are'} broken{where}"
        return Condition(name, failures=(first, *map(broken_line, broken)))

    def contains(self, item: Changed, enclosing: Collection[str] = ()) -> bool:
        """Return whether an item is in this place; ``enclosing`` are the fields that only contain other fields.

        >>> item = Changed("run", "a.pdf", None, "items[2].price", "items[].price", "broken", "tp", "fd")
        >>> [NoBroken(place).contains(item, {"items", "items.price"}) for place in ("", "a.pdf", "items.price", "items", "a")]
        [True, True, True, True, False]
        """
        if self.place == ANYWHERE or self.place in (str(item.document), item.label):
            return True
        return self.place in enclosing and self.place in _fields_above(item.label)


def _fields_above(path: str) -> set[str]:
    """Return a path of fields without list indices, and the paths of the fields that contain it."""
    steps = re.sub(r"\[\d*\]", "", path).split(".")
    return {".".join(steps[:count]) for count in range(1, len(steps) + 1)}


def broken_line(item: Changed) -> str:
    """Return one line about a broken item."""
    parts = [str(item.document), *([] if item.page is None else [f"page {item.page}"]), item.label]
    parts += [str(item.id)] if str(item.id) != item.label else []
    return f"broken: {', '.join(parts)}: {item.before} → {item.after}"


@dataclass(frozen=True, slots=True, eq=False)
class Gates:
    """All gates of a run."""

    limits: tuple[Limit, ...] = ()
    tolerances: tuple[Tolerance, ...] = ()
    no_broken: tuple[NoBroken, ...] = ()
    baseline: Result | None = None
    baseline_name: str = "the baseline"
    resampling: Resampling = Resampling()
    primary: tuple[str, ...] = ()

    def check(self, task: Task | type[Task]) -> None:
        """Refuse gates that do not fit a task, before the work."""
        for limit in self.limits:
            limit.check(task)
        if self.baseline is None:
            for flag, given in ((TOLERANCE, self.tolerances), (NO_BROKEN, self.no_broken), (PRIMARY, self.primary)):
                if given:
                    raise ConfigError(f"{flag} is about the difference to a baseline; add {BASELINE} STATE")
        elif self.baseline.task.name != task.name:
            other = self.baseline.task.name
            raise ConfigError(f"{BASELINE} {self.baseline_name}: is a state of another task: {other}, not {task.name}")
        for tolerance in self.tolerances:
            tolerance.check(task)

    def judge(self, result: Result, *, jobs: int = 1) -> Result:
        """Return the result with its verdict; `ConfigError` if a gate names something that the result does not have."""
        self.check(result.task)
        comparison = None
        if self.baseline is not None:
            comparison = compare(
                [self.baseline, result],
                [self.baseline_name, THIS_RUN],
                resampling=self.resampling,
                measures=self.compared_metrics(self.baseline, result),
                primary=self.primary,
                jobs=jobs,
            )
        context = GateContext(result, comparison)
        verdict = Verdict(tuple(self._conditions(context, has_baseline=comparison is not None)))
        if self.baseline is None:
            return replace(result, verdict=verdict)
        return replace(result.adding(_baseline_addition(context, self._resolved(result, self.baseline))), verdict=verdict)

    def judge_runs(self, comparison: Comparison, *, has_baseline: bool) -> Verdict:
        """Return the verdict on every run of a comparison but the first.

        Args:
            comparison: The comparison.
            has_baseline: Whether the first run is a baseline, so that no main metric may be significantly worse.
        """
        base, *runs = comparison.results
        for tolerance in self.tolerances:
            tolerance.check(comparison.results[base].task)
        conditions: list[Condition] = []
        for run in runs:
            context = GateContext(comparison.results[run], comparison, run)
            own = self._conditions(context, has_baseline=has_baseline)
            conditions += [condition.of_run(run) for condition in own] if len(runs) > 1 else own
        return Verdict(tuple(conditions))

    def compared_metrics(self, base: Result, *others: Result) -> list[str]:
        """Return the metrics of the tolerances that the base has: the comparison must include them."""
        known = MetricNames(base)
        return [name for name in self._resolved(*others, base) if name in known]

    def _resolved(self, *results: Result) -> list[str]:
        if not self.tolerances:
            return []
        names = MetricNames(*results)
        return [names.resolve(tolerance.metric, f"{TOLERANCE} {tolerance.metric}") for tolerance in self.tolerances]

    def _conditions(self, context: GateContext, *, has_baseline: bool) -> list[Condition]:
        gates: list[Limit | Tolerance | NoBroken] = [*self.limits, *self.tolerances]
        if has_baseline and not self.tolerances:
            gates += [Tolerance(metric, is_primary=True) for metric in context.primary()]
        return [gate.judge(context) for gate in [*gates, *self.no_broken]]


def _baseline_addition(context: GateContext, metrics: Sequence[str]) -> Addition:
    """Return the differences to the baseline. Tables show these metrics and the main ones; JSON and CSV show all."""
    comparison, name = context.comparison, context.comparison.base
    changes = [context.change(metric) for metric in dict.fromkeys([*context.primary(), *metrics])]
    rows = [
        (change.metric, change.before, change.now, *(getattr(change.delta, part) for part in ("value", "low", "high", "p")))
        for change in changes
    ]
    head = ("measure", "baseline", "now", "difference", "low", "high", "p")
    few = next((change.delta.note for change in changes if change.delta.note), "")
    section = Section(title=f"Against {name}", head=head, rows=rows, notes=[few] if few else [])
    deltas = {metric: compared.deltas[context.run] for metric, compared in comparison.measures.items()}
    return Addition(
        "baseline",
        {metric: delta.to_dict() for metric, delta in deltas.items()},
        [section],
        [section],
        [{"measure": metric, "baseline": name, "difference": delta.value, "p": delta.p} for metric, delta in deltas.items()],
        comparison.resampling.signature(),
    )


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
    check_type("gated", "result", result, Result, "a Result")
    for keyword, given in (("fail_under", fail_under), ("fail_over", fail_over), ("tolerance", tolerance)):
        check_type("gated", keyword, given, Mapping | None, "a mapping or None")
    check_type("gated", "baseline", baseline, Evaluator | Result | str | os.PathLike | None, "a result, an evaluator or a path")
    check_type("gated", "resampling", resampling, Resampling | None, "a Resampling or None")
    limits = ((UNDER, fail_under), (OVER, fail_over))
    accepted, called = load_baseline(baseline) if baseline is not None else (None, "")
    gates = Gates(
        tuple(Limit.of(name, value, flag) for flag, given in limits for name, value in (given or {}).items()),
        tuple(Tolerance.of(name, most) for name, most in (tolerance or {}).items()),
        tuple(map(NoBroken, _places(no_broken))),
        accepted,
        called,
        resampling or Resampling(),
        tuple(checked_list("gated", "primary", primary, str, "a list of texts")),
    )
    return gates.judge(result)


def load_baseline(given: Evaluator | Result | str | os.PathLike[str]) -> tuple[Result, str]:
    """Return the result of a baseline, and its name: that of its state file if it has one."""
    if isinstance(given, Result):
        return given, "the baseline"
    if isinstance(given, Evaluator):
        return given.compute(), "the baseline"
    return Evaluator.load(given).compute(), os.fspath(given)


def _places(given: Iterable[str] | bool) -> tuple[str, ...]:
    if isinstance(given, bool):
        return (ANYWHERE,) if given else ()
    return tuple([given] if isinstance(given, str) else checked_list("gated", "no_broken", given, str, "a list of texts"))


def _metric_and_value(text: str, flag: str) -> tuple[str, str]:
    """Return the two sides of ``METRIC=VALUE``; names of classes may contain an equals sign."""
    name, equals, value = text.rpartition("=")
    if not equals or not name or not value:
        raise ConfigError(f"{flag} {text}: write {flag} MEASURE=VALUE, as in {flag} recall@0.5=0.9")
    return name.strip(), value.strip()


def _canonical_name(metric: str, flag: str) -> str:
    try:
        return str(MeasureName.parse(metric))
    except ValueError as error:
        raise ConfigError(f"{flag} {metric}: {error}") from None


def _without_value(name: str, change: MetricChange) -> Condition:
    reason = f" ({change.why_undefined})" if change.why_undefined else ""
    was = f"in {change.baseline} it was {_number(change.before)}"
    return Condition(name, failures=(f"{change.metric} has no value{reason}; {was}",))


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def close_to(value: float, limit: float) -> str:
    """Return a value with as many digits as distinguish it from a limit.

    >>> close_to(0.9412, 0.95), close_to(0.949999, 0.95), close_to(0.95, 0.95), close_to(3, 2.0)
    ('0.9412', '0.949999', '0.95', '3')
    """
    if value == limit or isinstance(value, int):
        return repr(value)
    digits = 4
    while digits < 17 and float(f"{value:.{digits}f}") == limit:
        digits += 1
    return f"{value:.{digits}f}"
