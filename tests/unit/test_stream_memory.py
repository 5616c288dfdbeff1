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
FEW, MANY = 12_500, 50_000
"""Pages of a short and of a long file."""
BATCH, ALL = 40_000, 1 << 40
"""How many boxes are read at a time: some, or the whole file."""

READING = """
import sys
from calque.readers import stream_pair
pages = sum(len(truth.page_index) for truth, _ in stream_pair(sys.argv[1], sys.argv[1], batch=int(sys.argv[2])))
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


def peak(path: Path, pages: int, batch: int) -> int:
    """The most kilobytes that a process has which reads a file against itself."""
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # as the command line has it
    command = [sys.executable, "-c", READING, path, str(batch)]
    read = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    counted, kilobytes = map(int, read.stdout.split())
    assert counted == pages
    return kilobytes


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell a process its own peak")
@pytest.mark.parametrize(("suffix", "write"), [("ndjson", write_lines), ("parquet", write_table)])
def test_four_times_the_pages_need_no_more_memory(tmp_path: Path, suffix: str, write: Callable[[Path, int], None]) -> None:
    """What is left of growth is noise: a fraction of what the same file takes when it is read in one piece."""
    short, long = (tmp_path / f"{pages}.{suffix}" for pages in (FEW, MANY))
    write(short, FEW)
    write(long, MANY)
    before = peak(short, FEW, BATCH)
    streamed, whole = (peak(long, MANY, batch) - before for batch in (BATCH, ALL))
    assert streamed < whole / 2
