"""``python -m tests.mutants``: draw faults, try each in a copy of the tree, and say which the tests did not notice."""

from __future__ import annotations

import argparse
import queue
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.coverage_map import CoverageMap, coverage_map
from tests.mutants.report import Tally, survivors, table, ways, whole
from tests.mutants.sampling import equivalents, packages, sample
from tests.mutants.sites import Mutant
from tests.mutants.trial import UNDER_WAY, Patience, Trial, attempt, end
from tests.mutants.upkeep import tidy
from tests.mutants.workplace import Workplace, package_of, set_up, twin

ROOT = Path(__file__).parents[2]
# Those of every day: what only the long run notices is noticed late. And without slow bystanders.
ALL_TESTS = ["-mnot long", "--ignore=tests/build", "--ignore=tests/mutants", "--ignore=tests/unit/test_mutants.py"]


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--mutants", type=int, default=12, metavar="N", help="faults for each package (12)")
    parser.add_argument("--package", default="", help="one package and those inside it, such as readers (all)")
    parser.add_argument("--seed", type=int, default=0, help="draws other faults (0)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="faults tried side by side (2)")
    parser.add_argument("--fail-under", type=float, default=90.0, metavar="PERCENT", help="exit with 1 below this share (90)")
    parser.add_argument("--budget", type=float, default=60.0, metavar="SECONDS", help="of clean tests for each fault (60)")
    parser.add_argument(
        "--margin", type=float, default=30.0, metavar="SECONDS", help="before a fault counts as a hang, at least (30)"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the project (this one)")
    parser.add_argument("--list", action="store_true", help="print the faults that are drawn, and try none")
    parser.add_argument("tests", nargs="*", help="as pytest takes them (all but those of the long run)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = options(arguments)
    root: Path = chosen.root.resolve()
    if not packages(root, package_of(root), chosen.package):
        note(f"there is no package {chosen.package!r}")
        return 2
    if chosen.list:
        for mutant in sorted(mutant for mutants in drawn_from(root, chosen).values() for mutant in mutants):
            say(f"{mutant.file}:{mutant.line}: {mutant.kind}: {mutant.old} -> {mutant.new}")
        return 0
    patience = Patience(chosen.budget, chosen.margin)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        places = [set_up(root, Path(folder).resolve() / "0")]
        places += [twin(places[0], Path(folder).resolve() / str(number)) for number in range(1, chosen.jobs)]
        # From here on the copy counts: the user may go on to work on the tree.
        drawn = drawn_from(places[0].tree, chosen)
        excused = equivalents(places[0].tree / "tests" / "mutants" / "equivalents.toml")
        tried = {name: [each for each in mutants if not any(e.names(each) for e in excused)] for name, mutants in drawn.items()}
        known = coverage_map(places[0], root / "build" / "mutants", chosen.tests or ALL_TESTS)
        for line in tidy(places[0]):
            note(f"    put right after the tests: {line}")
        trials = try_all(places, [each for mutants in tried.values() for each in mutants], known, patience)
    tallies = {
        name: Tally([trials[each] for each in mutants], len(drawn[name]) - len(mutants)) for name, mutants in tried.items()
    }
    return conclude(tallies, chosen.fail_under)


def drawn_from(tree: Path, chosen: argparse.Namespace) -> dict[str, list[Mutant]]:
    return sample(tree, packages(tree, package_of(tree), chosen.package), chosen.mutants, chosen.seed)


def conclude(tallies: Mapping[str, Tally], fail_under: float) -> int:
    """Print what came out, and return the exit code."""
    for line in (*survivors(tallies), *table(tallies), ways(tallies)):
        say(line)
    for test in sorted({test for trial in whole(tallies).trials for test in trial.unsound}):
        say(f"fails without a fault, and counts for nothing: {test}")
    share = whole(tallies).share
    return 1 if share is not None and 100 * share < fail_under else 0


def try_all(
    places: Sequence[Workplace], mutants: Sequence[Mutant], known: CoverageMap, patience: Patience
) -> dict[Mutant, Trial]:
    """Try every fault, as many side by side as there are workplaces."""
    free: queue.SimpleQueue[Workplace] = queue.SimpleQueue()
    for place in places:
        free.put(place)

    def one(mutant: Mutant) -> Trial:
        place = free.get()
        try:
            return attempt(place, mutant, known, patience)
        finally:
            free.put(place)

    trials = {}
    with ThreadPoolExecutor(len(places)) as pool:
        try:
            for trial in pool.map(one, mutants):
                trials[trial.mutant] = trial
                note(f"{len(trials)}/{len(mutants)} {trial.mutant.file}:{trial.mutant.line} {trial.mutant.kind}: {trial.how}")
                for line in (
                    *(f"fails anyway: {each}" for each in trial.unsound),
                    *(f"put right: {each}" for each in trial.left),
                ):
                    note(f"    {line}")
        except BaseException:  # whoever stops the run does not wait for tests
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(UNDER_WAY):
                end(process)
            raise
    return trials


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def note(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # on the way out the copies are removed
    # A shell starts what runs in the background deaf to Ctrl-C; the tests must not inherit that, since some send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
