"""Digests of files: of their bytes and nothing else, however they are read, and of none that changes meanwhile."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from xxhash import xxh3_128

from calque import CalqueError, Detection
from calque.core.storage.contents import Contents, content_digest
from calque.core.storage.files import LONG, write_whole

ROW = {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}
BYTES = {
    "empty": b"",
    "short": json.dumps([ROW]).encode(),
    "long": json.dumps([ROW] * 100_000).encode(),
    "compressed": gzip.compress(json.dumps([ROW]).encode()),
    "no JSON": b"PAR1" * 100_000,
}


@pytest.mark.parametrize("way", [Contents.beside, Contents.beforehand])
@pytest.mark.parametrize("name", BYTES)
def test_a_digest_is_that_of_the_bytes(tmp_path: Path, name: str, way: Callable[..., Contents]) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(BYTES[name])
    expected = xxh3_128(BYTES[name]).hexdigest()
    contents = way([str(path), str(path)], Detection.begin)
    assert [begun.result() for begun in contents.digests] == [expected, expected]
    assert content_digest(str(path)) == expected
    assert [os.fspath(source) for source in contents.sources()] == [str(path)] * 2
    contents.check_unchanged()


def test_a_folder_has_the_digest_of_its_files_and_their_names(tmp_path: Path) -> None:
    (tmp_path / "pages" / "more").mkdir(parents=True)
    (tmp_path / "pages" / "more" / "b.json").write_bytes(b"two")
    (tmp_path / "pages" / "a.json").write_bytes(b"one")
    one, two = (xxh3_128(data).hexdigest() for data in (b"one", b"two"))
    expected = xxh3_128(f"a.json\n{one}\n{os.path.join('more', 'b.json')}\n{two}\n".encode()).hexdigest()
    contents = Contents.beside([str(tmp_path / "pages")], Detection.begin)
    assert contents.digests[0].result() == expected
    (tmp_path / "pages" / "more" / "c.json").write_bytes(b"three")
    with pytest.raises(CalqueError, match=r"c\.json: was changed while it was being evaluated"):
        contents.check_unchanged()


@pytest.mark.parametrize("way", [Contents.beside, Contents.beforehand])
def test_a_file_that_is_another_by_now_is_refused(tmp_path: Path, way: Callable[..., Contents]) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(BYTES["short"])
    contents = way([str(path)], Detection.begin)
    path.write_bytes(BYTES["long"])
    with pytest.raises(CalqueError, match=r"file\.json: was changed while it was being evaluated"):
        contents.check_unchanged()


def test_a_file_is_as_long_as_what_was_written_however_much_room_was_asked_for(tmp_path: Path) -> None:
    for pieces in ([b"x" * LONG, b"y"], [b"less"]):
        write_whole(tmp_path / "file", pieces, size=LONG + 1)
        assert (tmp_path / "file").read_bytes() == b"".join(pieces)
