"""What a comparison says in one sentence: what one run gains and loses, the main number, and what speaks against it."""

from __future__ import annotations

from calque.core.comparison.compare import Comparison
from calque.core.comparison.presentation import title
from calque.core.measures import MeasureName
from calque.core.presentation.pictured import Phrase, Sentence
from calque.core.presentation.wording import brief, percent

NOTABLE = 0.02
"""From which difference on another measure is worth half a sentence."""
SPOKEN = ("mean_coverage", "mean_purity", "mean_iou")
"""How well boxes fit: told before other measures."""


def headline(comparison: Comparison, run: str) -> Sentence:
    """What the run does otherwise than the base."""
    if _is_of_nothing(comparison, run):
        return [f"There is nothing to compare: nothing of {brief(comparison.base)} and {brief(run)} could be evaluated."]
    parts: list[str | Phrase] = [f"Against {brief(comparison.base)}, {brief(run)} ", *_changes(comparison, run)]
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


def _changes(comparison: Comparison, run: str) -> list[str]:
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
    """The measure that moves most against the main one; how well boxes fit before all others."""
    gain = _gain(comparison, main, run)
    against = {
        name: abs(moved)
        for name in _known(comparison)
        if name != main and (moved := _gain(comparison, name, run)) * gain < 0 and abs(moved) >= NOTABLE
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
    """Two shares as percents; with three decimals where percents would be the same, though the shares are not."""
    short = percent(before), percent(after)
    long = f"{before:.3f}", f"{after:.3f}"
    return long if short[0] == short[1] and long[0] != long[1] else short
