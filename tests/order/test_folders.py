"""Compressed orders, and folders with files that hold no order."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from calque.readers.orders.files import read_orders
from tests.conftest import Run

Command = Callable[..., Run]
ROWS = [{"doc_id": f"d{number}", "order": ["a", "b", "c"]} for number in range(2)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
TREE = json.dumps(ROWS).encode()


def packed(data: bytes, suffix: str) -> bytes:
    if suffix.lower() in (".gz", ".gzip"):
        return gzip.compress(data)
    return bytes(pytest.importorskip("zstandard").compress(data))


@pytest.mark.parametrize("suffix", [".gz", ".gzip", ".zst", ".zstd", ".GZ"])
@pytest.mark.parametrize(("name", "data"), [("rows.ndjson", LINES), ("rows.jsonl", LINES), ("rows.json", TREE)])
def test_order_of_a_compressed_file_is_that_of_the_file(
    tmp_path: Path, calque: Command, name: str, data: bytes, suffix: str
) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / f"{name}{suffix}").write_bytes(packed(data, suffix))
    assert list(read_orders(tmp_path / f"{name}{suffix}").pages) == ["d0", "d1"]
    run = calque("order", name, f"{name}{suffix}", "--format", "json")
    assert (run.code, run.json["micro"]["pairs"]) == (0, 1.0)
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / f"{name}{suffix}").rename(folder / f"{name}{suffix}")
    assert calque("order", name, "folder", "--format", "json").json["counts"]["pages"] == 2


@pytest.mark.parametrize("name", ["rows.xml.gz", "rows.xml.zst"])
def test_order_of_compressed_page_xml_takes_the_name_of_the_document(tmp_path: Path, name: str) -> None:
    pytest.importorskip("lxml")
    text = b'<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page/></PcGts>'
    (tmp_path / name).write_bytes(packed(text, Path(name).suffix))
    assert list(read_orders(tmp_path / name).pages) == ["rows"]


@pytest.mark.parametrize("command", ["order", "tables"])
def test_folder_with_files_that_are_not_read_reports_them(tmp_path: Path, calque: Command, command: str) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    name, text = ("d.ndjson", LINES.decode()) if command == "order" else ("d.html", "<table><tr><td>a</table>")
    for place in (name, f"inner/{name}", "notes.bin", ".hidden"):
        (folder / place).write_text(text)
    run = calque(command, "folder", "folder", "--format", "json")
    assert run.code == 0, run.err
    told = " ".join(issue["message"] for issue in run.json["issues"] if issue["code"] == "not-read")
    assert "inner" in told
    assert "notes.bin" in told
    assert ".hidden" not in told
