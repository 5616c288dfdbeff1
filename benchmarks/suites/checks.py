"""The IoU of pairs of quads, from arrays to numbers; shapely is the peer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool

BENCHMARKS = Path(__file__).resolve().parents[1]
SETS = (
    DataSet("quads", "100,000 pairs of rotated rectangles", 100_000),
    DataSet("quads1m", "1,000,000 pairs of rotated rectangles", 1_000_000, default=False),
)


def _script(name: str) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        return [str(programs / "python"), str(BENCHMARKS / "runners" / name), inputs["first.npy"], inputs["second.npy"]]

    return command


def _last_line(output: str) -> Numbers:
    return dict(zip(("mean IoU", "share at 0.5", "median IoU"), json.loads(output.splitlines()[-1]), strict=True))


def _prepare(name: str, cache: Path, _needs: frozenset[str]) -> Inputs:
    """Make the files in a process of their own: the runner must stay small (see `measure.own_peak`)."""
    count = next(data.items for data in SETS if data.name == name)
    command = [sys.executable, str(BENCHMARKS / "quads.py"), str(count), "--cache", str(cache)]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    files: dict[str, str] = json.loads(made.stdout)
    return files


SUITE = Suite(
    name="checks",
    sets=SETS,
    groups={"quad-scale": ("quads", "quads1m")},
    tools=(
        Tool("calque", "calque", _script("calque_quads.py"), _last_line),
        Tool("shapely", "shapely", _script("shapely_quads.py"), _last_line),
    ),
    ours=("calque",),
    references=("shapely",),
    tolerance=1e-9,
    prepare=_prepare,
)
