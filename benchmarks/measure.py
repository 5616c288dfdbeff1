"""One fresh process, and what it cost: CPU, wall time and peak memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class RunFailed(Exception):
    """A measured process ended with an error."""


@dataclass(frozen=True)
class Cost:
    """What a process took, its own children included."""

    cpu: float  # Seconds, user and system.
    wall: float  # Seconds.
    memory: int  # Bytes: the largest resident set of the process or of any child it waited for.


@dataclass(frozen=True)
class Run:
    """One run: its cost and what it printed."""

    cost: Cost
    output: str


def measured(command: Sequence[str]) -> Run:
    """Run the command in a new process and an empty folder, and measure it to its end."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, env=clean_environment()
        )
        # wait4 tells the cost of this child alone; getrusage would mix all children of the runner.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            complaint = err.read().decode(errors="replace").strip().splitlines() or ["nothing on stderr"]
            raise RunFailed(f"exit code {process.returncode}: {complaint[-1]}")
        cost = Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024)
        return Run(cost, out.read().decode())


def clean_environment() -> dict[str, str]:
    """The caller's environment without what would change how Python or a tool behaves."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "CALQUE_")) and name not in {"VIRTUAL_ENV", "FORCE_COLOR"}
    }
    return kept | {"PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each quantity by itself."""
    return Cost(
        statistics.median(cost.cpu for cost in costs),
        statistics.median(cost.wall for cost in costs),
        int(statistics.median(cost.memory for cost in costs)),
    )


def read_once(path: Path) -> None:
    """Bring a file into the operating system's cache, so that the first tool is not charged for the disk."""
    with path.open("rb") as file:
        while file.read(1 << 20):
            pass


def own_peak() -> int:
    """Peak memory of this process, in bytes.

    A child's peak counts from before it becomes the measured program, when it is still a copy of this process: no
    measured peak below this one can be trusted, and the runner therefore imports nothing large.
    """
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
