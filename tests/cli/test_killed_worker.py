"""A worker that is killed while it judges or compares: one clear message, exit code 2, no hang, and nobody left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from calque.checks.suites.runner import WORTH_PROCESSES

GENEROUS = 120
"""Seconds until a test gives up. Nothing is asserted about how long anything takes."""
JUDGE = """
import os, signal
def judge(output, expected):
    if output == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0
"""


@pytest.mark.skipif(os.name != "posix", reason="no such signal here")
@pytest.mark.parametrize("format", ["table", "jsonl"])
def test_a_killed_check_worker(tmp_path: Path, format: str) -> None:
    (tmp_path / "own.py").write_text(JUDGE)
    cases = 200 * WORTH_PROCESSES
    what = ["die" if number == cases // 2 else "live" for number in range(cases)]
    lines = [f"  - {{id: c{number}, output: {output}, expected: 1}}" for number, output in enumerate(what)]
    (tmp_path / "suite.yaml").write_text("evaluators:\n  - type: mine\ncases:\n" + "\n".join(lines) + "\n")
    command = [sys.executable, "-m", "calque", "check", "suite.yaml", "--evaluator", "mine=own.py:judge", "--jobs", "2"]
    command += ["--format", format, "--save", "run.state"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True, timeout=GENEROUS)
    assert done.returncode == 2, done.stdout[-500:]
    assert done.stderr == (
        "warning: a worker was ended from outside, perhaps because memory ran out; its part is done again\n"
        "error: a worker was ended from outside, perhaps because memory ran out; try fewer --jobs\n"
    )
    assert not (tmp_path / "run.state").exists()
