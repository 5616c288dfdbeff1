"""How a run stands, item by item: what became of each truth, which false alarms there are, how well each document went."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calque.base.columns import Array, Floats


@dataclass(frozen=True, slots=True, eq=False)
class TruthOutcomes:
    """What became of each truth that counts, one entry each, in the order of documents."""

    unit: Sequence[int]
    """The index of the document in the ledger."""
    place: Sequence[Hashable]
    """What names the truth within its document, whichever run it is."""
    page: Sequence[int | None]
    id: Sequence[Any]
    label: Sequence[str]
    kind: Sequence[str]
    """What happened, as the JSON names it."""
    right: Sequence[bool]
    """Whether the truth was found, and found right."""


@dataclass(frozen=True, slots=True, eq=False)
class FalsePositives:
    """What was found and is not there, one entry each."""

    unit: Sequence[int]
    page: Sequence[int]
    label: Sequence[str]
    boxes: Array | None = None
    """Corners; without boxes an alarm is known by its label alone."""


@dataclass(frozen=True, slots=True, eq=False)
class RunOutcomes:
    """What a comparison needs to know of a run beside its numbers."""

    truths: TruthOutcomes
    alarms: FalsePositives
    scores: Floats
    """For each document how well it went; NaN where there was nothing to do."""


NO_FALSE_POSITIVES = FalsePositives((), (), ())


def positions(offsets: Array, units: Array) -> list[int]:
    """For each row its place among the rows of its document."""
    import numpy as np

    return list((np.arange(len(units)) - offsets[units]).tolist())


def numbered(units: Sequence[int], names: Sequence[str]) -> list[tuple[str, int]]:
    """Names within documents, told apart where one occurs more than once.

    >>> numbered([0, 0, 1], ["total", "total", "total"])
    [('total', 0), ('total', 1), ('total', 0)]
    """
    seen: dict[tuple[int, str], int] = {}
    places = []
    for unit, name in zip(units, names, strict=True):
        seen[unit, name] = seen.get((unit, name), -1) + 1
        places.append((name, seen[unit, name]))
    return places
