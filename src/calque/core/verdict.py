"""What gates say of a result: each thing that must hold, and what does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calque.core.presentation.sections import Section
from calque.core.start_up import Frozen

LISTED = 20
"""How many failures people are shown before they are only counted; JSON has them all."""


class Condition(Frozen):
    """One thing that must hold of a result."""

    name: str
    """What must hold: ``recall@0.5 >= 0.9``."""
    told: str = ""
    """How it stands when it holds, or could not be decided."""
    failures: tuple[str, ...] = ()
    """Why it does not hold, one line each."""


class Verdict(Frozen, eq=False):
    """What the gates say; nothing where there are none."""

    conditions: tuple[Condition, ...] = ()
    baseline: Mapping[str, Mapping[str, Any]] | None = None
    """The difference to the baseline, for each measure."""
    compared: tuple[Section, ...] = ()
    """The same for people."""

    def __bool__(self) -> bool:
        return bool(self.conditions) or self.baseline is not None

    @property
    def failures(self) -> list[str]:
        """What does not hold, one line each."""
        return [failure for condition in self.conditions for failure in condition.failures]

    def to_dict(self, failures: Sequence[str]) -> dict[str, Any]:
        """The JSON form; ``failures`` are those of the task's own gate, too."""
        if not self:
            return {}
        gate = {"gate": {"passed": not failures, "failures": list(failures)}}
        return gate if self.baseline is None else gate | {"baseline": dict(self.baseline)}

    def alarm(self, failures: Sequence[str]) -> list[Section]:
        """What stands before all numbers when a gate does not hold."""
        return [Section(title="Gate: failed", notes=some_failures(failures))] if self.failures else []

    def sections(self) -> list[Section]:
        """What stands behind the numbers: the differences to the baseline, and what holds."""
        told = [condition.told for condition in self.conditions if condition.told]
        held = [] if self.failures or not self else [Section(title="Gate: passed", notes=told)]
        return [*self.compared, *held]


def some_failures(failures: Sequence[str]) -> list[str]:
    """The first failures, and how many more there are.

    >>> some_failures(["recall@0.5 0.8 is below 0.9"])
    ['recall@0.5 0.8 is below 0.9']
    """
    more = len(failures) - LISTED
    return [*failures[:LISTED], *([f"… and {more:,} more; --format json lists them all"] if more > 0 else [])]


NO_VERDICT = Verdict()
