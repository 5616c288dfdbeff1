"""A checkpoint is reused only if every file that was opened, and every name that was used, is the same as before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.snapshots import predictions, truth, write

Calque = Callable[..., Run]
REUSED = "taken from there"
WATCHED = """
import os, sys
names = os.open(".opened", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        os.write(names, os.path.abspath(os.fsencode(arguments[0])) + b"\\n")
sys.addaudithook(watch)
from calque.__main__ import main
sys.argv = ["calque", *sys.argv[1:]]
main()
"""
PAGES = {
    ("report.pdf", 0): [("Figure", (0.1, 0.1, 0.9, 0.5)), ("Table", (0.1, 0.6, 0.45, 0.9))],
    ("letter.pdf", 0): [("Table", (0.05, 0.05, 0.4, 0.4))],
}
FILES = {"snapshot": ".json", "coco": ".json", "label-studio": ".json", "omnidocbench": ".json", "plain": ".json"}
FILES |= {"cvat": ".xml", "ndjson": ".ndjson", "parquet": ".parquet", "docling": ".json"}
FOLDERS = ("voc", "page", "alto", "yolo", "labelme", "dota")
FORMATS = (*FILES, *FOLDERS)


def opened_by(folder: Path, *line: object) -> list[Path]:
    """The files below a folder that a command opens, in a process of its own; kernels open the files that it names."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *map(str, line)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 3), done.stderr
    paths = {Path(path) for path in (folder / ".opened").read_text().splitlines()}
    (folder / ".opened").unlink()
    named = {folder / str(word) for word in line if (folder / str(word)).is_file()}
    return sorted(path for path in paths | named if path.is_relative_to(folder / "data") and path.is_file())


def check_never_stale(calque: Calque, folder: Path, *line: str) -> None:
    """Change every opened file in turn; the checkpoint must not be reused. Unchanged files are reused."""
    kept = ("--checkpoint", "kept", "--format", "json")
    files = opened_by(folder, *line, *kept)
    assert files
    again = calque(*line, *kept)
    assert REUSED in again.err, "nothing changed"
    for path in files:
        before = path.read_bytes()
        if path.suffix == ".png":
            path.write_bytes(before[:16] + (1234).to_bytes(4, "big") * 2 + before[24:])
        elif path.suffix == ".parquet":
            path.write_bytes(rewritten(path))
        else:
            path.write_bytes(before + b"\n")
        done = calque(*line, *kept)
        assert REUSED not in done.err, path
        assert done.out == calque(*line, "--format", "json").out
        path.write_bytes(before)


def rewritten(path: Path) -> bytes:
    """The same table in other bytes."""
    import pyarrow.parquet as pq

    other = path.with_name("other.parquet")
    pq.write_table(pq.read_table(path), other, compression="NONE", store_schema=False)
    data = other.read_bytes()
    other.unlink()
    return data


@pytest.fixture
def data(tmp_path: Path, calque: Calque) -> Callable[[str], tuple[str, str]]:
    """Ground truth in a format, and predictions."""
    (tmp_path / "data").mkdir()
    write(tmp_path / "truth.json", truth(PAGES))
    found = {page: [(*box, 0.9) for box in boxes] for page, boxes in PAGES.items()}
    write(tmp_path / "data" / "found.json", predictions(found))

    def converted(format: str) -> tuple[str, str]:
        name = f"data/truth{FILES.get(format, '')}"
        sizes = ("--page-size", "200,200", "--document-key", "stem")
        assert calque("convert", "truth.json", name, "--to", format, *sizes).code in (0, 3)
        return name, "data/found.json"

    return converted


LINE = ("--page-size", "200,200", "--document-key", "stem")


@pytest.mark.parametrize("format", FORMATS)
def test_checkpoint_changed_file_of_any_format_is_not_reused(
    calque: Calque, tmp_path: Path, data: Callable[[str], tuple[str, str]], format: str
) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    check_never_stale(calque, tmp_path, "detect", *data(format), "--from-truth", format, *LINE)


PNG = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4, "big") + b"IHDR" + (200).to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0"


@pytest.mark.parametrize("format", ["yolo", "dota"])
def test_checkpoint_changed_class_names_and_images_outside_the_folder_are_not_reused(
    calque: Calque, tmp_path: Path, data: Callable[[str], tuple[str, str]], format: str
) -> None:
    made, found = data(format)
    labels, images = tmp_path / "data/set/labelTxt", tmp_path / "data/set/images"
    if format == "yolo":
        labels, images = tmp_path / "data/set/labels/train", tmp_path / "data/set/images/train"
        (tmp_path / "data/set").mkdir()
        (tmp_path / "data/set/data.yaml").write_text("names: [Figure, Table]\n")
    labels.mkdir(parents=True)
    images.mkdir(parents=True)
    for path in (tmp_path / made).rglob("*.txt"):
        if path.name != "classes.txt":
            shutil.copy(path, labels / path.name)
            (images / f"{path.stem}.png").write_bytes(PNG)
    check_never_stale(calque, tmp_path, "detect", str(labels), found, "--from-truth", format, "--document-key", "stem")


def test_checkpoint_changed_file_in_a_linked_folder_is_not_reused(calque: Calque, tmp_path: Path) -> None:
    for side in ("data/truth", "data/found"):
        (tmp_path / side).mkdir(parents=True)
    (tmp_path / "data/elsewhere").mkdir()
    (tmp_path / "data/elsewhere/a.txt").write_text("one two three")
    (tmp_path / "data/truth/linked").symlink_to(tmp_path / "data/elsewhere")
    (tmp_path / "data/found/linked").mkdir()
    (tmp_path / "data/found/linked/a.txt").write_text("one two four")
    line = ("words", "data/truth", "data/found", "--checkpoint", "kept", "--format", "json")
    first = calque(*line)
    assert REUSED in calque(*line).err
    (tmp_path / "data/elsewhere/a.txt").write_text("one two four")
    again = calque(*line)
    assert REUSED not in again.err
    assert again.out != first.out


ROWS = [{"doc_id": "d", "order": ["a", "b", "c"]}]
TEXTS = {
    "words": ("one two three", "one two four"),
    "tables": ("<table><tr><td>a</td></tr></table>", "<table><tr><td>b</td></tr></table>"),
    "order": (json.dumps(ROWS[0]), json.dumps(ROWS[0])),
    "fields": ('{"id": "a", "total": 1}\n', '{"id": "a", "total": 2}\n'),
}
NAMES = {
    "words": ("a.txt", "a.gt.txt"),
    "tables": ("a.html", "b.html"),
    "order": ("a.ndjson", "b.ndjson"),
    "fields": ("a.jsonl", "a.json"),
}


@pytest.mark.parametrize("task", TEXTS)
@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
def test_checkpoint_changed_or_renamed_file_of_any_task_is_not_reused(
    calque: Calque, tmp_path: Path, task: str, folder: bool
) -> None:
    name, other = NAMES[task]
    if folder and task == "fields":
        name, other = "a.json", "b.json"
    for side, text in zip(("truth", "found"), TEXTS[task], strict=True):
        (tmp_path / "data" / side).mkdir(parents=True)
        (tmp_path / "data" / side / name).write_text(text)
        if folder:  # so that a renamed document still has a document to be compared with
            (tmp_path / "data" / side / f"z{os.path.splitext(name)[1]}").write_text(text.replace('"d"', '"e"'))
    files = [f"data/{side}" if folder else f"data/{side}/{name}" for side in ("truth", "found")]
    check_never_stale(calque, tmp_path, task, *files)
    for side in ("truth", "found"):
        (tmp_path / "data" / side / name).rename(tmp_path / "data" / side / other)
    renamed = [path.replace(name, other) for path in files]
    done = calque(task, *renamed, "--checkpoint", "kept", "--format", "json")
    assert REUSED not in done.err
    assert done.out == calque(task, *renamed, "--format", "json").out


def test_checkpoint_renamed_page_file_is_not_reused(
    calque: Calque, tmp_path: Path, data: Callable[[str], tuple[str, str]]
) -> None:
    made, found = data("page")
    line = ("--from-truth", "page", *LINE, "--checkpoint", "kept", "--format", "json")
    first = calque("detect", made, found, *line)
    path = sorted((tmp_path / made).rglob("*.xml"))[0]
    path.rename(path.with_name("other.xml"))
    again = calque("detect", made, found, *line)
    assert REUSED not in again.err
    assert again.out != first.out


def test_checkpoint_moved_files_are_reused(calque: Calque, tmp_path: Path, data: Callable[[str], tuple[str, str]]) -> None:
    made, found = data("coco")
    line = (*LINE, "--checkpoint", str(tmp_path / "kept"))
    calque("detect", made, found, *line)
    (tmp_path / "data").rename(tmp_path / "moved")
    assert REUSED in calque("detect", made.replace("data", "moved"), found.replace("data", "moved"), *line).err


OWN = """
import pathlib
from calque import ComparableField, StructuredModel
from calque.comparators import register_comparator

def own(truth, found):
    return float(pathlib.Path(__file__).with_name("value.txt").read_text())

register_comparator("own_value", own)

class Invoice(StructuredModel):
    total: str = ComparableField(comparator="own_value")
"""


def test_checkpoint_comparators_of_ones_own_are_never_reused(calque: Calque, tmp_path: Path) -> None:
    """Nobody knows what such code imports and reads."""
    for name, total in (("truth", "abc"), ("found", "xyz")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "a", "total": total}) + "\n")
    (tmp_path / "models.py").write_text(OWN)
    results = []
    for value in ("1.0", "0.0"):
        (tmp_path / "value.txt").write_text(value)
        line = (
            "fields",
            "truth.jsonl",
            "found.jsonl",
            "--schema",
            "models.py:Invoice",
            "--checkpoint",
            "kept",
            "--format",
            "json",
        )
        done = calque(*line)
        assert done.code == 0, done.err
        assert "own_value" in done.err
        results.append(done.out)
    assert results[0] != results[1]
