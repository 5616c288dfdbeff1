"""Page rows are read in memory that does not grow with the file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

BOXES = 20
BYTES_A_BOX = 48
"""Four coordinates, a label, a page and a score: what a corpus of all pages would keep."""

READING = """
import sys
from calque.readers import stream_pair
pages = sum(len(truth.page_index) for truth, _ in stream_pair(sys.argv[1], sys.argv[2], batch=40_000))
status = open("/proc/self/status").read()
print(pages, status.partition("VmHWM:")[2].split()[0])
"""


def write_lines(path: Path, pages: int) -> None:
    box = [10.25, 20.5, 300.75, 410.125]
    rest = json.dumps({"boxes": [box] * BOXES, "labels": ["Table"] * BOXES, "scores": [0.5] * BOXES})[1:]
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f'{{"doc_id": {number}, {rest}\n' for number in range(pages))


def write_table(path: Path, pages: int) -> None:
    count = pages * BOXES
    corners = np.random.default_rng(1).random((count, 2))
    offsets = pa.array(np.arange(0, count + 1, BOXES, dtype=np.int32))
    lists = {
        "boxes": pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate([corners, corners + 1], axis=1).ravel()), 4),
        "labels": pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array(["Table"])),
        "scores": pa.array(np.linspace(0, 1, count)),
    }
    columns = {name: pa.ListArray.from_arrays(offsets, column) for name, column in lists.items()}
    pq.write_table(pa.table({"doc_id": np.arange(pages), **columns}), path, row_group_size=1000)


def peak(path: Path, pages: int) -> int:
    """The most bytes that a process has which reads a file against itself."""
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # as the command line has it
    command = [sys.executable, "-c", READING, path, path]
    read = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    counted, kilobytes = map(int, read.stdout.split())
    assert counted == pages
    return kilobytes * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell a process its own peak")
@pytest.mark.parametrize(("suffix", "write"), [("ndjson", write_lines), ("parquet", write_table)])
def test_four_times_the_pages_need_no_more_memory(tmp_path: Path, suffix: str, write: Callable[[Path, int], None]) -> None:
    peaks = []
    for pages in (12_500, 50_000):
        path = tmp_path / f"{pages}.{suffix}"
        write(path, pages)
        peaks.append(peak(path, pages))
    whole = 2 * 37_500 * BOXES * BYTES_A_BOX
    assert peaks[1] - peaks[0] < whole / 3
