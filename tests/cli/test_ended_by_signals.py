"""Ctrl-C and SIGTERM at any moment of any verb: nobody is left behind, no temporary file, and no half of an output."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_checkpoint_verbs import VERBS, inputs  # noqa: F401  # a fixture
from tests.cli.test_killed_worker import WITH_WORKERS, workers_of, write_inputs

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="nobody can be looked for here")
GENEROUS = 120
"""Seconds until a test gives up. Nothing is asserted about how long anything takes."""
ENDS = {signal.SIGINT: 130, signal.SIGTERM: 143}


def left_of(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    left = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of, *_ = stat.read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue  # it has just ended
        if int(of) == session and state != "Z":
            left.append(int(stat.parent.name))
    return left


def is_heard(process: subprocess.Popen[str], sent: signal.Signals) -> bool:
    """Whether a process has a handler of its own for a signal."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (sent - 1) & 1)


def begun(line: list[str], folder: Path, home: Path) -> subprocess.Popen[str]:
    """The command in a session of its own, with a folder for temporary files of its own."""
    (folder / "temporary").mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "calque", *line, "-o", str(folder / "out.json"), "--jobs", "2"],
        cwd=home,
        env={**os.environ, "TMPDIR": str(folder / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended_at_random(line: list[str], home: Path, tmp_path: Path, dice: random.Random, times: int) -> None:
    start = time.monotonic()
    whole = begun(line, tmp_path / "whole", home)
    whole.communicate(timeout=GENEROUS)
    usual = time.monotonic() - start
    expected = (tmp_path / "whole" / "out.json").read_bytes()
    for number in range(times):
        folder, sent = tmp_path / str(number), (signal.SIGINT, signal.SIGTERM)[number % 2]
        process = begun([*line, "--checkpoint", str(folder / "kept")], folder, home)
        # Until calque listens, Python itself answers Ctrl-C; nothing else listens to SIGTERM.
        while process.poll() is None and not is_heard(process, signal.SIGTERM):
            time.sleep(0.002)
        try:
            process.communicate(timeout=dice.uniform(0.0, 1.0) * usual)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, sent)
        _, err = process.communicate(timeout=GENEROUS)
        assert process.returncode in (ENDS[sent], whole.returncode, -sent), err  # or when it no longer listened
        until = time.monotonic() + GENEROUS
        while left_of(process.pid):
            assert time.monotonic() < until, "somebody is left"
            time.sleep(0.02)
        # What is raised while Python cleans an object up, it prints and forgets: then the command goes on to its end.
        assert "Traceback" not in err.partition("Exception ignored in")[0] or process.returncode == -sent
        assert not list((folder / "temporary").iterdir())
        assert not [path for path in folder.rglob("*") if path.name.startswith(".")]
        if process.returncode == whole.returncode or (folder / "out.json").exists():
            assert (folder / "out.json").read_bytes() == expected


@pytest.mark.parametrize("verb", ["detect", "fields", "words", "check", "compare"])
def test_a_signal_leaves_nothing(inputs: Path, tmp_path: Path, verb: str) -> None:  # noqa: F811  # the fixture
    ended_at_random(VERBS[verb], inputs, tmp_path, random.Random(f"a signal {verb}"), 1)


@pytest.mark.parametrize("verb", ["words", "fields", "check"])
@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_killed_command_leaves_no_process(tmp_path: Path, verb: str, seconds: float) -> None:
    write_inputs(tmp_path)
    process = begun(WITH_WORKERS[verb], tmp_path, tmp_path)
    while not workers_of(process):
        assert process.poll() is None, "no worker was started"
    time.sleep(seconds)  # a worker that starts, and one that works or has worked
    process.kill()
    process.communicate(timeout=GENEROUS)
    assert process.returncode == -signal.SIGKILL
    until = time.monotonic() + GENEROUS
    while left := left_of(process.pid):
        assert time.monotonic() < until, f"{left} are left"
        time.sleep(0.02)


@pytest.mark.long
@pytest.mark.parametrize("verb", VERBS)
def test_signals_at_many_points_leave_nothing(inputs: Path, tmp_path: Path, verb: str) -> None:  # noqa: F811  # the fixture
    ended_at_random(VERBS[verb], inputs, tmp_path, random.Random(f"signals {verb}"), 12)
