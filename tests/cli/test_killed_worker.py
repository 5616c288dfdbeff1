"""A worker that is killed while it judges or compares: one clear message, exit code 2, no hang, and nobody left behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from calque.checks.suites.runner import CHUNK, WORTH_PROCESSES
from calque.fields.scoring import FEW

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
        "warning: a worker process was killed, perhaps because memory ran out; calque does its part again\n"
        "error: a worker process was killed, perhaps because memory ran out; use fewer --jobs\n"
    )
    assert not (tmp_path / "run.state").exists()


WITH_WORKERS = {
    "words": ["words", "truth.tsv", "one.tsv", "--cer"],
    "compare": ["compare", "--task", "words", "truth.tsv", "one.tsv", "two.tsv", "--cer", "--replicates", "100"],
    "fields": ["fields", "truth.jsonl", "one.jsonl"],
    "check": ["check", "suite.yaml", "--evaluator", "mine=own.py:judge"],
}
"""The verbs that hand Python's own work to processes; boxes, tables and orders are shared by threads of kernels."""
QUICK = {"words", "check"}


def write_inputs(folder: Path) -> None:
    chance = random.Random("killed workers")
    for name in ("truth", "one", "two"):
        words = (f"d{k:03}\t{place}\t{chance.choice('abc')}\n" for k in range(260) for place in range(5))
        (folder / f"{name}.tsv").write_text("docid\twordid\tword\n" + "".join(words))
        records = ({"id": k, "who": chance.choice(["Ann", "Bob"]), "n": chance.randint(0, 3)} for k in range(FEW + 50))
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "own.py").write_text("def judge(output, expected):\n    return float(output == expected)\n")
    cases = ({"id": k, "output": k % 3, "expected": k % 2} for k in range(CHUNK * (WORTH_PROCESSES + 3)))
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (folder / "suite.yaml").write_text("evaluators:\n  - type: mine\ndata: cases.jsonl\n")


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Return the worker processes of a process. It also has a resource tracker of Python's, which is not one."""
    children = Path(f"/proc/{process.pid}/task").glob("*/children")
    try:
        pids = [int(child) for file in children for child in file.read_text().split()]
        return [pid for pid in pids if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    except OSError:
        return []  # it has just ended


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="nobody can be looked for here")
@pytest.mark.parametrize(
    "verb", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.long]) for name in WITH_WORKERS]
)
def test_a_worker_that_dies_once_changes_nothing(tmp_path: Path, verb: str) -> None:
    """Its part is done again by another; this is told, and the result has the same bits."""
    write_inputs(tmp_path)
    line = [sys.executable, "-m", "calque", *WITH_WORKERS[verb], "--format", "json", "--jobs"]
    plain = subprocess.run([*line, "1"], cwd=tmp_path, capture_output=True, check=False, text=True, timeout=GENEROUS)
    assert plain.returncode in (0, 1), plain.stderr
    process = subprocess.Popen([*line, "2"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (there := workers_of(process)):
        assert process.poll() is None, "no worker was started"
    os.kill(there[0], signal.SIGKILL)
    out, err = process.communicate(timeout=GENEROUS)
    assert (process.returncode, out) == (plain.returncode, plain.stdout)
    told = "warning: a worker process was killed, perhaps because memory ran out; calque does its part again\n"
    assert err.replace(told, "", 1) == plain.stderr
    assert err.count(told) == 1
