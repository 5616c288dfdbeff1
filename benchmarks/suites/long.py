"""Detection on more pages than memory holds, from page rows to all numbers: time and memory by the number of pages.

There is no peer: tools that read COCO JSON hold everything. The numbers of calque from Parquet are held against those from
NDJSON, where both ran.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from suite import DataSet, Inputs, Suite, Tool
from suites.detection import BENCHMARKS
from suites.detection import SUITE as DETECTION

NUMBERS = DETECTION.tools[0].numbers


def _calque(suffix: str) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        files = [inputs[f"truth.{suffix}"], inputs[f"detections.{suffix}"]]
        return [str(programs / "calque"), "detect", *files, "--boxes", "xywh", "--format", "json"]

    return command


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:
    """Make the files in a process of their own: the runner must stay small (see `measure.own_peak`)."""
    rows = sorted({Path(file).suffix[1:] for file in needs})
    command = [sys.executable, str(BENCHMARKS / "data.py"), name, "--cache", str(cache), "--only-rows", "--rows", *rows]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    files: dict[str, str] = json.loads(made.stdout)[name]
    return files


SUITE = Suite(
    name="long",
    sets=(
        DataSet("pages", "20,000 pages, 11 classes, 800,000 detections", 20_000),
        DataSet("pages200k", "200,000 pages, 11 classes, 8,000,000 detections", 200_000),
        DataSet("pages2m", "2,000,000 pages, 11 classes, 80,000,000 detections", 2_000_000, default=False),
    ),
    groups={"long-scale": ("pages", "pages200k", "pages2m")},
    tools=(
        Tool("calque-parquet", "calque", _calque("parquet"), NUMBERS, needs=("truth.parquet", "detections.parquet")),
        Tool(
            "calque-ndjson",
            "calque",
            _calque("ndjson"),
            NUMBERS,
            needs=("truth.ndjson", "detections.ndjson"),
            skips=frozenset({"pages2m"}),
        ),
    ),
    ours=("calque-parquet", "calque-ndjson"),
    references=("calque-parquet",),
    tolerance=0.0,
    prepare=_prepare,
)
