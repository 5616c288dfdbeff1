"""A suite of checks from JSON Lines, from the command to the summary; a plain loop over the same file is the floor."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool

BENCHMARKS = Path(__file__).resolve().parents[1]
SETS = (
    DataSet("cases", "10,000 cases under 2 evaluators", 10_000),
    DataSet("cases100k", "100,000 cases under 2 evaluators", 100_000, default=False),
)


def _calque(programs: Path, inputs: Inputs) -> list[str]:
    return [str(programs / "calque"), "check", inputs["suite.yaml"], "--format", "json", "--only-failed"]


def _plain(programs: Path, inputs: Inputs) -> list[str]:
    return [str(programs / "python"), str(BENCHMARKS / "runners" / "plain_cases.py"), inputs["cases.jsonl"]]


def _summary(output: str) -> Numbers:
    summary = json.loads(output)["summary"]
    return {"mean score": summary["score"], "pass rate": summary["pass_rate"]}


def _last_line(output: str) -> Numbers:
    return dict(zip(("mean score", "pass rate"), json.loads(output.splitlines()[-1]), strict=True))


def _prepare(name: str, cache: Path, _needs: frozenset[str]) -> Inputs:
    """Make the files in a process of their own: the runner must stay small (see `measure.own_peak`)."""
    count = next(data.items for data in SETS if data.name == name)
    command = [sys.executable, str(BENCHMARKS / "check_cases.py"), str(count), "--cache", str(cache)]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    files: dict[str, str] = json.loads(made.stdout)
    return files


SUITE = Suite(
    name="check_suites",
    sets=SETS,
    groups={"case-scale": ("cases", "cases100k")},
    tools=(
        Tool("calque", "calque", _calque, _summary),
        Tool("plain-loop", "calque", _plain, _last_line),
    ),
    ours=("calque",),
    references=("plain-loop",),
    tolerance=1e-12,
    prepare=_prepare,
)
