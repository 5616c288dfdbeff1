"""Forged states: their columns are never longer than the file, and names need rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xxhash import xxh3_128

from calque import ContractError, Detection, Evaluator
from calque.evaluation.storage.state import MAGIC
from tests.conftest import Run
from tests.states import START, column_bytes, opened_state, sealed_state

ROWS = 200_000


def forged(path: Path, columns: int, labels: int = 0) -> None:
    """A state with columns that are far longer than its bytes, or with labels that no row has."""
    item = {"image": "a", "label": "x", "bbox": [0, 0, 9, 9]}
    data = Evaluator(Detection()).update([item], [{**item, "score": 0.5}]).state()
    text, there = opened_state(data)
    header = json.loads(text)
    tables: dict[str, Any] = header["ledger"]["tables"]
    header["ledger"]["names"]["label"] += map(str, range(labels))
    rows = ROWS if columns else 0
    tables["forged"] = {"unit": {"dtype": "<i4", "shape": [rows]}}
    for number in range(columns):
        tables["forged"][f"c{number}"] = {"dtype": "<f8", "shape": [rows, 64]}
    forged_columns = column_bytes(bytes(4 * rows)) + columns * column_bytes(bytes(8))
    path.write_bytes(sealed_state(json.dumps(header).encode(), there + forged_columns))


@pytest.mark.parametrize("columns", [1, 4])
def test_state_columns_far_longer_than_the_file_are_refused(calque: Callable[..., Run], tmp_path: Path, columns: int) -> None:
    forged(tmp_path / "forged.state", columns)
    assert calque("merge", "forged.state").code == 2
    with pytest.raises(ContractError) as caught:
        Evaluator.load(tmp_path / "forged.state")
    assert caught.value.issues[0].code == "state-damaged"
    assert "a column is longer than the state" in str(caught.value)


@pytest.mark.parametrize("shape", [[1 << 62], [1 << 31, 1 << 31, 4], [-1], [2.5], []])
def test_state_impossible_shapes_are_refused(tmp_path: Path, shape: list[Any]) -> None:
    forged(tmp_path / "forged.state", 1)
    text, columns = opened_state((tmp_path / "forged.state").read_bytes())
    header = json.loads(text)
    header["ledger"]["tables"]["forged"]["c0"]["shape"] = shape
    with pytest.raises(ContractError) as caught:
        Evaluator.from_state(sealed_state(json.dumps(header).encode(), columns))
    assert caught.value.issues[0].code == "state-damaged"


@pytest.mark.parametrize("shift", [1, 8, 63])
def test_state_columns_that_are_not_aligned_are_refused(shift: int) -> None:
    item = {"image": "a", "label": "x", "bbox": [0, 0, 9, 9]}
    text, columns = opened_state(Evaluator(Detection()).update([item], []).state())
    text = sealed_state(text, b"")[START:-16] + b" " * shift
    body = MAGIC + len(text).to_bytes(8, "little") + text + columns
    with pytest.raises(ContractError, match="not aligned"):
        Evaluator.from_state(body + xxh3_128(body).digest())


def test_state_of_the_version_before_is_refused_by_its_version() -> None:
    item = {"image": "a", "label": "x", "bbox": [0, 0, 9, 9]}
    state = Evaluator(Detection()).update([item], []).state()
    with pytest.raises(ContractError) as caught:
        Evaluator.from_state(state.replace(MAGIC, b"calque state 5\n"), file="old.state")
    assert caught.value.issues[0].code == "state-version"


def test_state_is_readable_with_memmap(tmp_path: Path) -> None:
    """Each column starts at a multiple of 64 bytes, in the order of the header, as raw numbers."""
    items = [{"image": f"{number}", "label": "x", "bbox": [0, 0, number + 1, 9]} for number in range(50)]
    evaluator = Evaluator(Detection()).update(items, [{**item, "score": 0.5} for item in items])
    path = tmp_path / "real.state"
    evaluator.save(path)
    data = path.read_bytes()
    position = START + int.from_bytes(data[len(MAGIC) : START], "little")
    ledger = evaluator.ledger()
    for name, columns in json.loads(opened_state(data)[0])["ledger"]["tables"].items():
        for key, note in columns.items():
            for part in (note["offsets"], note["data"]) if "offsets" in note else (note,):
                assert position % 64 == 0
                shape = tuple(part["shape"])
                size = int(np.prod(shape)) * np.dtype(part["dtype"]).itemsize
                if "offsets" not in note and size:
                    mapped = np.memmap(path, dtype=part["dtype"], mode="r", offset=position, shape=shape)
                    assert mapped.tobytes() == ledger.table(name).array(key).tobytes()
                position += -(-size // 64) * 64
    assert position == len(data) - 16


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
