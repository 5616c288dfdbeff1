"""What three systems could reach together, beside three plain evaluations of the same files; no peer tells such a bound."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool
from suites.detection import BENCHMARKS
from suites.detection import SUITE as DETECTION

SYSTEMS = ("detections.json", "second.json", "third.json")


def _ceiling(programs: Path, inputs: Inputs) -> list[str]:
    files = [inputs["truth.json"], *(inputs[name] for name in SYSTEMS)]
    return [str(programs / "calque"), "ceiling", *files, "--format", "json", "--quiet"]


def _three_detects(programs: Path, inputs: Inputs) -> list[str]:
    script = BENCHMARKS / "runners" / "three_detects.py"
    files = [inputs["truth.json"], *(inputs[name] for name in SYSTEMS)]
    return [str(programs / "python"), str(script), str(programs / "calque"), *files]


def _singles(output: str) -> Numbers:
    singles = json.loads(output)["levels"]["0.5"]["single"]
    return {name: single["f1"] for name, single in singles.items()}


def _last_line(output: str) -> Numbers:
    found: Numbers = json.loads(output.splitlines()[-1])
    return found


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:
    """The files of detection, and two more runs beside them, each made of the one before."""
    files = dict(DETECTION.prepare(name, cache, needs - {*SYSTEMS}))
    folder = Path(files["detections.json"]).parent
    for before, after in pairwise(SYSTEMS):
        if not (folder / after).exists():
            script = BENCHMARKS / "second_run.py"
            subprocess.run([sys.executable, str(script), str(folder / before), str(folder / after)], check=True)
        files[after] = str(folder / after)
    return files


SUITE = Suite(
    name="ceiling",
    sets=(
        DataSet("small", "500 pages, 11 classes, 20,000 detections in each of three systems", 500),
        DataSet("coco", "5,000 images, 80 classes, 300,000 detections in each of three systems", 5_000),
        DataSet("pages5k", "5,000 pages, 11 classes, 200,000 detections in each of three systems", 5_000),
        DataSet("pages", "20,000 pages, 11 classes, 800,000 detections in each of three systems", 20_000),
        DataSet("pages80k", "80,000 pages, 11 classes, 3,200,000 detections in each of three systems", 80_000, default=False),
    ),
    groups={"scale": ("pages5k", "pages", "pages80k")},
    tools=(
        Tool("calque-ceiling", "calque", _ceiling, _singles),
        Tool("three-detects", "calque", _three_detects, _last_line),
    ),
    ours=("calque-ceiling",),
    references=("three-detects",),
    tolerance=0.0,
    prepare=_prepare,
)
