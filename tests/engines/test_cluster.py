"""Shards on a cluster: real worker processes, one killed, one that never answers, and always the bits of one process."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import CalqueError, Detection, Evaluator, Fields, Task
from calque.base.errors import MergeError
from calque.engines import on_dask
from calque.engines.on_dask import FAN_IN, Cluster, version_mismatch
from calque.evaluation.evaluator import Keep
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.shards.cluster import ClusterEvaluator, Head, Scored, _anywhere, evaluated_on
from calque.evaluation.storage import ranking
from calque.evaluation.storage.partitioned import Part
from calque.readers.sources.shards import Shard
from tests.cli.test_checkpoint import DETECT, SHARDS, command, write_shards
from tests.laws.detection import DETECTION
from tests.laws.layout import LAYOUT
from tests.laws.subject import Document

distributed = pytest.importorskip("distributed")
GENEROUS = 240
"""Seconds until a test gives up. Nothing is asserted about how long anything takes."""


class InOneProcess:
    """Stands for a cluster: everything that is put goes through bytes, in and out, as between machines."""

    def put(self, work: Any, *given: Any) -> bytes:
        work, given = pickle.loads(pickle.dumps((work, self._read(given))))
        return pickle.dumps(work(*given))

    def of(self, futures: Any) -> Any:
        return self._read(futures)

    def _read(self, given: Any) -> Any:
        if isinstance(given, bytes):
            return pickle.loads(given)
        return type(given)(map(self._read, given)) if type(given) in (list, tuple) else given

    def counted(self, futures: Any) -> None:
        """All are done when they are put."""

    def reduced(self, add_up: Any, futures: Sequence[Any]) -> Any:
        return Cluster.reduced(self, add_up, futures)  # type: ignore[arg-type]  # it only puts


def on_shards(task: Task, subject: Any, documents: Sequence[Document], parts: int) -> ClusterEvaluator:
    cluster: Any = InOneProcess()
    shards = []
    for part in range(parts):
        if documents[part::parts]:
            evaluator = Evaluator(task, keep="numbers").update(*subject.corpora(documents[part::parts]))
            shards.append(pickle.dumps(Scored.of(evaluator)))
    heads = [cluster.of(shard).head for shard in shards]
    return ClusterEvaluator(cluster, task, "numbers", shards, heads)


def test_files_of_this_machine_are_found_from_any_folder_and_others_stay_where_they_are() -> None:
    names: dict[str, str] = {}
    assert _anywhere(Shard("t.json", "s3://bucket/p.json"), names) == Shard(os.path.abspath("t.json"), "s3://bucket/p.json")
    assert names == {os.path.abspath("t.json"): "t.json", "s3://bucket/p.json": "s3://bucket/p.json"}


def test_pixels_and_shares_of_the_page_are_not_put_together() -> None:
    empty = Part.of(Ledger(units=(), tables={}), None)
    heads = [Head(empty, (), Evaluator(Detection()).sources, extent) for extent in ("pixels", "", "shares")]
    nothing: Any = None  # it is refused before any outcome is looked at
    with pytest.raises(MergeError, match="in pixels in some shards and in shares of the page in others; evaluate them apart"):
        ClusterEvaluator(nothing, Detection(), "numbers", [nothing] * 3, heads)


@given(st.data())
def test_merge_evaluator_of_a_cluster_brings_all_its_documents(data: st.DataObject) -> None:
    documents = data.draw(DETECTION.documents)
    task = Detection()
    whole = Evaluator(task).update(*DETECTION.corpora(documents))
    there = on_shards(task, DETECTION, documents, 2)
    assert f"{len(whole.ledger().units):,} document" in repr(there)
    merged = Evaluator(task).merge(there)
    assert merged.compute().to_json() == whole.compute().to_json()
    with pytest.raises(MergeError):
        there.merge(Evaluator(task).update([{"image": "new", "label": "a", "bbox": [0, 0, 9, 9]}], []))


def test_a_table_that_a_shard_lacks_is_none_of_all() -> None:
    """As where the ledgers are put together in one process."""
    cluster: Any = InOneProcess()
    truth, found = ([{"image": name, "label": "a", "bbox": [0, 0, 9, 9], "score": 0.5}] for name in ("p", "p"))
    first = Evaluator(Detection()).update(truth, found).ledger()
    second = replace(first, units=("q",), tables={name: first.table(name) for name in list(first.tables)[1:]})
    heads = [Head(Part.of(each, None), (), Evaluator(Detection()).sources, "") for each in (first, second)]
    parts = [pickle.dumps(Scored(head, each)) for head, each in zip(heads, (first, second), strict=True)]
    there = ClusterEvaluator(cluster, Detection(), "numbers", parts, heads).ledger()
    assert list(there.tables) == list(Ledger.concat([first, second]).tables)
    assert list(second.tables) == list(Ledger.concat([first, second]).tables)


TASKS = [
    (Detection(), DETECTION),
    (Detection(errors="tide", crops=True, confusion=True, sweep=True, page_view=True, max_detections=(1, 2)), DETECTION),
    (LAYOUT.task, LAYOUT),
]


@pytest.mark.parametrize(("task", "subject"), TASKS, ids=["detection", "views", "layout"])
@given(st.data(), st.integers(1, 12), st.integers(1, 6))
def test_what_is_scattered_gives_the_same_numbers(task: Task, subject: Any, data: st.DataObject, parts: int, rows: int) -> None:
    documents = data.draw(subject.documents)
    whole = Evaluator(task, keep="numbers").update(*subject.corpora(documents)).compute()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "RANGE_ROWS", rows)
        there = on_shards(task, subject, documents, parts).compute()
    for name in there.ledger.tables:
        chunks = list(there.ledger.chunks(name))
        assert all(rows.height for rows in chunks)
        assert sum(rows.height for rows in chunks) == whole.ledger.table(name).height
        units = [unit for rows in chunks for unit in rows.array(UNIT).tolist()]
        assert sorted(units) == sorted(whole.ledger.table(name).array(UNIT).tolist())
    assert len(there.ledger.tables) == len(list(there.ledger.tables)) > 0
    assert repr(there.numbers) == repr(whole.numbers)
    assert there.undefined == whole.undefined
    assert there.to_json() == whole.to_json()


def test_what_is_numbered_is_numbered_on_from_shard_to_shard(tmp_path: Path) -> None:
    """Records without names have the numbers that they would have in one file."""
    records = [{"a": f"{number}"} for number in range(5)]
    found = [{"a": "0"}, {"a": "x"}, {"a": "2"}, {"a": "3"}, {}]
    shards = []
    for part in (slice(0, 2), slice(2, 5)):
        paths = [tmp_path / f"{side}-{part.start}.jsonl" for side in ("truth", "found")]
        for path, rows in zip(paths, (records, found), strict=True):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows[part]))
        shards.append(Shard(*map(str, paths)))
    task = Fields(schema={"fields": {"a": {"type": "str"}}})
    cluster: Any = InOneProcess()
    keeps: tuple[Keep, ...] = ("outcomes", "numbers")
    for keep in keeps:
        there, whole = evaluated_on(cluster, task, shards, keep=keep), Evaluator(task, keep=keep).update(records, found)
        assert there.compute().numbers == whole.compute().numbers
        assert there.compute().ledger.units == whole.compute().ledger.units == (0, 1, 2, 3, 4)
        # What is saved of it says which of the two it is, since what is added to it has to be the same.
        for place, evaluator in enumerate((there, whole)):
            evaluator.save(tmp_path / f"{place}.state")
        told = [Evaluator.load(tmp_path / f"{place}.state")._keep for place in (0, 1)]
        assert told == [keep, keep]


def test_what_is_noticed_in_a_shard_is_told_of_the_whole(tmp_path: Path) -> None:
    shards = []
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text('{"a": "x"}\n')
        (tmp_path / f"{name}-found.jsonl").write_text('{"a": "x"}\nno JSON\n')
        shards.append(Shard(str(tmp_path / f"{name}.jsonl"), str(tmp_path / f"{name}-found.jsonl")))
    cluster: Any = InOneProcess()
    there = evaluated_on(cluster, Fields(schema={"fields": {"a": {"type": "str"}}}), shards, keep="numbers").compute()
    told = [Path(issue.file).name for issue in there.issues if issue.code == "broken-line"]
    assert told == ["one-found.jsonl", "two-found.jsonl"]


def test_a_tree_adds_up_everything_once() -> None:
    cluster: Any = InOneProcess()
    for count in (1, 2, FAN_IN, FAN_IN + 1, FAN_IN**2 + 3):
        futures = [pickle.dumps(number) for number in range(count)]
        assert cluster.of(cluster.reduced(sum, futures)) == sum(range(count))


def test_other_versions_are_told() -> None:
    assert version_mismatch("calque-eval", "1.0", {"one": "1.0", "two": "1.0"}) == ""
    assert version_mismatch("calque-eval", "1.0", {"one": "0.9", "two": "0.9"}).startswith(
        "the worker one (and 1 more) has calque-eval 0.9, and here is"
    )
    assert "has no calque-eval" in version_mismatch("calque-eval", "1.0", {"one": ModuleNotFoundError("calque-eval")})


def test_a_scheduler_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "REACHED_WITHIN", "1s")
    with pytest.raises(CalqueError, match=r"tcp://127.0.0.1:9: cannot be reached"), Cluster("tcp://127.0.0.1:9"):
        pass


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    import dask

    with dask.config.set({"distributed.scheduler.worker-ttl": "8s", "logging": on_dask.QUIET}):
        cluster = distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None, silence_logs=50)
        try:
            yield cluster
        finally:
            for nanny in cluster.workers.values():
                if nanny.process is not None and nanny.process.pid:
                    os.kill(nanny.process.pid, signal.SIGCONT)
            cluster.close(timeout=60)


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    write_shards(tmp_path)
    return tmp_path


def test_a_cluster_gives_the_bits_of_one_process(workers: Any, shards: Path) -> None:
    done = command(shards, *DETECT, "--engine", "dask", "--scheduler", workers.scheduler_address)
    assert done.stderr == ""
    assert done.stdout == command(shards, *DETECT).stdout


@pytest.mark.skipif(os.name != "posix", reason="no such signals here")
@pytest.mark.parametrize(
    "sent",
    [pytest.param(signal.SIGKILL, id="killed"), pytest.param(signal.SIGSTOP, id="never answers")],
)
@pytest.mark.long  # the scheduler waits for some seconds before it gives a silent worker up
def test_a_worker_that_is_lost_changes_nothing(workers: Any, tmp_path: Path, sent: signal.Signals) -> None:
    write_shards(tmp_path, 24)
    line = [sys.executable, "-m", "calque", *DETECT, "--engine", "dask", "--scheduler", workers.scheduler_address]
    running = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + GENEROUS
    scheduler = workers.scheduler
    while not any(task.state == "memory" for task in list(scheduler.tasks.values())):
        assert time.monotonic() < until
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)
    victim = next(nanny for nanny in workers.workers.values() if nanny.process is not None and nanny.process.pid)
    os.kill(victim.process.pid, sent)
    out, err = running.communicate(timeout=GENEROUS)
    assert (running.returncode, err) == (0, "")
    assert out == command(tmp_path, *DETECT).stdout


def test_addresses_of_other_machines(shards: Path) -> None:
    plain = command(shards, *DETECT)
    there = [path if "*" not in path else f"file://{shards}/{path}" for path in DETECT]
    done = command(shards, *there)
    assert done.stderr == ""
    assert done.stdout.replace(f"file://{shards}/", "") == plain.stdout
    assert done.stdout.count('"file": "file://') // 2 == SHARDS
    gone = command(shards, "detect", "memory://nowhere/truth.ndjson", "memory://nowhere/found.ndjson")
    assert gone.returncode == 2
    assert "memory://nowhere/truth.ndjson: cannot be read" in gone.stderr
