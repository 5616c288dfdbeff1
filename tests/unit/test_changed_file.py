"""A file that changes between two looks at it is told, and never read half and half."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calque import ContractError
from calque.corpus.masks import MaskText
from calque.kernels.scanning import Scanned


def test_a_part_of_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"info": 1}))
    scanned = Scanned(path)
    assert scanned.part((1, 7)) == b'"info"'
    path.write_text(json.dumps({"info": 1, "more": 2}))
    with pytest.raises(ContractError, match="changed while it was read; try again when nothing writes to it"):
        scanned.part((1, 7))


def test_a_mask_of_another_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "masks.json"
    path.write_text("[0, 1]")
    there = path.stat()
    text = MaskText.of_file(str(path), (there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns))
    text.check()
    assert text.part(1, 5) == b"0, 1"
    for change in (lambda: path.write_text("[0, 1, 2]"), path.unlink):
        change()
        with pytest.raises(ContractError, match=r"masks\.json: changed while it was read; try again"):
            text.check()
