"""A command that reads Parquet goes on in a twin: real processes, real signals, and a message however the twin ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.test_endings import GENEROUS, gone
from tests.pages import row, write_parquet

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc to find the twin in")


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A command that has read its files and waits for somebody to read what it writes, and its twin."""
    write_parquet(tmp_path / "t.parquet", [row("a", [[0, 0, 1, 1]])])
    os.mkfifo(tmp_path / "out.json")
    command = [sys.executable, "-m", "calque", "layout", "t.parquet", "t.parquet", "-o", "out.json"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    yield process, _twin(process.pid)
    process.kill()
    process.communicate()


def _twin(pid: int) -> int:
    until = time.monotonic() + GENEROUS
    while not (children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()) or not _waits(int(children[0])):
        assert time.monotonic() < until, "there is no twin that waits"
        time.sleep(0.02)
    return int(children[0])


def _waits(pid: int) -> bool:
    """Whether its main thread waits for the other end of a pipe."""
    return Path(f"/proc/{pid}/wchan").read_text() in ("wait_for_partner", "fifo_open") or _syscall(pid) in ("2", "257", "56")


def _syscall(pid: int) -> str:
    """The number of what it asks the system for: opening a file, where that is all it can wait for."""
    try:
        return Path(f"/proc/{pid}/syscall").read_text().split()[0]
    except OSError:
        return ""


@pytest.mark.parametrize("sent", [signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS])
def test_a_crash_is_told(waiting: tuple[subprocess.Popen[str], int], sent: signal.Signals) -> None:
    process, twin = waiting
    os.kill(twin, sent)
    _, err = process.communicate(timeout=GENEROUS)
    assert process.returncode == 2
    assert err == (
        "error: t.parquet: cannot be read as Parquet: it is so damaged that the library which reads it crashed "
        f"({sent.name}); copy or make it again\n"
    )


def test_memory_that_ran_out_is_told(waiting: tuple[subprocess.Popen[str], int]) -> None:
    process, twin = waiting
    os.kill(twin, signal.SIGKILL)
    _, err = process.communicate(timeout=GENEROUS)
    assert process.returncode == 2
    assert err == "error: reading t.parquet was ended from outside, perhaps because memory ran out\n"


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_reach_the_twin(waiting: tuple[subprocess.Popen[str], int], sent: signal.Signals, code: int) -> None:
    process, twin = waiting
    process.send_signal(sent)
    _, err = process.communicate(timeout=GENEROUS)
    assert process.returncode == code
    assert len(err.splitlines()) == 1
    assert gone(twin)


def test_ctrl_c_reaches_both_and_is_told_once(waiting: tuple[subprocess.Popen[str], int]) -> None:
    process, twin = waiting
    os.kill(twin, signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=GENEROUS)
    assert process.returncode == 130
    assert err == "error: interrupted; nothing was written\n"


def test_no_twin_outlives_the_command(waiting: tuple[subprocess.Popen[str], int]) -> None:
    process, twin = waiting
    process.kill()
    assert gone(twin)


def test_what_the_twin_returns_is_what_the_command_returns(tmp_path: Path) -> None:
    write_parquet(tmp_path / "t.parquet", [row("a", [[0, 0, 1, 1]])])
    write_parquet(tmp_path / "p.parquet", [row("b", [[0, 0, 1, 1]], scores=[0.5])])
    command = [sys.executable, "-m", "calque", "detect"]
    for arguments, code in ((["t.parquet", "p.parquet"], 3), (["t.parquet", "t.parquet"], 2), (["p.parquet", "p.parquet"], 0)):
        done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, check=False, text=True)
        assert done.returncode == code, done.stderr
        assert done.stderr.startswith("error:") == (code != 0)
