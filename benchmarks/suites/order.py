"""Reading order of pages with thirty blocks; no peer takes orders from files, so that only growth is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool

BENCHMARKS = Path(__file__).resolve().parents[1]
SIZES = {"small": 500, "pages": 5_000}


def _calque(programs: Path, inputs: Inputs) -> list[str]:
    return [str(programs / "calque"), "order", inputs["truth.ndjson"], inputs["read.ndjson"], "--format", "json", "--quiet"]


def _numbers(output: str) -> Numbers:
    micro: Numbers = json.loads(output)["micro"]
    return micro


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:  # noqa: ARG001  # there is one tool
    command = [sys.executable, str(BENCHMARKS / "order_data.py"), str(SIZES[name]), "--cache", str(cache)]
    files: dict[str, str] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return files


SUITE = Suite(
    name="order",
    sets=(
        DataSet("small", "500 pages of 30 blocks in three columns", SIZES["small"]),
        DataSet("pages", "5,000 pages of 30 blocks in three columns", SIZES["pages"]),
    ),
    groups={"scale": ("small", "pages")},
    tools=(Tool("calque-order", "calque", _calque, _numbers),),
    ours=("calque-order",),
    references=("calque-order",),
    tolerance=0.0,
    prepare=_prepare,
)
