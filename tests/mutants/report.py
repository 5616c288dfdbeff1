"""What a run of mutants prints: a table by package, and every fault that no test noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.mutants.trial import Trial


@dataclass(frozen=True)
class Tally:
    """The trials of one package, and how many of its faults are known to change nothing."""

    trials: Sequence[Trial]
    equivalent: int

    @property
    def caught(self) -> int:
        return sum(trial.caught for trial in self.trials)

    @property
    def share(self) -> float | None:
        return self.caught / len(self.trials) if self.trials else None


def whole(tallies: Mapping[str, Tally]) -> Tally:
    trials = [trial for tally in tallies.values() for trial in tally.trials]
    return Tally(trials, sum(tally.equivalent for tally in tallies.values()))


def table(tallies: Mapping[str, Tally]) -> Iterator[str]:
    rows = {**tallies, "all": whole(tallies)}
    width = max(map(len, ("package", *rows)))
    yield f"{'package':{width}}  mutants  caught  survived  equivalent   share"
    for name, tally in rows.items():
        share = "–" if tally.share is None else f"{tally.share:.1%}"
        survived = len(tally.trials) - tally.caught
        mutants = len(tally.trials) + tally.equivalent
        yield f"{name:{width}}  {mutants:7}  {tally.caught:6}  {survived:8}  {tally.equivalent:10}  {share:>6}"


def survivors(tallies: Mapping[str, Tally]) -> Iterator[str]:
    for trial in sorted((trial for trial in whole(tallies).trials if not trial.caught), key=lambda trial: trial.mutant):
        mutant = trial.mutant
        yield f"{mutant.file}:{mutant.line}: {mutant.kind} in {mutant.scope or 'the module'} survived ({trial.how})"
        yield f"    - {mutant.old}"
        yield f"    + {mutant.new}"


def ways(tallies: Mapping[str, Tally]) -> str:
    """How the faults were noticed: a file that does not load tells less than a test."""
    counts = Counter(trial.way for trial in whole(tallies).trials if trial.caught)
    return f"caught: {', '.join(f'{count} {way}' for way, count in counts.most_common()) or 'none'}"
