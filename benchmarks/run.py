"""Run the benchmarks: every tool in fresh processes, its cost beside the others', and whether the numbers agree.

    python benchmarks/run.py [--only detection] [--sets small,coco,pages] [--tools calque,hotcoco] [--repeats 3]
                             [--before COMMIT] [--markdown benchmarks/README.md] [--json FILE]
    python benchmarks/run.py --readme [--repeats 3]

Exit code 0 when calque's numbers agree with the reference's, 1 when they do not or calque fails; no time is asserted.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import peers
import readme
import suites
from measure import Cost, RunFailed, measured, own_peak, read_once
from results import Outcome, SetResult, as_json, machine
from suite import DataSet, Inputs, Numbers, Suite, Tool
from tables import blocks, grown, growth_table, set_text, update_file

BEFORE = "before"  # The environment of an earlier commit.
DEFAULT_CACHE = Path(__file__).resolve().parent / ".cache"


@dataclass
class Runs:
    """The runs of one tool so far."""

    tool: Tool
    installed: peers.Installed
    costs: list[Cost] = field(default_factory=list)
    numbers: list[Numbers] = field(default_factory=list)
    failure: str | None = None

    def once(self, inputs: Inputs) -> None:
        """Run the tool once more, unless it has failed already."""
        if self.failure is None:
            try:
                run = measured(self.tool.command(self.installed.programs, inputs))
                numbers = self.tool.numbers(run.output)
            except (RunFailed, OSError) as error:
                self.failure = str(error)
            except (ValueError, LookupError, TypeError) as error:
                self.failure = f"it printed something else than its numbers: {error!r}"
            else:
                self.costs.append(run.cost)
                self.numbers.append(numbers)

    def outcome(self) -> Outcome:
        return Outcome(self.tool.name, self.installed.version, tuple(self.costs), tuple(self.numbers))


def main() -> int:
    """The command line."""
    arguments = parsed()
    named = dict.fromkeys(row.suite for row in readme.ROWS) if arguments.readme else arguments.only or suites.NAMES
    chosen = [loaded(name) for name in named]
    header = {"machine": machine(), "date": f"{datetime.date.today():%Y-%m-%d}", "command": shown_command(arguments)}
    print(f"{header['machine']}\n")
    found = {suite.name: run_rows(suite, arguments) if arguments.readme else run_suite(suite, arguments) for suite in chosen}
    print_growth(chosen, found)
    warn_of_own_size(found)
    if arguments.markdown:
        for suite in chosen:
            update_file(arguments.markdown, blocks(suite, found[suite.name], arguments.sets, header))
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(header, found), indent=1, allow_nan=False) + "\n")
    if arguments.readme:
        runs = as_json(header, found)
        readme.RUNS.write_text(json.dumps(runs, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        readme.write(runs)
    return 1 if any(ours_is_wrong(suite, result) for suite in chosen for result in found[suite.name]) else 0


def parsed() -> argparse.Namespace:
    """The arguments, with lists split at commas."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=listed, help=f"suites: {', '.join(suites.NAMES)} (default: all)")
    parser.add_argument("--sets", type=listed, help="data sets or groups of them, e.g. small,coco,pages or scale")
    parser.add_argument("--tools", type=listed, help="tools to run (default: all that suit the set)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each tool on each set (default: 3)")
    parser.add_argument("--before", metavar="COMMIT", help="run each tool of ours as that commit had it, too, and compare")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the tables between the file's markers")
    parser.add_argument("--readme", action="store_true", help="measure the rows of the README, and write its table and chart")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every run as JSON")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where data sets are kept")
    parser.add_argument("--peers", type=Path, default=peers.DEFAULT_FOLDER, help="where environments are kept")
    arguments = parser.parse_args()
    problem = unknown_names(arguments)
    if problem:
        parser.error(problem)
    return arguments


def listed(text: str) -> list[str]:
    """The names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def unknown_names(arguments: argparse.Namespace) -> str | None:
    """What is wrong with the names given, if anything."""
    if unknown := set(arguments.only or ()) - set(suites.NAMES):
        return f"no such suite: {', '.join(sorted(unknown))}; there are {', '.join(suites.NAMES)}"
    if arguments.readme and (arguments.only or arguments.sets or arguments.tools or arguments.before or arguments.markdown):
        return "--readme chooses the suites, sets and tools itself: leave out --only, --sets, --tools, --before and --markdown"
    if arguments.repeats < 1:
        return "--repeats must be at least 1"
    chosen = [loaded(name) for name in arguments.only or suites.NAMES]
    known_sets = {name for suite in chosen for name in [*suite.groups, *(data.name for data in suite.sets)]}
    known_tools = {tool.name for suite in chosen for tool in suite.tools}
    for given, known, kind in ((arguments.sets, known_sets, "set"), (arguments.tools, known_tools, "tool")):
        if unknown := set(given or ()) - known:
            return f"no such {kind}: {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}"
    return None


def loaded(name: str) -> Suite:
    """The suite of that name."""
    suite: Suite = importlib.import_module(f"suites.{name}").SUITE
    return suite


def shown_command(arguments: argparse.Namespace) -> str:
    """The command that repeats these measurements, without paths of this machine."""
    lists = (("--only", arguments.only), ("--sets", arguments.sets), ("--tools", arguments.tools))
    given = [f"{flag} {','.join(names)}" for flag, names in lists if names]
    if arguments.readme:
        return f"python benchmarks/run.py --readme --repeats {arguments.repeats}"
    before = [f"--before {arguments.before}"] if arguments.before else []
    return " ".join(["python benchmarks/run.py", *given, *before, f"--repeats {arguments.repeats}"])


def run_suite(suite: Suite, arguments: argparse.Namespace) -> list[SetResult]:
    """Run the chosen sets one after the other, printing each as it ends."""
    tools = [tool for tool in suite.tools if not arguments.tools or tool.name in arguments.tools]
    needed = dict.fromkeys(tool.environment for tool in tools)
    environments = {name: peers.environment(name, arguments.peers) for name in needed}
    if arguments.before:
        tools = [one for tool in tools for one in ((tool, as_before(tool)) if tool.name in suite.ours else (tool,))]
        environments[BEFORE] = peers.before(arguments.before, arguments.peers)
    found = []
    for data in chosen_sets(suite, arguments.sets):
        ready, notes = ready_tools(tools, environments, data, by_name=bool(arguments.tools))
        found.append(run_set(suite, data, ready, notes, arguments))
        print(set_text(suite, found[-1]) + "\n", flush=True)
    return found


def run_rows(suite: Suite, arguments: argparse.Namespace) -> list[SetResult]:
    """Run what the README shows of a suite: of each row its data set, the tool of ours and the peers."""
    found = []
    for row in readme.ROWS:
        if row.suite == suite.name:
            wanted = argparse.Namespace(**{**vars(arguments), "sets": [row.data], "tools": [row.ours, *row.peers]})
            found += run_suite(suite, wanted)
    return found


def as_before(tool: Tool) -> Tool:
    """The same tool as an earlier commit has it. A runner that it cannot run ends in a note."""
    return replace(tool, name=f"{tool.name} before", environment=BEFORE)


def chosen_sets(suite: Suite, names: Sequence[str] | None) -> list[DataSet]:
    """The sets named, groups opened up, in the suite's order; the default ones when none are named."""
    if not names:
        return [data for data in suite.sets if data.default]
    wanted = {member for name in names for member in suite.groups.get(name, (name,))}
    return [data for data in suite.sets if data.name in wanted]


def ready_tools(
    tools: Sequence[Tool], environments: dict[str, peers.Installed | peers.Missing], data: DataSet, *, by_name: bool
) -> tuple[list[Runs], list[str]]:
    """The tools that can be run on this set, and a note for each that cannot."""
    ready, notes = [], []
    for tool in tools:
        found = environments[tool.environment]
        if isinstance(found, peers.Missing):
            notes.append(f"{tool.name} is missing: {found.reason}")
        elif data.name in tool.skips and not by_name:
            notes.append(f"{tool.name} is left out of {data.name}: it takes long (name it with --tools to run it)")
        else:
            ready.append(Runs(tool, found))
    return ready, notes


def run_set(suite: Suite, data: DataSet, ready: list[Runs], notes: list[str], arguments: argparse.Namespace) -> SetResult:
    """Run the tools in turn, a b c a b c, so that noise of the machine hits all alike."""
    inputs, lacking = prepared(suite, data, ready, arguments.cache)
    runnable = [runs for runs in ready if runs not in lacking]
    notes = [*notes, *(f"{runs.tool.name} is left out: its input files could not be made" for runs in lacking)]
    for path in inputs.values():
        read_once(Path(path))
    for repeat in range(arguments.repeats):
        for runs in runnable:
            print(f"{data.name}: {runs.tool.name} ({repeat + 1}/{arguments.repeats})", file=sys.stderr)
            runs.once(inputs)
    outcomes = tuple(runs.outcome() for runs in runnable if runs.failure is None)
    ran = [outcome.tool for outcome in outcomes]
    reference = next((name for name in suite.references if name in ran), None)
    failures = {runs.tool.name: runs.failure for runs in runnable if runs.failure is not None}
    return SetResult(data, outcomes, reference, suite.tolerance, tuple(notes), failures)


def prepared(suite: Suite, data: DataSet, ready: list[Runs], cache: Path) -> tuple[Inputs, list[Runs]]:
    """The set's files, and the tools that cannot be run because theirs could not be made."""
    demanding = [runs for runs in ready if runs.tool.needs]
    needs = frozenset(name for runs in demanding for name in runs.tool.needs)
    try:
        return suite.prepare(data.name, cache, needs), []
    except subprocess.CalledProcessError:
        if not needs:
            raise
        return suite.prepare(data.name, cache, frozenset()), demanding


def warn_of_own_size(found: dict[str, list[SetResult]]) -> None:
    """Say so when a tool's peak memory may be the runner's own."""
    floor = own_peak()
    outcomes = [outcome for results in found.values() for result in results for outcome in result.outcomes]
    for name in sorted({outcome.tool for outcome in outcomes if outcome.cost.memory <= floor}):
        print(f"{name}: peak memory is not above the runner's own ({floor / 1e6:.0f} MB)", file=sys.stderr)


def print_growth(chosen: Sequence[Suite], found: dict[str, list[SetResult]]) -> None:
    """Print the tables that need more than one set."""
    for suite in chosen:
        for members in grown(suite, found[suite.name]).values():
            print(growth_table(members) + "\n")


def ours_is_wrong(suite: Suite, result: SetResult) -> bool:
    """Whether one of our tools failed or disagrees with the reference."""
    disagree = [outcome.tool for outcome in result.outcomes if not result.agrees(outcome)]
    return not set(suite.ours).isdisjoint([*disagree, *result.failures])


if __name__ == "__main__":
    sys.exit(main())
