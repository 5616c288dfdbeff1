"""The drop-in for pycocotools: a script that evaluates masks, from files to twelve numbers, whatever package it imports."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool

BENCHMARKS = Path(__file__).resolve().parents[1]
MEASURES = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")
SLOW_SETS = frozenset({"masks5k", "masks20k"})


def _script(package: str) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        script = BENCHMARKS / "runners" / "drop_in_.py"
        return [str(programs / "python"), str(script), package, inputs["truth.json"], inputs["detections.json"]]

    return command


def _last_line(output: str) -> Numbers:
    return dict(zip(MEASURES, json.loads(output.splitlines()[-1]), strict=True))


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:
    """Make the files in a process of their own, by the interpreter that has pycocotools to draw masks with."""
    del needs
    command = [sys.executable, str(BENCHMARKS / "mask_data.py"), name, "--cache", str(cache)]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    files: dict[str, str] = json.loads(made.stdout)[name]
    return files


SUITE = Suite(
    name="drop_in",
    sets=(
        DataSet("masks1k", "1,250 images, 80 classes, 50,000 detections with masks", 1_250),
        DataSet("masks5k", "5,000 images, 80 classes, 200,000 detections with masks", 5_000),
        DataSet("masks20k", "20,000 images, 80 classes, 800,000 detections with masks", 20_000, default=False),
    ),
    groups={"growth": ("masks1k", "masks5k", "masks20k")},
    tools=(
        Tool("calque.coco", "calque", _script("calque"), _last_line),
        Tool("faster-coco-eval", "faster-coco-eval", _script("faster-coco-eval"), _last_line),
        Tool("pycocotools", "pycocotools", _script("pycocotools"), _last_line, skips=SLOW_SETS),
    ),
    ours=("calque.coco",),
    references=("pycocotools", "faster-coco-eval"),
    tolerance=1e-9,
    prepare=_prepare,
)
