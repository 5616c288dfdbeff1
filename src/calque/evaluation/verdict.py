"""The verdict of gates on a result: the conditions, and those that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calque.evaluation.presentation.sections import Section

if TYPE_CHECKING:
    from calque.evaluation.presentation.ci_servers import CiTestCase

FAILED, PASSED = "Gate failed", "Gate: passed"
LISTED = 20
"""How many failures the terminal lists before it only counts them; JSON lists all."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a gate, and whether a result meets it."""

    name: str
    """The condition: ``recall@0.5 >= 0.9``."""
    note: str = ""
    """The value, if the condition is met or cannot be decided."""
    failures: tuple[str, ...] = ()
    """Why the condition is not met, one line each."""

    def of_run(self, run: str) -> Condition:
        """Return the condition with the name of one of several runs."""
        note = f"{run}: {self.note}" if self.note else ""
        return Condition(f"{run}: {self.name}", note, tuple(f"{run}: {failure}" for failure in self.failures))


@dataclass(frozen=True, slots=True)
class Verdict:
    """All conditions of the gates of a result; empty if it has no gates."""

    conditions: tuple[Condition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.conditions)

    @property
    def failures(self) -> list[str]:
        """The conditions that are not met, one line each."""
        return [failure for condition in self.conditions for failure in condition.failures]

    def to_dict(self, failures: Sequence[str]) -> dict[str, Any]:
        """Return the JSON form; ``failures`` includes those of the task's own gate."""
        return {"gate": {"passed": not failures, "failures": list(failures)}} if self else {}

    def failure_sections(self, failures: Sequence[str]) -> list[Section]:
        """Return what a failed gate prints before the metrics. The first failure is the title."""
        if not self.failures:
            return []
        first, *others = some_failures(failures)
        return [Section(title=f"{FAILED}: {first}", notes=others)]

    def sections(self) -> list[Section]:
        """Return what a passed gate prints after the metrics."""
        notes = [condition.note for condition in self.conditions if condition.note]
        return [] if self.failures or not self else [Section(title=PASSED, notes=notes)]

    def tests(self, group: str) -> list[CiTestCase]:
        """Each condition as a server shows it."""
        from calque.evaluation.presentation.ci_servers import CiTestCase

        return [
            CiTestCase(group, condition.name, "failure", condition.failures[0], condition.failures[1:])
            if condition.failures
            else CiTestCase(group, condition.name)
            for condition in self.conditions
        ]


def some_failures(failures: Sequence[str]) -> list[str]:
    """Return the first failures and the number of the others.

    >>> some_failures(["recall@0.5 0.8 is below 0.9"])
    ['recall@0.5 0.8 is below 0.9']
    """
    more = len(failures) - LISTED
    return [*failures[:LISTED], *([f"… and {more:,} more; --format json lists them all"] if more > 0 else [])]


NO_VERDICT = Verdict()
