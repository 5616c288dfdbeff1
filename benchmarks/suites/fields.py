"""Extracted records from files to numbers: values, boxes and confidences."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool

BENCHMARKS = Path(__file__).resolve().parents[1]
FILES = ("truth.jsonl", "found.jsonl")
LONG = frozenset({"items100x20", "records2k", "records20k", "records100k"})  # Minutes to hours for stickler.


def _calque(jobs: int) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        files = [inputs[name] for name in FILES]
        options = ["--schema", inputs["schema.json"], "--accounting", "paired", "--jobs", str(jobs), "--format", "json"]
        return [str(programs / "calque"), "fields", *files, *options]

    return command


def _stickler(programs: Path, inputs: Inputs) -> list[str]:
    script = BENCHMARKS / "runners" / "stickler_.py"
    return [str(programs / "python"), str(script), inputs["schema.json"], *(inputs[name] for name in FILES)]


def _ours(output: str) -> Numbers:
    result = json.loads(output)
    return {
        "mean_ap": result["bbox_map_metrics"]["mean_ap"],
        "auroc": result["confidence_metrics"]["overall"]["auroc"]["value"],
        "precision": result["overall"]["cm_precision"],
        "score": result["overall"]["weighted_overall_score"],
    }


def _last_line(output: str) -> Numbers:
    numbers: Numbers = json.loads(output.splitlines()[-1])
    return numbers


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:
    """Make the files in a process of their own: the runner must stay small (see `measure.own_peak`)."""
    del needs
    command = [sys.executable, str(BENCHMARKS / "records.py"), name, "--cache", str(cache)]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    files: dict[str, str] = json.loads(made.stdout)
    return files


SUITE = Suite(
    name="fields",
    sets=(
        DataSet("items10", "1,000 invoices of 5 values and 10 lines of 4", 1_000),
        DataSet("items100", "60 invoices of 5 values and 100 lines of 4", 60),
        DataSet("items10x4", "4,000 invoices of 5 values and 10 lines of 4", 4_000, default=False),
        DataSet("items100x3", "180 invoices of 5 values and 100 lines of 4", 180, default=False),
        DataSet("items100x20", "1,200 invoices of 5 values and 100 lines of 4", 1_200),
        DataSet("records20k", "20,000 invoices of 5 values and 10 lines of 4", 20_000),
        DataSet("records2k", "2,000 invoices of 5 values and 10 lines of 4", 2_000, default=False),
        DataSet("records100k", "100,000 invoices of 5 values and 10 lines of 4", 100_000, default=False),
    ),
    groups={"scale": ("records2k", "records20k", "records100k")},
    tools=(
        Tool("calque", "calque", _calque(1), _ours),
        Tool("calque-2", "calque", _calque(2), _ours),
        Tool("stickler", "stickler", _stickler, _last_line, skips=LONG),
    ),
    ours=("calque", "calque-2"),
    references=("stickler", "calque"),
    tolerance=1e-9,
    prepare=_prepare,
)
