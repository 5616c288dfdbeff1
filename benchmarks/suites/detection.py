"""COCO AP/AR from files to twelve numbers."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool

BENCHMARKS = Path(__file__).resolve().parents[1]
MEASURES = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")
SLOW_SETS = frozenset({"pages5k", "pages80k"})


def _script(name: str) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        script = BENCHMARKS / "runners" / name
        return [str(programs / "python"), str(script), inputs["truth.json"], inputs["detections.json"]]

    return command


def _calque(suffix: str, *options: str) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        files = [inputs[f"truth.{suffix}"], inputs[f"detections.{suffix}"]]
        return [str(programs / "calque"), "detect", *files, *options, "--format", "json"]

    return command


def _last_line(output: str) -> Numbers:
    """A runner's numbers: a JSON list after whatever the tool itself prints."""
    return _defined(dict(zip(MEASURES, json.loads(output.splitlines()[-1]), strict=True)))


def _coco_part(output: str) -> Numbers:
    found = json.loads(output)["coco"]
    return _defined({name: found[name] for name in MEASURES})


def _defined(numbers: dict[str, float | None]) -> Numbers:
    """Undefined is NaN here, whether a tool says null or, as pycocotools does, -1."""
    return {name: math.nan if value is None or value == -1 else value for name, value in numbers.items()}


def _peer(name: str, script: str, skips: frozenset[str] = frozenset()) -> Tool:
    return Tool(name, name, _script(script), _last_line, skips=skips)


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:
    """Make the files in a process of their own: the runner must stay small (see `measure.own_peak`)."""
    command = [sys.executable, str(BENCHMARKS / "data.py"), name, "--cache", str(cache)]
    rows = sorted({Path(file).suffix[1:] for file in needs})
    made = subprocess.run([*command, *(["--rows", *rows] if rows else [])], check=True, stdout=subprocess.PIPE, text=True)
    files: dict[str, str] = json.loads(made.stdout)[name]
    return files


SUITE = Suite(
    name="detection",
    sets=(
        DataSet("small", "500 pages, 11 classes, 20,000 detections", 500),
        DataSet("coco", "5,000 images, 80 classes, 300,000 detections, crowds", 5_000),
        DataSet("pages", "20,000 pages, 11 classes, 800,000 detections", 20_000),
        DataSet("pages5k", "5,000 pages, 11 classes, 200,000 detections", 5_000, default=False),
        DataSet("pages80k", "80,000 pages, 11 classes, 3,200,000 detections", 80_000, default=False),
    ),
    groups={"scale": ("pages5k", "pages", "pages80k")},
    tools=(
        Tool("calque", "calque", _calque("json"), _coco_part),
        *(
            Tool(
                f"calque-{rows}",
                "calque",
                _calque(rows, "--boxes", "xywh"),
                _coco_part,
                needs=(f"truth.{rows}", f"detections.{rows}"),
            )
            for rows in ("parquet", "ndjson")
        ),
        _peer("hotcoco", "hotcoco_.py"),
        _peer("ultrafast-pycocotools", "ultrafast_pycocotools_.py"),
        _peer("faster-coco-eval", "faster_coco_eval_.py", skips=SLOW_SETS),
        _peer("pycocotools", "pycocotools_.py", skips=SLOW_SETS),
    ),
    ours=("calque", "calque-parquet", "calque-ndjson"),
    references=("pycocotools", "faster-coco-eval", "hotcoco", "ultrafast-pycocotools"),
    tolerance=1e-9,
    prepare=_prepare,
)
