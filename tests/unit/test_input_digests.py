"""Digests of input files: of their bytes and names, and of nothing else."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from xxhash import xxh3_128

from calque.base.files import write_whole
from calque.evaluation.shards.checkpoint import content_digest

ROW = {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}
BYTES = {
    "empty": b"",
    "short": json.dumps([ROW]).encode(),
    "long": json.dumps([ROW] * 100_000).encode(),
    "compressed": gzip.compress(json.dumps([ROW]).encode()),
    "no JSON": b"PAR1" * 100_000,
}


@pytest.mark.parametrize("name", BYTES)
def test_a_digest_is_that_of_the_bytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(BYTES[name])
    assert content_digest(str(path)) == xxh3_128(BYTES[name]).hexdigest()


def test_a_folder_has_the_digest_of_its_files_and_their_names(tmp_path: Path) -> None:
    (tmp_path / "pages" / "more").mkdir(parents=True)
    (tmp_path / "pages" / "more" / "b.json").write_bytes(b"two")
    (tmp_path / "pages" / "a.json").write_bytes(b"one")
    one, two = (xxh3_128(data).hexdigest() for data in (b"one", b"two"))
    expected = xxh3_128(f"a.json\n{one}\n{os.path.join('more', 'b.json')}\n{two}\n".encode()).hexdigest()
    assert content_digest(str(tmp_path / "pages")) == expected


def test_a_file_is_as_long_as_what_was_written_however_it_came(tmp_path: Path) -> None:
    for pieces in ([b"x" * 2_000_000, b"y"], [b"less"]):
        write_whole(tmp_path / "file", pieces)
        assert (tmp_path / "file").read_bytes() == b"".join(pieces)
