"""What gates say of a result: each thing that must hold, and what does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calque.evaluation.presentation.sections import Section

if TYPE_CHECKING:
    from calque.evaluation.presentation.ci_servers import CaseResult

FAILED, PASSED = "Gate failed", "Gate: passed"
LISTED = 20
"""How many failures people are shown before they are only counted; JSON has them all."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that must hold of a result."""

    name: str
    """What must hold: ``recall@0.5 >= 0.9``."""
    told: str = ""
    """How it stands when it holds, or could not be decided."""
    failures: tuple[str, ...] = ()
    """Why it does not hold, one line each."""

    def of_run(self, run: str) -> Condition:
        """The same of one run of several."""
        told = f"{run}: {self.told}" if self.told else ""
        return Condition(f"{run}: {self.name}", told, tuple(f"{run}: {failure}" for failure in self.failures))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gates say; nothing where there are none."""

    conditions: tuple[Condition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.conditions)

    @property
    def failures(self) -> list[str]:
        """What does not hold, one line each."""
        return [failure for condition in self.conditions for failure in condition.failures]

    def to_dict(self, failures: Sequence[str]) -> dict[str, Any]:
        """The JSON form; ``failures`` are those of the task's own gate, too."""
        return {"gate": {"passed": not failures, "failures": list(failures)}} if self else {}

    def alarm(self, failures: Sequence[str]) -> list[Section]:
        """What stands before all numbers when a gate does not hold: what fails is the first line."""
        if not self.failures:
            return []
        first, *others = some_failures(failures)
        return [Section(title=f"{FAILED}: {first}", notes=others)]

    def sections(self) -> list[Section]:
        """What stands behind the numbers when everything holds."""
        told = [condition.told for condition in self.conditions if condition.told]
        return [] if self.failures or not self else [Section(title=PASSED, notes=told)]

    def tests(self, group: str) -> list[CaseResult]:
        """Each condition as a server shows it."""
        from calque.evaluation.presentation.ci_servers import CaseResult

        return [
            CaseResult(group, condition.name, "failure", condition.failures[0], condition.failures[1:])
            if condition.failures
            else CaseResult(group, condition.name)
            for condition in self.conditions
        ]


def some_failures(failures: Sequence[str]) -> list[str]:
    """The first failures, and how many more there are.

    >>> some_failures(["recall@0.5 0.8 is below 0.9"])
    ['recall@0.5 0.8 is below 0.9']
    """
    more = len(failures) - LISTED
    return [*failures[:LISTED], *([f"… and {more:,} more; --format json lists them all"] if more > 0 else [])]


NO_VERDICT = Verdict()
