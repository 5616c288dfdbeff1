"""Tables: pairs in HTML of three sizes beside the peers, and calque alone up to 5,000 cells.

A process takes longer to start than a table to compare; each runner also prints the CPU time of a pair, and
`python benchmarks/per_pair.py` shows those side by side.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool

BENCHMARKS = Path(__file__).resolve().parents[1]
SIZES = {"10x5": (10, 5, 20), "40x8": (40, 8, 2), "100x10": (100, 10, 2)}
"""Rows, columns and how many pairs: the slowest peer takes seconds for one of the second size."""
GROWTH = {f"{cells}-cells": (cells // 10, 10, 1) for cells in (100, 500, 1000, 2000, 5000)}
ALL = frozenset([*SIZES, *GROWTH])


def _command(script: str, work: str) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        return [str(programs / "python"), str(BENCHMARKS / "runners" / script), work, inputs["pairs.json"]]

    return command


def _value(name: str) -> Callable[[str], Numbers]:
    return lambda output: {name: float(json.loads(output)["value"])}


def _tool(name: str, environment: str, script: str, work: str, skips: frozenset[str] = frozenset()) -> Tool:
    measured = {"teds": "teds", "all": "teds", "pubtabnet": "teds", "struct": "teds_struct", "grits": "grits_con"}[work]
    return Tool(name, environment, _command(script, work), _value(measured), skips=skips)


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:  # noqa: ARG001  # every tool reads the same file
    sizes = [str(size) for size in {**SIZES, **GROWTH}[name]]
    command = [sys.executable, str(BENCHMARKS / "table_data.py"), *sizes, "--cache", str(cache)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    files: dict[str, str] = json.loads(done.stdout)
    return files


SUITE = Suite(
    name="tables",
    sets=(
        *(
            DataSet(name, f"{count} pairs of {rows} × {columns}, from HTML", rows * columns)
            for name, (rows, columns, count) in SIZES.items()
        ),
        *(
            DataSet(name, f"a pair of {rows} × {columns}, from HTML", rows * columns, default=False)
            for name, (rows, columns, _) in GROWTH.items()
        ),
    ),
    groups={"growth": tuple(GROWTH)},
    tools=(
        _tool("calque-teds", "calque", "calque_tables_.py", "teds"),
        _tool(
            "table-recognition-metric",
            "table-recognition-metric",
            "table_recognition_metric_.py",
            "teds",
            ALL - {"10x5", "40x8"},
        ),
        _tool("calque-all", "calque", "calque_tables_.py", "all"),
        _tool("calque-struct", "calque", "calque_tables_.py", "struct"),
        _tool("docling-metrics-table", "docling-metrics-table", "docling_metrics_table_.py", "struct", frozenset(GROWTH)),
        _tool("calque-grits", "calque", "calque_tables_.py", "grits"),
        _tool("grits-metric", "grits-metric", "grits_metric_.py", "grits", ALL - {"10x5", "40x8"}),
    ),
    ours=("calque-teds", "calque-all", "calque-struct", "calque-grits"),
    references=("grits-metric", "docling-metrics-table", "calque-teds", "calque-struct", "calque-grits"),
    tolerance=0.005,  # tools count the root, or keep blanks at the ends of texts
    prepare=_prepare,
)
