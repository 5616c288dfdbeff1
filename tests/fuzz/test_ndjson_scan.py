"""The compiled scanner of NDJSON and the exact reader: the same rows to the bit, and the same words about them."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calque.base.columns import Strings
from calque.base.errors import ContractError, IssueLog
from calque.corpus.boxes import Side
from calque.readers.boxes.conventions import Rules
from calque.readers.page_rows import ndjson
from calque.readers.page_rows.corpus import PageReader
from calque.readers.page_rows.rows import Rows
from tests.examples import examples

_native = pytest.importorskip("calque.kernels._native", reason="calque was installed without a compiler")

NUMBERS = ["0", "-0", "-0.0", "1", "2.5", "0.1", "1e3", "1E-400", "1e400", "9007199254740993", "18446744073709551617", "5e-324",
           "1" * 400, "-9223372036854775808", "0.30000000000000004", "123456789.123456789", "NaN", "-Infinity"]  # fmt: skip
ODD = ["null", "true", "false", '"a"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\u0041"', '"é"', "[]", "{}", "[[1]]", '{"a": [1]}',
       "01", "1.", "tru", "", '"x']  # fmt: skip
KEYS = ["doc_id", "page_index", "width", "height", "boxes", "labels", "scores", "ids", "crowd", "area", "kind", "k\\u0069nd"]
numbers = st.sampled_from(NUMBERS)
anything = numbers | st.sampled_from(ODD)


def _list(entries: list[str]) -> str:
    return f"[{', '.join(entries)}]"


def _entries(name: str) -> st.SearchStrategy[str]:
    """Mostly what belongs there."""
    usual = {
        "boxes": st.lists(numbers, min_size=4, max_size=4).map(_list),
        "labels": st.sampled_from(['"Table"', '"Figure"', '"\\ud800"', '"labels"']),
        "crowd": st.sampled_from(["true", "false", "0", "1", "2", "null"]),
    }
    return usual.get(name, numbers | st.just("null"))


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A page, often a sound one, sometimes with something odd in it."""
    count = draw(st.integers(0, 3))
    named = draw(st.sampled_from(["ids", "names", ""]))
    members = {
        "doc_id": draw(st.sampled_from(["1", '"a"', "-0", '"\\ud800"'])),
        "page_index": draw(st.sampled_from(["0", "7"])),
    }
    members["width"] = draw(st.sampled_from(["10", "2.5", "null"]))
    for name in ("boxes", "labels", *draw(st.sets(st.sampled_from(["scores", "crowd", "area"])))):
        members[name] = _list(draw(st.lists(_entries(name), min_size=count, max_size=count)))
    if named:
        members["ids"] = _list([str(k) if named == "ids" else f'"{k}"' for k in range(count)])
    for key in draw(st.lists(st.sampled_from(KEYS), max_size=draw(st.sampled_from([0, 0, 2])))):
        members[key] = draw(anything | st.lists(anything, max_size=3).map(_list))
    pairs = draw(st.permutations(list(members.items())))
    if draw(st.integers(0, 9)) == 0:
        pairs = [*pairs, (draw(st.sampled_from(KEYS)), draw(anything))]
    text = "{" + draw(st.sampled_from([", ", ",", " ,\t", "\r,"])).join(f'"{key}": {value}' for key, value in pairs) + "}"
    if draw(st.integers(0, 19)) == 0:
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(["", "\n", "\0", "}", "\x0b", "\ufeff", "\x01"])) + text[place + 1 :]
    return text.encode()


texts = st.builds(
    lambda mark, parts, end: mark + b"".join(line + gap for line, gap in parts) + end,
    st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"]),
    st.lists(st.tuples(lines(), st.sampled_from([b"\n", b"\r\n", b"\n\n", b" \t\n", b"\n \x0c\n"])), max_size=5),
    st.sampled_from([b"", b"", b" ", b"{", b"\xff"]),
)


def _column(column: Any) -> Any:
    if isinstance(column, Strings):
        return "strings", column.data.tobytes(), column.offsets.tolist()
    return (str(column.dtype), column.shape, column.tobytes()) if isinstance(column, np.ndarray) else column


def _told(rows: Rows) -> dict[str, Any]:
    return {name: _column(value) for name, value in vars(rows).items()} | {"types": list(map(type, rows.document))}


def _read(data: bytes, rules: Rules, size: int) -> tuple[Any, ...]:
    reader = PageReader(rules, IssueLog("f"), place="line", format="ndjson")
    blocks: list[dict[str, Any]] = []
    error = None
    try:
        blocks.extend(map(_told, ndjson.Opened(io.BufferedReader(io.BytesIO(data)), size).blocks(reader)))
    except ContractError as caught:
        error = str(caught)
    return blocks, reader.labels.names, reader.issues(), reader.faults, error


NO_NUMBER = b'{"doc_id": 1, "boxes": [[0, 0, 0, 0], [0, 0, 0, 0]], "labels": ["a", "a"], "scores": [0, NaN]}'


@examples(400)
@example(data=NO_NUMBER, side=None, metadata=False, size=1)
@given(data=texts, side=st.sampled_from([None, *Side]), metadata=st.booleans(), size=st.sampled_from([1, 10, 100_000]))
def test_both_read_the_same(data: bytes, side: Side | None, metadata: bool, size: int) -> None:
    rules = Rules(side=side, metadata=metadata)
    found = []
    for kernels in ("native", "reference"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CALQUE_KERNELS", kernels)
            found.append(_read(data, rules, size))
    assert found[0] == found[1]


def test_plain_pages_are_scanned() -> None:
    page = {"doc_id": 1, "boxes": [[0, 1.5, 2, 3]], "labels": ["é"], "scores": [None], "ids": ["x"], "kind": "k", "area": [2]}
    text = b"\r\n" + json.dumps(page).encode() + b"\r\n" + json.dumps(page | {"doc_id": "b", "width": 3}).encode()
    columns = _native.scan_pages(text)
    assert columns["line"].tolist() == [1, 2]
    assert columns["boxes"].tolist() == [[0, 1.5, 2, 3]] * 2
    assert (columns["scores"], columns["has_others"], columns["lacks_scores"]) == (None, True, False)
    assert _native.scan_pages(text + b"\n{") is None
