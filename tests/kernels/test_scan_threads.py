"""Files, threads and lifetimes: mapping, stopping early, many scans at once, forks."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from tests.kernels.scan_samples import RESULTS, SAMPLES, write
from tests.kernels.scan_twin import columns_from_json, comparable

_native = pytest.importorskip("calque.kernels._native", reason="calque was installed without a compiler")

PAGE = os.sysconf("SC_PAGESIZE")
ROW = b'{"image_id": 17, "category_id": 3, "bbox": [12.34, 5.6, 100.25, 33.0], "score": 0.873}'


def big(rows: int = 200_000) -> bytes:
    return b"[" + b", ".join([ROW] * rows) + b"]"


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_reads_as_its_bytes_do(tmp_path, name):
    path = tmp_path / "dätä \udcff.json"
    path.write_bytes(write(SAMPLES[name]))
    data = path.read_bytes()
    assert comparable(_native.Scan(str(path)).columns(), data) == comparable(columns_from_json(data), data)


@pytest.mark.parametrize("extra", [-1, 0, 1, 15, 16, 17])
def test_files_that_end_near_a_page(tmp_path, extra):
    for pages in (1, 2):
        size = pages * PAGE + extra
        for data in (
            write(RESULTS).ljust(size),
            write(RESULTS).rjust(size),
            b'[{"image_id": "' + b"x" * (size - 15),
            b"[" + b"1" * (size - 1),
        ):
            path = tmp_path / "file.json"
            path.write_bytes(data)
            assert len(data) == size
            outcomes = []
            for source in (str(path), data):
                try:
                    outcomes.append(comparable(_native.Scan(source, "coco_results").columns(), data))
                except _native.ScanError as error:
                    outcomes.append((error.message, error.offset))
            assert outcomes[0] == outcomes[1]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        _native.Scan(str(tmp_path / "none.json")).columns()
    assert caught.value.filename == str(tmp_path / "none.json")
    with pytest.raises(IsADirectoryError):
        _native.Scan(str(tmp_path)).columns()
    with pytest.raises(NotADirectoryError):
        (tmp_path / "file").write_bytes(b"")
        _native.Scan(str(tmp_path / "file" / "x")).columns()
    with pytest.raises(_native.ScanError, match="empty file"):
        _native.Scan(str(tmp_path / "file")).columns()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(_native.ScanError, match="not a regular file"):
        _native.Scan(str(tmp_path / "pipe")).columns()
    with pytest.raises(_native.ScanError, match="not a regular file"):
        _native.Scan("/dev/null").columns()
    with pytest.raises(ValueError, match="null"):
        _native.Scan("a\0b")
    with pytest.raises(ValueError, match="kind must be"):
        _native.Scan(b"[]", "coco")
    with pytest.raises(TypeError):
        _native.Scan(bytearray(b"[]"))


def test_columns_twice_is_the_same_dict():
    scan = _native.Scan(write(RESULTS))
    assert scan.columns() is scan.columns()
    assert scan.kind() == "coco_results"
    failed = _native.Scan(b"[")
    for _ in range(2):
        with pytest.raises(_native.ScanError):
            failed.columns()


def test_columns_outlive_the_scan_and_its_bytes():
    scan = _native.Scan(big(1000))
    columns = scan.columns()
    boxes = columns["bbox"]
    del scan, columns
    gc.collect()
    assert boxes.flags.writeable
    assert np.array_equal(boxes, np.tile([12.34, 5.6, 100.25, 33.0], (1000, 1)))


def test_scans_dropped_while_they_run(tmp_path):
    data = big()
    path = tmp_path / "big.json"
    path.write_bytes(data)
    for i in range(60):
        scan = _native.Scan(data if i % 2 else str(path))
        del scan
    nested = b'{"images": ' + b"[" * 500 + b"1, " * 3_000_000
    for _ in range(10):
        _native.Scan(nested)


def test_many_scans_at_once():
    data = big(5000)
    scans = [_native.Scan(data) for _ in range(50)]
    for scan in reversed(scans):
        assert len(scan.columns()["score"]) == 5000


def test_one_scan_asked_by_many_threads():
    for _ in range(20):
        scan = _native.Scan(big(20_000))
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(scan.columns())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 8
        assert all(columns is seen[0] for columns in seen)
        assert len(seen[0]["score"]) == 20_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_wait_for_a_thread_it_has_not():
    code = f"""
import sys; sys.path[:0] = {sys.path!r}
import os
from calque.kernels import _native
row = {ROW!r}
scan = _native.Scan(b'[' + b', '.join([row] * 300_000) + b']')
child = os.fork()
if child == 0:
    try:
        scan.columns()
    except RuntimeError:
        del scan
        os._exit(7)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert len(scan.columns()['score']) == 300_000
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_leaving_python_while_a_scan_runs():
    code = f"""
import sys; sys.path[:0] = {sys.path!r}
from calque.kernels import _native
scan = _native.Scan(b'[' + b', '.join([{ROW!r}] * 300_000) + b']')
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_file_that_changes_while_it_is_read(tmp_path):
    path = tmp_path / "growing.json"
    for delay in range(12):  # in milliseconds: before it is opened, while it is read, after
        path.write_bytes(big(50_000))
        scan = _native.Scan(str(path))
        threading.Event().wait(delay / 1000)
        with path.open("ab") as file:
            file.write(b"\n" * (1 + delay * 500))
        try:
            assert len(scan.columns()["score"]) == 50_000
        except _native.ScanError as error:
            assert error.message == "the file changed while it was read"


def test_errors_can_be_pickled_and_are_value_errors():
    with pytest.raises(ValueError, match=r"empty file \(at byte 0\)") as caught:
        _native.Scan(b"").columns()
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.message, again.offset) == (_native.ScanError, "empty file", 0)


def test_the_module_does_not_import_numpy():
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; from calque.kernels import _native; scan = _native.Scan(b'[]');"
        "assert 'numpy' not in sys.modules; scan.columns(); assert 'numpy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(not os.path.isfile("/sys/kernel/mm/transparent_hugepage/enabled"), reason="a file of Linux")
def test_a_file_that_ends_before_its_end():
    # The system says 4,096 bytes and has some thirty: as a file does that was cut short after it was opened.
    with pytest.raises(_native.ScanError, match="the file changed while it was read"):
        _native.Scan("/sys/kernel/mm/transparent_hugepage/enabled").columns()


def test_rows_that_are_longer_than_what_is_read_ahead(tmp_path):
    path = tmp_path / "long.json"
    for note in (b"x" * (5 << 20), b" " * (3 << 20)):
        data = big(60_000)[:-1] + b', {"note": "' + note + b'", ' + ROW[1:] + b", " + ROW + b"]"
        path.write_bytes(data)
        assert comparable(_native.Scan(str(path)).columns(), data) == comparable(_native.Scan(data).columns(), data)


def test_what_is_no_json_is_not_read_whole(tmp_path):
    """Tables and lines of pages are scanned too, before anybody knows what they are, and may be longer than memory."""
    for name, beginning in (("p.parquet", b"PAR1"), ("p.ndjson", b'{"doc_id": 1}\n{"doc_id": 2}\n'), ("p.json", b"[1, 2")):
        with (tmp_path / name).open("wb") as file:
            file.write(beginning)
            file.truncate(1 << 40)  # without content on the disk
        with pytest.raises(_native.ScanError):
            _native.Scan(str(tmp_path / name)).columns()
