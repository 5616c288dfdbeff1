"""A comparison as JSON, as rows for spreadsheets, as people read it, and in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from calque.base.errors import summarize
from calque.base.wording import brief, counted, percent, some
from calque.evaluation.measures import MeasureName
from calque.evaluation.presentation.report_data import Phrase, Sentence
from calque.evaluation.presentation.sections import MINUS, Section
from calque.evaluation.result import Addition, Result
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import Compared, Comparison
from calque.statistics.intervals import FEW, FEWEST, Delta, Interval, intervals

NOTABLE = 0.02
"""From which difference on another measure is worth half a sentence."""
SPOKEN = ("mean_coverage", "mean_purity", "mean_iou")
"""How well boxes fit: told before other measures."""


def tree(comparison: Comparison) -> dict[str, Any]:
    """The JSON of a comparison."""
    drawing, signature = comparison.resampling, comparison.signature
    issues = [issue for result in comparison.results.values() for issue in result.issues]
    return {
        "task": signature.task,
        "version": signature.version,
        "signature": str(signature),
        "settings": dict(signature.settings),
        "runs": [{"name": name, "sources": result.sources.to_dict()} for name, result in comparison.results.items()],
        "resampling": {
            "replicates": drawing.replicates,
            "seed": drawing.seed,
            "confidence": drawing.confidence,
            "documents": len(comparison.documents),
        },
        "measures": {name: _measure_tree(measure) for name, measure in comparison.measures.items()},
        "documents": {"runs": {run: one.documents.to_dict() for run, one in comparison.changes.items()}},
        "changed": list(listed(comparison)),
        "false_alarms": {run: {"new": one.new_alarms, "gone": one.gone_alarms} for run, one in comparison.changes.items()},
        "undefined": dict(_undefined(comparison)),
        "issues": [issue.to_dict() for issue in summarize(dict.fromkeys(issues))],
    }


def _measure_tree(measure: Compared) -> dict[str, Any]:
    """Each run with its difference to the first; that of two runs stands beside them, too."""
    runs: dict[str, Any] = {run: one.to_dict() for run, one in measure.runs.items()}
    for run, delta in measure.deltas.items():
        runs[run]["delta"] = delta.to_dict()
    return {**runs, "delta": next(iter(measure.deltas.values())).to_dict()} if len(measure.deltas) == 1 else runs


def _undefined(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Why numbers are null, by their dotted paths."""
    for name, measure in comparison.measures.items():
        for run, result in comparison.results.items():
            if measure.runs[run].value is None:
                path = ".".join(result.task.address(MeasureName.parse(name)))
                yield f"measures.{name}.{run}.value", result.undefined.get(path, "not in this run")


def listed(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """The truths that changed, run by run."""
    return (one.to_dict() for changes in comparison.changes.values() for one in changes.changed)


def rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One row for each measure and run, for spreadsheets."""
    signature = str(comparison.signature)
    found = []
    for name, measure in comparison.measures.items():
        for run, one in measure.runs.items():
            row: dict[str, Any] = {"measure": name, "run": run, **one.to_dict()}
            if run in measure.deltas:
                row |= {f"delta_{key}": value for key, value in measure.deltas[run].to_dict().items()}
            found.append({**row, "signature": signature})
    return found


def sections(comparison: Comparison, *, brief: bool = False) -> list[Section]:
    """Each run against the first: the differences, what changed, and what such a corpus can show."""
    parts = [section for run in list(comparison.results)[1:] for section in _against(comparison, run, brief=brief)]
    return [*warnings(comparison), *parts, Section(title="", notes=[str(comparison.signature)])]


def warnings(comparison: Comparison) -> list[Section]:
    """What stands before all numbers when nothing was evaluated in a run."""
    return [section for result in comparison.results.values() for section in result.warning()]


def _against(comparison: Comparison, run: str, *, brief: bool) -> list[Section]:
    base, tests = comparison.base, sum(len(one.deltas) for one in comparison.measures.values() if one.primary)
    measures = [one for one in comparison.measures.values() if one.primary or (not brief and _shown(one))]
    table = Section(
        title="",
        head=("measure", base, run, "difference", "p (Holm)", ""),
        rows=[_row(comparison, one, base, run) for one in measures],
        notes=[*_changes(comparison, run), *_power(comparison, run), *_tests(tests)],
    )
    return [_head(comparison, run, measures), table]


def _head(comparison: Comparison, run: str, measures: list[Compared]) -> Section:
    documents, drawn = len(comparison.documents), comparison.resampling.replicates
    line = f"Compare: {run} against {comparison.base}, {counted(documents, 'document')}, {drawn:,} resamples of documents"
    few = [one.deltas[run].documents for one in measures if one.primary and one.deltas[run].documents < FEW]
    notes = [f"{counted(min(few), 'document')} {'is' if min(few) == 1 else 'are'} few: intervals are unreliable"] if few else []
    return Section(title=line, notes=notes)


def _shown(measure: Compared) -> bool:
    """What has a value in some run, and is of everything."""
    return _headline(measure.name) and any(one.value is not None for one in measure.runs.values())


def _headline(name: str) -> bool:
    """Numbers of everything: neither of a class nor of another scope."""
    parsed = MeasureName.parse(name)
    return parsed.label is None and not parsed.scope


def title(comparison: Comparison, name: str) -> str:
    """A measure as people call it: ``F1@0.5``."""
    parsed = MeasureName.parse(name)
    known = {measure.name: measure.title for measure in comparison.results[comparison.base].task.measures()}
    place = "\0"  # which no scope and no class has
    return str(replace(parsed, name=place)).replace(place, known.get(parsed.name, parsed.name.replace("_", " ")), 1)


def _row(comparison: Comparison, measure: Compared, base: str, run: str) -> tuple[Any, ...]:
    delta = measure.deltas[run]
    name = title(comparison, measure.name) + (" *" if measure.primary else "")
    runs = (_value(measure.runs[one], with_interval=measure.primary) for one in (base, run))
    p = None if not measure.primary else "–" if delta.p_adjusted is None else _p(delta.p_adjusted)
    return (name, *runs, _difference(delta), p or "", delta.verdict or "" if measure.primary else "")


def _value(one: Interval, *, with_interval: bool) -> str:
    if one.value is None:
        return "–"
    shown = f"{one.value:.3f}"
    return f"{shown} [{_short(one.low)}, {_short(one.high)}]" if with_interval and one.low is not None else shown


def _short(value: float | None) -> str:
    """An end of an interval: two digits, without the zero before the point."""
    return "–" if value is None else f"{value:.2f}".replace("0.", ".", 1) if 0 <= value < 1 else f"{value:.2f}"


def _signed(value: float, digits: int) -> str:
    shown = f"{abs(value):.{digits}f}"
    return f"{MINUS if value < 0 else '+'}{shown}"


def _difference(delta: Delta) -> str:
    if delta.value is None:
        return "–"
    ends = "" if delta.low is None or delta.high is None else f" [{_signed(delta.low, 2)}, {_signed(delta.high, 2)}]"
    return _signed(delta.value, 3) + ends


def _p(value: float) -> str:
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


def _changes(comparison: Comparison, run: str) -> list[str]:
    if run not in comparison.changes:
        return []
    one = comparison.changes[run]
    truths = f"{counted(one.count('broken'), 'truth')} broken, {one.count('fixed'):,} fixed"
    alarms = f"{counted(one.new_alarms, 'false alarm')} new, {one.gone_alarms:,} gone"
    documents = one.documents
    by_document = f"by document {documents.better:,} better, {documents.equal:,} equal, {documents.worse:,} worse"
    return [f"{truths}, {alarms} · {by_document}"]


def _power(comparison: Comparison, run: str) -> list[str]:
    """What such a corpus can show, for the first of the tested measures that has an interval."""
    for name, measure in comparison.measures.items():
        delta = measure.deltas[run]
        if measure.primary and delta.detectable and delta.documents_needed is not None:
            return [
                f"A difference of {delta.detectable:.3f} in {title(comparison, name)} would show on this corpus; "
                f"{comparison.wanted:g} would need about {counted(delta.documents_needed, 'document')}."
            ]
    return []


def _tests(tests: int) -> list[str]:
    if not tests:
        return ["no measure is tested"]
    return [f"* tested, corrected for {counted(tests, 'test')}; the others are shown, not tested"]


def interval_addition(result: Result, resampling: Resampling, measures: Mapping[str, Interval]) -> Addition:
    """The intervals of a result, as its JSON, its tables and its signature show them."""
    primary = result.task.primary()
    headline = {name: one for name, one in measures.items() if name in primary}
    return Addition(
        "intervals",
        {"measures": {name: one.to_dict() for name, one in measures.items()}},
        [_interval_section(measures, resampling)],
        [_interval_section(headline, resampling)] if headline else [],
        [{"measure": name, **one.to_dict()} for name, one in measures.items()],
        resampling.signature(),
    )


def _interval_section(measures: Mapping[str, Interval], resampling: Resampling) -> Section:
    known = {name: one for name, one in measures.items() if one.value is not None and _headline(name)}
    shown = [(name, one.value, one.low, one.high, one.se, one.documents) for name, one in known.items()]
    unreliable = [name for name, one in known.items() if one.low is not None and one.unreliable]
    without = [name for name, one in known.items() if one.low is None]
    more = len(measures) - len(known)
    notes = [
        f"unreliable, in fewer than {FEW} documents: {some(unreliable)}" if unreliable else "",
        f"no interval, in fewer than {FEWEST} documents: {some(without)}" if without else "",
        f"{more:,} more, of classes and other means, are in JSON and CSV" if more else "",
    ]
    return Section(
        title=f"Intervals of {100 * resampling.confidence:g} % ({resampling.replicates:,} resamples of documents)",
        head=("measure", "value", "low", "high", "standard error", "documents"),
        rows=shown,
        notes=[note for note in notes if note],
    )


def with_intervals(result: Result, resampling: Resampling, *, jobs: int = 1) -> Result:
    """The result with the intervals of its measures."""
    return result.adding(interval_addition(result, resampling, intervals(result, resampling, jobs=jobs)))


def headline(comparison: Comparison, run: str) -> Sentence:
    """What the run does otherwise than the base."""
    if _is_of_nothing(comparison, run):
        return [f"There is nothing to compare: nothing of {brief(comparison.base)} and {brief(run)} could be evaluated."]
    parts: list[str | Phrase] = [f"Against {brief(comparison.base)}, {brief(run)} ", *_gains_and_losses(comparison, run)]
    main = _main(comparison)
    if main is None:
        return [*parts, "."]
    parts += [": ", *_moved(comparison, main, run)]
    other = _contrary(comparison, main, run)
    return [*parts, ", but ", *_moved(comparison, other, run), "."] if other else [*parts, "."]


def _is_of_nothing(comparison: Comparison, run: str) -> bool:
    """Whether neither of the two has anything that was evaluated."""
    if all(comparison.results[one].unevaluated is not None for one in (comparison.base, run)):
        return True
    measures = comparison.measures.values()
    return (
        bool(measures) and _main(comparison) is None and not any(one.value for each in measures for one in each.runs.values())
    )


def _gains_and_losses(comparison: Comparison, run: str) -> list[str]:
    if run not in comparison.changes:
        return ["differs"]
    fixed, broken = (comparison.changes[run].count(change) for change in ("fixed", "broken"))
    if not fixed and not broken:
        return ["gets the same right"]
    if comparison.results[run].task.name == "detection":
        return [f"finds {fixed:,} more and loses {broken:,}"]
    return [f"gets {fixed:,} more right and breaks {broken:,}"]


def _known(comparison: Comparison) -> list[str]:
    """Measures of everything that every run has a value for and that are shares: a count of one is none."""
    return [
        name
        for name, measure in comparison.measures.items()
        if (parsed := MeasureName.parse(name)).label is None
        and not parsed.scope
        and all(isinstance(one.value, float) and 0 <= one.value <= 1 for one in measure.runs.values())
    ]


def _main(comparison: Comparison) -> str | None:
    known = _known(comparison)
    lowest = [name for name in known if MeasureName.parse(name).name == "recall"]
    tested = [name for name in known if comparison.measures[name].primary]
    return next(iter([*lowest, *tested, *known]), None)


def _gain(comparison: Comparison, name: str, run: str) -> float:
    """How much better the run is."""
    value = comparison.measures[name].deltas[run].value or 0.0
    return -value if comparison.measures[name].lower_is_better else value


def _contrary(comparison: Comparison, main: str, run: str) -> str | None:
    """The measure that moves most against the main one; how well boxes fit before all others.

    A sentence names no threshold: what it tells of is measured at the threshold of the main one, or at none.
    """
    gain, thresholds = _gain(comparison, main, run), {MeasureName.parse(main).threshold, None}
    against = {
        name: abs(moved)
        for name in _known(comparison)
        if name != main
        and MeasureName.parse(name).threshold in thresholds
        and (moved := _gain(comparison, name, run)) * gain < 0
        and abs(moved) >= NOTABLE
    }
    for spatial in SPOKEN:
        if told := next((name for name in against if MeasureName.parse(name).name == spatial), None):
            return told
    return max(against, key=lambda name: against[name], default=None)


def _moved(comparison: Comparison, name: str, run: str) -> Sentence:
    runs = list(comparison.results)
    before, after = (comparison.measures[name].runs[one].value or 0.0 for one in (comparison.base, run))
    gain = _gain(comparison, name, run)
    tone = "good" if gain > 0 else "bad" if gain < 0 else ""
    told = _told_apart(before, after)
    old, new = Phrase(name, told[0], "", 0), Phrase(name, told[1], tone if told[0] != told[1] else "", runs.index(run))
    if MeasureName.parse(name).name == "mean_coverage":
        return ["its crops hold ", new, " instead of ", old]
    called = title(comparison, name).partition("@")[0]
    called = called if called[:2].isupper() else called[0].lower() + called[1:]
    verb = "stay" if told[0] == told[1] else "rise" if after > before else "fall"
    verb += "" if called.islower() and called.endswith("s") else "s"  # pairs rise, recall rises
    return [f"{called} {verb} at ", new] if told[0] == told[1] else [f"{called} {verb} from ", old, " to ", new]


def _told_apart(before: float, after: float) -> tuple[str, str]:
    """Two shares as percents; with three decimals where percents would be the same, though the shares are not.

    Where the table has a difference of 0.000 nothing rises or falls.
    """
    if f"{abs(after - before):.3f}" == "0.000":
        return percent(after), percent(after)
    short = percent(before), percent(after)
    long = f"{before:.3f}", f"{after:.3f}"
    return long if short[0] == short[1] and long[0] != long[1] else short
