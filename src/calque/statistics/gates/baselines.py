"""Baselines: what a run may lose against an accepted one, and which items it must not break."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calque.base.errors import ConfigError
from calque.base.wording import counted
from calque.evaluation.measures import MeasureName
from calque.evaluation.presentation.sections import Section
from calque.evaluation.result import Addition, Result
from calque.evaluation.task import Task
from calque.evaluation.verdict import Condition
from calque.statistics.changes import Changed
from calque.statistics.comparability import nearest
from calque.statistics.comparison import Comparison
from calque.statistics.gates.limits import close_to, direction, measure_and_value, spelt
from calque.statistics.intervals import EQUAL, Delta

TOLERANCE = "--tolerance"
SIGNIFICANT = "significant"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What a measure may lose: so much, or nothing that is significant."""

    measure: str
    most: float | None = None
    """``None``: anything that is not significant."""

    @classmethod
    def parse(cls, text: str) -> Tolerance:
        """The tolerance that ``MEASURE=VALUE`` spells.

        >>> Tolerance.parse("AP=0.01"), Tolerance.parse("recall@0.50=significant")
        (Tolerance(measure='AP', most=0.01), Tolerance(measure='recall@0.5', most=None))
        """
        name, value = measure_and_value(text, TOLERANCE)
        if value == SIGNIFICANT:
            return cls.of(name, SIGNIFICANT)
        try:
            return cls.of(name, float(value))
        except ValueError:
            raise ConfigError(f"{TOLERANCE} {text}: {value!r} is neither a number nor {SIGNIFICANT!r}") from None

    @classmethod
    def of(cls, measure: str, most: float | str) -> Tolerance:
        """The tolerance of a measure, with its name spelt as everywhere."""
        name = spelt(measure, TOLERANCE)
        if most == SIGNIFICANT:
            return cls(name)
        if not isinstance(most, int | float) or isinstance(most, bool) or not 0 <= most < math.inf:
            raise ConfigError(f"{TOLERANCE} {name}: must be a number from 0 or {SIGNIFICANT!r}, not {most!r}")
        return cls(name, float(most))

    def check(self, task: Task | type[Task]) -> None:
        """Refuse a measure of which nothing can be lost."""
        if not direction(task, self.measure):
            raise ConfigError(f"{TOLERANCE} {self.measure}: neither more nor less is better there, so that nothing can be lost")

    def judged(self, pair: Pair) -> Condition:
        """Whether what was lost is tolerated."""
        loss = pair.loss(self.measure)
        if self.most is not None:
            return loss.within(self.most)
        return loss.insignificant(loss.delta.p, pair.level, "p", missing=loss.now is None)


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """How a run differs from its baseline in one measure."""

    measure: str
    file: str
    """What the baseline is called."""
    before: float | None
    now: float | None
    delta: Delta
    better: int
    """1 where higher is better, -1 where lower is."""
    why: str = ""
    """Why it has no value now."""

    @property
    def worse(self) -> bool:
        """Whether anything was lost; numbers as near as replicates that count as equal are the same."""
        return self.delta.value is not None and -self.better * self.delta.value > EQUAL

    def within(self, most: float) -> Condition:
        """Whether no more than this was lost; exactly as much passes."""
        name = f"{self.measure} at most {most!r} worse than in {self.file}"
        if self.now is None:
            return self._without_value(name)
        lost = 0.0 if self.before is None else self.better * (self.before - self.now)
        if lost <= most + EQUAL:
            return Condition(name, f"{self._told()}; up to {most!r} worse is tolerated")
        told = f"{self._told()}; {close_to(lost, most)} is more than the {most!r} that is tolerated"
        return Condition(name, failures=(told,))

    def insignificant(self, p: float | None, level: float, called: str, *, missing: bool) -> Condition:
        """Whether what was lost may be chance; ``missing`` says that it fails for want of a value."""
        name = f"{self.measure} not significantly worse than in {self.file}"
        if missing:
            return self._without_value(name)
        if p is None and self.worse:
            few = self.delta.note or "nothing to test"
            return Condition(name, f"{self._told()}; whether that is chance cannot be told ({few})")
        if p is None or not self.worse:
            return Condition(name, f"{self._told()}: not worse")
        if not self.delta.se:  # p is 1 there: it was made for runs that are the same
            return Condition(name, failures=(f"{self._told()}, the same in every resample: significantly worse",))
        told = f"{self._told()}, {called} {p:.3g}"
        if p >= level:
            return Condition(name, f"{told}: not significantly worse")
        return Condition(name, failures=(f"{told}: significantly worse",))

    def _told(self) -> str:
        if self.before is None or self.now is None or self.delta.value is None:
            return f"{self.measure} was {_number(self.before)} in {self.file} and is {_number(self.now)}"
        low, high = self.delta.low, self.delta.high
        between = "" if low is None or high is None else f" [{low:+.4f}, {high:+.4f}]"
        if self.now == self.before:
            return f"{self.measure} {_number(self.now)} as in {self.file}"
        both = f"{self.measure} {close_to(self.now, self.before)} against {close_to(self.before, self.now)} in {self.file}"
        return f"{both}: {self.delta.value:+.4g}{between}"

    def _without_value(self, name: str) -> Condition:
        reason = f" ({self.why})" if self.why else ""
        return Condition(name, failures=(f"{self.measure} has no value{reason}; in {self.file} it was {_number(self.before)}",))


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


class FullNames:
    """The measures that any of some results has; listed once, because there are thousands where there are many classes."""

    def __init__(self, *results: Result) -> None:
        self._task = results[0].task
        self._names = dict.fromkeys(name for each in results for name in each.task.names(each.numbers))

    def __getitem__(self, measure: str) -> str:
        """The name of a measure in full: without a threshold the lowest is meant."""
        if measure in self._names:
            return measure
        place = self._task.address(self._task.full_name(MeasureName.parse(measure)))
        for name in self._names:
            if self._task.address(MeasureName.parse(name)) == place:
                return name
        raise ConfigError(f"{TOLERANCE} {measure}: no measure of this result is called so; {nearest(measure, self._names)}")


class Pair:
    """A run beside the one that it is held against: the first of a comparison."""

    def __init__(self, comparison: Comparison, run: str) -> None:
        self.file = comparison.base
        self._base, self._now = comparison.results[self.file], comparison.results[run]
        self._before, self._after = self._base.measures(), self._now.measures()
        self._full_names = FullNames(self._now, self._base)
        self._comparison = comparison
        self._run = run
        self._tested = [name for name, compared in comparison.measures.items() if compared.primary]

    @property
    def level(self) -> float:
        """Below which p is called significant."""
        return 1 - self._comparison.resampling.confidence

    def loss(self, measure: str) -> Loss:
        """How the run differs in a measure; `ConfigError` where neither has it."""
        name = self._full_names[measure]
        before, now = self._before.get(name), self._after.get(name)
        compared = self._comparison.measures.get(name)
        delta = Delta(None, None, None, None, None, 0) if compared is None else compared.deltas[self._run]
        why = self._now.why_undefined(name) if now is None else ""
        return Loss(measure, self.file, before, now, delta, direction(self._now.task, measure), why)

    def significance(self) -> list[Condition]:
        """Whether no primary measure is significantly worse, or lost its value; p is corrected for the number of them."""
        return [
            loss.insignificant(
                loss.delta.p_adjusted, self.level, "p (Holm)", missing=loss.now is None and loss.before is not None
            )
            for loss in map(self.loss, self._tested)
        ]

    def addition(self, measures: Iterable[str]) -> Addition:
        """The differences as JSON, tables and the signature show them; people see these measures, and those that are tested."""
        shown = {name: self.loss(name) for name in dict.fromkeys([*self._tested, *measures])}
        rows = [
            (name, loss.before, loss.now, *(getattr(loss.delta, part) for part in ("value", "low", "high", "p")))
            for name, loss in shown.items()
        ]
        head = ("measure", "baseline", "now", "difference", "low", "high", "p")
        few = next((loss.delta.note for loss in shown.values() if loss.delta.note), "")
        section = Section(title=f"Against {self.file}", head=head, rows=rows, notes=[few] if few else [])
        deltas = {name: compared.deltas[self._run] for name, compared in self._comparison.measures.items()}
        told = [
            {"measure": name, "baseline": self.file, "difference": delta.value, "p": delta.p} for name, delta in deltas.items()
        ]
        tree = {name: delta.to_dict() for name, delta in deltas.items()}
        return Addition("baseline", tree, [section], [section], told, self._comparison.resampling.signature())


NO_BROKEN = "--no-broken"
ANYWHERE = ""


def unbroken(comparison: Comparison, run: str, where: Sequence[str]) -> list[Condition]:
    """Whether nothing is broken in each of these places; an empty name is everywhere."""
    broken = _broken(comparison, run)
    places = Places.of(comparison)
    for name in where:
        places.check(name)
    return [_judged(name, [one for one in broken if places.holds(name, one)], comparison.base) for name in where]


def _broken(comparison: Comparison, run: str) -> list[Changed]:
    base = comparison.results[comparison.base]
    if run not in comparison.changes:
        raise ConfigError(f"{NO_BROKEN}: {base.task.name} does not tell what became of single items")
    for name in (comparison.base, run):
        ledger = comparison.results[name].ledger
        if ledger.units and not ledger.details:
            raise ConfigError(f"{NO_BROKEN}: {name} has numbers only, and nothing of single items; keep outcomes")
    return [one for one in comparison.changes[run].changed if one.change == "broken"]


class Places:
    """The classes, fields and documents of a comparison.

    >>> places = Places({"items[].price", "a.b", "a"}, {"a.pdf"})
    >>> item = Changed("run", "a.pdf", None, "items[2].price", "items[].price", "broken", "tp", "fd")
    >>> [places.holds(name, item) for name in ("", "a.pdf", "items[].price", "items.price", "items", "a")]
    [True, True, True, True, True, False]
    """

    def __init__(self, labels: set[str], documents: set[str]) -> None:
        self.known = labels | documents
        self.above = set[str]().union(*map(_above, labels)) - self.known
        """Fields that only hold others."""

    @classmethod
    def of(cls, comparison: Comparison) -> Places:
        """Where anything could be broken: the documents, and the classes or fields of their truths."""
        base = comparison.results[comparison.base]
        standing = base.task.standing(base.ledger)
        labels = set() if standing is None else set(standing.truths.label)
        return cls(labels, {str(unit) for unit in comparison.documents})

    def holds(self, name: str, one: Changed) -> bool:
        """Whether an item is in the place of that name."""
        return name == ANYWHERE or name in (str(one.document), one.label) or (name in self.above and name in _above(one.label))

    def check(self, name: str) -> None:
        """Refuse a name that is no class, field or document, and name the three nearest."""
        if name != ANYWHERE and name not in self.known and name not in self.above:
            raise ConfigError(
                f"{NO_BROKEN} {name}: is no class, field or document here; {nearest(name, self.known | self.above)}"
            )


def _above(path: str) -> set[str]:
    """What a path of fields stands in: itself without the marks of lists, and the fields that hold it."""
    steps = re.sub(r"\[\d*\]", "", path).split(".")
    return {".".join(steps[:count]) for count in range(1, len(steps) + 1)}


def _judged(where: str, broken: list[Changed], base: str) -> Condition:
    place = f" in {where}" if where else ""
    name = f"nothing that {base} had right is broken{place}"
    if not broken:
        return Condition(name, name)
    first = f"{counted(len(broken), 'item')} that {base} had right {'is' if len(broken) == 1 else 'are'} broken{place}"
    return Condition(name, failures=(first, *map(item_line, broken)))


def item_line(one: Changed) -> str:
    """A broken item in words."""
    parts = [str(one.document), *([] if one.page is None else [f"page {one.page}"]), one.label]
    parts += [str(one.id)] if str(one.id) != one.label else []
    return f"broken: {', '.join(parts)}: {one.before} → {one.after}"
