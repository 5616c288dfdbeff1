"""However a process ends, its workers end with it: real processes, real signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from calque.base.errors import CalqueError
from calque.engines import warnings_to
from calque.engines.processes import Processes
from tests.engines import works

ROOT = Path(__file__).parents[2]
GENEROUS = 60.0
"""Seconds until a test gives up. Nothing is asserted about how long anything takes."""

ASKING = """
import sys
from calque import engines
from calque.cli import exits
from tests.engines import works

def ask():
    with engines.keep_workers(2):
        list(engines.process_engine(2).map(works.lies_down, sys.argv[1:]))

exits.run(ask)
"""

# No guard around it: what a worker runs is never the script.
PLAIN = """
import sys
from calque import engines
from tests.engines import works
print(list(engines.process_engine(2).map(works.square, range(5))))
"""


def appears(path: Path) -> int:
    """The process id that a worker wrote down."""
    until = time.monotonic() + GENEROUS
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} did not appear"
        time.sleep(0.02)
    return int(path.read_text())


def gone(pid: int) -> bool:
    """Whether the process has ended, now or soon."""
    until = time.monotonic() + GENEROUS
    while _alive(pid):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()  # there is nothing to look at, or it has just ended
    return state != "Z"  # one that has ended, and whose parent has not looked yet


def asking(folder: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A process with two workers that never come to an end by themselves, and the ids of those."""
    names = [folder / name for name in ("one", "two")]
    process = subprocess.Popen(
        [sys.executable, "-c", ASKING, *map(str, names)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    return process, [appears(name) for name in names]


@pytest.mark.parametrize(
    ("sent", "code", "told"),
    [
        (signal.SIGINT, 130, "error: interrupted; nothing was written\n"),
        (signal.SIGTERM, 143, "error: ended by a signal (SIGTERM); nothing was written\n"),
    ],
)
@pytest.mark.parametrize("to_all", [False, True], ids=["to the process", "to its group"])
def test_a_signal_ends_the_workers_and_is_told_in_one_line(
    tmp_path: Path, sent: signal.Signals, code: int, told: str, to_all: bool
) -> None:
    process, workers = asking(tmp_path)
    (os.killpg if to_all else os.kill)(process.pid, sent)
    out, err = process.communicate(timeout=GENEROUS)
    assert (process.returncode, out, err) == (code, "", told)
    assert all(map(gone, workers))


def test_workers_notice_that_their_process_was_killed(tmp_path: Path) -> None:
    process, workers = asking(tmp_path)
    process.kill()
    out, err = process.communicate(timeout=GENEROUS)  # returns when no process has the pipes open
    assert (process.returncode, out, err) == (-signal.SIGKILL, "", "")
    assert all(map(gone, workers))


def test_a_killed_worker_is_told_and_the_others_are_ended(tmp_path: Path) -> None:
    process, workers = asking(tmp_path)
    (tmp_path / "one").unlink()
    os.kill(workers[0], signal.SIGKILL)
    workers.append(appears(tmp_path / "one"))  # another is asked the same
    os.kill(workers[-1], signal.SIGKILL)
    out, err = process.communicate(timeout=GENEROUS)
    again, ended = "does its part again", "error: a worker process was killed, perhaps because memory ran out; use fewer"
    assert (process.returncode, out) == (2, "")
    assert again in err
    assert ended in err
    assert all(map(gone, workers))


def test_a_failure_ends_workers_that_are_still_busy(tmp_path: Path) -> None:
    busy = tmp_path / "busy"

    def items() -> Iterator[str]:
        yield str(tmp_path / "no such folder" / "file")
        yield str(busy)
        appears(busy)

    with pytest.raises(FileNotFoundError):
        list(Processes(2).map(works.lies_down, items()))
    assert gone(appears(busy))


def test_interrupts_pass_workers_by(tmp_path: Path) -> None:
    process, workers = asking(tmp_path)
    for worker in workers:
        os.kill(worker, signal.SIGINT)
    assert all(map(_alive, workers))
    process.kill()
    process.communicate(timeout=GENEROUS)
    assert all(map(gone, workers))


@pytest.mark.parametrize("how", ["script", "stdin", "interactive"])
def test_a_program_without_a_guard_is_not_run_again(tmp_path: Path, how: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(PLAIN)
    command = {"script": [str(script)], "stdin": ["-"], "interactive": ["-i", "-q"]}[how]
    done = subprocess.run(
        [sys.executable, *command],
        input=None if how == "script" else PLAIN,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=True,
    )
    assert done.stdout == "[0, 1, 4, 9, 16]\n"


def test_a_worker_that_was_ended_leaves_an_error_that_can_be_caught() -> None:
    with warnings_to(lambda _: None), pytest.raises(CalqueError):
        list(Processes(3).map(works.ends_itself, range(100)))


EVALUATOR = """
from tests.engines import works

def judge(output, expected):
    works.lies_down(output)
"""


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_command_ends_with_its_workers(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    (tmp_path / "own.py").write_text(EVALUATOR)
    (tmp_path / "suite.yaml").write_text("evaluators:\n  - {type: own, timeout: 3600}\ndata: cases.jsonl\n")
    names = [str(tmp_path / f"worker{place}") for place in range(401)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps({"output": name, "expected": 0}) + "\n" for name in names))
    own, outputs = f"own={tmp_path / 'own.py'}:judge", ["-o", str(tmp_path / "result.json"), "--save", str(tmp_path / "state")]
    process = subprocess.Popen(
        [sys.executable, "-m", "calque", "check", str(tmp_path / "suite.yaml"), "--evaluator", own, "--jobs", "2", *outputs],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    workers = [appears(Path(names[place])) for place in (0, 200)]  # the first case of each chunk
    process.send_signal(sent)
    _, err = process.communicate(timeout=GENEROUS)
    assert process.returncode == code
    assert len(err.strip().splitlines()) == (0 if sent == signal.SIGKILL else 1)
    assert all(map(gone, workers))
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}  # Python's own, of own.py
    assert left == {"own.py", "suite.yaml", "cases.jsonl", "worker0", "worker200"}


WRITING = """
import os, sys, time
from calque.cli import exits
from calque.base.files import write_folder, write_whole

def wait(*_):
    print("ready", flush=True)
    time.sleep(600)

os.replace = wait
content = {"folder": lambda: write_folder("out", {"a": b"1", "b": b"2"}), "file": lambda: write_whole("out", b"content")}
exits.run(content[sys.argv[1]])
"""


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_no_temporary_file(tmp_path: Path, what: str, sent: signal.Signals, code: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, what], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    assert len(os.listdir(tmp_path)) == 1
    process.send_signal(sent)
    _, err = process.communicate(timeout=GENEROUS)
    assert (process.returncode, len(err.splitlines()), os.listdir(tmp_path)) == (code, 1, [])
