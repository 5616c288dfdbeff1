"""One fault is put into a workplace, and the tests that run its line are run, until one notices or none is left."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.mutants.choosing import choose
from tests.mutants.coverage_map import CoverageMap
from tests.mutants.sites import Mutant
from tests.mutants.upkeep import tidy
from tests.mutants.workplace import Workplace

SLOWER = 3.0  # a busy machine, and a start without anything imported yet
UNDER_WAY: set[subprocess.Popen[bytes]] = set()
NOTHING_FAILED = {0, 5}  # 5: the fault made the tests that would run it vanish
LIKELIEST = 8
"""Tests that take such a part of the budget are run before the others."""
MOST_UNSOUND = 4  # where so many tests fail for reasons of their own, something is wrong with the copy


@dataclass(frozen=True)
class Patience:
    """How many seconds of tests a fault is worth, and how many more are waited for before it counts as a hang."""

    budget: float = 60.0
    margin: float = 30.0

    def limit(self, seconds: Iterable[float]) -> float:
        return SLOWER * sum(seconds) + self.margin


@dataclass(frozen=True)
class Failure:
    """A test that failed, a file that did not load, or a run that ended otherwise: then it has no name."""

    test: str
    loaded: bool
    error: str

    @property
    def way(self) -> str:
        """In which of the ways a fault is noticed."""
        return "by a test" if self.test and self.loaded else "as a file did not load" if self.test else "as the run broke off"

    def __str__(self) -> str:
        if self.test and self.loaded:
            return self.test
        return f"{self.test}, which did not load: {self.error}" if self.test else self.error

    def concerns(self, test: str) -> bool:
        return not self.test or self.test in {test, test.partition("::")[0]}


TIME = Failure("", True, "time: it ran out")


@dataclass(frozen=True)
class Trial:
    """How a fault fared: caught, and in which way, or survived so and so many tests.

    What was found wrong with the tests or the copy on the way is told as well, and is no catch.
    """

    mutant: Mutant
    caught: bool
    how: str
    way: str = ""
    unsound: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def attempt(place: Workplace, mutant: Mutant, known: CoverageMap, patience: Patience) -> Trial:
    """Try one fault in a workplace, and leave the workplace clean.

    The likeliest tests are run first, since most faults need no others, and to load many files of tests takes time.
    """
    tests = known.tests(mutant)
    if not tests:
        return Trial(mutant, False, "no test runs the line")
    chosen = choose(mutant.file, tests, patience.budget, mutant.old)
    likeliest = choose(mutant.file, tests, patience.budget / LIKELIEST, mutant.old)
    unsound: list[str] = []
    left: list[str] = []
    passed = 0
    for part in (likeliest, [test for test in chosen if test not in likeliest]):
        rest = list(part)
        while rest and len(unsound) < MOST_UNSOUND:
            failure = first_failure(place, rest, known, patience, mutant, left)
            if failure is None:
                passed += len(rest)
                break
            # If it fails without the fault, too, it says nothing of it: the others are tried without it.
            again = [test for test in rest if failure.concerns(test)] or rest
            anyway = first_failure(place, again, known, patience, None, left)
            if anyway is None:
                return Trial(mutant, True, f"caught by {failure}", failure.way, tuple(unsound), tuple(left))
            unsound.append(f"{anyway.test or 'the run'}: {anyway.error}")
            rest = [test for test in rest if test not in again]
    return Trial(mutant, False, f"{passed} of the {len(tests)} tests that run the line", "", tuple(unsound), tuple(left))


def first_failure(
    place: Workplace, tests: Sequence[str], known: CoverageMap, patience: Patience, mutant: Mutant | None, left: list[str]
) -> Failure | None:
    """What fails first, with a fault or without; afterwards the workplace is as it was, and what was not is named."""
    if mutant is not None:
        place.put(mutant.file, mutant.applied((place.tree / mutant.file).read_bytes()))
    try:
        return run(place, tests, patience.limit(known.seconds[test] for test in tests))
    finally:
        if mutant is not None:
            place.put(mutant.file, (place.clean / mutant.file).read_bytes())
        left += tidy(place)


def run(place: Workplace, tests: Sequence[str], limit: float) -> Failure | None:
    """What fails first among the tests."""
    (place.notes / "chosen").write_text(json.dumps({"tests": list(tests), "seconds": 2 * limit}), "utf-8")
    (place.notes / "failed").unlink(missing_ok=True)
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    command = place.pytest("-x", *files)
    output = place.folder / "output"
    with output.open("wb") as said:
        process = subprocess.Popen(
            command, cwd=place.tree, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
    UNDER_WAY.add(process)
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        return TIME
    finally:
        end(process)
        UNDER_WAY.discard(process)
        process.wait()
    named = place.notes / "failed"
    if code not in NOTHING_FAILED and named.exists():
        return Failure(**json.loads(named.read_text("utf-8").splitlines()[0]))
    last = output.read_text("utf-8", "replace").strip().rpartition("\n")[2]
    return None if code in NOTHING_FAILED else Failure("", True, f"exit code {code} of the tests: {last}")


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process with everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
