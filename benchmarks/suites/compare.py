"""Two runs compared, from files to differences with intervals: calque resamples ten times as often as its peer.

What one more replicate costs is the difference between two counts of replicates, divided by how many more there are.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool
from suites.detection import BENCHMARKS, MEASURES
from suites.detection import SUITE as DETECTION


def _calque(replicates: int) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        files = [inputs[name] for name in ("truth.json", "detections.json", "second.json")]
        return [str(programs / "calque"), "compare", *files, "--replicates", str(replicates), "--format", "json"]

    return command


def _hotcoco(replicates: int) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        script = BENCHMARKS / "runners" / "hotcoco_compare.py"
        files = [inputs[name] for name in ("truth.json", "detections.json", "second.json")]
        return [str(programs / "python"), str(script), *files, str(replicates)]

    return command


def _differences(output: str) -> Numbers:
    measures = json.loads(output)["measures"]
    values = {name: measures[name]["delta"]["value"] for name in MEASURES}
    return {name: math.nan if value is None else value for name, value in values.items()}


def _last_line(output: str) -> Numbers:
    found = json.loads(output.splitlines()[-1])
    return {name: found[name] for name in MEASURES}


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:
    """The files of detection, and a second run beside them."""
    files = dict(DETECTION.prepare(name, cache, needs - {"second.json"}))
    second = Path(files["detections.json"]).with_name("second.json")
    if not second.exists():
        script = BENCHMARKS / "second_run.py"
        subprocess.run([sys.executable, str(script), files["detections.json"], str(second)], check=True)
    return {**files, "second.json": str(second)}


SUITE = Suite(
    name="compare",
    sets=(
        DataSet("small", "500 pages, 11 classes, 20,000 detections in each run", 500),
        DataSet("coco", "5,000 images, 80 classes, 300,000 detections in each run", 5_000),
        DataSet("pages", "20,000 pages, 11 classes, 800,000 detections in each run", 20_000, default=False),
    ),
    groups={},
    tools=(
        Tool("calque-100", "calque", _calque(100), _differences),
        Tool("calque-1000", "calque", _calque(1000), _differences),
        Tool("hotcoco-10", "hotcoco", _hotcoco(10), _last_line, skips=frozenset({"pages"})),
        Tool("hotcoco-100", "hotcoco", _hotcoco(100), _last_line, skips=frozenset({"pages"})),
    ),
    ours=("calque-100", "calque-1000"),
    references=("hotcoco-10", "hotcoco-100"),
    tolerance=1e-9,
    prepare=_prepare,
)
