"""Checks that runs can be compared: same settings, same documents, same ground truth."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from calque.base.errors import ConfigError, MergeError, nearest
from calque.corpus.boxes import UnitId, in_canonical_order
from calque.evaluation.ledger import digests_of
from calque.evaluation.result import Result

SHOWN = 5
"""How many documents a message names."""


def check_comparable(runs: Mapping[str, Result]) -> None:
    """Refuse runs that cannot be compared with the first, and say why."""
    (first, base), *others = runs.items()
    for name, result in others:
        _check_settings(first, base, name, result)
        mine, theirs = documents_of_truth(base), documents_of_truth(result)
        if mine != theirs:
            only = [
                f"only in {run}: {_listed(units)}" for run, units in ((first, mine - theirs), (name, theirs - mine)) if units
            ]
            help = "--shared-documents compares those in common" if mine & theirs else "they have no document in common"
            raise MergeError(f"{first} and {name} are about other documents: {'; '.join(only)}; {help}")
        _check_truth(first, base, name, result)


def _check_settings(first: str, base: Result, name: str, result: Result) -> None:
    apart = [*base.task.signature().differences(result.task.signature()), *base.task.conflicts(result.task)]
    if apart:
        raise MergeError(f"{first} and {name} were made with different settings: " + "; ".join(apart))


def _check_truth(first: str, base: Result, name: str, result: Result) -> None:
    mine, theirs = digests_of(base.ledger), digests_of(result.ledger)
    other = {unit for unit in mine.keys() & theirs.keys() if mine[unit] != theirs[unit]}
    if other:
        count = f"{len(other):,} document{'' if len(other) == 1 else 's'}"
        raise MergeError(
            f"{first} and {name} were evaluated against another truth, which differs in {count}: {_listed(other)}; "
            "evaluate both against the same"
        )


def on_shared_documents(runs: Mapping[str, Result]) -> dict[str, Result]:
    """The runs on the documents that the truth of all of them has, and on what runs made up besides."""
    (first, base), *others = runs.items()
    for name, result in others:
        _check_settings(first, base, name, result)
    truths = [documents_of_truth(result) for result in runs.values()]
    shared, known = set.intersection(*truths), set.union(*truths)
    if not shared:
        raise MergeError(f"{', '.join(runs)} have no document in common: there is nothing to compare")
    return {name: _without(result, known - shared) for name, result in runs.items()}


def _without(result: Result, left_out: set[UnitId]) -> Result:
    if left_out.isdisjoint(result.ledger.units):
        return result
    ledger = result.ledger.select(set(result.ledger.units) - left_out)
    return Result.of(result.task, ledger, result.issues, result.sources)


def documents_of_truth(result: Result) -> set[UnitId]:
    """The documents that the truth has; all of them where a task does not tell."""
    coverage = result.task.coverage(result.ledger)
    units = result.ledger.units
    return (
        set(units)
        if coverage is None
        else {unit for unit, there in zip(units, coverage.in_truth.tolist(), strict=True) if there}
    )


def _listed(units: set[UnitId]) -> str:
    shown = in_canonical_order(units)
    more = f" and {len(shown) - SHOWN:,} more" if len(shown) > SHOWN else ""
    return ", ".join(repr(unit) for unit in shown[:SHOWN]) + more


def run_named(text: str, runs: Collection[str]) -> str:
    """The run of that name."""
    if text not in runs:
        raise ConfigError(f"there is no run {text!r}; {nearest(text, runs)}")
    return text
