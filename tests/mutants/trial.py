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
from tests.mutants.workplace import Workplace

SLOWER = 3.0  # a busy machine, and a start without anything imported yet
UNDER_WAY: set[subprocess.Popen[bytes]] = set()
NOTHING_FAILED = {0, 5}  # 5: the fault made the tests that would run it vanish


@dataclass(frozen=True)
class Patience:
    """How many seconds of tests a fault is worth, and how many more are waited for before it counts as a hang."""

    budget: float = 60.0
    margin: float = 30.0

    def limit(self, seconds: Iterable[float]) -> float:
        return SLOWER * sum(seconds) + self.margin


@dataclass(frozen=True)
class Trial:
    """How a fault fared: caught, by a test or because time ran out, or survived so and so many tests."""

    mutant: Mutant
    caught: bool
    how: str
    killer: str = ""


def attempt(place: Workplace, mutant: Mutant, known: CoverageMap, patience: Patience) -> Trial:
    """Try one fault in a workplace, and leave the workplace clean."""
    tests = known.tests(mutant)
    if not tests:
        return Trial(mutant, False, "no test runs the line")
    chosen = choose(mutant.file, tests, patience.budget, mutant.old)
    clean = (place.tree / mutant.file).read_bytes()
    place.put(mutant.file, mutant.applied(clean))
    try:
        failed = run(place, chosen, patience.limit(known.seconds[test] for test in chosen))
    finally:
        place.put(mutant.file, clean)
    if failed is None:
        return Trial(mutant, True, "timed out")
    if failed:
        return Trial(mutant, True, f"caught by {failed[0]}", failed[0])
    return Trial(mutant, False, f"{len(chosen)} of the {len(tests)} tests that run the line")


def run(place: Workplace, tests: Sequence[str], limit: float, *, stop: bool = True) -> list[str] | None:
    """The names of the tests that fail, only the first if asked to stop there; None when time runs out."""
    (place.notes / "chosen").write_text(json.dumps({"tests": list(tests), "seconds": 2 * limit}), "utf-8")
    (place.notes / "failed").unlink(missing_ok=True)
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    command = place.pytest(*["-x"] * stop, *files)
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=place.tree, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    UNDER_WAY.add(process)
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end(process)
        UNDER_WAY.discard(process)
        process.wait()
    if code in NOTHING_FAILED:
        return []
    named = place.notes / "failed"
    return named.read_text("utf-8").splitlines() if named.exists() else [f"exit code {code} of the tests"]


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process with everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
