"""A worker of a real cluster that has another version of calque: the command refuses to work with it, and says which it is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from calque import __version__
from calque.engines import on_dask
from tests.cli.test_checkpoint import DETECT, command, write_shards

distributed = pytest.importorskip("distributed")
GENEROUS = 240
"""Seconds until a test gives up. Nothing is asserted about how long anything takes."""
OLD = "0.0.9"


@pytest.fixture
def scheduler() -> Iterator[Any]:
    import dask

    with dask.config.set({"logging": on_dask.QUIET}):
        cluster = distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50)
        try:
            yield cluster
        finally:
            cluster.close(timeout=60)


def installed(folder: Path, version: str) -> Path:
    """A folder in which Python finds that version of calque installed, before all others."""
    about = folder / f"calque_eval-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: calque-eval\nVersion: {version}\n")
    return folder


def begun(cluster: Any, folder: Path, count: int) -> subprocess.Popen[bytes]:
    """One more worker, which looks for packages in that folder first."""
    line = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--no-nanny", "--no-dashboard"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    worker = subprocess.Popen(
        [*line, "--nthreads", "1"], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + GENEROUS
    while len(cluster.scheduler.workers) < count:
        assert worker.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    return worker


@pytest.mark.long  # two more workers begin; what is said has an example in calque.engines.on_dask
def test_a_worker_with_another_version_is_named_and_nothing_is_evaluated(scheduler: Any, tmp_path: Path) -> None:
    write_shards(tmp_path, 2)
    versions = (__version__, OLD)
    started = [
        begun(scheduler, installed(tmp_path / version, version), count) for count, version in enumerate(versions, start=1)
    ]
    try:
        done = command(tmp_path, *DETECT, "--engine", "dask", "--scheduler", scheduler.scheduler_address)
        assert (done.returncode, done.stdout) == (2, "")
        [old] = [worker.address for worker in scheduler.scheduler.workers.values() if worker.address in done.stderr]
        told = f"the worker {old} has calque-eval {OLD}, and here is {__version__}; install the same version everywhere"
        assert done.stderr == f"error: {told}\n"
        # Without that worker the same command works.
        started[-1].terminate()
        until = time.monotonic() + GENEROUS
        while len(scheduler.scheduler.workers) > 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        done = command(tmp_path, *DETECT, "--engine", "dask", "--scheduler", scheduler.scheduler_address)
        assert (done.returncode, done.stdout) == (0, command(tmp_path, *DETECT).stdout), done.stderr
    finally:
        for worker in started:
            worker.terminate()
            worker.wait(GENEROUS)
