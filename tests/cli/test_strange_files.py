"""Files that are something else: told by what they are, in every verb, with exit code 2, and never taken for empty text."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth, write

VERBS = ("detect", "layout", "fields", "words", "tables", "order", "audit", "validate")
TEXT = '{"a": "text"}'


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "text")


STRANGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a PDF": (lambda path: path.write_bytes(b"%PDF-1.7\n%\xe2\xe3\n"), "a PDF"),
    "a ZIP archive": (_zip, "a ZIP archive"),
    "an image": (lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20)), "a PNG image"),
    "a state": (lambda path: path.write_bytes(b"calque state 1\n" + bytes(20)), "state"),
    "UTF-16": (lambda path: path.write_bytes(TEXT.encode("utf-16")), "is UTF-16"),
    "UTF-16 without a mark": (lambda path: path.write_bytes(TEXT.encode("utf-16-le")), "is UTF-16"),
    "packed twice": (lambda path: path.write_bytes(gzip.compress(gzip.compress(TEXT.encode()))), "is packed with gzip"),
}


@pytest.mark.parametrize("what", list(STRANGE))
@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_is_something_else(calque: Callable[..., Run], tmp_path: Path, what: str, verb: str) -> None:
    make, told = STRANGE[what]
    make(tmp_path / "file")
    write(tmp_path / "t.json", truth({("a.pdf", 0): [("Figure", BOX)]}))
    (tmp_path / "t.txt").write_text("text")
    other = {"words": ["t.txt"], "validate": [], "audit": []}.get(verb, ["t.json"])
    run = calque(verb, "file", *other)
    assert run.code == 2
    assert told in run.out + run.err
    assert "should not happen" not in run.err


def test_a_file_that_holds_nothing_is_said_to(calque: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[]")
    assert calque("validate", "list.json").out.startswith("The file is valid, but it holds nothing.\n")


@pytest.mark.parametrize(("text", "kind"), [("5", "a number"), ("[]", "an array"), ('"x"', "a string"), ("null", "null")])
def test_what_json_holds_has_its_article(calque: Callable[..., Run], tmp_path: Path, text: str, kind: str) -> None:
    (tmp_path / "t.json").write_text(text)
    write(tmp_path / "p.json", predictions({("a", 0): []}))
    assert f"t.json: holds {kind}; " in calque("words", "t.json", "p.json").err
