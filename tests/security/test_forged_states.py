"""States that somebody forged: what they unpack to is bounded by the length of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xxhash import xxh3_128

from calque import ContractError, Detection, Evaluator
from calque.evaluation.storage.state import MAGIC
from tests.conftest import Run

ROWS = 200_000


def forged(path: Path, columns: int, labels: int = 0) -> None:
    """A state whose table has many columns in which one value stands for all rows, or with labels that no row has."""
    item = {"image": "a", "label": "x", "bbox": [0, 0, 9, 9]}
    data = Evaluator(Detection()).update([item], [{**item, "score": 0.5}]).state()
    start = len(MAGIC) + 8
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header = json.loads(data[start:end])
    tables: dict[str, Any] = header["ledger"]["tables"]
    header["ledger"]["names"]["label"] += map(str, range(labels))
    rows = ROWS if columns else 0
    tables["forged"] = {"unit": {"dtype": "<i4", "stored": "|i1", "shape": [rows]}}
    for number in range(columns):
        tables["forged"][f"c{number}"] = {"dtype": "<f8", "shape": [rows, 64], "same": True}
    text = json.dumps(header).encode()
    body = MAGIC + len(text).to_bytes(8, "little") + text + data[end:-16] + bytes(rows) + bytes(8 * columns)
    path.write_bytes(body + xxh3_128(body).digest())


@pytest.mark.parametrize("columns", [1, 4])
def test_state_columns_far_longer_than_the_file_are_refused(calque: Callable[..., Run], tmp_path: Path, columns: int) -> None:
    forged(tmp_path / "forged.state", columns)
    assert calque("merge", "forged.state").code == 2
    with pytest.raises(ContractError) as caught:
        Evaluator.load(tmp_path / "forged.state")
    assert caught.value.issues[0].code == "state-too-large"


def test_state_many_names_without_rows_are_refused(tmp_path: Path) -> None:
    forged(tmp_path / "forged.state", 0, labels=200_000)
    with pytest.raises(ContractError) as caught:
        Evaluator.load(tmp_path / "forged.state")
    assert caught.value.issues[0].code == "state-too-large"


def test_state_short_columns_of_one_value_are_accepted(tmp_path: Path) -> None:
    items = [{"image": f"{number % 50}", "label": "x", "bbox": [0, 0, 9, 9]} for number in range(20_000)]
    evaluator = Evaluator(Detection()).update(items, [])
    evaluator.save(tmp_path / "real.state")
    assert Evaluator.load(tmp_path / "real.state").compute().to_json() == evaluator.compute().to_json()
