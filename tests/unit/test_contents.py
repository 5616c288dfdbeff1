"""What files hold: digests of their bytes and nothing else, and arrays that come back as they were."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xxhash import xxh3_128

from calque import CalqueError, ContractError, Detection
from calque.base.columns import Table
from calque.base.files import write_whole
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.storage.forms import Form
from calque.evaluation.storage.input_digests import Contents, content_digest
from calque.evaluation.storage.state import MAGIC, columns_start, pack, unpack

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


@pytest.mark.parametrize("dtype", ["<i4", "<i8", "<f8", "<u2", "|u1", "|b1"])
@pytest.mark.parametrize(
    "values", [[7], [0, 1], [-1, 127], [0, 255], [-129, 5], [0, 65_535], [-(2**31), 2**31 - 1], [2**40, 1]]
)
def test_arrays_come_back_to_the_bit_in_as_few_bytes_as_they_need(dtype: str, values: list[int]) -> None:
    array = np.resize(np.array(values, dtype="<i8").astype(dtype), (50_000, 2))
    form = Form.of_note(json.loads(json.dumps(Form.shortest(array).note())))
    data = bytes(form.data(array))
    again = form.array(data)
    assert (again.dtype, again.shape, again.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert len(data) == form.size
    if array.min() == array.max():
        assert form.size == array.dtype.itemsize
    elif array.dtype.kind == "i":
        low, high = int(array.min()), int(array.max())
        fitting = [kind for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64) if fits(kind, low, high)]
        assert form.stored == np.dtype(fitting[0])
    else:
        assert form.stored == array.dtype


def fits(kind: type[np.signedinteger[Any]] | type[np.unsignedinteger[Any]], low: int, high: int) -> bool:
    return np.iinfo(kind).min <= low and high <= np.iinfo(kind).max


def test_numbers_that_are_not_finite_keep_their_bits() -> None:
    for values in ([np.nan], [0.0, -0.0], [np.inf, np.nan]):
        array = np.resize(np.array(values), 20_000)
        form = Form.shortest(array)
        assert form.same == (len(values) == 1)
        assert form.array(bytes(form.data(array))).tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "note",
    [
        {"dtype": "<f8", "stored": "|i1", "shape": [3]},
        {"dtype": "<i4", "stored": "<i8", "shape": [3]},
        {"dtype": "<i4", "stored": "|O", "shape": [3]},
        {"dtype": "<i4", "shape": []},
        {"dtype": "<i4", "shape": [-1]},
    ],
)
def test_forms_that_no_array_has_are_refused(note: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"stored as|no shape"):
        Form.of_note(note)


@pytest.mark.parametrize("shape", [[10**9], [100, 10**7]])
def test_one_value_stands_for_no_more_rows_than_the_table_has(shape: list[int]) -> None:
    rows = np.zeros(100_000)
    table = Table({UNIT: np.repeat(np.arange(2, dtype=np.int32), 50_000), "x": rows})
    data = pack({}, Ledger(units=("a", "b"), tables={"t": table}))
    assert len(data) < 200_000
    assert unpack(data, "f")[1].table("t").array("x").tolist() == rows.tolist()
    head, start = columns_start(data), len(MAGIC) + 8
    told = json.loads(data[start:head])
    told["ledger"]["tables"]["t"]["x"]["shape"] = shape
    text = json.dumps(told).encode()
    body = MAGIC + len(text).to_bytes(8, "little") + text + data[head:-16]
    with pytest.raises(ContractError, match=r"longer than the state, or than its table|columns of the state would take"):
        unpack(body + xxh3_128(body).digest(), "f")


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
    for pieces in ([b"x" * 2_000_000, b"y"], [b"less"]):
        write_whole(tmp_path / "file", pieces)
        assert (tmp_path / "file").read_bytes() == b"".join(pieces)


def test_python_can_be_left_while_a_digest_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(json.dumps([ROW] * 400_000).encode())
    for delay in (0.0, 0.01, 0.03, 0.06):
        code = (
            f"import sys, time; sys.path[:0] = {sys.path!r}\n"
            "from calque import Detection\n"
            "from calque.evaluation.storage.input_digests import Contents\n"
            f"contents = Contents.beside([{str(path)!r}], Detection.begin)\n"
            f"time.sleep({delay})"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
