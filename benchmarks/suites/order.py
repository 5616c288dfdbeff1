"""Reading order of pages with thirty blocks, and of one with many ids; no peer takes orders from files: only growth is told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool

BENCHMARKS = Path(__file__).resolve().parents[1]
SIZES = {"small": 500, "pages5k": 5_000, "pages": 20_000}
IDS = {"ids": ["1", "--ids", "100000"], "shuffled": ["1", "--ids", "100000", "--shuffled"]}
"""Sets of one page of which only names are known, and how they are made."""


def _calque(programs: Path, inputs: Inputs) -> list[str]:
    return [str(programs / "calque"), "order", inputs["truth.ndjson"], inputs["read.ndjson"], "--format", "json", "--quiet"]


def _in_python(work: str) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        script = BENCHMARKS / "runners" / "calque_orders_.py"
        return [str(programs / "python"), str(script), work, inputs["truth.ndjson"], inputs["read.ndjson"]]

    return command


def _numbers(output: str) -> Numbers:
    micro: Numbers = json.loads(output)["micro"]
    return micro


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:  # noqa: ARG001  # there is one tool
    made = IDS.get(name) or [str(SIZES[name])]
    command = [sys.executable, str(BENCHMARKS / "order_data.py"), *made, "--cache", str(cache)]
    files: dict[str, str] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return files


SUITE = Suite(
    name="order",
    sets=(
        DataSet("small", "500 pages of 30 blocks in three columns", SIZES["small"]),
        DataSet("pages5k", "5,000 pages of 30 blocks in three columns", SIZES["pages5k"]),
        DataSet("pages", "20,000 pages of 30 blocks in three columns", SIZES["pages"]),
        DataSet("ids", "one page with 100,000 ids, nearly a tenth of them moved", 1),
        DataSet("shuffled", "one page with 100,000 ids in whatever order", 1),
    ),
    groups={"scale": ("small", "pages5k", "pages")},
    tools=(
        Tool("calque-order", "calque", _calque, _numbers),
        Tool("calque-compare", "calque", _in_python("compare"), json.loads, skips=frozenset(SIZES)),
        Tool("names-read", "calque", _in_python("read"), json.loads, skips=frozenset(SIZES)),
    ),
    ours=("calque-order",),
    references=("calque-order",),
    tolerance=0.0,
    prepare=_prepare,
)
