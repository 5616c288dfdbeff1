"""gzip and Zstandard around JSON and NDJSON: the same corpus, within bounds."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from calque import ContractError, Corpus, Detection, Evaluator, MissingExtra, read
from calque.kernels.scanning import Scanned
from calque.readers.sources import compression
from tests.laws.subject import bits
from tests.pages import Row, row, write_coco, write_ndjson
from tests.snapshots import valid_predictions, valid_truth

PACKERS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": zstandard.ZstdCompressor().compress}
BOX = [0.0, 0.0, 10.0, 10.0]


@pytest.fixture(params=PACKERS)
def packed(request: pytest.FixtureRequest) -> Callable[[Path], Path]:
    """Writes a file again, compressed, under a name that does not tell."""

    def written(path: Path) -> Path:
        other = path.with_name(f"{path.name}-{request.param}")
        other.write_bytes(PACKERS[request.param](path.read_bytes()))
        return other

    return written


def dumped(path: Path, tree: Any) -> Path:
    path.write_text(json.dumps(tree), "utf-8")
    return path


def test_snapshot_files(packed: Callable[[Path], Path], tmp_path: Path, kernels: str) -> None:
    files = dumped(tmp_path / "t.json", valid_truth()), dumped(tmp_path / "p.json", valid_predictions())
    plain = Evaluator(Detection()).update(*files).compute()
    assert bits(Evaluator(Detection()).update(*map(packed, files)).compute()) == bits(plain)


def test_coco_files(packed: Callable[[Path], Path], tmp_path: Path, kernels: str) -> None:
    sizes: Row = {"width": 50, "height": 60}
    truth = [row(k, [BOX], ids=[k], crowd=[False], area=[None], **sizes) for k in range(5)]
    found = [row(k, [BOX], scores=[k / 8], **sizes) for k in range(5)]
    files = write_coco(tmp_path, truth, found)
    plain = Evaluator(Detection()).update(*files).compute()
    assert bits(Evaluator(Detection()).update(*map(packed, files)).compute()) == bits(plain)


def test_ndjson_files_are_streamed(packed: Callable[[Path], Path], tmp_path: Path) -> None:
    truth = write_ndjson(tmp_path / "t.ndjson", [row(k, [BOX]) for k in range(300)])
    found = write_ndjson(tmp_path / "f.ndjson", [row(k, [BOX], scores=[0.5]) for k in range(300)])
    plain = Evaluator(Detection()).update(truth, found).compute()
    assert plain["recall@0.5"] == 1
    assert bits(Evaluator(Detection()).update(packed(truth), packed(found)).compute()) == bits(plain)


def test_several_streams_one_after_the_other(tmp_path: Path) -> None:
    parts = [json.dumps(row(k, [BOX])).encode() + b"\n" for k in range(3)]
    for suffix, pack in PACKERS.items():
        path = tmp_path / f"p.ndjson.{suffix}"
        path.write_bytes(b"".join(map(pack, parts)))
        assert read(path).units() == (0, 1, 2)
    padded = tmp_path / "padded.gz"
    padded.write_bytes(b"".join(map(gzip.compress, parts)) + bytes(512))
    assert read(padded).units() == (0, 1, 2)


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("name", ["p.ndjson", "p.json"])
def test_damaged_files_are_refused(tmp_path: Path, suffix: str, name: str) -> None:
    text = json.dumps(row("a", [BOX] * 500)) if name == "p.ndjson" else json.dumps(valid_truth())
    whole = PACKERS[suffix](text.encode())
    for data in (whole[:-9], whole[: len(whole) // 2], whole[:30] + b"\xff" * 40 + whole[70:]):
        path = tmp_path / f"{name}.{suffix}"
        path.write_bytes(data)
        with pytest.raises(ContractError, match="damaged") as caught:
            read(path)
        assert [issue.code for issue in caught.value.issues] == ["compression-damaged"]


@pytest.mark.parametrize("suffix", PACKERS)
def test_bombs_are_refused(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "ALWAYS_FINE", 1 << 20)
    pack = PACKERS[suffix]
    for name, data in (("p.json", b" " * (40 << 20)), ("p.ndjson", json.dumps(row("a")).encode() + b"\n" * (40 << 20))):
        path = tmp_path / f"{name}.{suffix}"
        path.write_bytes(pack(data))
        with pytest.raises(ContractError, match="unpack it yourself") as caught:
            read(path)
        assert [issue.code for issue in caught.value.issues] == ["unpacks-too-large"]


def test_content_decides_and_not_the_name(tmp_path: Path) -> None:
    path = dumped(tmp_path / "truth.json.gz", valid_truth())
    assert isinstance(read(path), Corpus)
    empty = tmp_path / "empty.json"
    empty.write_bytes(gzip.compress(b""))
    with pytest.raises(ContractError, match="empty"):
        read(empty)


def test_what_the_exact_reader_says_of_a_compressed_file(packed: Callable[[Path], Path], tmp_path: Path) -> None:
    tree = valid_truth()
    del tree["documents"]
    with pytest.raises(ContractError) as caught:
        read(packed(dumped(tmp_path / "t.json", tree)))
    assert "missing-key" in [issue.code for issue in caught.value.issues]


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.json.zst"
    path.write_bytes(PACKERS["zst"](json.dumps(valid_truth()).encode()))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r"pip install 'calque-eval\[zstd\]'"):
        read(path)


@pytest.mark.parametrize("kind", PACKERS)
def test_what_is_unpacked_is_scanned_like_a_plain_file(tmp_path: Path, kind: str, kernels: str) -> None:
    plain = dumped(tmp_path / "t.json", valid_truth())
    other = tmp_path / f"t.json.{kind}"
    other.write_bytes(PACKERS[kind](plain.read_bytes()))
    mark = compression.magic(str(other))
    assert mark is not None
    unpacking = compression.Unpacking(str(other), mark)
    assert unpacking.content() == plain.read_bytes()
    assert unpacking.part((0, 5)) == plain.read_bytes()[:5]
    scanned = unpacking.columns()
    assert (scanned is not None) == (Scanned(plain).columns() is not None) == (kernels == "native")


@pytest.mark.parametrize("packer", PACKERS)
def test_the_limit_itself_is_fine(packer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "MOST_TIMES", 0)
    content = b"0123456789" * 10
    path = tmp_path / f"packed.{packer}"
    path.write_bytes(PACKERS[packer](content))
    monkeypatch.setattr(compression, "ALWAYS_FINE", 100)
    mark = path.read_bytes()[:4] if packer == "zst" else compression.GZIP
    assert b"".join(compression._pieces(str(path), mark)) == content
    monkeypatch.setattr(compression, "ALWAYS_FINE", 99)
    with pytest.raises(ContractError, match="holds more than 99 bytes"):
        list(compression._pieces(str(path), mark))
