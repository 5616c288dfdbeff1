"""Clusters that nobody else can join, and clusters that fail: each failure is one clear error."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from calque import CalqueError
from calque.engines import on_dask
from calque.engines.on_dask import Cluster
from tests.cli.test_checkpoint import DETECT, write_shards
from tests.conftest import Run

distributed = pytest.importorskip("distributed")
PAGES = ("/", "/status", "/info/main/workers.html", "/json/counts.json", "/metrics", "/health")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "JOINED_WITHIN", 5.0)
    monkeypatch.setattr(on_dask, "ANSWERED_WITHIN", 2.0)
    monkeypatch.setattr(on_dask, "BETWEEN_LOOKS", 0.3)


@pytest.fixture
def scheduler() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a scheduler without workers, and its process."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    line = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-dashboard",
    ]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"tcp://127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def worker(scheduler: tuple[str, subprocess.Popen[bytes]]) -> Iterator[subprocess.Popen[bytes]]:
    line = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        scheduler[0],
        "--no-nanny",
        "--no-dashboard",
        "--nthreads",
        "1",
    ]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def waits(cluster: Cluster, then: Callable[[], object]) -> Any:
    """Do something while the cluster works for longer than any test waits."""
    future = cluster.put(time.sleep, 3600)
    then()
    return cluster.of(future)


def test_local_cluster_listens_with_tls_and_shows_no_pages() -> None:
    with Cluster(None, 1) as cluster:
        known = cluster._client.scheduler_info()
        addresses, workers = [known["address"], *known["workers"]], known["workers"].values()
        assert len(addresses) == 2
        assert all(address.startswith("tls://127.0.0.1:") for address in addresses)
        ports = [cluster._local.scheduler.http_server, *(worker["services"].get("dashboard") for worker in workers)]
        listening = [next(iter(ports[0]._sockets.values())).getsockname()[1], *filter(None, ports[1:])]
        assert listening
        for port in listening:
            for page in PAGES:
                with pytest.raises(urllib.error.HTTPError) as caught:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=20)
                assert caught.value.code == 404
                caught.value.close()
        with pytest.raises((OSError, TimeoutError)):  # somebody without the certificates
            distributed.Client(addresses[0].replace("tls://", "tcp://"), timeout="1s", set_as_default=False)
        assert list(cluster.map(abs, [-1, 2])) == [1, 2]


def test_scheduler_without_workers_exits_2(
    calque: Callable[..., Run], tmp_path: Path, scheduler: tuple[str, subprocess.Popen[bytes]]
) -> None:
    write_shards(tmp_path, 2)
    done = calque(*DETECT, "--engine", "dask", "--scheduler", scheduler[0])
    assert done.code == 2
    assert "no workers" in done.err


def test_scheduler_killed_while_working_is_an_error(
    scheduler: tuple[str, subprocess.Popen[bytes]], worker: subprocess.Popen[bytes]
) -> None:
    with Cluster(scheduler[0]) as cluster, pytest.raises(CalqueError, match="scheduler"):
        waits(cluster, scheduler[1].kill)


def test_scheduler_silent_while_working_is_an_error(
    scheduler: tuple[str, subprocess.Popen[bytes]], worker: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_dask, "REACHED_WITHIN", "5s")
    with Cluster(scheduler[0]) as cluster, pytest.raises(CalqueError, match="does not answer"):
        waits(cluster, lambda: scheduler[1].send_signal(signal.SIGSTOP))


def test_last_worker_killed_while_working_is_an_error(
    scheduler: tuple[str, subprocess.Popen[bytes]], worker: subprocess.Popen[bytes]
) -> None:
    with Cluster(scheduler[0]) as cluster, pytest.raises(CalqueError, match="no workers"):
        waits(cluster, worker.kill)


@pytest.mark.long  # a worker is started again for each of four attempts
def test_work_that_kills_every_worker_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "JOINED_WITHIN", 30.0)
    with Cluster(None, 1) as cluster:
        with pytest.raises(CalqueError, match="died again and again"):
            cluster.counted([cluster.put(os._exit, 1)])
        assert list(cluster.map(abs, [-3])) == [3]
