"""What must hold of runs that are compared: one task, the same settings, the same documents, the same truth."""

from __future__ import annotations

from collections.abc import Mapping

from calque.core.corpus import UnitId, in_canonical_order
from calque.core.errors import MergeError
from calque.core.result import Result

SHOWN = 5
"""How many documents a message names."""


def check_comparable(runs: Mapping[str, Result]) -> None:
    """Refuse runs that cannot be compared with the first, and say why."""
    (first, base), *others = runs.items()
    for name, result in others:
        apart = [*base.signature.differences(result.signature), *base.task.at_odds(result.task)]
        if apart:
            raise MergeError(f"{first} and {name} were made with different settings: " + "; ".join(apart))
        mine, theirs = documents_of_truth(base), documents_of_truth(result)
        if mine != theirs:
            only = [
                f"only in {run}: {_listed(units)}" for run, units in ((first, mine - theirs), (name, theirs - mine)) if units
            ]
            help = "--shared-documents compares those in common" if mine & theirs else "they have no document in common"
            raise MergeError(f"{first} and {name} are about other documents: {'; '.join(only)}; {help}")


def documents_of_truth(result: Result) -> set[UnitId]:
    """The documents that the truth has; all of them where a task does not tell."""
    ground = result.task.ground(result.ledger)
    units = result.ledger.units
    return (
        set(units) if ground is None else {unit for unit, there in zip(units, ground.in_truth.tolist(), strict=True) if there}
    )


def _listed(units: set[UnitId]) -> str:
    shown = in_canonical_order(units)
    more = f" and {len(shown) - SHOWN:,} more" if len(shown) > SHOWN else ""
    return ", ".join(repr(unit) for unit in shown[:SHOWN]) + more
