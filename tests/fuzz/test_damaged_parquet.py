"""Damaged Parquet files: whatever their bytes say, no process ends by a signal, and none takes much more room than the file."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calque import CalqueError, ContractError, read
from calque.readers.sources.parquet_files import row_groups
from tests.pages import row, table

SEEDS = range(0, 1200, 4)
"""Each of four processes takes every fourth one."""
BY_COMMAND = range(10)

PAGES = [
    row(f"doc-{page // 3}", [[0.0, 0.0, 1.0 + page, 1.0]] * (page % 4), page_index=page % 3, width=100.0, height=50.0,
        scores=[0.5] * (page % 4), ids=[f"{page}-{box}" for box in range(page % 4)], kind="ab"[page % 2])
    for page in range(30)
]  # fmt: skip
WRITTEN: list[dict[str, Any]] = [
    {"compression": packed, "data_page_version": version, **more}
    for packed in ("none", "snappy", "zstd")
    for version in ("1.0", "2.0")
    for more in ({}, {"use_dictionary": False}, {"row_group_size": 7}, {"write_page_index": True, "data_page_size": 64})
]

READING = """
import sys
from calque import CalqueError, read
for line in sys.stdin:
    print(line.strip(), end=" ", flush=True)
    try:
        read(line.strip(), allow_missing_scores=True, metadata=True)
        print("read", flush=True)
    except CalqueError as error:
        assert line.strip() in str(error), error
        print("refused", flush=True)
"""


def damaged(folder: Path, seed: int) -> Path:
    """A valid file with some bytes changed, half of them in its footer."""
    path = folder / f"{seed}.parquet"
    pq.write_table(table(PAGES), path, **WRITTEN[seed % len(WRITTEN)])
    data = bytearray(path.read_bytes())
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    chance = random.Random(seed)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        place = chance.randrange(4, footer) if chance.random() < 0.5 else chance.randrange(footer, len(data) - 4)
        odd = (0, 1, 0x7F, 0x80, 0xFF, (data[place] + 1) % 256, (data[place] - 1) % 256, chance.randrange(256))
        data[place] = chance.choice(odd)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.long) for first in (1, 2, 3))])
def test_python_reads_or_refuses(tmp_path: Path, first: int) -> None:
    paths = [damaged(tmp_path, seed + first) for seed in SEEDS]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", READING],
        input="\n".join(map(str, paths)),
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, (done.stdout.splitlines()[-1:], done.stderr)
    ends = [line.split()[-1] for line in done.stdout.splitlines()]
    assert len(ends) == len(paths)
    assert ends.count("read") > 20
    assert ends.count("refused") > 20


@pytest.mark.parametrize("seed", BY_COMMAND)
def test_the_command_ends_in_order(tmp_path: Path, seed: int) -> None:
    path = damaged(tmp_path, seed)
    done = subprocess.run([sys.executable, "-m", "calque", "detect", path, path], capture_output=True, check=False, text=True)
    assert done.returncode in (0, 2, 3), done.stderr
    assert "should not happen" not in done.stderr
    assert done.returncode == 0 or path.name in done.stderr


def _constant(path: Path, pages: int) -> Path:
    """Many pages that are all the same: next to nothing as a file."""
    boxes = np.zeros(4 * pages)
    inner = pa.ListArray.from_arrays(np.arange(0, 4 * pages + 1, 4, dtype=np.int32), boxes)
    each = np.arange(pages + 1, dtype=np.int32)
    columns = {
        "doc_id": pa.array(np.zeros(pages, dtype=np.int64)),
        "boxes": pa.ListArray.from_arrays(each, inner),
        "labels": pa.ListArray.from_arrays(each, pa.DictionaryArray.from_arrays(np.zeros(pages, np.int32), ["Table"])),
    }
    pq.write_table(pa.table(columns), path, compression="zstd")
    return path


def test_a_file_that_unfolds_to_a_thousand_times_its_size(tmp_path: Path) -> None:
    path = _constant(tmp_path / "bomb.parquet", 1_500_000)
    assert path.stat().st_size < 100_000
    with pytest.raises(ContractError, match=r"bomb\.parquet: unfolds to more than 67,108,864 bytes, far more than pages"):
        read(path)


def test_a_long_text_in_every_row_is_in_memory_once(tmp_path: Path) -> None:
    """Unfolded it would be a hundred gigabytes."""
    pages, long = 100_000, "n" * 1_000_000
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(pages, dtype=np.int32)), [long])
    none = pa.ListArray.from_arrays(np.zeros(pages + 1, dtype=np.int32), pa.array([], pa.list_(pa.float64())))
    labels = pa.ListArray.from_arrays(np.zeros(pages + 1, dtype=np.int32), pa.array([], pa.string()))
    columns = {"doc_id": names, "page_index": pa.array(np.arange(pages)), "boxes": none, "labels": labels}
    pq.write_table(pa.table(columns), tmp_path / "long.parquet", store_schema=False)
    assert read(tmp_path / "long.parquet").units() == (long,)


def test_what_a_sound_file_states_is_what_pyarrow_reads(tmp_path: Path) -> None:
    for number, how in enumerate(WRITTEN):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(table(PAGES), path, **how)
        about = pq.ParquetFile(path).metadata
        with open(path, "rb", buffering=0) as file:
            stated = row_groups(file, str(path), lambda _: True)
        for group, known in zip(stated, map(about.row_group, range(about.num_row_groups)), strict=True):
            columns = [known.column(place) for place in range(known.num_columns)]
            assert group.rows == known.num_rows
            assert [".".join(chunk.leaf.path) for chunk in group.chunks] == [column.path_in_schema for column in columns]
            assert [chunk.values for chunk in group.chunks] == [column.num_values for column in columns]
            assert 0 < group.unpacked <= sum(column.total_uncompressed_size for column in columns)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data[:-9], "it does not end as Parquet files do"),
        (lambda data: data[:-8] + b"\xff\xff\xff\x7f" + data[-4:], "its footer is said to have 2,147,483,647 bytes"),
        (lambda data: data[:-8] + b"\0\0\0\0" + data[-4:], "its footer is damaged"),
        (lambda data: data.replace(b"labels", b"l\xffbels"), "its footer is damaged"),
    ],
)
def test_reasons(tmp_path: Path, change: Any, reason: str) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(table(PAGES), path, store_schema=False)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(CalqueError, match=rf"p\.parquet: cannot be read as Parquet: {re.escape(reason)}"):
        read(path)


def test_a_day_that_no_calendar_has(tmp_path: Path) -> None:
    days = pa.array([1_000_000_000, *[0] * (len(PAGES) - 1)], pa.int32()).cast(pa.date32())
    pq.write_table(table(PAGES).append_column("day", days), tmp_path / "p.parquet")
    corpus = read(tmp_path / "p.parquet", metadata=True)
    assert ("wrong-type", "row 1 /day") in [(issue.code, issue.pointer) for issue in corpus.issues]
    assert len(corpus.units()) == 10
