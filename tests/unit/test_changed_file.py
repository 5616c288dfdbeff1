"""A file that changes between two looks at it is told, and never read half and half."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calque import ContractError
from calque.kernels.scanning import Scanned


def test_a_part_of_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"info": 1}))
    scanned = Scanned(path)
    assert scanned.part((1, 7)) == b'"info"'
    path.write_text(json.dumps({"info": 1, "more": 2}))
    with pytest.raises(ContractError, match="changed while it was read; try again when nothing writes to it"):
        scanned.part((1, 7))
