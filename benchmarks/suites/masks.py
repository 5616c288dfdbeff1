"""COCO AP/AR of masks (``segm``), from files to twelve numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from suite import DataSet, Inputs, Suite, Tool
from suites.detection import BENCHMARKS, _calque, _coco_part, _last_line

SLOW_SETS = frozenset({"masks5k", "masks20k"})


def _segm(name: str) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        script = BENCHMARKS / "runners" / name
        return [str(programs / "python"), str(script), inputs["truth.json"], inputs["detections.json"], "segm"]

    return command


def _peer(name: str, script: str, skips: frozenset[str] = frozenset()) -> Tool:
    return Tool(name, name, _segm(script), _last_line, skips=skips)


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:  # noqa: ARG001  # every tool reads the same files
    """Make the files in a process of their own, as the suite of boxes does."""
    command = [sys.executable, str(BENCHMARKS / "mask_data.py"), name, "--cache", str(cache)]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    files: dict[str, str] = json.loads(made.stdout)[name]
    return files


SUITE = Suite(
    name="masks",
    sets=(
        DataSet("masks5k", "5,000 images, 80 classes, 35,000 truths, 200,000 detections with masks", 5_000),
        DataSet("masks1k", "1,250 images, 50,000 detections with masks", 1_250, default=False),
        DataSet("masks20k", "20,000 images, 800,000 detections with masks", 20_000, default=False),
    ),
    groups={"scale": ("masks1k", "masks5k", "masks20k")},
    tools=(
        Tool("calque", "calque", _calque("json", "--on", "masks"), _coco_part),
        _peer("hotcoco", "hotcoco_.py"),
        _peer("ultrafast-pycocotools", "ultrafast_pycocotools_.py"),
        _peer("faster-coco-eval", "faster_coco_eval_.py", skips=SLOW_SETS),
        _peer("pycocotools", "pycocotools_.py", skips=SLOW_SETS),
    ),
    ours=("calque",),
    references=("pycocotools", "faster-coco-eval", "hotcoco", "ultrafast-pycocotools"),
    tolerance=1e-9,
    prepare=_prepare,
)
